/* The vector core: an in-order sequencer in front of sixteen lanes and a 512-word L1 (compute-units §7, §8).
 *
 * As a unit it is unit_type_vector. What follows lets a test or a replay put words into it and look at everything a
 * program could observe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/numeric/e8m15.h"
#include "units/unit.h"
#include "units/vector/lanes.h"
#include "units/vector/local.h"

/* Causes a core's cycles are booked under. */
enum vector_cause {
    VECTOR_CAUSE_IDLE,
    VECTOR_CAUSE_ENVELOPE,  /* taking and retiring instructions of the port, RUN's framing included */
    VECTOR_CAUSE_FETCH,     /* fetch, wait, decode */
    VECTOR_CAUSE_SCALAR,    /* instructions that only touch scalars, length, mode, loop */
    VECTOR_CAUSE_BEATS,     /* gathering a chain and issuing its beats */
    VECTOR_CAUSE_REGISTERS, /* a named register has writes outstanding */
    VECTOR_CAUSE_PIPE,      /* waiting for empty lanes */
    VECTOR_CAUSE_REDUCTION, /* a VRED behind its beats */
    VECTOR_CAUSE_LOAD,
    VECTOR_CAUSE_STORE,
    VECTOR_CAUSE_MOVE,     /* VCVT, VSHUF, VBCAST */
    VECTOR_CAUSE_REQUESTS, /* VFILL putting its words */
    VECTOR_CAUSE_DRAINING, /* VDRAIN putting its words */
    VECTOR_CAUSE_LINK,     /* the request register is not free */
    VECTOR_CAUSE_FILLING,  /* waiting for responses */
    VECTOR_CAUSE_RETIRE,   /* after VHALT or a fault */
    VECTOR_CAUSES,
};

/* Fault codes (compute-units §7.12). */
enum vector_fault {
    VECTOR_FAULT_NONE,
    VECTOR_FAULT_DTYPE,
    VECTOR_FAULT_VSRC,
    VECTOR_FAULT_CHAIN,
    VECTOR_FAULT_OPCODE,
    VECTOR_FAULT_LEN,
    VECTOR_FAULT_LOOP,
    VECTOR_FAULT_VL,
    VECTOR_FAULT_REDVL,
    VECTOR_FAULT_CUDATA,
};

/* Events of a running kernel. A cycle may lie ahead of the one in which the event is told. */
enum vector_event {
    VECTOR_EVENT_OFFERED, /* a RUN: detail is its start address */
    VECTOR_EVENT_EXECUTE, /* detail is the address; a chain is one, at its first word */
    VECTOR_EVENT_HELD,    /* the last execute cycle, if it is later than the first */
    VECTOR_EVENT_FIRST_BEAT,
    VECTOR_EVENT_LAST_BEAT,
    VECTOR_EVENT_TAIL,
    VECTOR_EVENT_RESULT, /* of a reduction */
};

struct vector_trace {
    void *self;
    void (*event)(void *self, enum vector_event event, cycle_t cycle, unsigned detail);
};

/* Everything a program could observe, all outstanding writes done. */
struct vector_state {
    uint32_t v[VECTOR_REGISTERS][VECTOR_LENGTH];
    uint32_t s[SCALAR_REGISTERS];
    uint64_t p[PREDICATES][VECTOR_LENGTH / 64];
    uint32_t k[CONSTANTS];
    unsigned vl;
    enum vector_mode mode;
    struct word256 l1[L1_WORDS];
    uint64_t l1_words; /* no padding: the state is fed to the digest as it lies in memory */
    uint64_t beats, tails, l1_writes, read_requests, write_words;
};

void vector_set_trace(void *unit, const struct vector_trace *trace);
/* Instruction memory, VECTOR_IMEM_WORDS words. */
const uint32_t *vector_code(const void *unit);
void vector_snapshot(const void *unit, struct vector_state *state);
/* Before the run: what L1 holds. */
void vector_poke(void *unit, unsigned index, const struct word256 *word);
