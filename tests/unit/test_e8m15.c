/* What recorded lane operations do not say: the coefficients follow from their rule, results are the nearest ones where
 * the hardware keeps all bits, the seeds are as near as 16 bits allow, formats convert there and back. */
#include "model/numeric/e8m15.h"

#include "model/numeric/e8m15_convert.h"
#include "model/numeric/e8m15_reduce.h"
#include "model/numeric/e8m15_seed.h"

#include <glib.h>
#include <math.h>

static long double curve(enum e8m15_seed seed, unsigned index, long double t) {
    long double x = (index % 32 + t) / 32;
    switch (seed) {
    case E8M15_SEED_EXP2:
        return exp2l(x) - 1;
    case E8M15_SEED_LOG2:
        return log2l(1 + x);
    case E8M15_SEED_INV:
        return 1 / (1 + x);
    default:
        return 1 / sqrtl((1 + x) * (index >= 32 ? 2 : 1));
    }
}

/* Lagrange's form, where the table's maker may have used any other. */
static struct e8m15_quadratic fit(enum e8m15_seed seed, unsigned index) {
    long double t[3], y[3], a[3] = {0};
    for (unsigned j = 0; j < 3; j++) {
        t[j] = (1 + cosl((2 * j + 1) * acosl(-1.0L) / 6)) / 2;
        y[j] = curve(seed, index, t[j]);
    }
    for (unsigned j = 0; j < 3; j++) {
        long double p = t[(j + 1) % 3], q = t[(j + 2) % 3], weight = y[j] / ((t[j] - p) * (t[j] - q));
        a[0] += weight * p * q;
        a[1] -= weight * (p + q);
        a[2] += weight;
    }
    return (struct e8m15_quadratic){(int32_t)roundl(ldexpl(a[0], 20)), (int32_t)roundl(ldexpl(a[1], 24)),
                                    (int32_t)roundl(ldexpl(a[2], 28))};
}

static void coefficients_follow_from_the_rule(void) {
    gint64 total[3] = {0};
    for (unsigned seed = E8M15_SEED_EXP2; seed <= E8M15_SEED_RSQRT; seed++) {
        unsigned segments = seed == E8M15_SEED_RSQRT ? E8M15_RSQRT_SEGMENTS : E8M15_SEGMENTS;
        for (unsigned index = 0; index < segments; index++) {
            struct e8m15_quadratic q = e8m15_seed_segment(seed, index), rule = fit(seed, index);
            g_assert_cmpint(q.c0, ==, rule.c0);
            g_assert_cmpint(q.c1, ==, rule.c1);
            g_assert_cmpint(q.c2, ==, rule.c2);
            total[0] += q.c0;
            total[1] += q.c1;
            total[2] += q.c2;
        }
    }
    g_assert_cmpint(total[0], ==, 103744904); /* check sums of compute-units §7.11 */
    g_assert_cmpint(total[1], ==, 16443610);
    g_assert_cmpint(total[2], ==, 5341086);
}

static uint32_t random_value(int near_exponent, int spread) {
    return e8m15_pack(g_test_rand_bit(), (uint32_t)(near_exponent + g_test_rand_int_range(-spread, spread + 1)),
                      (uint32_t)g_test_rand_int());
}

/* Nearest E8M15 number of 16 significant bits, by the host's own rounding; exponents stay inside the range. */
static double nearest(double value) {
    int exponent;
    double fraction = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(fraction, 16)), exponent - 16);
}

/* Addend shifted by 0..32 places: nothing is lost, a double holds the exact value, and the result must be the nearest.
 */
static void fma_is_correctly_rounded_while_bits_fit(void) {
    unsigned checked = 0;
    for (unsigned n = 0; n < 200000; n++) {
        uint32_t a = random_value(127, 8), b = random_value(127, 8), c = random_value(127, 20);
        int shift = 17 + (int)(e8m15_exponent(a) + e8m15_exponent(b)) - 127 - (int)e8m15_exponent(c);
        if (shift < 0 || shift > 32)
            continue;
        double exact = e8m15_to_double(a) * e8m15_to_double(b) + e8m15_to_double(c);
        g_assert_cmpfloat(e8m15_to_double(e8m15_fma(a, b, c)), ==, nearest(exact));
        checked++;
    }
    g_assert_cmpuint(checked, >, 10000);
}

static void products_break_ties_away_from_zero(void) {
    uint32_t a = e8m15_pack(0, 127, 1), b = e8m15_pack(0, 127, 0x4000); /* (1 + 2^-15) * 1.5 ends in half a unit */
    g_assert_cmphex(e8m15_fma(a, b, E8M15_ZERO), ==, e8m15_pack(0, 127, 0x4002));
    for (unsigned n = 0; n < 100000; n++) {
        uint32_t x = random_value(127, 20), y = random_value(127, 20);
        double exact = fabs(e8m15_to_double(x) * e8m15_to_double(y));
        int exponent;
        double units = ldexp(frexp(exact, &exponent), 16), rounded = ldexp(floor(units + 0.5), exponent - 16);
        g_assert_cmpfloat(fabs(e8m15_to_double(e8m15_alu(VEC_MUL, x, y, 0, E8M15_EXP2_WRAPS).value)), ==, rounded);
    }
}

