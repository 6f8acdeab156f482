/* Claims about FILL: I10 to I15 and I18. */
#include "claims/machine_bench.h"

#define ONE MACHINE_TEXT(BENCH_MEMORY("per_port") ", " BENCH_WHOLE_L1)

enum {
    OPERAND = 0x4000
};

/* One request with base, count and the stream flag; the agent walks the addresses and returns four words an entry. */
static void claim_I10(void) {
    struct machine_bench bench;
    bench_open(&bench, ONE);
    g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 20, 0, 1);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = OPERAND, .n = 20));
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "out", 0, FLIT_MEM_RD_REQ), ==, 1);
    const struct flit *request = &bench_need(&bench, "out", 0, FLIT_MEM_RD_REQ, 0)->flit;
    g_assert_cmphex(word_get(&request->payload, 216, 40), ==, OPERAND);
    g_assert_cmpuint(word_get(&request->payload, 192, 8), ==, 20);
    g_assert_cmphex(word_get(&request->payload, 200, 8), ==, 0x40);
    g_assert_cmpuint(bench_count(&bench, "in", 0, FLIT_MEM_RD_RESP), ==, 4 * 20);
    g_assert_cmpuint(bench_count(&bench, "read address", BENCH_PORT, -1), ==, 20);
    bench_assert_l1(&bench, 0, 0, 0, entries, 20);
    bench_close(&bench);
}

/* Gives a FILL of `count` entries its responses in the order of `order` instead of memory's. */
static void respond(struct machine_bench *bench, const struct mxfp7_entry *entries, unsigned count,
                    const unsigned *order) {
    bench_capture_unit(bench, 1);
    BENCH_PROGRAM(bench, 0, FILL(.n = count, .eoff = 9));
    for (unsigned k = 0; k < 4 * count; k++) {
        unsigned entry = order[k] / 4, word = order[k] % 4;
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&entries[entry], MXFP7_ROWS, words);
        struct flit response = {.dst_x = 1,
                                .dst_y = 1,
                                .src_y = 1,
                                .type = FLIT_MEM_RD_RESP,
                                .txn = 9 + entry,
                                .rsvd = word,
                                .last = word == 3,
                                .payload = words[word]};
        bench_flit(bench, 0, &response, 20 + k);
    }
    bench_run(bench);
}

/* Every response names its entry and its word: any order of a run's responses leaves the same L1. */
static void claim_I11(void) {
    enum {
        COUNT = 8
    };
    g_autofree struct mxfp7_entry *entries = bench_entries(COUNT, 2);
    unsigned order[4 * COUNT];
    for (unsigned k = 0; k < 4 * COUNT; k++)
        order[k] = k;
    for (unsigned trial = 0; trial < 50; trial++) {
        struct machine_bench bench;
        bench_open(&bench, ONE);
        respond(&bench, entries, COUNT, order);
        bench_assert_l1(&bench, 0, 0, 9, entries, COUNT);
        g_assert_cmpuint(bench_count(&bench, "retired", 0, -1), ==, 1);
        bench_close(&bench);
        for (unsigned k = 4 * COUNT; k-- > 1;) {
            unsigned other = (unsigned)g_test_rand_int_range(0, (gint32)k + 1), held = order[k];
            order[k] = order[other];
            order[other] = held;
        }
    }
}

static uint64_t bytes_an_entry(const char *text, unsigned *lanes) {
    struct machine_bench bench;
    bench_open(&bench, text);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = OPERAND, .n = 16));
    bench_run(&bench);
    uint64_t bytes = bench.system->agent.ports[0].counts.read_words * WORD_BYTES / 16;
    g_assert_cmpuint(bench_counts(&bench, 0).entries_written, ==, 16);
    *lanes = bench_count(&bench, "in", 0, FLIT_MEM_RD_RESP);
    bench_close(&bench);
    return bytes;
}

