/* Claims about DRAIN: I05, I09, I33 to I40 and I51. */
#include "claims/machine_bench.h"

#define WHOLE MACHINE_TEXT(BENCH_MEMORY("per_port") ", " BENCH_WHOLE_L1 ", " BENCH_DEEP)

enum {
    IMAGE_A = 0,
    IMAGE_B = 0x10000,
    IMAGE_C = 0x20000,
    SENTINEL = 0x5A
};

struct operands {
    struct mxfp7_entry *a, *b;
};

static void operands_clear(struct operands *operands) {
    g_free(operands->a);
    g_free(operands->b);
}

/* Operands in L1 from entry 0 of bank 0; C's place in memory holds a pattern nobody computes. */
static struct operands prepare(struct machine_bench *bench, const char *text, unsigned a, unsigned b) {
    uint8_t pattern[WORD_BYTES];
    bench_open(bench, text);
    struct operands operands = {bench_operand(bench, IMAGE_A, a, 0, 51), bench_operand(bench, IMAGE_B, b, 1, 52)};
    memset(pattern, SENTINEL, sizeof pattern);
    for (unsigned w = 0; w < 1024; w++)
        dram_load(&bench->system->dram, IMAGE_C + w * WORD_BYTES, pattern, sizeof pattern);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned first = 0, count = side ? b : a; first < count; first += 128)
            BENCH_PROGRAM(bench, 0,
                          FILL(.addr = (side ? IMAGE_B : IMAGE_A) + first * 128, .n = MIN(count - first, 128),
                               .sel = side, .eoff = first));
    bench_run(bench);
    bench_forget(bench);
    return operands;
}

static void assert_untouched(struct machine_bench *bench, unsigned first) {
    struct word256 pattern;
    memset(&pattern, SENTINEL, sizeof pattern);
    bench_assert_memory(bench, IMAGE_C + first * WORD_BYTES, &pattern, 1);
}

/* A DRAIN of 512 sub-tiles drains 512. */
static void claim_I05_drained(void) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, WHOLE, 16, 32);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 16, .gn = 32, .nk = 1), DRAIN(.addr = IMAGE_C, .n = 512));
    bench_run(&bench);
    g_assert_cmpuint(bench_counts(&bench, 0).emit, ==, 512);
    g_assert_cmpuint(bench_count(&bench, "out", 0, FLIT_MEM_WR_DATA), ==, 512);
    g_autofree struct word256 *want = bench_expected(operands.a, operands.b, 16, 32, 1);
    bench_assert_memory(&bench, IMAGE_C, want, 512);
    assert_untouched(&bench, 512);
    operands_clear(&operands);
    bench_close(&bench);
}

/* ---- I09 ---- */

/* Cycles from the one in which the descriptor stands ready (the one after FILL was taken) to its link, and flits of the
 * drain that left in between, with a link that takes a flit every `period` cycles. */
static void descriptor_wait(unsigned period, unsigned delay, unsigned *cycles, unsigned *flits) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, WHOLE, 64, 64);
    if (period > 1) /* after the operands have come */
        bench_capture_unit(&bench, period);
    const struct cluster_inst first = GEMM(.gm = 16, .gn = 16, .nk = 2, .emit = 1, .addr = IMAGE_C),
                              second[] = {FILL(.addr = IMAGE_A, .n = 4, .fbank = 1)};
    bench_program(&bench, 0, &first, 1);
    bench_program_at(&bench, 0, second, 1, bench.now + 600 + delay);
    bench_run(&bench);
    cycle_t ready = bench_cycle(&bench, "taken", 0, 1) + 1,
            out = bench_flit_cycle(&bench, "out", 0, FLIT_MEM_RD_REQ, 0);
    *cycles = (unsigned)(out - ready);
    *flits = 0;
    for (guint i = 0; i < bench.events->len; i++) {
        const struct bench_event *event = &g_array_index(bench.events, struct bench_event, i);
        if (strcmp(event->what, "out") == 0 && event->cycle > ready && event->cycle < out)
            ++*flits;
    }
    g_assert_cmpuint(bench_count(&bench, "out", 0, FLIT_MEM_WR_DATA), >, 8); /* before it and behind it */
    g_assert_cmpuint(bench_need(&bench, "out", 0, FLIT_MEM_WR_DATA, 0)->cycle, <, out);
    operands_clear(&operands);
    bench_close(&bench);
}

