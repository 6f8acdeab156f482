/* The cluster instruction: its bits against the recorded encodings and the bit table, refusals, text. */
#include "model/isa/cluster.h"

#include <string.h>

#include "model/isa/wire.h"
#include "unit/isa_random.h"

enum {
    ROUNDS = 2000,
};

static void assert_encodes(const struct cluster_inst *inst, const char *expected) {
    struct word256 payload;
    char hex[WORD_HEX + 1];
    g_assert_true(cluster_inst_encode(inst, &payload, NULL));
    word_to_hex(&payload, hex);
    g_assert_cmpstr(hex, ==, expected);
}

/* compute-units §9.5 */
static void test_worked_example(void) {
    assert_encodes(&(struct cluster_inst){.op = CLUSTER_FILL, .n = 32, .anchor = 40},
                   "1000000000008000000028000000000000000000000000000000000000000000");
    assert_encodes(&(struct cluster_inst){.op = CLUSTER_FILL, .addr = 0x2000, .n = 32, .sel = 1, .anchor = 40},
                   "1000008000008200000028000000000000000000000000000000000000000000");
    assert_encodes(&(struct cluster_inst){.op = CLUSTER_GEMM, .gm = 8, .gn = 8, .nk = 4, .anchor = 40},
                   "2000000000000008080428000000000000000000000000000000000000000000");
    assert_encodes(&(struct cluster_inst){.op = CLUSTER_DRAIN, .addr = 0x4000, .n = 64, .anchor = 40},
                   "3000010000010000000028000000000000000000000000000000000000000000");
}

/* A drain to the accumulator of (2,1), acknowledged to (0,1), as in the recorded unit-to-unit runs. */
static void test_node_drain(void) {
    assert_encodes(&(struct cluster_inst){.op = CLUSTER_DRAIN,
                                          .n = 1,
                                          .anchor = 40,
                                          .dnode = 1,
                                          .dst_x = 2,
                                          .dst_y = 1,
                                          .dbuf = 2,
                                          .dflags = 1,
                                          .dack_y = 1},
                   "3000000000000400000028000000000000009081008800000000000000000000");
}

/* Bits given one by one in the table of compute-units §2.1, independent of the rows in the code. */
static void test_field_places(void) {
    static const struct {
        const char *name;
        unsigned high, low;
    } places[] = {
        {"op", 255, 252},    {"n", 217, 202},     {"sel", 201, 201},    {"acc", 200, 200},   {"gm", 199, 192},
        {"gn", 191, 184},    {"nk", 183, 176},    {"anchor", 175, 168}, {"peer2", 167, 160}, {"peer1", 159, 152},
        {"peer0", 151, 144}, {"npeer", 143, 142}, {"preq", 141, 141},   {"eoff", 140, 133},  {"aoff", 132, 125},
        {"boff", 124, 117},  {"emit", 116, 116},  {"fuse", 115, 115},   {"abank", 114, 114}, {"bbank", 113, 113},
        {"fbank", 112, 112}, {"dnode", 111, 111}, {"dst_x", 110, 107},  {"dst_y", 106, 103}, {"dbuf", 102, 95},
        {"dflags", 94, 87},  {"dack_y", 86, 83},  {"dack_x", 82, 79},   {"dmesh", 78, 77},   {"dfin", 76, 69},
        {"fwd", 62, 62},
    };
    g_assert_cmpuint(cluster_layout.count, ==, G_N_ELEMENTS(places) + 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
        const struct isa_field *field = layout_find(&cluster_layout, places[i].name);
        struct cluster_inst inst = {0};
        struct word256 payload, expected = {{0}};
        g_assert_nonnull(field);
        field_store(field, &inst, bit_mask(places[i].high - places[i].low + 1));
        g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
        for (unsigned bit = places[i].low; bit <= places[i].high; bit++)
            expected.w[bit / 64] |= UINT64_C(1) << bit % 64;
        g_assert_cmpmem(&payload, sizeof payload, &expected, sizeof expected);
    }
}

static void test_address_is_split(void) {
    struct cluster_inst inst = {.addr = UINT64_C(0x8123456789)};
    struct word256 payload;
    g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
    g_assert_cmphex(word_get(&payload, 218, 34), ==, UINT64_C(0x123456789));
    g_assert_cmphex(word_get(&payload, 63, 6), ==, 0x20);
}

static void test_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct cluster_inst inst, back;
        struct word256 payload;
        random_fields(random, &cluster_layout, &inst);
        g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
        g_assert_cmphex(word_get(&payload, 0, 59), ==, 0);
        cluster_inst_decode(&payload, &back);
        g_assert_cmpmem(&inst, sizeof inst, &back, sizeof back);
    }
}

static void test_refusals(void) {
    check_refusals(&cluster_layout);
}

static void assert_prints(const struct cluster_inst *inst, const char *expected) {
    g_autoptr(GString) text = g_string_new(NULL);
    cluster_inst_print(inst, text);
    g_assert_cmpstr(text->str, ==, expected);
}

static void test_print(void) {
    assert_prints(
        &(struct cluster_inst){
            .op = CLUSTER_FILL, .addr = 0x2000, .n = 32, .sel = 1, .anchor = 40, .npeer = 2, .peer = {0x12, 0x21}},
        "fill addr=0x2000 n=32 sel=b peers=(2,1),(1,2)");
    assert_prints(
        &(struct cluster_inst){.op = CLUSTER_GEMM, .gm = 8, .gn = 8, .nk = 4, .anchor = 41, .acc = 1, .emit = 1},
        "gemm gm=8 gn=8 nk=4 anchor=41 acc emit");
    assert_prints(&(struct cluster_inst){.op = CLUSTER_DRAIN,
                                         .n = 1,
                                         .anchor = 40,
                                         .dnode = 1,
                                         .dst_x = 2,
                                         .dst_y = 1,
                                         .dflags = 1,
                                         .dack_x = 3,
                                         .dfin = 0x21},
                  "drain n=1 dnode dst=(2,1) dflags=0x1 dack=(3,0) dfin=(1,2)");
    assert_prints(&(struct cluster_inst){.op = 7}, "nop op=7");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cluster_isa/worked_example", test_worked_example);
    g_test_add_func("/cluster_isa/node_drain", test_node_drain);
    g_test_add_func("/cluster_isa/field_places", test_field_places);
    g_test_add_func("/cluster_isa/address_is_split", test_address_is_split);
    g_test_add_func("/cluster_isa/round_trip", test_round_trip);
    g_test_add_func("/cluster_isa/refusals", test_refusals);
    g_test_add_func("/cluster_isa/print", test_print);
    return g_test_run();
}