/* Fills L1 from a random entry and from copies with one bit of its 1,024 turned: how many copies differ in L1? */
static unsigned bits_kept(unsigned side) {
    enum {
        BITS = 4 * WORD_BITS,
        RUN = 128
    };
    unsigned kept = 0;
    struct machine_bench bench;
    bench_open(&bench, ONE);
    struct word256 words[4];
    for (unsigned k = 0; k < 16; k++)
        words[k / 4].w[k % 4] = (uint64_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
    dram_load(&bench.system->dram, 0, words, sizeof words);
    for (unsigned bit = 0; bit < BITS; bit++) {
        words[bit / WORD_BITS].w[bit % WORD_BITS / 64] ^= UINT64_C(1) << bit % 64;
        dram_load(&bench.system->dram, sizeof words * (bit + 1), words, sizeof words);
        words[bit / WORD_BITS].w[bit % WORD_BITS / 64] ^= UINT64_C(1) << bit % 64;
    }
    BENCH_PROGRAM(&bench, 0, FILL(.n = 1, .sel = side, .eoff = RUN));
    for (unsigned first = 0; first < BITS; first += RUN) {
        BENCH_PROGRAM(&bench, 0, FILL(.addr = sizeof words * (first + 1), .n = RUN, .sel = side));
        bench_run(&bench);
        for (unsigned e = 0; e < RUN; e++)
            kept += memcmp(bench_l1(&bench, 0, side, 0, e), bench_l1(&bench, 0, side, 0, RUN),
                           sizeof(struct mxfp7_entry)) != 0;
    }
    bench_close(&bench);
    return kept;
}

/* An entry is 4 lanes x 32 K: 256 bytes as FP16, 128 converted, 928 bits in L1. */
static void claim_I12(void) {
    unsigned responses;
    g_assert_cmpuint(bytes_an_entry(ONE, &responses), ==, 128);
    g_assert_cmpuint(responses, ==, 64);
    g_assert_cmpuint(bytes_an_entry(MACHINE_TEXT("\"memory\": {\"fetch_transform\": true}"), &responses), ==, 256);
    g_assert_cmpuint(responses, ==, 64);
    g_assert_cmpuint(bits_kept(0), ==, 928);
    g_assert_cmpuint(bits_kept(1), ==, 928);
}

/* preq is reserved: the same request, cycle by cycle the same answer, and four words an entry. */
static void claim_I13(void) {
    cycle_t retired[2];
    struct flit request[2];
    for (unsigned preq = 0; preq < 2; preq++) {
        struct machine_bench bench;
        bench_open(&bench, ONE);
        g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 12, 1, 3);
        BENCH_PROGRAM(&bench, 0, FILL(.addr = OPERAND, .n = 12, .sel = 1, .preq = preq));
        bench_run(&bench);
        bench_assert_l1(&bench, 0, 1, 0, entries, 12);
        g_assert_cmpuint(bench.system->agent.ports[0].counts.read_words, ==, 48);
        retired[preq] = bench_cycle(&bench, "retired", 0, 0);
        request[preq] = bench_need(&bench, "out", 0, FLIT_MEM_RD_REQ, 0)->flit;
        bench_close(&bench);
    }
    g_assert_cmpuint(retired[0], ==, retired[1]);
    g_assert_cmpmem(&request[0].payload, sizeof request[0].payload, &request[1].payload, sizeof request[1].payload);
}

