/* Address walker of the memory mover (noc-and-memory §8.1): up to six nested counts with signed byte strides, and two
 * bound axes that say which elements exist. The mover has two, source and destination. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    WALKER_DIMS = 6,
    WALKER_AXES = 2, /* numbered 1 and 2 in the registers, 0 and 1 here */
    ADDRESS_BITS = 40,
};

#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

struct walker_dim {
    uint16_t count;  /* 0 acts as 1 */
    uint8_t axis;    /* 1, 2; 0 and 3: none */
    int16_t step;    /* added to the axis value for every step of this dimension */
    uint32_t stride; /* bytes, signed; arithmetic is modulo 2^32 */
};

struct walker_axis {
    uint16_t start;  /* signed */
    uint16_t extent; /* 0: axis unused */
};

struct walker {
    /* Registers. */
    uint64_t base;
    unsigned ndim; /* 0..7; dimension ndim-1 is innermost, 7 behaves as 6 */
    struct walker_dim dims[WALKER_DIMS];
    struct walker_axis axes[WALKER_AXES];
    /* The element it stands on; offset and values follow from index. */
    uint16_t index[WALKER_DIMS];
    uint32_t offset;
    uint16_t value[WALKER_AXES];
};

void walker_reset(struct walker *walker);
/* To element 0. */
void walker_start(struct walker *walker);
/* After a change of registers: offset and axis values of the element it stands on. */
void walker_refresh(struct walker *walker);
/* One element on; on the last one it stays. */
void walker_advance(struct walker *walker);
bool walker_at_last(const struct walker *walker);
/* Inside both bounds. */
bool walker_valid(const struct walker *walker);
bool walker_bounded(const struct walker *walker);
/* Elements of the whole walk; UINT64_MAX if they are more than 64 bits hold. */
uint64_t walker_elements(const struct walker *walker);

static inline uint64_t walker_address(const struct walker *walker) {
    return (walker->base + (uint64_t)(int64_t)(int32_t)walker->offset) & ADDRESS_MASK;
}
