/* Timing of a cluster, to the cycle: fills, sweeps, drains and batches one router away from an idle memory port, and a
 * peer stream. The figures are measured ones. */
#include "claims/machine_bench.h"

#define PER_PORT  MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1}")
#define CONVERGED MACHINE_TEXT("\"memory\": {\"attachment\": \"converged\", \"latency\": 1}")
#define PER_PORT_FP16                                                                                                  \
    MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"fetch_transform\": true}")
#define CONVERGED_FP16                                                                                                 \
    MACHINE_TEXT("\"memory\": {\"attachment\": \"converged\", \"latency\": 1, \"fetch_transform\": true}")
#define SINGLES MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"write_burst\": 1}")

enum {
    IMAGE_C = 0x20000
};

/* One instruction on an idle cluster: taken to retired. */
static cycle_t total(struct machine_bench *bench, struct cluster_inst inst) {
    bench_forget(bench);
    bench_program(bench, 0, &inst, 1);
    bench_run(bench);
    return bench_cycle(bench, "retired", 0, 0) - bench_cycle(bench, "taken", 0, 0);
}

static void fill_totals(void) {
    static const struct {
        const char *text;
        unsigned first, period;
    } rows[] = {{CONVERGED, 51, 24}, {PER_PORT, 33, 6}, {CONVERGED_FP16, 65, 28}, {PER_PORT_FP16, 47, 20}};
    static const unsigned counts[] = {1, 2, 7, 32, 200};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        bench_open(&bench, rows[i].text);
        for (unsigned k = 0; k < G_N_ELEMENTS(counts); k++)
            g_assert_cmpuint(total(&bench, FILL(.n = counts[k])), ==, rows[i].first + rows[i].period * (counts[k] - 1));
        bench_close(&bench);
    }
}

/* Taken, descriptor on the link 2 later, last word accepted, its entry written 4 later, retired 2 after that. */
static void fill_in_steps(void) {
    struct machine_bench bench;
    bench_open(&bench, PER_PORT);
    total(&bench, FILL(.n = 3));
    cycle_t taken = bench_cycle(&bench, "taken", 0, 0), last = bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 11);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_RD_REQ, 0), ==, taken + 2);
    g_assert_cmpuint(bench_cycle(&bench, "operand entry written", 0, 2), ==, last + 4);
    g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 0), ==, last + 6);
    bench_close(&bench);
}

/* ---- the shell around the unit ---- */

/* An instruction accepted on the link in w is taken in w + 4; one of one cycle retires in w + 5 and its completion is
 * on the link in w + 9; the next in the queue is taken two cycles after a retirement. */
static void shell(void) {
    struct machine_bench bench;
    bench_open(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, {.op = CLUSTER_NOP}, {.op = 9}, {.op = CLUSTER_NOP});
    bench_run(&bench);
    g_assert_cmpuint(bench_cycle(&bench, "in", 0, 0), ==, 0);
    for (unsigned k = 0; k < 3; k++) {
        g_assert_cmpuint(bench_cycle(&bench, "taken", 0, k), ==, 4 + 3 * k);
        g_assert_cmpuint(bench_cycle(&bench, "retired", 0, k), ==, 5 + 3 * k);
        g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_CU_SIGNAL, k), ==, 9 + 3 * k);
        g_assert_cmpuint(bench_flit_cycle(&bench, "signal", BENCH_AGENT, FLIT_CU_SIGNAL, k), ==, 14 + 3 * k);
    }
    bench_close(&bench);
}

/* ---- sweeps ---- */

static void open_filled(struct machine_bench *bench, const char *text) {
    bench_open(bench, text);
    BENCH_PROGRAM(bench, 0, FILL(.n = 128), FILL(.n = 128, .eoff = 128), FILL(.n = 128, .sel = 1),
                  FILL(.n = 128, .sel = 1, .eoff = 128));
    bench_run(bench);
    bench_forget(bench);
}

