/* The fused multiply-add works in the hardware's 48-bit window: the product stays, the addend moves. */
#include "model/numeric/e8m15.h"

#include "model/numeric/clones.h"
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

/* ---- many lanes at once ---- */

enum {
    LANES_MAX = 32,
    DOUBLE_FRACTION = 52,
    DOUBLE_BIAS = 1023,
    FRACTION_DROP = DOUBLE_FRACTION - (SIGNIFICAND_BITS - 1), /* bits of a double's fraction below the 15 kept */
};

/* 2^52: a number below it, put into the fraction of 2^52, is that number when 2^52 is taken away again. */
#define DOUBLE_UNIT INT64_C(0x4330000000000000)

/* Four lanes as the compiler's vectors, handed on by address. A comparison gives a mask of all ones or zero. */
typedef int64_t lanes4 __attribute__((vector_size(32)));
typedef uint64_t ulanes4 __attribute__((vector_size(32)));
typedef double doubles4 __attribute__((vector_size(32)));

#define CHOOSE(mask, yes, no) (((mask) & (yes)) | (~(mask) & (no)))
#define RIGHT(x, by)          ((lanes4)((ulanes4)(x) >> (by))) /* logical */
#define FIELD(x, low, mask)   (RIGHT(x, low) & (mask))

/* Magnitudes below 2^49, with the sticky bit at the very bottom, rounded to 16 bits and put together with the exponent:
 * the last steps of e8m15_round. As doubles they are normalised without looking for their leading ones. */
ALWAYS_INLINE void round_lanes(const lanes4 *magnitude, const lanes4 *sticky, const lanes4 *base, lanes4 *value) {
    const lanes4 unit = {DOUBLE_UNIT, DOUBLE_UNIT, DOUBLE_UNIT, DOUBLE_UNIT};
    lanes4 bits = (lanes4)((doubles4)(*magnitude | unit) - (doubles4)unit) | *sticky;
    bits += ((INT64_C(1) << (FRACTION_DROP - 1)) - 1) + FIELD(bits, FRACTION_DROP, 1);
    lanes4 exponent = RIGHT(bits, DOUBLE_FRACTION) - DOUBLE_BIAS + *base;
    lanes4 inside = (lanes4)((ulanes4)exponent << 15) | FIELD(bits, FRACTION_DROP, 0x7fff);
    lanes4 over = exponent >= EXPONENT_TOP, under = exponent <= 0;
    *value = CHOOSE(over, E8M15_INFINITY, inside) & ~under;
}

/* e8m15_fma for operands without infinities and NaNs, its steps without a branch. */
ALWAYS_INLINE void fma_finite(const lanes4 *a, const lanes4 *b, const lanes4 *c, lanes4 *out) {
    lanes4 e_a = FIELD(*a, 15, 255), e_b = FIELD(*b, 15, 255), e_c = FIELD(*c, 15, 255);
    lanes4 no_product = (e_a == 0) | (e_b == 0), no_addend = e_c == 0;
    lanes4 sig_a = (*a & 0x7fff) | SIGNIFICAND_ONE, sig_b = (*b & 0x7fff) | SIGNIFICAND_ONE;
    lanes4 sig_c = (*c & 0x7fff) | SIGNIFICAND_ONE;
    lanes4 exponents = CHOOSE(no_product, 2, e_a + e_b), distance = exponents - e_c + (17 - BIAS);
    lanes4 dropped = ~no_addend & (distance < 0), far = no_addend | (distance > WINDOW);
    lanes4 shift = CHOOSE(far, WINDOW, distance & ~dropped), past = shift - ADDEND_TOP;
    lanes4 product = (lanes4)((ulanes4)sig_a * (ulanes4)sig_b) & ~(no_product | dropped);
    lanes4 base = CHOOSE(dropped, e_c + ADDEND_BASE, exponents + PRODUCT_BASE);
    lanes4 addend = RIGHT(sig_c << ADDEND_TOP, (ulanes4)shift);
    const lanes4 ones = {1, 1, 1, 1};
    lanes4 below = (ones << (past & (past > 0))) - 1, sticky = ((sig_c & below) != 0) & 1;
    lanes4 sign_p = FIELD(*a ^ *b, 23, 1), sign_c = FIELD(*c, 23, 1);
    lanes4 same = sign_p == sign_c, less = addend < product;
    lanes4 difference = CHOOSE(less, product - addend, addend - product);
    lanes4 magnitude = CHOOSE(same, addend + product, difference), value;
    lanes4 sign = CHOOSE(same | less, sign_p, sign_c);
    lanes4 zero_sign = CHOOSE(same, sign_p, sign_c & (no_product | no_addend)), nothing = magnitude == 0;
    round_lanes(&magnitude, &sticky, &base, &value);
    *out = CHOOSE(nothing, zero_sign << 23, (sign << 23) | value);
}

