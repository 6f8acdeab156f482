/* acc_add.txt: sums of two accumulator words; alone and as a lane of a tile. */
#include "golden/golden.h"
#include "model/numeric/fp22.h"

static void sums_match(void) {
    struct golden g;
    golden_open(&g, "acc_add.txt");
    while (golden_next(&g)) {
        uint32_t resident = golden_hex(&g, 0), incoming = golden_hex(&g, 1), recorded = golden_hex(&g, 2);
        golden_expect(&g, "sum", fp22_add(resident, incoming, FP22_WIDTH), recorded);

        uint32_t tile[FP22_LANES] = {0}, other[FP22_LANES] = {0};
        tile[g.line % FP22_LANES] = resident;
        other[g.line % FP22_LANES] = incoming;
        fp22_tile_add_words(tile, other, FP22_WIDTH);
        golden_expect(&g, "tile lane", tile[g.line % FP22_LANES], recorded);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/acc_add/sums_match", sums_match);
    return g_test_run();
}
