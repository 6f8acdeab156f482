/* peer_tile.txt: granules in, ADD_PEER, granules and FP16 out. */
#include "golden/golden.h"
#include "model/numeric/fp22.h"

static void transfers_match(void) {
    struct golden g;
    golden_open(&g, "peer_tile.txt");
    while (golden_next(&g)) {
        struct word256 resident[2] = {golden_word(&g, 2), golden_word(&g, 3)};
        struct word256 incoming[2] = {golden_word(&g, 4), golden_word(&g, 5)};
        struct word256 recorded[3] = {golden_word(&g, 6), golden_word(&g, 7), golden_word(&g, 8)};
        struct word256 result[2], out;
        uint32_t tile[FP22_LANES], peer[FP22_LANES];
        fp22_tile_from_granules(resident, FP22_WIDTH, tile);
        fp22_tile_from_granules(incoming, FP22_WIDTH, peer);
        fp22_tile_add_words(tile, peer, FP22_WIDTH);
        fp22_tile_to_granules(tile, FP22_WIDTH, result);
        fp22_tile_emit(tile, FP22_WIDTH, &out);
        golden_expect_word(&g, "granule 0", &result[0], &recorded[0]);
        golden_expect_word(&g, "granule 1", &result[1], &recorded[1]);
        golden_expect_word(&g, "FP16", &out, &recorded[2]);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/peer_tile/transfers_match", transfers_match);
    return g_test_run();
}
