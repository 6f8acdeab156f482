/* The accumulator at every fraction width, against a slow evaluation that keeps all bits in 128-bit integers. */
#include "model/numeric/fp22.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef unsigned __int128 wide;

enum {
    ROUNDS = 20000,
    GUARD_BITS = 8,
};

static unsigned leading_one(wide value) {
    unsigned at = 0;
    while (value >> 1) {
        value >>= 1;
        at++;
    }
    return at;
}

/* value to width+1 bits, nearest even; *position is that of the leading one after a carry. Returns the fraction. */
static uint32_t round_slowly(wide value, bool sticky, unsigned width, int *position) {
    wide doubled = value << 40 | sticky; /* room enough that the kept bits always have something below */
    unsigned top = leading_one(doubled), drop = top - width;
    wide kept = doubled >> drop, rest = doubled & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    *position = (int)top - 40;
    if (kept >> (width + 1)) {
        kept >>= 1;
        ++*position;
    }
    return (uint32_t)kept & ((1u << width) - 1);
}

static uint32_t normalise_slowly(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor, unsigned width) {
    int position;
    if (part == 0)
        return 0;
    wide magnitude = (wide)(part < 0 ? -(int64_t)part : part) * (8 + sa % 8) * (8 + sb % 8);
    uint32_t fraction = round_slowly(magnitude, false, width, &position);
    int field = position + sa / 8 + sb / 8 - anchor - 6 + 63;
    field = ((field % 128) + 128) % 128;
    return field ? (uint32_t)(part < 0) << (width + 7) | (uint32_t)field << width | fraction : 0;
}

static uint32_t add_slowly(uint32_t tile, uint32_t incoming, unsigned width) {
    const uint32_t magnitude = (128u << width) - 1, one = 1u << width;
    if ((tile & magnitude) < one || (incoming & magnitude) < one)
        return (tile & magnitude) >= one ? tile : (incoming & magnitude) >= one ? incoming : 0;
    bool tile_first = (tile & magnitude) >= (incoming & magnitude);
    uint32_t x = tile_first ? tile : incoming, y = tile_first ? incoming : tile;
    int ex = (int)(x >> width & 127), ey = (int)(y >> width & 127), d = ex - ey;
    wide fx = (wide)(one | x % one) << GUARD_BITS, fy = (wide)(one | y % one) << GUARD_BITS;
    wide down = d < 100 ? fy >> d : 0;
    bool lost = d < 100 ? down << d != fy : true;
    wide sum = (x ^ y) >> (width + 7) & 1 ? fx - down : fx + down;
    uint32_t sign = x >> (width + 7) << (width + 7);
    int position;
    if (sum == 0)
        return 0;
    uint32_t fraction = round_slowly(sum, lost, width, &position);
    int exponent = ex + position - (int)(width + GUARD_BITS);
    if (exponent <= 0)
        return 0;
    return exponent >= 127 ? sign | magnitude : sign | (uint32_t)exponent << width | fraction;
}

static uint32_t random_word(unsigned width, int near_field) {
    int drawn = near_field + g_test_rand_int_range(-12, 13), field = CLAMP(drawn, 0, 127);
    uint32_t fraction = (uint32_t)g_test_rand_int() & ((1u << width) - 1);
    if (g_test_rand_bit()) /* long runs of zeros or ones make the ties and carries */
        fraction = g_test_rand_bit() ? fraction & 3 : fraction | ((1u << width) - 4);
    return (uint32_t)g_test_rand_bit() << (width + 7) | (uint32_t)field << width | fraction;
}

static void normalise_agrees_with_the_slow_rule(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data);
    for (unsigned n = 0; n < ROUNDS; n++) {
        int32_t part = g_test_rand_int_range(-131072, 131073) >> g_test_rand_int_range(0, 18);
        uint8_t sa = (uint8_t)g_test_rand_int_range(0, 256), sb = (uint8_t)g_test_rand_int_range(0, 256);
        uint8_t anchor = g_test_rand_bit() ? FP22_ANCHOR : (uint8_t)g_test_rand_int_range(0, 256);
        g_assert_cmphex(fp22_normalise(part, sa, sb, anchor, width), ==, normalise_slowly(part, sa, sb, anchor, width));
    }
}

static void add_agrees_with_the_slow_rule(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data);
    for (unsigned n = 0; n < ROUNDS; n++) {
        int near_field = g_test_rand_int_range(0, 128);
        uint32_t x = random_word(width, near_field), y = random_word(width, near_field);
        if (n % 16 == 0)
            y = x ^ (128u << width);
        g_assert_cmphex(fp22_add(x, y, width), ==, add_slowly(x, y, width));
    }
}

