/* Properties of the operand format that recorded blocks cannot show: error bounds, places of words, extreme products.
 */
#include "model/numeric/fp16.h"
#include "model/numeric/mxfp7.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static void random_entry(struct mxfp7_entry *entry) {
    for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
        entry->scale[lane] = (uint8_t)g_test_rand_int_range(0, 256);
        for (unsigned k = 0; k < MXFP7_BLOCK; k++)
            entry->q[lane][k] = (int8_t)g_test_rand_int_range(-64, 64);
    }
}

static void words_bring_back_the_entry(void) {
    for (unsigned n = 0; n < 500; n++) {
        enum mxfp7_packing packing = n % 2 ? MXFP7_COLUMNS : MXFP7_ROWS;
        struct mxfp7_entry entry, back;
        struct word256 words[MXFP7_WORDS];
        random_entry(&entry);
        mxfp7_pack(&entry, packing, words);
        mxfp7_unpack(words, packing, &back);
        g_assert_cmpmem(&back, sizeof back, &entry, sizeof entry);
    }
}

static void a_word_touches_its_own_eight_k_only(void) {
    struct mxfp7_entry entry, before;
    struct word256 words[MXFP7_WORDS], all_ones = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    for (unsigned index = 0; index < MXFP7_WORDS; index++) {
        random_entry(&before);
        memset(before.scale, 7, sizeof before.scale);
        memset(before.q, 5, sizeof before.q);
        entry = before;
        mxfp7_place(&entry, MXFP7_COLUMNS, index, &all_ones);
        for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
            g_assert_cmpint(entry.scale[lane], ==, index == 0 ? 0xff : 7);
            for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                g_assert_cmpint(entry.q[lane][k], ==, k / 8 == index ? -1 : 5);
        }
    }
    mxfp7_pack(&before, MXFP7_ROWS, words);
    words[3] = all_ones;
    mxfp7_unpack(words, MXFP7_ROWS, &entry);
    g_assert_cmpmem(entry.scale, 4, before.scale, 4); /* scales of later words are ignored */
}

static void an_element_sits_in_the_slot_of_the_format(void) {
    struct mxfp7_entry entry = {0};
    struct word256 words[MXFP7_WORDS];
    entry.q[2][13] = -3; /* word 1, k mod 8 = 5 */
    mxfp7_pack(&entry, MXFP7_ROWS, words);
    g_assert_cmphex(word_get(&words[1], 249 - 7 * (8 * 2 + 5), 7), ==, 0x7d);
    mxfp7_pack(&entry, MXFP7_COLUMNS, words);
    g_assert_cmphex(word_get(&words[1], 249 - 7 * (4 * 5 + 2), 7), ==, 0x7d);
}

/* With a peak of full range the step is at most peak/56, so an element is off by a good half of that at most. */
static void quantising_errs_by_half_a_step(void) {
    for (unsigned n = 0; n < 500; n++) {
        uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK];
        struct mxfp7_entry entry;
        double size = ldexp(1.0, g_test_rand_int_range(-4, 10));
        for (unsigned e = 0; e < MXFP7_LANES * MXFP7_BLOCK; e++)
            lanes[e / MXFP7_BLOCK][e % MXFP7_BLOCK] = fp16_from_double(size * g_test_rand_double_range(-1, 1));
        mxfp7_quantise(lanes, &entry);
        for (unsigned e = 0; e < MXFP7_LANES * MXFP7_BLOCK; e++) {
            unsigned lane = e / MXFP7_BLOCK, k = e % MXFP7_BLOCK;
            double step = mxfp7_decode(1, entry.scale[lane]), value = fp16_to_double(lanes[lane][k]);
            g_assert_cmpfloat(fabs(mxfp7_decode(entry.q[lane][k], entry.scale[lane]) - value), <=, 0.52 * step);
            g_assert_cmpint(entry.q[lane][k], >=, -63);
        }
    }
}

static void a_block_of_zeros_has_the_neutral_scale(void) {
    uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK] = {{0}};
    struct mxfp7_entry entry;
    lanes[1][4] = 0x8000;
    mxfp7_quantise(lanes, &entry);
    for (unsigned lane = 0; lane < MXFP7_LANES; lane++)
        g_assert_cmphex(entry.scale[lane], ==, 0xa0);
    g_assert_cmpint(entry.q[1][4], ==, 0);
    g_assert_cmpfloat(mxfp7_decode(-63, 0xa0), ==, -63.0);
    g_assert_cmpfloat(mxfp7_decode(1, 0x07), ==, 15 * 0x1p-23);
}

static void products_are_exact(void) {
    for (unsigned n = 0; n < 300; n++) {
        struct mxfp7_entry a, b;
        int32_t sums[16];
        random_entry(&a);
        random_entry(&b);
        if (n == 0) {
            memset(a.q, -64, sizeof a.q);
            memset(b.q, -64, sizeof b.q);
        }
        mxfp7_block_dot(&a, &b, sums);
        for (unsigned l = 0; l < 16; l++) {
            int32_t sum = 0;
            for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                sum += (int32_t)a.q[l / 4][k] * b.q[l % 4][k];
            g_assert_cmpint(sums[l], ==, sum);
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mxfp7/words_bring_back_the_entry", words_bring_back_the_entry);
    g_test_add_func("/mxfp7/a_word_touches_its_own_eight_k_only", a_word_touches_its_own_eight_k_only);
    g_test_add_func("/mxfp7/an_element_sits_in_the_slot_of_the_format", an_element_sits_in_the_slot_of_the_format);
    g_test_add_func("/mxfp7/quantising_errs_by_half_a_step", quantising_errs_by_half_a_step);
    g_test_add_func("/mxfp7/a_block_of_zeros_has_the_neutral_scale", a_block_of_zeros_has_the_neutral_scale);
    g_test_add_func("/mxfp7/products_are_exact", products_are_exact);
    return g_test_run();
}
