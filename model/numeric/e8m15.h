/* The vector core's number format and its one-lane arithmetic: everything but the seeds is one fused multiply-add with
 * operands chosen by the opcode. Follows golden README section 8 and compute-units §7.2, §7.5, §7.11.
 *
 * E8M15 is the top 24 bits of a binary32: sign, 8 exponent bits (bias 127), 15 fraction bits; exponent 0 is zero
 * whatever the fraction (computing ignores it, comparing and selecting look at it), 255 is infinity or NaN. Values
 * travel as uint32_t with the upper eight bits zero. The corners of the hardware are kept: ties away from zero when the
 * addend is zero, one unit too much in some differences, exp2 wrapping between 128 and 256. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    E8M15_ZERO = 0,
    E8M15_ONE = 0x3f8000,
    E8M15_INFINITY = 0x7f8000,
    E8M15_NAN = 0x7fc000, /* the one every operation returns */
    E8M15_SIGN = 0x800000,
};

/* Codes of the 32-bit word's op field. */
enum vec_op {
    VEC_MOV,
    VEC_NEG,
    VEC_ABS,
    VEC_ADD, /* a + c */
    VEC_SUB, /* a - c */
    VEC_MUL,
    VEC_FMA,  /* a * b + c */
    VEC_FNMA, /* -(a * b) + c */
    VEC_MAX,
    VEC_MIN,
    VEC_SEL, /* a if c is not zero, else b */
    VEC_CMPLT,
    VEC_CMPGT,
    VEC_CMPEQ,
    VEC_EXP2,
    VEC_LOG2,
    VEC_INV,
    VEC_RSQRT,
    VEC_CVT,
    VEC_RED,
    VEC_LD,
    VEC_ST,
    VEC_BCAST,
    VEC_SHUF,
    VEC_SETVL,
    VEC_SETMODE,
    VEC_SETI,
    VEC_LOOP,
    VEC_BAR,
    VEC_FILL,
    VEC_DRAIN,
    VEC_HALT,
    VEC_OPS,
};

/* What exp2 does for 128 <= |a| < 256: the hardware wraps the argument by 256. */
enum e8m15_exp2_range {
    E8M15_EXP2_WRAPS,
    E8M15_EXP2_SATURATES,
};

struct e8m15_result {
    uint32_t value; /* of a comparison 1.0 or +0 */
    bool predicate; /* of a comparison its truth, else false */
};

/* Value of {sign, exponent, fraction}, each cut to its field. */
static inline uint32_t e8m15_pack(uint32_t sign, uint32_t exponent, uint32_t fraction) {
    return (sign & 1) << 23 | (exponent & 255) << 15 | (fraction & 0x7fff);
}

static inline uint32_t e8m15_exponent(uint32_t x) {
    return x >> 15 & 255;
}

static inline uint32_t e8m15_fraction(uint32_t x) {
    return x & 0x7fff;
}

static inline bool e8m15_is_nan(uint32_t x) {
    return (x & 0x7fffff) > E8M15_INFINITY;
}

/* a * b + c with the hardware's single rounding. */
uint32_t e8m15_fma(uint32_t a, uint32_t b, uint32_t c);

/* {sign, magnitude * 2^exponent_base} brought to 16 bits, nearest even, `sticky` standing for bits below the magnitude.
 * The leading one at position p gives the exponent field p + base. Out of range: signed infinity, signed zero. */
uint32_t e8m15_round(uint32_t sign, uint64_t magnitude, bool sticky, int base);

/* One lane. An opcode that isn't arithmetic acts as the hardware's lane decodes it: VEC_CVT as VEC_INV, VEC_RED as
 * VEC_RSQRT, every later one as VEC_MOV (compute-units §7.6). */
struct e8m15_result e8m15_alu(enum vec_op op, uint32_t a, uint32_t b, uint32_t c, enum e8m15_exp2_range range);

/* The same for `count` lanes, 1..32; `out` is none of the inputs. Returns the predicates, lane i in bit i. */
uint32_t e8m15_alu_lanes(enum vec_op op, const uint32_t *a, const uint32_t *b, const uint32_t *c, unsigned count,
                         uint32_t *out, enum e8m15_exp2_range range);