VECTOR_CLONES
static void fma_lanes(const uint32_t *a, const uint32_t *b, const uint32_t *c, unsigned count, uint32_t *out) {
    for (unsigned i = 0; i < count; i += 4) {
        lanes4 x = {a[i], a[i + 1], a[i + 2], a[i + 3]}, y = {b[i], b[i + 1], b[i + 2], b[i + 3]};
        lanes4 z = {c[i], c[i + 1], c[i + 2], c[i + 3]}, result;
        fma_finite(&x, &y, &z, &result);
        for (unsigned k = 0; k < 4; k++)
            out[i + k] = (uint32_t)result[k];
    }
}

/* True if a lane has an exponent of 255. */
static bool any_special(const uint32_t *x, unsigned count) {
    uint32_t special = 0;
    for (unsigned i = 0; i < count; i++)
        special |= (x[i] & E8M15_INFINITY) == E8M15_INFINITY;
    return special;
}

/* The opcodes that are one multiply-add, and what becomes of their operands. */
static const struct fma_form {
    bool is, one, zero; /* B is 1.0, C is 0 */
    uint32_t negate_a, negate_c;
} fma_forms[VEC_FNMA + 1] = {
    [VEC_ADD] = {.is = true, .one = true},
    [VEC_SUB] = {.is = true, .one = true, .negate_c = E8M15_SIGN},
    [VEC_MUL] = {.is = true, .zero = true},
    [VEC_FMA] = {.is = true},
    [VEC_FNMA] = {.is = true, .negate_a = E8M15_SIGN},
};

/* Several lanes at once where that is possible: no infinities or NaNs, a whole number of fours. */
static bool alu_as_fma(enum vec_op op, const uint32_t *a, const uint32_t *b, const uint32_t *c, unsigned count,
                       uint32_t *out) {
    uint32_t x[LANES_MAX], y[LANES_MAX], z[LANES_MAX];
    if (op > VEC_FNMA || !fma_forms[op].is || count % 4)
        return false;
    const struct fma_form *form = &fma_forms[op];
    for (unsigned i = 0; i < count; i++) {
        x[i] = a[i] ^ form->negate_a;
        y[i] = form->one ? (uint32_t)E8M15_ONE : b[i];
        z[i] = form->zero ? (uint32_t)E8M15_ZERO : c[i] ^ form->negate_c;
    }
    if (any_special(x, count) || any_special(y, count) || any_special(z, count))
        return false;
    fma_lanes(x, y, z, count, out);
    return true;
}

uint32_t e8m15_alu_lanes(enum vec_op op, const uint32_t *a, const uint32_t *b, const uint32_t *c, unsigned count,
                         uint32_t *out, enum e8m15_exp2_range range) {
    uint32_t truths = 0;
    if (alu_as_fma(op, a, b, c, count, out))
        return 0;
    for (unsigned i = 0; i < count; i++) {
        struct e8m15_result result = e8m15_alu(op, a[i], b[i], c[i], range);
        out[i] = result.value;
        truths |= (uint32_t)result.predicate << i;
    }
    return truths;
}
