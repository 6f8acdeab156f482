/* acc_emit.txt: accumulator words leaving as FP16; alone and as a lane of a tile. */
#include "golden/golden.h"
#include "model/numeric/fp22.h"

static void halves_match(void) {
    struct golden g;
    golden_open(&g, "acc_emit.txt");
    while (golden_next(&g)) {
        uint32_t tile[FP22_LANES] = {0};
        unsigned lane = g.line % FP22_LANES;
        struct word256 out;
        tile[lane] = golden_hex(&g, 0);
        golden_expect(&g, "FP16", fp22_emit(tile[lane], FP22_WIDTH), golden_hex(&g, 1));
        fp22_tile_emit(tile, FP22_WIDTH, &out);
        golden_expect(&g, "tile lane", word_get(&out, 16 * lane, 16), golden_hex(&g, 1));
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/acc_emit/halves_match", halves_match);
    return g_test_run();
}
