/* acc_normalise.txt: block sums with their scales, loaded into the tile; alone and as a lane of a tile. */
#include "golden/golden.h"
#include "model/numeric/fp22.h"

static void words_match(void) {
    struct golden g;
    golden_open(&g, "acc_normalise.txt");
    while (golden_next(&g)) {
        int32_t part = (int32_t)golden_decimal(&g, 0);
        uint8_t sa = (uint8_t)golden_hex(&g, 1), sb = (uint8_t)golden_hex(&g, 2), anchor = (uint8_t)golden_hex(&g, 3);
        golden_expect(&g, "word", fp22_normalise(part, sa, sb, anchor, FP22_WIDTH), golden_hex(&g, 4));

        unsigned lane = g.line % FP22_LANES;
        uint8_t rows[4] = {0}, columns[4] = {0};
        int32_t sums[FP22_LANES] = {0};
        uint32_t tile[FP22_LANES];
        rows[lane / 4] = sa;
        columns[lane % 4] = sb;
        sums[lane] = part;
        fp22_tile_load(tile, sums, rows, columns, anchor, FP22_WIDTH);
        golden_expect(&g, "tile lane", tile[lane], golden_hex(&g, 4));
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/acc_normalise/words_match", words_match);
    return g_test_run();
}
