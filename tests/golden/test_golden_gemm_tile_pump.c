/* gemm_tile_pump.txt: the operands of gemm_tile.txt on the double-rate cluster, which merges K blocks in pairs. */
#include "golden/golden_gemm.h"

static struct fp22_scaled_block block_of(const struct golden_gemm *gemm, unsigned row, unsigned column, unsigned kb,
                                         int32_t sums[16]) {
    const struct mxfp7_entry *a = &gemm->a[row * gemm->nk + kb], *b = &gemm->b[column * gemm->nk + kb];
    mxfp7_block_dot(a, b, sums);
    return (struct fp22_scaled_block){sums, a->scale, b->scale};
}

/* One GEMM instruction of the chunked run: blocks [from, to), pairs from the first on, an odd last one alone. */
static void run_chunk(const struct golden_gemm *gemm, unsigned row, unsigned column, unsigned from, unsigned to,
                      uint32_t tile[16]) {
    for (unsigned kb = from; kb < to; kb += 2) {
        int32_t sums[2][16];
        struct fp22_scaled_block first = block_of(gemm, row, column, kb, sums[0]);
        if (kb + 1 < to) {
            struct fp22_scaled_block second = block_of(gemm, row, column, kb + 1, sums[1]);
            if (kb == 0)
                fp22_tile_pair_load(tile, &first, &second, gemm->anchor, FP22_WIDTH);
            else
                fp22_tile_pair_add(tile, &first, &second, gemm->anchor, FP22_WIDTH);
        } else if (kb == 0) {
            fp22_tile_load(tile, first.sums, first.sa, first.sb, gemm->anchor, FP22_WIDTH);
        } else {
            fp22_tile_add(tile, first.sums, first.sa, first.sb, gemm->anchor, FP22_WIDTH);
        }
    }
}

static void subtiles_match(void) {
    struct golden g;
    g_autoptr(GPtrArray) gemms = golden_gemms();
    golden_open(&g, "gemm_tile_pump.txt");
    while (golden_next(&g)) {
        const struct golden_gemm *gemm = golden_gemm_find(gemms, &g, 0);
        unsigned row = (unsigned)golden_decimal(&g, 1), column = (unsigned)golden_decimal(&g, 2);
        unsigned depth = gemm->nk / gemm->chunks;
        uint32_t tile[FP22_LANES];
        struct word256 out, granules[2];
        struct word256 recorded[3] = {golden_word(&g, 3), golden_word(&g, 4), golden_word(&g, 5)};
        for (unsigned chunk = 0; chunk < gemm->chunks; chunk++)
            run_chunk(gemm, row, column, chunk * depth, (chunk + 1) * depth, tile);
        fp22_tile_emit(tile, FP22_WIDTH, &out);
        fp22_tile_to_granules(tile, FP22_WIDTH, granules);
        golden_expect_word(&g, "sub-tile", &out, &recorded[0]);
        golden_expect_word(&g, "granule 0", &granules[0], &recorded[1]);
        golden_expect_word(&g, "granule 1", &granules[1], &recorded[2]);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/gemm_tile_pump/subtiles_match", subtiles_match);
    return g_test_run();
}