/* Start to whole cluster idle: n + 32 unpaced; the cluster is busy from the cycle after the start on. */
static void sweep_to_idle(void) {
    static const struct {
        unsigned gm, gn, nk, idle;
    } rows[] = {{1, 1, 4, 48}, {1, 2, 4, 54}, {1, 3, 4, 55}, {2, 2, 4, 63},
                {1, 5, 4, 52}, {4, 4, 4, 96}, {8, 8, 4, 288}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_filled(&bench, PER_PORT);
        BENCH_PROGRAM(&bench, 0, GEMM(.gm = rows[i].gm, .gn = rows[i].gn, .nk = rows[i].nk));
        bench_run(&bench);
        cycle_t taken = bench_cycle(&bench, "taken", 0, 0), start = bench_cycle(&bench, "sweep start", 0, 0);
        g_assert_cmpuint(start, ==, taken + 1);
        g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 0), ==, start + 1);
        g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 0), ==, taken + 4);
        g_assert_cmpuint(bench_counts(&bench, 0).compute_cycles, ==, rows[i].idle - 1);
        bench_close(&bench);
    }
}

/* Cycles between issues where there are fewer than five sub-tiles, and with one block never. */
static void paced_tiles(void) {
    static const unsigned apart[] = {0, 5, 3, 2, 2, 1};
    for (unsigned gn = 1; gn <= 5; gn++)
        for (unsigned nk = 1; nk <= 3; nk++) {
            struct machine_bench bench;
            open_filled(&bench, PER_PORT);
            BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = gn, .nk = nk));
            bench_run(&bench);
            for (unsigned k = 1; k < gn * nk; k++)
                g_assert_cmpuint(bench_cycle(&bench, "issue", 0, k) - bench_cycle(&bench, "issue", 0, k - 1), ==,
                                 nk > 1 ? apart[gn] : 1);
            bench_close(&bench);
        }
}

/* A wide sweep's start follows the one before by n + 22, a small one's by the issue span + 33. */
static void sweep_to_sweep(void) {
    static const struct {
        unsigned gm, gn, nk, apart;
    } rows[] = {{8, 8, 4, 256 + 22},   {1, 5, 4, 20 + 22}, {5, 1, 1, 5 + 22},
                {16, 16, 1, 256 + 22}, {1, 1, 2, 6 + 33},  {2, 2, 4, 31 + 33}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        const struct cluster_inst gemm = GEMM(.gm = rows[i].gm, .gn = rows[i].gn, .nk = rows[i].nk);
        open_filled(&bench, PER_PORT);
        BENCH_PROGRAM(&bench, 0, gemm, gemm);
        bench_run(&bench);
        cycle_t first = bench_cycle(&bench, "sweep start", 0, 0);
        g_assert_cmpuint(bench_cycle(&bench, "sweep start", 0, 1) - first, ==, rows[i].apart);
        bench_close(&bench);
    }
}

/* ---- drains ---- */

static void drain_totals(void) {
    static const unsigned rows[][2] = {{1, 21},  {2, 23},  {7, 33},   {8, 35},   {9, 38},
                                       {16, 45}, {17, 48}, {64, 105}, {256, 345}};
    struct machine_bench bench;
    open_filled(&bench, PER_PORT);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpuint(total(&bench, DRAIN(.addr = IMAGE_C, .n = rows[i][0])), ==, rows[i][1]);
    g_assert_cmpuint(total(&bench, DRAIN(.addr = IMAGE_C, .n = 512)), ==, 665);
    bench_close(&bench);
    open_filled(&bench, CONVERGED);
    g_assert_cmpuint(total(&bench, DRAIN(.addr = IMAGE_C, .n = 512)), ==, 1305);
    bench_close(&bench);
}

/* Taken to start 1; first result 10 after the start, collected 3 later; descriptor of a burst of k words k + 3 after
 * the first was collected; words behind it; full bursts 10 apart; single ones 3. */
static void drain_in_steps(void) {
    struct machine_bench bench;
    open_filled(&bench, PER_PORT);
    total(&bench, DRAIN(.addr = IMAGE_C, .n = 21));
    cycle_t start = bench_cycle(&bench, "drain start", 0, 0);
    g_assert_cmpuint(start, ==, bench_cycle(&bench, "taken", 0, 0) + 1);
    g_assert_cmpuint(bench_cycle(&bench, "emit", 0, 0), ==, start + 10);
    g_assert_cmpuint(bench_cycle(&bench, "emit", 0, 20), ==, start + 30);
    g_assert_cmpuint(bench_cycle(&bench, "sub-tile collected", 0, 0), ==, start + 13);
    for (unsigned burst = 0; burst < 3; burst++) {
        cycle_t descriptor = bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, burst);
        g_assert_cmpuint(descriptor, ==, start + 24 + 10 * burst);
        g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 8 * burst), ==, descriptor + 1);
    }
    bench_close(&bench);
    for (unsigned k = 1; k <= 8; k++) {
        open_filled(&bench, PER_PORT);
        total(&bench, DRAIN(.addr = IMAGE_C, .n = k));
        g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, 0) -
                             bench_cycle(&bench, "sub-tile collected", 0, 0),
                         ==, k + 3);
        bench_close(&bench);
    }
    open_filled(&bench, SINGLES);
    total(&bench, DRAIN(.addr = IMAGE_C, .n = 6));
    for (unsigned k = 1; k < 6; k++)
        g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, k) -
                             bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, k - 1),
                         ==, 3);
    bench_close(&bench);
}