static void seeds_are_within_a_unit(void) {
    for (unsigned n = 0; n < 0x8000; n++) {
        uint32_t a = e8m15_pack(0, 100 + n % 60, n);
        double x = e8m15_to_double(a), small = e8m15_to_double(e8m15_pack(n & 1, 115 + n % 17, n));
        g_assert_cmpfloat(fabs(e8m15_to_double(e8m15_inv(a)) * x - 1), <, 0x1p-15);
        g_assert_cmpfloat(fabs(e8m15_to_double(e8m15_rsqrt(a)) * sqrt(x) - 1), <, 0x1p-15);
        g_assert_cmpfloat(fabs(e8m15_to_double(e8m15_log2(a)) - log2(x)), <, 0x1p-15 * fmax(1, fabs(log2(x))));
        uint32_t power = e8m15_exp2(e8m15_pack(n & 1, 115 + n % 17, n), E8M15_EXP2_WRAPS);
        g_assert_cmpfloat(fabs(e8m15_to_double(power) / exp2(small) - 1), <, 0x1p-15);
    }
}

static void powers_of_two_are_exact(void) {
    for (int power = -60; power <= 60; power++) {
        uint32_t a = e8m15_pack(0, (uint32_t)(127 + power), 0);
        g_assert_cmphex(e8m15_inv(a), ==, e8m15_pack(0, (uint32_t)(127 - power), 0));
        g_assert_cmpfloat(e8m15_to_double(e8m15_log2(a)), ==, power);
        g_assert_cmphex(e8m15_exp2(e8m15_log2(a), E8M15_EXP2_WRAPS), ==, a);
        if (power % 2 == 0)
            g_assert_cmphex(e8m15_rsqrt(a), ==, e8m15_pack(0, (uint32_t)(127 - power / 2), 0));
    }
}

static void exp2_saturates_if_asked(void) {
    const uint32_t plus_200 = e8m15_pack(0, 134, 0x4800), minus_200 = plus_200 | E8M15_SIGN;
    const uint32_t plus_128 = e8m15_pack(0, 134, 0), minus_128 = plus_128 | E8M15_SIGN;
    g_assert_cmphex(e8m15_exp2(plus_200, E8M15_EXP2_WRAPS), ==, e8m15_pack(0, 127 - 56, 0));
    g_assert_cmphex(e8m15_exp2(minus_200, E8M15_EXP2_WRAPS), ==, e8m15_pack(0, 127 + 56, 0));
    g_assert_cmphex(e8m15_exp2(plus_128, E8M15_EXP2_WRAPS), ==, E8M15_ZERO);
    g_assert_cmphex(e8m15_exp2(plus_200, E8M15_EXP2_SATURATES), ==, E8M15_INFINITY);
    g_assert_cmphex(e8m15_exp2(plus_128, E8M15_EXP2_SATURATES), ==, E8M15_INFINITY);
    g_assert_cmphex(e8m15_exp2(minus_200, E8M15_EXP2_SATURATES), ==, E8M15_ZERO);
    g_assert_true(e8m15_exp2_leaves_range(plus_128) && e8m15_exp2_leaves_range(minus_200));
    g_assert_false(e8m15_exp2_leaves_range(minus_128) || e8m15_exp2_leaves_range(e8m15_pack(0, 133, 0x7fff)));
    g_assert_false(e8m15_exp2_leaves_range(E8M15_INFINITY));
}

static void other_opcodes_act_as_the_lane_decodes_them(void) {
    const uint32_t four = e8m15_pack(0, 129, 0);
    for (unsigned op = VEC_CVT; op < VEC_OPS; op++) {
        uint32_t expected = op == VEC_CVT ? e8m15_pack(0, 125, 0) : op == VEC_RED ? e8m15_pack(0, 126, 0) : four;
        g_assert_cmphex(e8m15_alu(op, four, 0, 0, E8M15_EXP2_WRAPS).value, ==, expected);
    }
}

static void formats_convert_there_and_back(void) {
    for (uint32_t half = 0; half <= 0xffff; half++) {
        bool nan = (half & 0x7fff) > 0x7c00;
        g_assert_cmphex(e8m15_to_f16(e8m15_from_f16((uint16_t)half)), ==, nan ? half | 0x200 : half);
    }
    for (unsigned n = 0; n < 50000; n++) {
        uint32_t x = (uint32_t)g_test_rand_int() & 0xffffff, flushed = e8m15_exponent(x) ? x : x & E8M15_SIGN;
        g_assert_cmphex(e8m15_from_f32(e8m15_to_f32(x)), ==, e8m15_is_nan(x) ? x | 0x4000 : flushed);
    }
}

