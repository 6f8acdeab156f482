/* A plain evaluation of a vector core's instruction stream: the same IMEM, DESC and RUN payloads, one word after the
 * other over whole vectors, without lanes, time or queues. A run's answer must equal it bit for bit. Only what the
 * numbers need is here (compute-units §7.3 to §7.9); a program that faults or sends to a node is not evaluated. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/dram.h"
#include "model/isa/vector.h"
#include "model/numeric/e8m15.h"

enum {
    MODEL_REGISTERS = 16,
    MODEL_LENGTH = 128,
    MODEL_L1_WORDS = 512,
    MODEL_DIMENSIONS = 4,
};

struct model_walk {
    uint64_t base;
    int32_t stride[MODEL_DIMENSIONS];
    uint16_t bound[MODEL_DIMENSIONS];
};

struct vector_model {
    struct dram *memory; /* its own, not the machine's */
    enum e8m15_exp2_range range;
    unsigned words_per_flit; /* of an IMEM payload */
    uint32_t code[VECTOR_IMEM_WORDS];
    struct model_walk walk[8];
    struct word256 l1[MODEL_L1_WORDS];
    uint32_t v[MODEL_REGISTERS][MODEL_LENGTH];
    uint32_t s[MODEL_REGISTERS];
    bool p[4][MODEL_LENGTH];
    uint32_t k[4];
    unsigned length;
    enum vector_mode mode;
    unsigned code_at, code_left; /* packed IMEM payloads still to come */
    /* The hardware loop; top is 0 while there is none. */
    unsigned top, end, turns;
};

void vector_model_init(struct vector_model *model, struct dram *memory);
/* Takes one payload; a RUN is carried out. False when the program does what is not evaluated here. */
bool vector_model_take(struct vector_model *model, const struct word256 *payload);
