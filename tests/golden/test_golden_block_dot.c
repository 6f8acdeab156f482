/* block_dot.txt: sixteen exact 32-term integer products. */
#include "golden/golden.h"
#include "model/numeric/mxfp7.h"

static int8_t element(const struct golden *g, unsigned field, unsigned index) {
    return (int8_t)(((int)golden_bits(g, field, 7 * index, 7) ^ 64) - 64);
}

static void sums_match(void) {
    struct golden g;
    golden_open(&g, "block_dot.txt");
    while (golden_next(&g)) {
        struct mxfp7_entry a, b;
        int32_t sums[16];
        for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
            for (unsigned k = 0; k < MXFP7_BLOCK; k++) {
                a.q[lane][k] = element(&g, 0, MXFP7_BLOCK * lane + k);
                b.q[lane][k] = element(&g, 1, MXFP7_LANES * k + lane);
            }
        }
        mxfp7_block_dot(&a, &b, sums);
        for (unsigned l = 0; l < 16; l++)
            golden_expect(&g, "sum", (guint64)sums[l], (guint64)golden_decimal(&g, 2 + l));
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/block_dot/sums_match", sums_match);
    return g_test_run();
}
