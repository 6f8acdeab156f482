/* gemm_tile.txt: operand entries through products, accumulation and emission, FP16 sub-tile by sub-tile. */
#include "golden/golden_gemm.h"

static void subtiles_match(void) {
    struct golden g;
    unsigned tiles = 0;
    g_autoptr(GPtrArray) gemms = g_ptr_array_new_with_free_func(golden_gemm_free);
    golden_open(&g, "gemm_tile.txt");
    while (golden_gemm_next_tile(&g, gemms)) {
        uint32_t tile[FP22_LANES];
        struct word256 out, recorded = golden_word(&g, 4);
        golden_gemm_tile(golden_gemm_find(gemms, &g, 1), (unsigned)golden_decimal(&g, 2),
                         (unsigned)golden_decimal(&g, 3), tile);
        fp22_tile_emit(tile, FP22_WIDTH, &out);
        golden_expect_word(&g, "sub-tile", &out, &recorded);
        tiles++;
    }
    golden_close(&g);
    g_assert_cmpuint(tiles, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/gemm_tile/subtiles_match", subtiles_match);
    return g_test_run();
}
