/* Comparison of what was recorded with what a replay gathered, both as JSON trees of the same form, and the encodings
 * all recordings share. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "analysis/replay.h"
#include "model/word.h"

/* One step of a hash over values: h = h * 1099511628211 + v. */
static inline uint64_t replay_hash(uint64_t hash, uint64_t value) {
    return hash * UINT64_C(1099511628211) + value;
}

/* A row for every leaf that either tree has. Objects are gone through by key, numbers compared as numbers, all else by
 * its text; what one side lacks is "nothing". */
void replay_compare_tree(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours);

/* Sixteen hexadecimal digits. */
json_t *replay_hash_text(uint64_t hash);
/* A number in hexadecimal without leading zeros. */
json_t *replay_hex(uint64_t value);
uint64_t replay_unhex(const json_t *text);
/* The generator behind recorded memory contents (description of mover_runs.json, "memory"). */
uint64_t replay_mix(uint64_t x);