/* The descriptor goes before queued drain flits: on a free link one cycle after it stands ready, on a slow one behind
 * the one flit that holds the output register. */
static void claim_I09(void) {
    for (unsigned delay = 0; delay < 20; delay++) {
        unsigned cycles, flits;
        descriptor_wait(1, delay, &cycles, &flits);
        g_assert_cmpuint(cycles, ==, 1);
        descriptor_wait(7, delay, &cycles, &flits);
        g_assert_cmpuint(flits, <=, 1);
        g_assert_cmpuint(cycles, <=, 14);
    }
}

/* ---- I33, I37, I38 ---- */

/* Sub-tile t of an output tile is the 256-bit word at addr + 32 t, FP16 elements in row order, t in sweep order. */
static void claim_I33(void) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, WHOLE, 6 * 2, 7 * 2);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 6, .gn = 7, .nk = 2), DRAIN(.addr = IMAGE_C, .n = 42));
    bench_run(&bench);
    for (unsigned g = 0; g < 6; g++)
        for (unsigned h = 0; h < 7; h++) {
            struct word256 word = bench_memory(&bench, IMAGE_C + WORD_BYTES * (7 * g + h));
            uint32_t tile[TILE_LANES];
            for (unsigned kb = 0; kb < 2; kb++)
                bench_block(tile, &operands.a[2 * g + kb], &operands.b[2 * h + kb], kb == 0);
            for (unsigned lane = 0; lane < TILE_LANES; lane++)
                g_assert_cmphex(word_get(&word, 16 * lane, 16), ==, fp22_emit(tile[lane], FP22_WIDTH));
        }
    assert_untouched(&bench, 42);
    operands_clear(&operands);
    bench_close(&bench);
}

/* Flits out for a drain of 1 x n sub-tiles, whose bytes must be complete. */
static unsigned drain_flits(const char *text, unsigned n) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, text, 1, n);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = n, .nk = 1), DRAIN(.addr = IMAGE_C, .n = n));
    bench_run(&bench);
    g_autofree struct word256 *want = bench_expected(operands.a, operands.b, 1, n, 1);
    bench_assert_memory(&bench, IMAGE_C, want, n);
    assert_untouched(&bench, n);
    unsigned words = bench_count(&bench, "out", 0, FLIT_MEM_WR_DATA),
             bursts = bench_count(&bench, "out", 0, FLIT_MEM_WR_REQ);
    g_assert_cmpuint(words, ==, n);
    g_assert_cmpuint(bench_count(&bench, "in", 0, FLIT_MEM_WR_ACK), ==, bursts);
    operands_clear(&operands);
    bench_close(&bench);
    return words + bursts;
}

#define SINGLE_BURSTS "\"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"write_burst\": 1}"

/* 64 sub-tiles are eight bursts of a descriptor and eight words; 128 flits with bursts of one. */
static void claim_I37(void) {
    g_assert_cmpuint(drain_flits(WHOLE, 64), ==, 72);
    g_assert_cmpuint(drain_flits(MACHINE_TEXT(SINGLE_BURSTS), 64), ==, 128);
}

/* The last burst is closed when the drain runs dry: 13 sub-tiles are bursts of eight and five. */
static void claim_I38(void) {
    g_assert_cmpuint(drain_flits(WHOLE, 13), ==, 13 + 2);
    for (unsigned n = 1; n <= 17; n++)
        g_assert_cmpuint(drain_flits(WHOLE, n), ==, n + (n + 7) / 8);
}

/* ---- I34 to I36 ---- */

