/* The vector core's reductions in the hardware's exact order of combination, which decides the last bits.
 * Follows golden README section 11 and compute-units §7.9. */
#pragma once

#include "model/numeric/e8m15.h"

/* Values of the instruction's kind field. VEC_ANY and VEC_ALL work on predicates and are not computed here. */
enum vec_reduction {
    VEC_SUM,
    VEC_MAXIMUM,
    VEC_MINIMUM,
    VEC_SUMSQ, /* the same circuit as VEC_DOT: a true sum of squares needs b = a */
    VEC_DOT,
    VEC_EXPSUM,
    VEC_ANY,
    VEC_ALL,
};

/* `length` is a multiple of 16, 16..128. `b` is read by VEC_SUMSQ and VEC_DOT only. VEC_EXPSUM also writes exp2 of
 * every element to `powers`, if that isn't NULL; it may be `a` itself. */
uint32_t e8m15_reduce(enum vec_reduction kind, const uint32_t *a, const uint32_t *b, unsigned length, uint32_t *powers,
                      enum e8m15_exp2_range range);
