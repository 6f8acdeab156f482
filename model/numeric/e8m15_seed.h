/* The vector core's four approximations, each a quadratic on 32 (rsqrt: 64) segments in integers, with the rounding of
 * every other result. Follows golden README section 8.3 and compute-units §7.11; arguments and results are E8M15. */
#pragma once

#include "model/numeric/e8m15.h"

enum e8m15_seed {
    E8M15_SEED_EXP2,
    E8M15_SEED_LOG2,
    E8M15_SEED_INV,
    E8M15_SEED_RSQRT,
};

enum {
    E8M15_SEGMENTS = 32,       /* of exp2, log2 and inv */
    E8M15_RSQRT_SEGMENTS = 64, /* the upper half for odd powers of two */
};

/* c0 * 2^-20 + c1 * 2^-24 * t + c2 * 2^-28 * t^2 for t in [0, 1) across the segment. */
struct e8m15_quadratic {
    int32_t c0, c1, c2; /* 22-bit two's complement */
};

/* Segment `index`, below the seed's number of segments. */
struct e8m15_quadratic e8m15_seed_segment(enum e8m15_seed seed, unsigned index);

uint32_t e8m15_exp2(uint32_t a, enum e8m15_exp2_range range);
uint32_t e8m15_log2(uint32_t a);
uint32_t e8m15_inv(uint32_t a);
uint32_t e8m15_rsqrt(uint32_t a);

/* Whether `range` matters to exp2 of a. */
bool e8m15_exp2_leaves_range(uint32_t a);
