/* The fused multiply-add works in the hardware's 48-bit window: the product stays, the addend moves. */
#include "model/numeric/e8m15.h"

#include "model/numeric/e8m15_seed.h"

enum {
    BIAS = 127,
    SIGNIFICAND_BITS = 16,
    SIGNIFICAND_ONE = 1 << 15,
    WINDOW = 48,
    ADDEND_TOP = 32, /* how far an unshifted addend lies above bit 0 of the window */
    EXPONENT_TOP = 255,
    MAGNITUDE = 0x7fffff,
};

/* Exponent field of bit 0 of the window, less the position of the leading one. */
enum {
    PRODUCT_BASE = -157,
    ADDEND_BASE = -47,
};

uint32_t e8m15_round(uint32_t sign, uint64_t magnitude, bool sticky, int base) {
    if (magnitude == 0)
        return sign << 23;
    int top = 63 - __builtin_clzll(magnitude), drop = top - (SIGNIFICAND_BITS - 1);
    uint64_t kept = drop > 0 ? magnitude >> drop : magnitude << -drop;
    if (drop > 0) {
        uint64_t half = UINT64_C(1) << (drop - 1), rest = magnitude & (2 * half - 1);
        kept += rest > half || (rest == half && (sticky || (kept & 1)));
    }
    int exponent = top + base + (int)(kept >> SIGNIFICAND_BITS); /* a carry leaves a fraction of 0 either way */
    if (exponent >= EXPONENT_TOP)
        return e8m15_pack(sign, EXPONENT_TOP, 0);
    return exponent <= 0 ? sign << 23 : e8m15_pack(sign, (uint32_t)exponent, (uint32_t)kept);
}

static bool is_zero(uint32_t x) {
    return e8m15_exponent(x) == 0;
}

static bool is_infinite(uint32_t x) {
    return (x & MAGNITUDE) == E8M15_INFINITY;
}

/* NaN and infinity; false if all three operands are finite. */
static bool special_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t *result) {
    bool infinite_product = is_infinite(a) || is_infinite(b);
    uint32_t product_sign = (a ^ b) & E8M15_SIGN;
    if (e8m15_exponent(a) != EXPONENT_TOP && e8m15_exponent(b) != EXPONENT_TOP && e8m15_exponent(c) != EXPONENT_TOP)
        return false;
    if (e8m15_is_nan(a) || e8m15_is_nan(b) || e8m15_is_nan(c) || (infinite_product && (is_zero(a) || is_zero(b))) ||
        (infinite_product && is_infinite(c) && product_sign != (c & E8M15_SIGN)))
        *result = E8M15_NAN;
    else
        *result = E8M15_INFINITY | (infinite_product ? product_sign : c & E8M15_SIGN);
    return true;
}

static uint64_t significand(uint32_t x) {
    return SIGNIFICAND_ONE | e8m15_fraction(x);
}

uint32_t e8m15_fma(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t special;
    if (special_fma(a, b, c, &special))
        return special;
    bool no_product = is_zero(a) || is_zero(b), no_addend = is_zero(c);
    uint32_t product_sign = (a ^ b) >> 23 & 1, addend_sign = c >> 23 & 1;
    int exponents = no_product ? 2 : (int)(e8m15_exponent(a) + e8m15_exponent(b));
    uint64_t product = no_product ? 0 : significand(a) * significand(b);

    int base = exponents + PRODUCT_BASE, shift = 17 + exponents - BIAS - (int)e8m15_exponent(c);
    if (no_addend || shift > WINDOW) {
        shift = WINDOW;
    } else if (shift < 0) { /* the product is too small to matter: the result is c */
        product = 0;
        shift = 0;
        base = (int)e8m15_exponent(c) + ADDEND_BASE;
    }
    /* A zero addend is shifted out like any other, leading one and all, and so turns ties of a pure product upwards. */
    uint64_t addend = significand(c) << ADDEND_TOP >> shift;
    bool sticky = shift > ADDEND_TOP && (significand(c) & ((UINT64_C(1) << (shift - ADDEND_TOP)) - 1));

    if (product_sign == addend_sign)
        return e8m15_round(product_sign, addend + product, sticky, base);
    if (addend < product)
        return e8m15_round(product_sign, product - addend, sticky, base);
    if (addend == product)
        return no_product || no_addend ? addend_sign << 23 : E8M15_ZERO;
    return e8m15_round(addend_sign, addend - product, sticky, base);
}

/* On raw bits, so that a zero with a fraction compares by it. */
static bool less(uint32_t a, uint32_t b) {
    uint32_t m_a = a & MAGNITUDE, m_b = b & MAGNITUDE;
    if (e8m15_is_nan(a) || e8m15_is_nan(b) || (m_a | m_b) == 0)
        return false;
    if ((a ^ b) & E8M15_SIGN)
        return a & E8M15_SIGN;
    return a & E8M15_SIGN ? m_a > m_b : m_a < m_b;
}

static bool equal(uint32_t a, uint32_t b) {
    if (e8m15_is_nan(a) || e8m15_is_nan(b))
        return false;
    return a == b || ((a | b) & MAGNITUDE) == 0;
}

/* Selected operands too pass through the multiply-add, which turns every zero into +0 and every NaN into the one. */
static struct e8m15_result pass(uint32_t x) {
    return (struct e8m15_result){e8m15_fma(x, E8M15_ONE, E8M15_ZERO), false};
}

static struct e8m15_result truth(bool holds) {
    return (struct e8m15_result){holds ? E8M15_ONE : E8M15_ZERO, holds};
}

struct e8m15_result e8m15_alu(enum vec_op op, uint32_t a, uint32_t b, uint32_t c, enum e8m15_exp2_range range) {
    switch (op) {
    case VEC_NEG:
        return pass(a ^ E8M15_SIGN);
    case VEC_ABS:
        return pass(a & MAGNITUDE);
    case VEC_ADD:
        return (struct e8m15_result){e8m15_fma(a, E8M15_ONE, c), false};
    case VEC_SUB:
        return (struct e8m15_result){e8m15_fma(a, E8M15_ONE, c ^ E8M15_SIGN), false};
    case VEC_MUL:
        return (struct e8m15_result){e8m15_fma(a, b, E8M15_ZERO), false};
    case VEC_FMA:
        return (struct e8m15_result){e8m15_fma(a, b, c), false};
    case VEC_FNMA:
        return (struct e8m15_result){e8m15_fma(a ^ E8M15_SIGN, b, c), false};
    case VEC_MAX:
        return pass(less(a, b) ? b : a);
    case VEC_MIN:
        return pass(less(b, a) ? b : a);
    case VEC_SEL:
        return pass(c & MAGNITUDE ? a : b);
    case VEC_CMPLT:
        return truth(less(a, b));
    case VEC_CMPGT:
        return truth(less(b, a));
    case VEC_CMPEQ:
        return truth(equal(a, b));
    case VEC_EXP2:
        return (struct e8m15_result){e8m15_exp2(a, range), false};
    case VEC_LOG2:
        return (struct e8m15_result){e8m15_log2(a), false};
    case VEC_INV:
    case VEC_CVT:
        return (struct e8m15_result){e8m15_inv(a), false};
    case VEC_RSQRT:
    case VEC_RED:
        return (struct e8m15_result){e8m15_rsqrt(a), false};
    default:
        return pass(a);
    }
}
