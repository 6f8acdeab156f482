/* The instruction of the saxpy unit, for whoever writes one: 256 bits (workloads §5.7). */
#pragma once

#include <stdint.h>
#include <string.h>

#include "model/word.h"

enum {
    SAXPY_OP = 0x01,
    SAXPY_LANES = 8, /* FP32 values of a memory word */
};

struct saxpy_inst {
    uint8_t op;
    uint32_t n; /* elements, 24 bits */
    float a;
    uint64_t x, y; /* byte addresses, multiples of 32 */
};

static inline void saxpy_encode(const struct saxpy_inst *inst, struct word256 *payload) {
    uint32_t bits;
    memcpy(&bits, &inst->a, sizeof bits);
    *payload = (struct word256){
        {[3] = (uint64_t)inst->op << 56 | (uint64_t)(inst->n & 0xFFFFFF) << 32 | bits, [2] = inst->x, [1] = inst->y}};
}

static inline void saxpy_decode(const struct word256 *payload, struct saxpy_inst *inst) {
    uint32_t bits = (uint32_t)payload->w[3];
    *inst = (struct saxpy_inst){.op = (uint8_t)(payload->w[3] >> 56),
                                .n = (uint32_t)(payload->w[3] >> 32) & 0xFFFFFF,
                                .x = payload->w[2],
                                .y = payload->w[1]};
    memcpy(&inst->a, &bits, sizeof bits);
}
