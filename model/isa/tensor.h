/* What-if (cluster.tensor_fill, compute-units §10.1): instructions 4 and 5 of the cluster, and the memory request they
 * lead to. A descriptor has six dimensions, three of M (n, oy, ox) and three of K (ky, kx, c), innermost last, and two
 * bound axes.
 *
 *   TDESC  writes one part of a descriptor.
 *   TFILL  is a FILL whose entries come from a descriptor: entry e of n takes lanes 4 (group + e / nk) .. + 3 and the
 * 32 elements of K of block + e mod nk. Fields as of FILL; addr holds group and block, aoff the descriptor.
 *
 * The cluster asks for one entry at a time: four addresses of 64 bytes, and which of them exist. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/word.h"

enum {
    TENSOR_DESCRIBE = 4,
    TENSOR_FILL = 5,
    TENSOR_DESCRIPTORS = 4,
    TENSOR_DIMS = 6,
    TENSOR_M_DIMS = 3, /* the first so many */
    TENSOR_AXES = 2,
    TENSOR_GROUP_BITS = 20,
    TENSOR_LANES = 4,
    REQUEST_GATHER = 0x80, /* request flag */
};

enum tensor_part {
    TENSOR_PART_AXES = TENSOR_DIMS,
    TENSOR_PART_BASE,
};

/* TDESC: dimension `part`, both axes, or the base. */
struct tensor_part_inst {
    uint8_t descriptor, part;
    uint16_t count;
    int32_t stride; /* bytes */
    uint8_t axis;   /* 0 none, 1, 2 */
    int16_t step;
    uint64_t base;
    struct {
        int16_t start;
        uint16_t extent; /* 0: unbounded */
    } axes[TENSOR_AXES];
};

static inline void tensor_part_encode(const struct tensor_part_inst *inst, struct word256 *payload) {
    *payload = (struct word256){{0}};
    word_set(payload, 252, 4, TENSOR_DESCRIBE);
    word_set(payload, 240, 8, inst->descriptor);
    word_set(payload, 232, 8, inst->part);
    word_set(payload, 192, 40, inst->base);
    word_set(payload, 176, 16, inst->count);
    word_set(payload, 144, 32, (uint32_t)inst->stride);
    word_set(payload, 142, 2, inst->axis);
    word_set(payload, 126, 16, (uint16_t)inst->step);
    for (unsigned a = 0; a < TENSOR_AXES; a++) {
        word_set(payload, 32 * a, 16, (uint16_t)inst->axes[a].start);
        word_set(payload, 32 * a + 16, 16, inst->axes[a].extent);
    }
}

static inline void tensor_part_decode(const struct word256 *payload, struct tensor_part_inst *inst) {
    *inst = (struct tensor_part_inst){.descriptor = (uint8_t)word_get(payload, 240, 8),
                                      .part = (uint8_t)word_get(payload, 232, 8),
                                      .base = word_get(payload, 192, 40),
                                      .count = (uint16_t)word_get(payload, 176, 16),
                                      .stride = (int32_t)word_get(payload, 144, 32),
                                      .axis = (uint8_t)word_get(payload, 142, 2),
                                      .step = (int16_t)word_get(payload, 126, 16)};
    for (unsigned a = 0; a < TENSOR_AXES; a++) {
        inst->axes[a].start = (int16_t)word_get(payload, 32 * a, 16);
        inst->axes[a].extent = (uint16_t)word_get(payload, 32 * a + 16, 16);
    }
}

/* The four lanes of a gathering request; lane 0 lies where other requests have their address. */
static inline void tensor_lane_set(struct word256 *payload, unsigned lane, uint64_t address, bool exists) {
    static const unsigned lows[TENSOR_LANES] = {216, 112, 72, 32};
    word_set(payload, lows[lane], 40, address);
    word_set(payload, 28 + lane, 1, exists);
}

static inline bool tensor_lane(const struct word256 *payload, unsigned lane, uint64_t *address) {
    static const unsigned lows[TENSOR_LANES] = {216, 112, 72, 32};
    *address = word_get(payload, lows[lane], 40);
    return word_get(payload, 28 + lane, 1);
}
