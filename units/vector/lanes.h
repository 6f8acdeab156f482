/* The sixteen lanes of the vector core: registers, beats and what is still on its way through them (compute-units §7.5,
 * §7.6, §7.9, §8.3).
 *
 * A beat reads its registers in its issue cycle b, takes its predicate in b+1 and writes in W = b + D*A + 2. The core
 * issues all beats of an instruction at once, ahead of the clock; every beat carries the cycle it belongs to, and what
 * has to happen before it is brought up to date first. Later stages of a chain are computed when the beat writes,
 * because the published hardware takes their words from shared registers that a following chain may have replaced. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/hazard.h"
#include "model/isa/vector.h"
#include "model/machine.h"
#include "model/numeric/e8m15.h"

enum {
    LANES = 16,
    VECTOR_LENGTH = 128,
    CHUNKS = VECTOR_LENGTH / LANES,
    VECTOR_REGISTERS = 16,
    SCALAR_REGISTERS = 16,
    PREDICATES = 4,
    CONSTANTS = 4,
    CHAIN_STAGES = 4,
    LANES_IN_FLIGHT = 128, /* beats, at least 4A + 3: a power of two */
    CHAIN_MEMORY = 16,     /* chains whose words can still reach a beat: a power of two */
    LANES_DEEPEST = 30,    /* largest ALU depth the two above allow */
};

/* One word of an ALU instruction as it was gathered: scalar and constant operands are read with it. */
struct stage {
    uint8_t op;
    uint8_t select[3]; /* of A, B, C */
    uint8_t reg[3];
    uint32_t value[3]; /* of S and K operands */
};

struct chain {
    struct stage stage[CHAIN_STAGES];
    cycle_t gathered[CHAIN_STAGES]; /* CYCLE_NEVER: not */
};

struct beat {
    cycle_t issue, due;
    uint32_t chain;       /* running number of its chain */
    uint8_t stages;       /* 1, 2, 4 */
    uint8_t first, width; /* lanes of the chunk */
    uint8_t chunk;
    uint8_t target;       /* vector register, or predicate of a comparison */
    bool compare, silent; /* silent: counted, nothing written */
    uint16_t mask;        /* lanes first..first+width-1 that are written, from bit 0 */
    uint16_t truths;      /* predicate outputs of the last stage computed */
    uint32_t value[LANES];
};

struct lanes {
    /* What a program sees. */
    uint32_t v[VECTOR_REGISTERS][VECTOR_LENGTH];
    uint32_t s[SCALAR_REGISTERS];
    uint64_t p[PREDICATES][VECTOR_LENGTH / 64];
    uint32_t k[CONSTANTS];
    unsigned vl;
    enum vector_mode mode;
    /* Ever written: a mask per chunk, register, predicate word. */
    uint16_t v_set[VECTOR_REGISTERS][CHUNKS];
    uint16_t s_set;
    uint64_t p_set[PREDICATES][VECTOR_LENGTH / 64];
    /* In flight. */
    uint8_t pending[VECTOR_REGISTERS]; /* outstanding-write counters, 5 bits */
    struct beat beats[LANES_IN_FLIGHT];
    unsigned head, count;
    struct chain chains[CHAIN_MEMORY];
    uint32_t chain_count;
    cycle_t empty_from; /* first cycle with an empty pipe */
    /* What the defects of §7.8 and §7.9 remember of earlier instructions. */
    uint8_t last_va, last_chunk; /* of the last beat */
    uint8_t last_pr;             /* of the last ALU instruction or VRED */
    uint8_t last_pm;             /* of the last ALU instruction */
    bool last_expsum;            /* the last VRED was one */
    /* Fixed. */
    unsigned depth; /* A */
    bool rtl_defects;
    enum e8m15_exp2_range range;
    const char *name;
    struct hazard_log *hazards;
    uint64_t beat_count, tail_count;
};

/* One ALU instruction, ready to issue. */
struct lane_work {
    const struct vector_word *first, *last;
    unsigned stages;
    bool tree; /* an ALU instruction in TREE mode: nothing is computed */
};

void lanes_init(struct lanes *lanes, const struct vector_params *params, bool rtl_defects, const char *name,
                struct hazard_log *hazards);

static inline unsigned lanes_chunks(const struct lanes *lanes) {
    return (lanes->vl + LANES - 1) / LANES;
}

/* Brings everything up to date that is written in cycles up to and including `upto`. */
void lanes_settle(struct lanes *lanes, cycle_t upto);

/* Reads a scalar register. */
uint32_t lanes_scalar(struct lanes *lanes, unsigned reg, cycle_t now);
static inline void lanes_set_scalar(struct lanes *lanes, unsigned reg, uint32_t value) {
    lanes->s[reg] = value;
    lanes->s_set |= (uint16_t)(1u << reg);
}

/* Opens a chain and gathers its words one by one; an ALU instruction in FLAT mode is a chain of one. */
void lanes_chain_open(struct lanes *lanes, cycle_t now);
void lanes_chain_gather(struct lanes *lanes, unsigned stage, const struct vector_word *word, cycle_t now);
/* First cycle, `from` or later, in which the counters of all registers the instruction names are 0; CYCLE_NEVER when
 * that never happens (§8.3). */
cycle_t lanes_clear(struct lanes *lanes, const struct lane_work *work, cycle_t from);
/* Issues the beats of the gathered chain, one a cycle from `from` on; returns the cycle after the last one. */
cycle_t lanes_issue(struct lanes *lanes, const struct lane_work *work, cycle_t from);

/* VRED kinds 0..5: beats from `from` on, then the tail beat in *tail and the scalar, written in *result. */
void lanes_reduce(struct lanes *lanes, const struct vector_word *word, cycle_t from, cycle_t *tail, cycle_t *result);
/* VRED ANY and ALL, executing in `now`. */
void lanes_reduce_predicate(struct lanes *lanes, const struct vector_word *word, cycle_t now);

/* Whole chunks; the pipe is empty. */
void lanes_convert(struct lanes *lanes, const struct vector_word *word, cycle_t now);
void lanes_shuffle(struct lanes *lanes, const struct vector_word *word, cycle_t now);
void lanes_broadcast(struct lanes *lanes, const struct vector_word *word, cycle_t now);
/* Reports vec.unset_read if any of the lanes of the chunk was never written. */
void lanes_check_read(struct lanes *lanes, unsigned reg, unsigned chunk, uint16_t wanted, cycle_t now);