struct batch {
    cycle_t cycles; /* sweep start to retirement of the DRAIN */
    cycle_t next_sweep, first_emit, last_word;
    struct cluster_counts counts;
    struct word256 words[64];
};

/* An 8x8x4 tile drained, fused or not, with a further sweep between sweep and DRAIN if `next`. */
static void run_batch(bool fused, bool next, struct batch *batch) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, WHOLE, 32, 32);
    bench_program(&bench, 0, &GEMM(.gm = 8, .gn = 8, .nk = 4, .emit = fused, .addr = IMAGE_C), 1);
    if (next)
        bench_program(&bench, 0, &GEMM(.gm = 8, .gn = 8, .nk = 4), 1);
    bench_program(&bench, 0, &DRAIN(.addr = IMAGE_C, .n = 64, .fuse = fused), 1);
    bench_run(&bench);
    cycle_t start = bench_cycle(&bench, "sweep start", 0, 0);
    batch->cycles = bench_cycle(&bench, "retired", 0, next ? 2 : 1) - start;
    batch->next_sweep = next ? bench_cycle(&bench, "sweep start", 0, 1) - start : 0;
    batch->first_emit = bench_cycle(&bench, "emit", 0, 0) - start;
    batch->last_word = bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 63) - start;
    batch->counts = bench_counts(&bench, 0);
    for (unsigned w = 0; w < 64; w++)
        batch->words[w] = bench_memory(&bench, IMAGE_C + w * WORD_BYTES);
    g_assert_cmpuint(bench_all_hazards(&bench), ==, 0);
    operands_clear(&operands);
    bench_close(&bench);
}

/* The last K block's commands are ADD_EMIT; a fused DRAIN only waits; the next sweep runs while results leave. Same
 * bytes as the plain drain in fewer cycles. */
static void claim_I34(void) {
    struct batch plain, fused, behind;
    run_batch(false, false, &plain);
    run_batch(true, false, &fused);
    run_batch(true, true, &behind);
    g_assert_cmpmem(fused.words, sizeof fused.words, plain.words, sizeof plain.words);
    g_assert_cmpmem(behind.words, sizeof behind.words, plain.words, sizeof plain.words);
    g_assert_cmpuint(plain.counts.emit, ==, 64);
    g_assert_cmpuint(plain.counts.add, ==, 192);
    g_assert_cmpuint(fused.counts.emit, ==, 0);
    g_assert_cmpuint(fused.counts.add, ==, 128);
    g_assert_cmpuint(fused.counts.add_emit, ==, 64);
    g_assert_cmpuint(fused.first_emit, ==, 29 + 192);
    g_assert_cmpuint(fused.cycles, ==, 315);
    g_assert_cmpuint(plain.cycles, ==, 256 + 33 + 104);
    g_assert_cmpuint(behind.next_sweep, ==, 256 + 22);
    g_assert_cmpuint(behind.next_sweep, <, behind.last_word);
}

struct watched_queue {
    int64_t most_counted;
    uint64_t most_held;
    unsigned issues_over; /* sub-tiles issued in a cycle that began with the queue at its limit */
    int64_t before;
    uint64_t issued;
};

static void watch_queue(struct machine_bench *bench, void *to, cycle_t now) {
    (void)now;
    struct watched_queue *watch = to;
    const struct cluster *cluster = bench_cluster(bench, 0);
    uint64_t issued = cluster->counts.load + cluster->counts.add + cluster->counts.add_emit;
    watch->issues_over += issued != watch->issued && watch->before >= 112;
    watch->issued = issued;
    watch->before = cluster->d_out;
    watch->most_counted = MAX(watch->most_counted, cluster->d_out);
    watch->most_held = MAX(watch->most_held, cluster->ring_pushed - cluster->ring_out);
}

/* With the queue at its limit the sweep is held before it issues: nothing is issued in such a cycle, at most three that
 * were on their way still come, the queue of 128 never overflows, and the answer is whole. */
