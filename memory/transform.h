/* The transform slot of a memory agent (noc-and-memory §9): a bank of occupants on the mover's read-return path, and
 * the contract an occupant keeps. An occupant is one constant table and its callbacks, in a file of its own; it knows
 * nothing of addresses, memory or the mover.
 *
 * Who drives the bank: asks for the grant, holds it for its whole run, opens an entry with transform_start(), pushes
 * the entry's beats in later cycles, and takes the words in the cycle transform_capture() gives them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "model/cycle.h"
#include "model/hazard.h"
#include "model/word.h"

enum {
    TRANSFORM_WORDS = 4,  /* most words an entry yields: word0..3 of the port */
    TRANSFORM_SLOTS = 15, /* ids 1..15; id 0 is the bypass */
    TRANSFORM_FAULT_BITS = 4,
    TRANSFORM_FAULT_UNKNOWN_ID = 1, /* bit 0: an entry was started with an id that names no occupant */
    TRANSFORM_REG_FAULT = 0x00,     /* of the bank; an occupant's own registers are 0x08..0xFC */
    TRANSFORM_REG_GEOMETRY = 0x04,
};

struct transform_occupant {
    const char *name;
    unsigned in_bits;   /* source bits an entry takes, a multiple of 256 */
    unsigned out_words; /* words it yields, 1..4 */
    size_t state_size;  /* zeroed when the bank is made */
    /* Opens an entry. mode is the descriptor's, and the occupant's alone to interpret. */
    void (*start)(void *state, unsigned id, unsigned mode);
    /* The next source word; never refused, never in the cycle of start. */
    void (*beat)(void *state, const struct word256 *beat);
    /* After the last beat: the result. Returns the cycles from that beat to done, 1 or more. */
    unsigned (*finish)(void *state, struct word256 words[TRANSFORM_WORDS]);
    /* The rest may be NULL. */
    bool (*need_beat)(const void *state); /* informational: false while it could not take a beat */
    unsigned (*fault)(const void *state); /* bits 3:1, looked at after every callback above; the bank keeps them */
    /* Registers at byte offsets, 4 bytes each. A write to 0x00 comes here too, so that a cause can be cleared. */
    void (*cfg_write)(void *state, unsigned reg, uint32_t value);
    uint32_t (*cfg_read)(const void *state, unsigned reg);
};

extern const struct transform_occupant transform_identity;  /* the bypass; also an occupant */
extern const struct transform_occupant transform_quantiser; /* FP16 to MXFP7 entries; mode bit 0: B packing */
extern const struct transform_occupant transform_negate;    /* example: flips the sign of every FP16 element */

/* NULL if there is none of that name. */
const struct transform_occupant *transform_find(const char *name);

struct transform_bank;

/* slots[i] answers to id i + 1 and may be NULL (no such occupant). Without any slot it is the default bank: every id is
 * the bypass. NULL and an error if an occupant's geometry breaks the contract. */
struct transform_bank *transform_bank_new(const struct transform_occupant *const *slots, unsigned count,
                                          struct hazard_log *hazards, GError **error);
void transform_bank_free(struct transform_bank *bank);

/* Asks for the bank; true if the requester holds it from the next cycle on, which it does until it releases it. */
bool transform_grant(struct transform_bank *bank, unsigned requester);
void transform_release(struct transform_bank *bank, unsigned requester);
/* Of an id; that of the bypass if the id names no occupant. */
void transform_geometry(const struct transform_bank *bank, unsigned id, unsigned *in_beats, unsigned *out_words);
void transform_start(struct transform_bank *bank, unsigned requester, unsigned id, unsigned mode, cycle_t now);
void transform_beat(struct transform_bank *bank, unsigned requester, const struct word256 *beat, cycle_t now);
/* True once, at or after the capture cycle of the open entry: its words, and the bank is free for the next start. */
bool transform_capture(struct transform_bank *bank, cycle_t now, struct word256 words[TRANSFORM_WORDS]);
/* Drops the open entry of a run that was aborted. */
void transform_abandon(struct transform_bank *bank);
bool transform_need_beat(const struct transform_bank *bank);
/* The fault nibble at the start of the cycle. */
unsigned transform_fault(struct transform_bank *bank, cycle_t now);
void transform_cfg_write(struct transform_bank *bank, unsigned id, unsigned reg, uint32_t value, cycle_t now);
uint32_t transform_cfg_read(struct transform_bank *bank, unsigned id, unsigned reg, cycle_t now);
