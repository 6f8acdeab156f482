/* binary16 conversions: all 65536 patterns, the edges of the range, and rounding against a search of the neighbours. */
#include "model/numeric/fp16.h"

#include <glib.h>
#include <math.h>

static void every_pattern_survives(void) {
    for (unsigned half = 0; half <= 0xffff; half++) {
        double value = fp16_to_double((uint16_t)half);
        if ((half & 0x7fff) > FP16_INFINITY) {
            g_assert_true(isnan(value));
            g_assert_cmphex(fp16_from_double(value), ==, half | 0x200);
            continue;
        }
        g_assert_cmphex(fp16_from_double(value), ==, half);
        g_assert_cmphex(fp16_from_float(fp16_to_float((uint16_t)half)), ==, half);
    }
}

static void values_are_those_of_the_format(void) {
    g_assert_cmpfloat(fp16_to_double(0x3c00), ==, 1.0);
    g_assert_cmpfloat(fp16_to_double(0xc500), ==, -5.0);
    g_assert_cmpfloat(fp16_to_double(FP16_LARGEST), ==, 65504.0);
    g_assert_cmpfloat(fp16_to_double(0x0001), ==, 0x1p-24);
    g_assert_cmpfloat(fp16_to_double(0x0400), ==, 0x1p-14);
    g_assert_true(isinf(fp16_to_double(0xfc00)) && signbit(fp16_to_double(0x8000)));
}

static void rounding_ties_go_to_even(void) {
    for (unsigned half = 0; half < FP16_LARGEST; half++) {
        double low = fp16_to_double((uint16_t)half), high = fp16_to_double((uint16_t)(half + 1));
        double middle = (low + high) / 2;
        g_assert_cmphex(fp16_from_double(middle), ==, half + (half & 1));
        g_assert_cmphex(fp16_from_double(nextafter(middle, 0)), ==, half);
        g_assert_cmphex(fp16_from_double(-nextafter(middle, 1e9)), ==, (half + 1) | 0x8000);
    }
}

static void too_large_is_infinite_or_saturates(void) {
    g_assert_cmphex(fp16_from_double(nextafter(65520.0, 0)), ==, FP16_LARGEST);
    g_assert_cmphex(fp16_from_double(65520.0), ==, FP16_INFINITY);
    g_assert_cmphex(fp16_from_double(-1e300), ==, 0xfc00);
    g_assert_cmphex(fp16_from_double_saturating(65520.0), ==, FP16_LARGEST);
    g_assert_cmphex(fp16_from_double_saturating(-1e300), ==, 0xfbff);
    g_assert_cmphex(fp16_from_double_saturating(INFINITY), ==, FP16_INFINITY);
    g_assert_cmphex(fp16_from_double(0x1p-1074), ==, 0);
    g_assert_cmphex(fp16_from_double(-0.0), ==, 0x8000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fp16/every_pattern_survives", every_pattern_survives);
    g_test_add_func("/fp16/values_are_those_of_the_format", values_are_those_of_the_format);
    g_test_add_func("/fp16/rounding_ties_go_to_even", rounding_ties_go_to_even);
    g_test_add_func("/fp16/too_large_is_infinite_or_saturates", too_large_is_infinite_or_saturates);
    return g_test_run();
}
