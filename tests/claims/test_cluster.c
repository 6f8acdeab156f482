/* Claims about what a cluster asks of its port over whole products: I07, I08, I22 and I30. */
#include "claims/machine_bench.h"
#include "claims/run_bench.h"

enum {
    IMAGE_A = 0,
    IMAGE_B = 0x100000,
    IMAGE_C = 0x200000,
    CHUNKS = 6,
    ENTRY_PERIOD = 6, /* cycles between entries of a per-port read */
};

#define WHOLE MACHINE_TEXT(BENCH_MEMORY("per_port") ", " BENCH_WHOLE_L1 ", " BENCH_DEEP)

/* Chunks of gm x gn x nk one behind the other in alternate banks: words read and cycles a chunk, in the steady state
 * between the sweep starts of chunks 2 and 4. */
static void demand(unsigned gm, unsigned gn, unsigned nk, unsigned *words, cycle_t *cycles) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    for (unsigned c = 0; c < CHUNKS; c++) {
        unsigned bank = c % 2;
        const struct cluster_inst chunk[] = {
            FILL(.addr = IMAGE_A, .n = gm * nk, .fbank = bank),
            FILL(.addr = IMAGE_B, .n = gn * nk, .sel = 1, .fbank = bank),
            GEMM(.gm = gm, .gn = gn, .nk = nk, .acc = c > 0, .abank = bank, .bbank = bank)};
        bench_program(&bench, 0, chunk, 3);
    }
    bench_run(&bench);
    cycle_t first = bench_cycle(&bench, "sweep start", 0, 2), last = bench_cycle(&bench, "sweep start", 0, 4);
    unsigned responses = 0;
    for (unsigned k = 0; k < bench_count(&bench, "in", 0, FLIT_MEM_RD_RESP); k++) {
        cycle_t at = bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, k);
        responses += at > first && at <= last;
    }
    *words = responses / 2;
    *cycles = (last - first) / 2;
    g_assert_cmpuint(bench_hazards(&bench, "cluster.fill_under_sweep"), ==, 0);
    bench_close(&bench);
}

/* 4 (gm + gn) / (gm gn) words a cycle of sweep. At 8x8 that is 1.0, more than the port's 4 words in 6 cycles: the
 * sweeps wait for the fills. At 16x32 it is 0.375: the fills hide behind the sweeps, which follow each other without a
 * gap but the pipeline's. */
static void claim_I07(void) {
    unsigned words;
    cycle_t cycles;
    demand(8, 8, 4, &words, &cycles);
    g_assert_cmpuint(words, ==, 1 * 8 * 8 * 4);
    g_assert_cmpuint(cycles, >=, 2 * 8 * 4 * ENTRY_PERIOD);
    demand(16, 32, 4, &words, &cycles);
    g_assert_cmpfloat(words, ==, 0.375 * 16 * 32 * 4);
    g_assert_cmpuint(cycles, ==, 16 * 32 * 4 + 22);
    demand(16, 16, 4, &words, &cycles);
    g_assert_cmpfloat(words, ==, 0.5 * 16 * 16 * 4);
    g_assert_cmpuint(cycles, ==, 16 * 16 * 4 + 22);
}

/* ---- I08 ---- */

struct directions {
    cycle_t fill;  /* request on the link to the last response */
    cycle_t drain; /* first descriptor to the last word */
    uint64_t blocked;
};

/* A fused drain of 16x16 sub-tiles and a fill of 120 entries of the other bank: one of them, or both at a time. */
static void both_directions(bool fill, bool drain, struct directions *took) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = IMAGE_A, .n = 64), FILL(.addr = IMAGE_B, .n = 64, .sel = 1));
    bench_run(&bench);
    bench_forget(&bench);
    bench_program(&bench, 0, &GEMM(.gm = 16, .gn = 16, .nk = 4, .emit = drain, .addr = IMAGE_C), 1);
    if (fill) /* taken while results leave: they do from 29 + 3*256 cycles after the sweep's start on */
        bench_program_at(&bench, 0, &FILL(.addr = IMAGE_A, .n = 120, .fbank = 1), 1, bench.now + 850);
    bench_run(&bench);
    *took = (struct directions){.blocked = bench.system->endpoints[0].counts.blocked};
    if (fill)
        took->fill = bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 479) -
                     bench_flit_cycle(&bench, "out", 0, FLIT_MEM_RD_REQ, 0);
    if (drain)
        took->drain = bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 255) -
                      bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_REQ, 0);
    if (fill && drain) {
        g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 0), <,
                         bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 200));
        g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 0), >,
                         bench_flit_cycle(&bench, "out", 0, FLIT_MEM_WR_DATA, 0));
    }
    bench_close(&bench);
}

