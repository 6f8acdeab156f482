/* gemm_tile_fp22.txt: the sub-tiles of gemm_tile.txt at the accumulator's own width, as SEND puts them on the mesh. */
#include "golden/golden_gemm.h"

static void granules_match(void) {
    struct golden g;
    g_autoptr(GPtrArray) gemms = golden_gemms();
    golden_open(&g, "gemm_tile_fp22.txt");
    while (golden_next(&g)) {
        uint32_t tile[FP22_LANES];
        struct word256 granules[2], recorded[2] = {golden_word(&g, 3), golden_word(&g, 4)};
        golden_gemm_tile(golden_gemm_find(gemms, &g, 0), (unsigned)golden_decimal(&g, 1),
                         (unsigned)golden_decimal(&g, 2), tile);
        fp22_tile_to_granules(tile, FP22_WIDTH, granules);
        golden_expect_word(&g, "granule 0", &granules[0], &recorded[0]);
        golden_expect_word(&g, "granule 1", &granules[1], &recorded[1]);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/gemm_tile_fp22/granules_match", granules_match);
    return g_test_run();
}
