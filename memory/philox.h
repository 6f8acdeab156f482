/* The mover's random generator (noc-and-memory §8.5): Philox 4x32 with ten rounds. The bytes of a word depend on the
 * seed and on the word's address alone. */
#pragma once

#include <stdint.h>

#include "model/word.h"

enum {
    PHILOX_ROUNDS = 10,
    PHILOX_LANES = 4, /* 32-bit counter words: half of a memory word */
};

void philox(uint32_t counter[PHILOX_LANES], uint32_t k0, uint32_t k1);
/* Half 0 gives bytes 0..15 of the word at `address`, half 1 bytes 16..31. */
void philox_half(struct word256 *word, unsigned half, uint64_t seed, uint64_t address);