/* An emitting sweep onto an open tile, and the DRAIN that waits for it. Everything counts from the sweep's start. */
static void batch(const char *text, unsigned gm, unsigned gn, unsigned nk, cycle_t retired, uint64_t held) {
    struct machine_bench bench;
    open_filled(&bench, text);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = gm, .gn = gn, .nk = nk));
    bench_run(&bench);
    bench_forget(&bench);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = gm, .gn = gn, .nk = nk, .acc = 1, .emit = 1, .addr = IMAGE_C),
                  DRAIN(.addr = IMAGE_C, .n = gm * gn, .fuse = 1));
    bench_run(&bench);
    cycle_t start = bench_cycle(&bench, "sweep start", 0, 0), emit = start + 29 + gm * gn * (nk - 1);
    g_assert_cmpuint(bench_cycle(&bench, "emit", 0, 0), ==, emit);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, 0), ==, emit + 14);
    g_assert_cmpuint(bench_cycle(&bench, "drain start", 0, 0), ==, start + 6);
    g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1), ==, start + retired);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, gm * gn - 1), ==, start + retired - 2);
    g_assert_cmpuint(bench_counts(&bench, 0).held_cycles, ==, held);
    bench_close(&bench);
}

static void fused_batches(void) {
    batch(PER_PORT, 4, 4, 1, 63, 0);
    batch(PER_PORT, 8, 8, 1, 123, 0);
    batch(PER_PORT, 8, 8, 4, 315, 0);
    batch(PER_PORT, 16, 8, 1, 203, 0);
    batch(PER_PORT, 16, 16, 1, 363, 0);
    batch(PER_PORT, 16, 32, 1, 683, 17);
    batch(PER_PORT, 16, 32, 2, 1195, 17);
    batch(CONVERGED, 16, 32, 1, 1323, 289);
    batch(CONVERGED, 16, 32, 2, 1835, 289);
}

/* ---- compute-units §9.3: the worked example's GEMM and DRAIN from the GEMM's first offer a ---- */

static void worked_example(void) {
    struct machine_bench bench;
    open_filled(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = 4), DRAIN(.addr = 0x4000, .n = 64));
    bench_run(&bench);
    cycle_t a = bench_cycle(&bench, "taken", 0, 0) - 1;
    g_assert_cmpuint(bench_cycle(&bench, "sweep start", 0, 0), ==, a + 2);
    g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 0), ==, a + 3);
    g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 255), ==, a + 258);
    g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 0), ==, a + 5);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_CU_SIGNAL, 0), ==, a + 9);
    g_assert_cmpuint(bench_cycle(&bench, "taken", 0, 1), ==, a + 7);
    g_assert_cmpuint(bench_cycle(&bench, "drain start", 0, 0), ==, a + 291);
    g_assert_cmpuint(bench_cycle(&bench, "emit", 0, 0), ==, a + 301);
    for (unsigned b = 0; b < 8; b++)
        g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, b), ==, a + 315 + 10 * b);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 63), ==, a + 393);
    g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1), ==, a + 395);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_CU_SIGNAL, 1), ==, a + 399);
    bench_close(&bench);
}

/* ---- compute-units §9.4: a small sweep behind a small one, a peer stream, a send ---- */

static void small_sweep_behind_small(void) {
    struct machine_bench bench;
    open_filled(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = 1, .nk = 2), GEMM(.gm = 1, .gn = 1, .nk = 2));
    bench_run(&bench);
    g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 1) - bench_cycle(&bench, "issue", 0, 0), ==, 5);
    g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 2) - bench_cycle(&bench, "issue", 0, 1), ==, 34);
    bench_close(&bench);
    open_filled(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = 4), GEMM(.gm = 8, .gn = 8, .nk = 4, .acc = 1));
    bench_run(&bench);
    g_assert_cmpuint(bench_cycle(&bench, "issue", 0, 256) - bench_cycle(&bench, "issue", 0, 255), ==, 23);
    bench_close(&bench);
}