/* The same fill with eoff = e lands e entries further on; e travels as the request's transaction. */
static void claim_I14(void) {
    static const unsigned offsets[] = {0, 1, 100, 244};
    for (unsigned i = 0; i < G_N_ELEMENTS(offsets); i++)
        for (unsigned bank = 0; bank < 2; bank++) {
            struct machine_bench bench;
            bench_open(&bench, ONE);
            g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 12, 0, 4);
            BENCH_PROGRAM(&bench, 0, FILL(.addr = OPERAND, .n = 12, .eoff = offsets[i], .fbank = bank));
            bench_run(&bench);
            g_assert_cmpuint(bench_need(&bench, "out", 0, FLIT_MEM_RD_REQ, 0)->flit.txn, ==, offsets[i]);
            bench_assert_l1(&bench, 0, 0, 256 * bank + offsets[i], entries, 12);
            g_assert_cmpuint(bench_counts(&bench, 0).entries_written, ==, 12);
            g_assert_cmpuint(bench_all_hazards(&bench), ==, 0);
            bench_close(&bench);
        }
}

/* Up to three others get the same responses, and memory reads each entry once. */
static void claim_I15(void) {
    for (unsigned sharers = 1; sharers <= 4; sharers++) {
        struct machine_bench bench;
        bench_open(&bench, "{" BENCH_WHOLE_L1 ", " MAP_4 "}");
        g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 10, 0, 5);
        for (unsigned u = 0; u < sharers; u++) {
            struct cluster_inst fill = FILL(.addr = OPERAND, .n = 10, .npeer = sharers - 1);
            for (unsigned k = 0, peers = 0; k < sharers; k++)
                if (k != u)
                    fill.peer[peers++] = node_byte(bench.machine.units[k].x, bench.machine.units[k].y);
            bench_program(&bench, u, &fill, 1);
        }
        bench_run(&bench);
        for (unsigned u = 0; u < sharers; u++) {
            bench_assert_l1(&bench, u, 0, 0, entries, 10);
            g_assert_cmpuint(bench_count(&bench, "in", u, FLIT_MEM_RD_RESP), ==, 40);
            g_assert_cmpuint(bench_count(&bench, "retired", u, -1), ==, 1);
        }
        g_assert_cmpuint(bench.system->dram.reads, ==, 40);
        bench_close(&bench);
    }
}

/* A run past the end of the bank overwrites from entry 0, silently in hardware and with a report here. */
static void claim_I18(void) {
    struct machine_bench bench;
    bench_open(&bench, ONE);
    g_autofree struct mxfp7_entry *old = bench_operand(&bench, 0, 12, 0, 6);
    g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 12, 0, 7);
    BENCH_PROGRAM(&bench, 0, FILL(.n = 12), FILL(.addr = OPERAND, .n = 12, .eoff = 250));
    bench_run(&bench);
    bench_assert_l1(&bench, 0, 0, 250, entries, 6);
    bench_assert_l1(&bench, 0, 0, 0, entries + 6, 6);
    bench_assert_l1(&bench, 0, 0, 6, old + 6, 6);
    g_assert_cmpuint(bench_hazards(&bench, "cluster.fill_wraps"), ==, 1);
    bench_close(&bench);
}

/* The same in an L1 smaller than a bank. */
static void claim_I18_small(void) {
    struct machine_bench bench;
    bench_open(&bench, MACHINE_TEXT("\"cluster\": {\"l1_a\": 32, \"l1_b\": 32}"));
    g_autofree struct mxfp7_entry *entries = bench_operand(&bench, OPERAND, 40, 0, 8);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = OPERAND, .n = 40));
    bench_run(&bench);
    bench_assert_l1(&bench, 0, 0, 0, entries + 32, 8);
    bench_assert_l1(&bench, 0, 0, 8, entries + 8, 24);
    g_assert_cmpuint(bench_hazards(&bench, "cluster.fill_wraps"), ==, 1);
    bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I10", claim_I10);
    g_test_add_func("/claim_I11", claim_I11);
    g_test_add_func("/claim_I12", claim_I12);
    g_test_add_func("/claim_I13", claim_I13);
    g_test_add_func("/claim_I14", claim_I14);
    g_test_add_func("/claim_I15", claim_I15);
    g_test_add_func("/claim_I18", claim_I18);
    g_test_add_func("/claim_I18/small_l1", claim_I18_small);
    return g_test_run();
}