static void run_held(const char *attachment, uint64_t held, cycle_t cycles) {
    struct machine_bench bench;
    struct watched_queue watch = {0};
    g_autofree char *text =
        g_strdup_printf("{\"memory\": {\"attachment\": \"%s\", \"latency\": 1}, " MACHINE_MAP "}", attachment);
    struct operands operands = prepare(&bench, text, 16, 32);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 16, .gn = 32, .nk = 1));
    bench_run(&bench);
    bench_forget(&bench);
    bench.sample = watch_queue;
    bench.sample_to = &watch;
    watch.issued = 512;
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 16, .gn = 32, .nk = 1, .acc = 1, .emit = 1, .addr = IMAGE_C),
                  DRAIN(.addr = IMAGE_C, .n = 512, .fuse = 1));
    bench_run(&bench);
    g_assert_cmpuint(watch.issues_over, ==, 0);
    g_assert_cmpint(watch.most_counted, >=, 112);
    g_assert_cmpint(watch.most_counted, <=, 115);
    g_assert_cmpuint(watch.most_held, <=, 128);
    g_assert_cmpuint(bench_counts(&bench, 0).held_cycles, ==, held);
    g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1) - bench_cycle(&bench, "sweep start", 0, 0), ==, cycles);
    for (unsigned t = 0; t < 512; t++) {
        uint32_t tile[TILE_LANES];
        struct word256 want;
        bench_block(tile, &operands.a[t / 32], &operands.b[t % 32], true);
        bench_block(tile, &operands.a[t / 32], &operands.b[t % 32], false);
        fp22_tile_emit(tile, FP22_WIDTH, &want);
        bench_assert_memory(&bench, IMAGE_C + t * WORD_BYTES, &want, 1);
    }
    operands_clear(&operands);
    bench_close(&bench);
}

static void claim_I35(void) {
    run_held("per_port", 17, 683);
    run_held("converged", 289, 1323);
}

/* A sweep of one K block that opens and emits: LOAD wins, nothing is handed out, the fused DRAIN hangs; reported. */
static void claim_I36(void) {
    struct machine_bench bench;
    struct operands operands = prepare(&bench, WHOLE, 8, 8);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = 1, .emit = 1, .addr = IMAGE_C),
                  DRAIN(.addr = IMAGE_C, .n = 64, .fuse = 1));
    bench_run_to(&bench, bench.now + 5000);
    g_assert_cmpuint(bench_count(&bench, "retired", 0, -1), ==, 1);
    g_assert_cmpuint(bench_counts(&bench, 0).load, ==, 64);
    g_assert_cmpuint(bench_counts(&bench, 0).add_emit, ==, 0);
    g_assert_cmpuint(bench_count(&bench, "emit", 0, -1), ==, 0);
    g_assert_cmpuint(bench_hazards(&bench, "cluster.emit_opens_tile"), ==, 1);
    assert_untouched(&bench, 0);
    operands_clear(&operands);
    bench_close(&bench);
}

/* ---- I39, I40, I51 ---- */

/* A DRAIN completes two cycles after its last word is on the link, while acknowledgements are still to come. */
static void claim_I39(void) {
    static const char *const attachments[] = {"per_port", "converged"};
    for (unsigned i = 0; i < 2; i++) {
        struct machine_bench bench;
        g_autofree char *text =
            g_strdup_printf("{\"memory\": {\"attachment\": \"%s\", \"latency\": 1}, " MACHINE_MAP "}", attachments[i]);
        struct operands operands = prepare(&bench, text, 8, 8);
        BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = 1), DRAIN(.addr = IMAGE_C, .n = 64));
        bench_run(&bench);
        cycle_t last = bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 63);
        g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1) - last, ==, 2);
        g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_MEM_WR_ACK, 7), >, last + 2);
        operands_clear(&operands);
        bench_close(&bench);
    }
}

/* The drain counts results, not cycles: an accumulator of any depth, also one that outlasts its own busy flag, and
 * queues of any depth and latency behind it give the same bytes, plain and fused. */