/* 16 flits into the resident tile of an idle cluster: descriptor popped p, sub-tiles handed over p + 3, p + 6, …, the
 * commands one later, the acknowledgement on the link in p + 25. */
static void peer_stream(void) {
    struct machine_bench bench;
    open_filled(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = 1));
    bench_run(&bench);
    bench_forget(&bench);
    struct flit flit = {.type = FLIT_CU_DATA, .src_x = 0, .src_y = 1, .dst_x = 1, .dst_y = 1};
    word_set(&flit.payload, 248, 8, 2);
    word_set(&flit.payload, 224, 8, 15);
    word_set(&flit.payload, 216, 8, 1);
    cycle_t at = bench.now;
    bench_flit(&bench, 0, &flit, at);
    for (unsigned k = 0; k < 16; k++) {
        flit = (struct flit){.type = FLIT_CU_DATA, .src_x = 0, .src_y = 1, .dst_x = 1, .dst_y = 1, .last = k == 15};
        bench_flit(&bench, 0, &flit, at + 1 + k);
    }
    bench_run(&bench);
    cycle_t popped = bench_cycle(&bench, "burst opened", 0, 0);
    g_assert_cmpuint(popped, ==, at + 3);
    for (unsigned k = 0; k < 8; k++)
        g_assert_cmpuint(bench_cycle(&bench, "peer command", 0, k) + 1, ==, popped + 4 + 3 * k);
    g_assert_cmpuint(bench_flit_cycle(&bench, "out", 0, FLIT_CU_SIGNAL, 0), ==, popped + 25);
    bench_close(&bench);
}

/* Eight sub-tiles to a node's resident tile from granule 2 on: two bursts of eight granules, ten cycles apart, the
 * first 23 cycles after the drain's start. */
static void send_to_a_node(void) {
    struct machine_bench bench;
    bench_open(&bench, "{" BENCH_WHOLE_L1 ", " MAP_ROW_OF_2 "}");
    const struct cluster_inst open[] = {FILL(.n = 8), FILL(.n = 8, .sel = 1), GEMM(.gm = 8, .gn = 8, .nk = 1)};
    bench_program(&bench, 0, open, 3);
    bench_program(&bench, 1, open, 3);
    bench_run(&bench);
    bench_forget(&bench);
    BENCH_PROGRAM(&bench, 0, DRAIN(.addr = 0x40, .n = 8, .dnode = 1, .dst_x = 2, .dst_y = 1, .dbuf = 2));
    bench_run(&bench);
    cycle_t start = bench_cycle(&bench, "drain start", 0, 0);
    g_assert_cmpuint(bench_count(&bench, "out", 0, FLIT_CU_DATA), ==, 18);
    for (unsigned burst = 0; burst < 2; burst++) {
        const struct bench_event *descriptor = bench_need(&bench, "out", 0, FLIT_CU_DATA, 9 * burst);
        g_assert_cmpuint(descriptor->cycle, ==, start + 23 + 10 * burst);
        g_assert_cmpuint(word_get(&descriptor->flit.payload, 232, 16), ==, 2 + 8 * burst);
        g_assert_cmpuint(word_get(&descriptor->flit.payload, 224, 8), ==, 7);
    }
    g_assert_cmpuint(bench_counts(&bench, 1).add_peer, ==, 8);
    bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timing/cluster/fill_totals", fill_totals);
    g_test_add_func("/timing/cluster/fill_in_steps", fill_in_steps);
    g_test_add_func("/timing/cluster/shell", shell);
    g_test_add_func("/timing/cluster/sweep_to_idle", sweep_to_idle);
    g_test_add_func("/timing/cluster/paced_tiles", paced_tiles);
    g_test_add_func("/timing/cluster/sweep_to_sweep", sweep_to_sweep);
    g_test_add_func("/timing/cluster/drain_totals", drain_totals);
    g_test_add_func("/timing/cluster/drain_in_steps", drain_in_steps);
    g_test_add_func("/timing/cluster/fused_batches", fused_batches);
    g_test_add_func("/timing/cluster/worked_example", worked_example);
    g_test_add_func("/timing/cluster/small_sweep_behind_small", small_sweep_behind_small);
    g_test_add_func("/timing/cluster/peer_stream", peer_stream);
    g_test_add_func("/timing/cluster/send_to_a_node", send_to_a_node);
    return g_test_run();
}