/* At equal distance below 9 nothing is lost, so the sum is the correctly rounded true one. */
static void near_sums_are_correctly_rounded(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data);
    for (unsigned n = 0; n < ROUNDS; n++) {
        uint32_t x = random_word(width, 64), y = random_word(width, 64);
        int distance = (int)(x >> width & 127) - (int)(y >> width & 127);
        double sum = fp22_to_double(x, width) + fp22_to_double(y, width);
        int exponent;
        if (ABS(distance) > 8)
            continue;
        double fraction = frexp(sum, &exponent);
        double rounded = ldexp(nearbyint(ldexp(fraction, (int)width + 1)), exponent - (int)width - 1);
        g_assert_cmpfloat(fp22_to_double(fp22_add(x, y, width), width), ==, rounded);
    }
}

static void tiles_agree_with_single_lanes(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data);
    for (unsigned n = 0; n < 2000; n++) {
        uint32_t tile[16], loaded[16], added[16], summed[16], other[16];
        int32_t sums[16];
        uint8_t sa[4], sb[4], anchor = n % 4 ? FP22_ANCHOR : (uint8_t)g_test_rand_int_range(0, 256);
        struct word256 out;
        for (unsigned l = 0; l < 16; l++) {
            sa[l % 4] = (uint8_t)g_test_rand_int_range(0, 256);
            sb[l % 4] = (uint8_t)g_test_rand_int_range(0, 256);
            tile[l] = random_word(width, 64);
            other[l] = random_word(width, 64);
            sums[l] = g_test_rand_int_range(-131072, 131073) >> g_test_rand_int_range(0, 18);
        }
        memcpy(added, tile, sizeof tile);
        memcpy(summed, tile, sizeof tile);
        fp22_tile_load(loaded, sums, sa, sb, anchor, width);
        fp22_tile_add(added, sums, sa, sb, anchor, width);
        fp22_tile_add_words(summed, other, width);
        fp22_tile_emit(tile, width, &out);
        for (unsigned l = 0; l < 16; l++) {
            uint32_t word = fp22_normalise(sums[l], sa[l / 4], sb[l % 4], anchor, width);
            g_assert_cmphex(loaded[l], ==, word);
            g_assert_cmphex(added[l], ==, fp22_add(tile[l], word, width));
            g_assert_cmphex(summed[l], ==, fp22_add(tile[l], other[l], width));
            g_assert_cmphex(word_get(&out, 16 * l, 16), ==, fp22_emit(tile[l], width));
        }
    }
}

static void granules_bring_back_the_tile(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data), bits = 16 * (width + 8);
    for (unsigned n = 0; n < 200; n++) {
        uint32_t tile[16], back[16];
        struct word256 granules[2];
        for (unsigned l = 0; l < 16; l++)
            tile[l] = random_word(width, 64);
        fp22_tile_to_granules(tile, width, granules);
        fp22_tile_from_granules(granules, width, back);
        g_assert_cmpmem(back, sizeof back, tile, sizeof tile);
        for (unsigned bit = bits; bit < 512; bit++)
            g_assert_cmpuint(word_get(&granules[bit / 256], bit % 256, 1), ==, 0);
    }
}

/* Checked from the value: nearest of 11 significant bits, nothing below 2^-14, nothing above 65504. */
static void emit_rounds_the_value(gconstpointer data) {
    unsigned width = GPOINTER_TO_UINT(data);
    for (unsigned n = 0; n < ROUNDS; n++) {
        uint32_t word = random_word(width, n % 2 ? 48 : 79);
        double value = fp22_to_double(word, width);
        int exponent;
        double fraction = frexp(value, &exponent);
        double rounded = ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11);
        uint16_t half = fp22_emit(word, width), sign = (uint16_t)((word >> (width + 7)) << 15);
        if (value == 0)
            g_assert_cmphex(half, ==, 0);
        else if (fabs(rounded) < 0x1p-14)
            g_assert_cmphex(half, ==, sign);
        else if (fabs(rounded) > 65504)
            g_assert_cmphex(half, ==, sign | 0x7bff);
        else
            g_assert_cmpfloat(ldexp(1024 + half % 1024, (half >> 10 & 31) - 25), ==, fabs(rounded));
    }
}

static void cut_lanes_are_counted(void) {
    uint32_t tile[16] = {0};
    struct word256 out;
    g_assert_cmpuint(fp22_tile_emit(tile, FP22_WIDTH, &out), ==, 0);
    tile[3] = 79u << 14;             /* 65536 */
    tile[7] = 1u << 21 | 127u << 14; /* far below -65504 */
    tile[9] = 78u << 14 | 0x3ff8;    /* rounds up to 65536 */
    tile[11] = 78u << 14 | 0x3ff0;   /* 65504 itself */
    g_assert_cmpuint(fp22_tile_emit(tile, FP22_WIDTH, &out), ==, 3);
    g_assert_cmphex(word_get(&out, 16 * 11, 16), ==, 0x7bff);
}

