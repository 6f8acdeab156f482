/* quantise.txt: FP16 blocks through the quantiser into operand words, and the words back into entries. */
#include "golden/golden.h"
#include "model/numeric/mxfp7.h"

static void words_match(void) {
    struct golden g;
    golden_open(&g, "quantise.txt");
    while (golden_next(&g)) {
        enum mxfp7_packing packing = golden_decimal(&g, 0) ? MXFP7_COLUMNS : MXFP7_ROWS;
        uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK];
        struct mxfp7_entry entry, back;
        struct word256 words[MXFP7_WORDS];
        for (unsigned n = 0; n < MXFP7_LANES * MXFP7_BLOCK; n++)
            lanes[n / MXFP7_BLOCK][n % MXFP7_BLOCK] = (uint16_t)golden_bits(&g, 1 + n / 16, 16 * (n % 16), 16);
        mxfp7_quantise(lanes, &entry);
        mxfp7_pack(&entry, packing, words);
        for (unsigned w = 0; w < MXFP7_WORDS; w++) {
            struct word256 recorded = golden_word(&g, 9 + w);
            golden_expect_word(&g, "word", &words[w], &recorded);
            words[w] = recorded;
        }
        mxfp7_unpack(words, packing, &back);
        golden_expect(&g, "entry read back differs", memcmp(&back, &entry, sizeof back) != 0, 0);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/quantise/words_match", words_match);
    return g_test_run();
}
