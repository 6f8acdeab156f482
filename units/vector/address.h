/* Address descriptors of the vector core and the one walker that goes through them (compute-units §7.8).
 *
 * A walk runs over up to four dimensions, dimension 0 fastest, and stays on its last element when asked for more. */
#pragma once

#include <stdint.h>

enum {
    DESCRIPTORS = 8,
    DESCRIPTOR_DIMENSIONS = 4,
    WALK_LONGEST = 256, /* of a fill or drain; longer is F_LEN (§7.10) */
};

#define ADDRESS_MASK ((UINT64_C(1) << 40) - 1)

struct descriptor {
    uint64_t base; /* 40 bits */
    int32_t stride[DESCRIPTOR_DIMENSIONS];
    uint16_t bound[DESCRIPTOR_DIMENSIONS]; /* 0 counts as 1 */
};

struct walk {
    const struct descriptor *descriptor;
    uint64_t address; /* of the current element, 40 bits */
    unsigned index[DESCRIPTOR_DIMENSIONS];
};

/* Base 0, no strides, every bound 1. */
void descriptor_reset(struct descriptor *descriptor);
/* A DESC instruction: field 0 base, 1..4 dimension 0..3, others nothing (§7.3). */
void descriptor_write(struct descriptor *descriptor, unsigned field, uint64_t value);
/* Elements of the whole walk; anything above WALK_LONGEST comes out as WALK_LONGEST + 1. */
unsigned descriptor_elements(const struct descriptor *descriptor);

struct walk walk_start(const struct descriptor *descriptor, int64_t offset);
void walk_next(struct walk *walk);