static void wrapped_exponents_are_counted(void) {
    int32_t sums[16] = {1, 131072};
    uint8_t low[4] = {0}, high[4] = {0xff, 0xff, 0xff, 0xff};
    g_assert_cmpuint(fp22_tile_wraps(sums, low, low, FP22_ANCHOR, FP22_WIDTH), ==, 0);
    g_assert_cmpuint(fp22_tile_wraps(sums, high, high, FP22_ANCHOR, FP22_WIDTH), ==, 0);
    g_assert_cmpuint(fp22_tile_wraps(sums, low, low, 64, FP22_WIDTH), ==, 1); /* field -1; the other one is 16 */
    g_assert_cmpuint(fp22_tile_wraps(sums, high, high, 0, FP22_WIDTH), ==, 1);
}

static void a_pair_keeps_the_larger_exponent(void) {
    struct fp22_partial merged = fp22_pair_merge((struct fp22_partial){100, 3}, (struct fp22_partial){-7, 1});
    g_assert_cmpint(merged.value, ==, 99); /* 7 >> 2 = 1, cut towards zero */
    g_assert_cmpint(merged.exponent, ==, 3);
    merged = fp22_pair_merge((struct fp22_partial){1 << 25, -60}, (struct fp22_partial){5, 40});
    g_assert_cmpint(merged.value, ==, 5);
    g_assert_cmpint(merged.exponent, ==, 40);
}

static void pairs_of_equal_scale_lose_nothing(void) {
    for (unsigned n = 0; n < 2000; n++) {
        int32_t first[16], second[16], both[16];
        uint8_t sa[4], sb[4];
        uint32_t tile[16], expected[16];
        struct fp22_partial merged[16];
        for (unsigned l = 0; l < 16; l++) {
            sa[l % 4] = (uint8_t)g_test_rand_int_range(0, 256);
            sb[l % 4] = (uint8_t)g_test_rand_int_range(0, 256);
            tile[l] = expected[l] = random_word(FP22_WIDTH, 64);
            first[l] = g_test_rand_int_range(-60000, 60000);
            second[l] = g_test_rand_int_range(-60000, 60000);
            both[l] = first[l] + second[l];
        }
        struct fp22_scaled_block x = {first, sa, sb}, y = {second, sa, sb};
        fp22_tile_pair_add(tile, &x, &y, FP22_ANCHOR, FP22_WIDTH);
        fp22_tile_add(expected, both, sa, sb, FP22_ANCHOR, FP22_WIDTH);
        g_assert_cmpmem(tile, sizeof tile, expected, sizeof expected);
        fp22_tile_pair_load(tile, &x, &y, FP22_ANCHOR, FP22_WIDTH);
        fp22_tile_merge(&x, &y, FP22_ANCHOR, merged);
        for (unsigned l = 0; l < 16; l++)
            g_assert_cmphex(tile[l], ==, fp22_normalise_partial(merged[l], FP22_WIDTH));
    }
}

static void add_for_each_width(const char *name, GTestDataFunc test) {
    for (unsigned width = FP22_WIDTH_MIN; width <= FP22_WIDTH_MAX; width++) {
        g_autofree char *path = g_strdup_printf("/fp22/width_%u/%s", width, name);
        g_test_add_data_func(path, GUINT_TO_POINTER(width), test);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    add_for_each_width("normalise_agrees_with_the_slow_rule", normalise_agrees_with_the_slow_rule);
    add_for_each_width("add_agrees_with_the_slow_rule", add_agrees_with_the_slow_rule);
    add_for_each_width("near_sums_are_correctly_rounded", near_sums_are_correctly_rounded);
    add_for_each_width("tiles_agree_with_single_lanes", tiles_agree_with_single_lanes);
    add_for_each_width("granules_bring_back_the_tile", granules_bring_back_the_tile);
    add_for_each_width("emit_rounds_the_value", emit_rounds_the_value);
    g_test_add_func("/fp22/cut_lanes_are_counted", cut_lanes_are_counted);
    g_test_add_func("/fp22/wrapped_exponents_are_counted", wrapped_exponents_are_counted);
    g_test_add_func("/fp22/a_pair_keeps_the_larger_exponent", a_pair_keeps_the_larger_exponent);
    g_test_add_func("/fp22/pairs_of_equal_scale_lose_nothing", pairs_of_equal_scale_lose_nothing);
    return g_test_run();
}