/* Fetch and drain use one full-duplex link each in its own direction: neither takes longer beside the other, but for
 * the flits that share a direction: the fill's one descriptor among the drain's, write acknowledgements (one a burst)
 * among the fill's responses. */
static void claim_I08(void) {
    struct directions fill, drain, both;
    both_directions(true, false, &fill);
    both_directions(false, true, &drain);
    both_directions(true, true, &both);
    g_assert_cmpuint(fill.fill, ==, 5 + 12 + 6 * 119 + 3 + 5);
    g_assert_cmpuint(drain.drain, ==, 10 * 31 + 8);
    g_assert_cmpuint(both.fill, >=, fill.fill);
    g_assert_cmpuint(both.fill, <=, fill.fill + 1);
    g_assert_cmpuint(both.drain, >=, drain.drain);
    g_assert_cmpuint(both.drain, <=, drain.drain + 1);
    g_assert_cmpuint(both.blocked, ==, 0);
}

/* The reference runs, in the order of instructions that was recorded: no unit is ever kept from sending. */
static void claim_I08_reference(void) {
    static const char *const runs[][2] = {{"ref2", "gemm:m=256,k=256,n=256,schedule_a_first=true"},
                                          {"ref4", "gemm:m=256,k=512,n=256,schedule_a_first=true"},
                                          {"ref8", "gemm:m=512,k=1024,n=256,schedule_a_first=true"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(runs); i++) {
        struct finished_run finished;
        run_on_bench(&finished, runs[i][0], runs[i][1], NULL, 1);
        for (unsigned u = 0; u < finished.run.system->endpoint_count; u++)
            g_assert_cmpuint(finished.run.system->endpoints[u].counts.blocked, ==, 0);
        finished_clear(&finished);
    }
}

/* ---- I22, I30 ---- */

/* 32 x 4096 x 32 in 32 chunks of 128: words written with every chunk's result drained for itself. */
static uint64_t words_without_acc(void) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    for (unsigned c = 0; c < 32; c++)
        BENCH_PROGRAM(&bench, 0, FILL(.addr = IMAGE_A + c * 0x1000, .n = 32),
                      FILL(.addr = IMAGE_B + c * 0x1000, .n = 32, .sel = 1), GEMM(.gm = 8, .gn = 8, .nk = 4),
                      DRAIN(.addr = IMAGE_C + c * 2048, .n = 64));
    bench_run(&bench);
    uint64_t words = bench.system->dram.writes;
    bench_close(&bench);
    return words;
}

/* The result goes out once, M N elements, instead of once a K chunk: 32 times less at K = 4096. */
static void claim_I22_simulated(void) {
    struct finished_run finished;
    run_on_bench(&finished, "one", "gemm:m=32,k=4096,n=32,nk=4,transform=upload", NULL, 1);
    uint64_t words = finished.run.system->dram.writes;
    g_assert_cmpuint(finished_counts(&finished, 0).gemms, ==, 32);
    g_assert_cmpuint(words, ==, 32 * 32 / 16);
    finished_clear(&finished);
    g_assert_cmpuint(words_without_acc(), ==, 32 * words);
}

struct beats {
    uint64_t read, written;
};

/* Words over the ports for the 256-cube with the tile forced. */
static struct beats beats_of(const char *workload) {
    struct finished_run finished;
    struct beats beats = {0};
    run_on_bench(&finished, "ref2", workload, NULL, 1);
    for (unsigned p = 0; p < finished.run.system->agent.port_count; p++) {
        beats.read += finished.run.system->agent.ports[p].counts.read_words;
        beats.written += finished.run.system->agent.ports[p].counts.write_words;
    }
    g_assert_cmpuint(beats.read, ==, finished_flits(&finished, FLIT_MEM_RD_RESP, false));
    finished_clear(&finished);
    return beats;
}

/* Tile 32x16: refilling B for each of the two row tiles makes 4,096 of 16,384 beats B's; filled once a band, B's are
 * half of that and all else is as before. */
static void claim_I30_simulated(void) {
    struct beats again = beats_of("gemm:gm=32,gn=16,resident=false");
    struct beats once = beats_of("gemm:gm=32,gn=16,resident=true");
    g_assert_cmpuint(again.read + again.written, ==, 16384);
    g_assert_cmpuint(again.written, ==, 4096);
    g_assert_cmpuint(once.written, ==, 4096);
    g_assert_cmpuint(again.read - once.read, ==, 4096 / 2);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I07", claim_I07);
    g_test_add_func("/claim_I08", claim_I08);
    g_test_add_func("/claim_I08/reference_runs", claim_I08_reference);
    g_test_add_func("/claim_I22/simulated", claim_I22_simulated);
    g_test_add_func("/claim_I30/simulated", claim_I30_simulated);
    return g_test_run();
}