static void claim_I40(void) {
    static const char *const shapes[] = {
        "\"noc\": {\"fall_through\": 1}",
        "\"noc\": {\"fall_through\": 3}",
        "\"noc\": {\"fall_through\": 9}",
        "\"cluster\": {\"drain_queue\": 16, \"drain_limit\": 8}",
        "\"cluster\": {\"drain_queue\": 2048, \"drain_limit\": 1024}",
        "\"cluster\": {\"accumulator_latency\": 2}",
        "\"cluster\": {\"accumulator_latency\": 12}",
        "\"cluster\": {\"accumulator_latency\": 200}",
        "\"noc\": {\"fall_through\": 12}, \"cluster\": {\"drain_queue\": 16, \"drain_limit\": 4}",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++)
        for (unsigned fused = 0; fused < 2; fused++) {
            struct machine_bench bench;
            g_autofree char *text = g_strdup_printf("{%s, " BENCH_DEEP ", " MACHINE_MAP "}", shapes[i]);
            struct operands operands = prepare(&bench, text, 26, 26);
            BENCH_PROGRAM(&bench, 0, GEMM(.gm = 13, .gn = 13, .nk = 2, .emit = fused, .addr = IMAGE_C),
                          DRAIN(.addr = IMAGE_C, .n = 169, .fuse = fused));
            bench_run(&bench);
            g_assert_cmpuint(bench_count(&bench, "retired", 0, -1), ==, 2);
            g_autofree struct word256 *want = bench_expected(operands.a, operands.b, 13, 13, 2);
            bench_assert_memory(&bench, IMAGE_C, want, 169);
            operands_clear(&operands);
            bench_close(&bench);
        }
}

/* DRAIN takes the command port only when the whole cascade has cleared: its start lies 33 cycles behind the sweep's
 * last issue, its first command two later, and no sooner however the sweep was shaped. */
static void claim_I51(void) {
    static const struct {
        unsigned gm, gn, nk;
    } shapes[] = {{1, 1, 1}, {1, 1, 4}, {1, 2, 4}, {2, 2, 4}, {1, 5, 4}, {8, 8, 4}, {16, 16, 1}};
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        unsigned gm = shapes[i].gm, gn = shapes[i].gn, nk = shapes[i].nk;
        struct machine_bench bench;
        struct operands operands = prepare(&bench, WHOLE, gm * nk, gn * nk);
        BENCH_PROGRAM(&bench, 0, GEMM(.gm = gm, .gn = gn, .nk = nk), DRAIN(.addr = IMAGE_C, .n = gm * gn));
        bench_run(&bench);
        cycle_t last = bench_cycle(&bench, "issue", 0, gm * gn * nk - 1), command = last + 20;
        /* tile written at the end of command + 6, pushed in first drain command + 8 */
        cycle_t start = bench_cycle(&bench, "drain start", 0, 0);
        g_assert_cmpuint(start - last, ==, 33);
        g_assert_cmpuint(bench_cycle(&bench, "emit", 0, 0) - 8, ==, start + 2);
        g_assert_cmpuint(start + 2, >, command + 11);
        g_autofree struct word256 *want = bench_expected(operands.a, operands.b, gm, gn, nk);
        bench_assert_memory(&bench, IMAGE_C, want, gm * gn);
        operands_clear(&operands);
        bench_close(&bench);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I05/drained", claim_I05_drained);
    g_test_add_func("/claim_I09", claim_I09);
    g_test_add_func("/claim_I33", claim_I33);
    g_test_add_func("/claim_I34", claim_I34);
    g_test_add_func("/claim_I35", claim_I35);
    g_test_add_func("/claim_I36", claim_I36);
    g_test_add_func("/claim_I37", claim_I37);
    g_test_add_func("/claim_I38", claim_I38);
    g_test_add_func("/claim_I39", claim_I39);
    g_test_add_func("/claim_I40", claim_I40);
    g_test_add_func("/claim_I51", claim_I51);
    return g_test_run();
}