static void reductions_of_plain_numbers(void) {
    uint32_t ones[128], ramp[128], powers[128], zeros[16];
    for (unsigned e = 0; e < 128; e++) {
        float value = (float)e - 64;
        union {
            float f;
            uint32_t u;
        } bits = {value};
        ones[e] = E8M15_ONE;
        ramp[e] = e8m15_from_f32(bits.u);
    }
    for (unsigned e = 0; e < 16; e++)
        zeros[e] = E8M15_SIGN;
    for (unsigned length = 16; length <= 128; length += 16) {
        g_assert_cmpfloat(e8m15_to_double(e8m15_reduce(VEC_SUM, ones, NULL, length, NULL, 0)), ==, length);
        g_assert_cmpfloat(e8m15_to_double(e8m15_reduce(VEC_DOT, ones, ones, length, NULL, 0)), ==, length);
        g_assert_cmpfloat(e8m15_to_double(e8m15_reduce(VEC_MAXIMUM, ramp, NULL, length, NULL, 0)), ==, length - 65.0);
        g_assert_cmpfloat(e8m15_to_double(e8m15_reduce(VEC_MINIMUM, ramp, NULL, length, NULL, 0)), ==, -64.0);
        g_assert_cmpfloat(e8m15_to_double(e8m15_reduce(VEC_EXPSUM, ones, NULL, length, powers, 0)), ==, 2.0 * length);
        g_assert_cmpfloat(e8m15_to_double(powers[length - 1]), ==, 2.0);
    }
    g_assert_cmphex(e8m15_reduce(VEC_SUM, zeros, NULL, 16, NULL, 0), ==, E8M15_ZERO); /* the -0 are lost */
}

/* A value near others often enough for cancellation, ties, zeros with a fraction, infinities and NaNs to meet. */
static uint32_t awkward_value(void) {
    uint32_t bits = (uint32_t)g_test_rand_int() & 0xffffff;
    switch (g_test_rand_int_range(0, 16)) {
    case 0:
        return bits & (E8M15_SIGN | 0x7fff); /* exponent 0 */
    case 1:
        return bits & E8M15_SIGN;
    case 2:
        return g_test_rand_int_range(0, 8) ? bits : bits | E8M15_INFINITY;
    case 3:
    case 4:
        return bits; /* any exponent */
    default:
        bits = e8m15_pack(bits >> 23, 118 + (uint32_t)g_test_rand_int_range(0, 20), bits);
        return g_test_rand_int_range(0, 3) ? bits : bits & ~UINT32_C(0x3ff);
    }
}

/* Many lanes at once give the bits and predicates of one lane, for every opcode. */
static void lanes_agree_with_one(void) {
    static const unsigned counts[] = {4, 8, 16, 5};
    for (unsigned round = 0; round < 200000; round++) {
        enum vec_op op = (enum vec_op)(round % VEC_OPS);
        unsigned count = counts[round / VEC_OPS % G_N_ELEMENTS(counts)];
        uint32_t a[16], b[16], c[16], out[16], truths;
        for (unsigned i = 0; i < count; i++) {
            a[i] = awkward_value();
            b[i] = awkward_value();
            c[i] = g_test_rand_int_range(0, 8) ? awkward_value() : a[i] ^ E8M15_SIGN;
        }
        truths = e8m15_alu_lanes(op, a, b, c, count, out, E8M15_EXP2_WRAPS);
        for (unsigned i = 0; i < count; i++) {
            struct e8m15_result one = e8m15_alu(op, a[i], b[i], c[i], E8M15_EXP2_WRAPS);
            if (one.value != out[i] || one.predicate != (truths >> i & 1))
                g_error("op %d of %06x %06x %06x: %06x %u, alone %06x %u", op, a[i], b[i], c[i], out[i],
                        truths >> i & 1, one.value, one.predicate);
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/e8m15/coefficients_follow_from_the_rule", coefficients_follow_from_the_rule);
    g_test_add_func("/e8m15/fma_is_correctly_rounded_while_bits_fit", fma_is_correctly_rounded_while_bits_fit);
    g_test_add_func("/e8m15/products_break_ties_away_from_zero", products_break_ties_away_from_zero);
    g_test_add_func("/e8m15/seeds_are_within_a_unit", seeds_are_within_a_unit);
    g_test_add_func("/e8m15/powers_of_two_are_exact", powers_of_two_are_exact);
    g_test_add_func("/e8m15/exp2_saturates_if_asked", exp2_saturates_if_asked);
    g_test_add_func("/e8m15/other_opcodes_act_as_the_lane_decodes_them", other_opcodes_act_as_the_lane_decodes_them);
    g_test_add_func("/e8m15/formats_convert_there_and_back", formats_convert_there_and_back);
    g_test_add_func("/e8m15/reductions_of_plain_numbers", reductions_of_plain_numbers);
    g_test_add_func("/e8m15/lanes_agree_with_one", lanes_agree_with_one);
    return g_test_run();
}
