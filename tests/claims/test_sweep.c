/* Claims about the sweep: I19 to I21, I23 to I29 and I31. */
#include "claims/machine_bench.h"

#define WHOLE MACHINE_TEXT(BENCH_MEMORY("per_port") ", " BENCH_WHOLE_L1 ", " BENCH_DEEP)

enum {
    IMAGE_A = 0,
    IMAGE_B = 0x10000,
    IMAGE_C = 0x20000,
    GAP = 40 /* cycles a cluster needs at most from an instruction's acceptance on an idle machine to its start */
};

struct operands {
    struct mxfp7_entry *a, *b;
};

static void operands_clear(struct operands *operands) {
    g_free(operands->a);
    g_free(operands->b);
}

/* Entries of both sides in memory and in bank 0 of L1, from entry 0 on. */
static struct operands fill_both(struct machine_bench *bench, unsigned a, unsigned b) {
    struct operands operands = {bench_operand(bench, IMAGE_A, a, 0, 11), bench_operand(bench, IMAGE_B, b, 1, 12)};
    BENCH_PROGRAM(bench, 0, FILL(.addr = IMAGE_A, .n = a), FILL(.addr = IMAGE_B, .n = b, .sel = 1));
    bench_run(bench);
    bench_forget(bench);
    return operands;
}

/* ---- I19, I20: which sub-tile changes in which cycle, and to what ---- */

struct watched_tile {
    struct operands operands;
    unsigned gm, gn, nk;
    uint32_t want[64][TILE_LANES]; /* kept as the claim says it should be */
    uint32_t held[64][TILE_LANES];
    cycle_t last[64];
    unsigned issues;
};

/* Issue number n is K block n / (gm gn), sub-tile n mod (gm gn): nothing else may change in its cycle. */
static void follow_issue(struct machine_bench *bench, void *to, cycle_t now) {
    struct watched_tile *watch = to;
    unsigned tiles = watch->gm * watch->gn;
    if (!memcmp(bench_cluster(bench, 0)->tile, watch->held, tiles * sizeof watch->held[0]))
        return;
    unsigned kb = watch->issues / tiles, address = watch->issues % tiles;
    unsigned g = address / watch->gn, h = address % watch->gn;
    bench_block(watch->want[address], &watch->operands.a[g * watch->nk + kb], &watch->operands.b[h * watch->nk + kb],
                kb == 0);
    memcpy(watch->held, bench_cluster(bench, 0)->tile, sizeof watch->held);
    g_assert_cmpmem(watch->held, sizeof watch->held, watch->want, sizeof watch->want);
    if (kb > 0)
        g_assert_cmpuint(now - watch->last[address], ==, tiles);
    watch->last[address] = now;
    watch->issues++;
}

/* K block outermost, then g, then h; A[g nk + kb] with B[h nk + kb]; the first block loads, the rest add. A sub-tile's
 * turn comes every gm gn cycles. */
static void follow_sweep(unsigned gm, unsigned gn, unsigned nk) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct watched_tile watch = {.operands = fill_both(&bench, gm * nk, gn * nk), .gm = gm, .gn = gn, .nk = nk};
    bench.sample = follow_issue;
    bench.sample_to = &watch;
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = gm, .gn = gn, .nk = nk));
    bench_run(&bench);
    g_assert_cmpuint(watch.issues, ==, gm * gn * nk);
    struct cluster_counts counts = bench_counts(&bench, 0);
    g_assert_cmpuint(counts.load, ==, gm * gn);
    g_assert_cmpuint(counts.add, ==, gm * gn * (nk - 1));
    operands_clear(&watch.operands);
    bench_close(&bench);
}

static void claim_I19(void) {
    follow_sweep(3, 5, 4);
    follow_sweep(8, 8, 3);
    follow_sweep(1, 7, 2);
}

static void claim_I20(void) {
    follow_sweep(5, 1, 6);
    follow_sweep(4, 16, 2);
    follow_sweep(2, 3, 9);
}

/* ---- I21 ---- */

/* A[4][0..11] x B[5][0..11] cut into chunks of `chunk` blocks, accumulated and drained. */
static struct word256 *product_in_chunks(unsigned chunk) {
    enum {
        GM = 4,
        GN = 5,
        NK = 12
    };
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    g_autofree struct mxfp7_entry *a = bench_entries(GM * NK, 21), *b = bench_entries(GN * NK, 22);
    for (unsigned kb = 0; kb < NK; kb += chunk) {
        struct mxfp7_entry part_a[GM * NK], part_b[GN * NK];
        for (unsigned k = 0; k < chunk; k++) {
            for (unsigned g = 0; g < GM; g++)
                part_a[g * chunk + k] = a[g * NK + kb + k];
            for (unsigned h = 0; h < GN; h++)
                part_b[h * chunk + k] = b[h * NK + kb + k];
        }
        bench_load(&bench, IMAGE_A, part_a, GM * chunk, MXFP7_ROWS);
        bench_load(&bench, IMAGE_B, part_b, GN * chunk, MXFP7_COLUMNS);
        BENCH_PROGRAM(&bench, 0, FILL(.addr = IMAGE_A, .n = GM * chunk),
                      FILL(.addr = IMAGE_B, .n = GN * chunk, .sel = 1),
                      GEMM(.gm = GM, .gn = GN, .nk = chunk, .acc = kb > 0), DRAIN(.addr = IMAGE_C, .n = GM * GN));
        bench_run(&bench);
    }
    g_autofree struct word256 *want = bench_expected(a, b, GM, GN, NK);
    bench_assert_memory(&bench, IMAGE_C, want, GM * GN);
    struct word256 *tile = g_memdup2(bench_cluster(&bench, 0)->tile, GM * GN * sizeof(uint32_t[TILE_LANES]));
    bench_close(&bench);
    return tile;
}

/* K split over chunks gives bit for bit the tile of one sweep. */
static void claim_I21(void) {
    static const unsigned chunks[] = {1, 2, 3, 4, 6};
    g_autofree void *whole = product_in_chunks(12);
    for (unsigned i = 0; i < G_N_ELEMENTS(chunks); i++) {
        g_autofree void *split = product_in_chunks(chunks[i]);
        g_assert_cmpmem(split, 20 * sizeof(uint32_t[TILE_LANES]), whole, 20 * sizeof(uint32_t[TILE_LANES]));
    }
}

/* ---- I23 ---- */

static double drained(unsigned gemm_anchor, unsigned drain_anchor) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    /* 3 at scale 1.0 (exponent 20) times 5 at scale 1.5 * 2, one element each: 45 */
    struct mxfp7_entry a = {.q[0][0] = 3, .scale = {20 << 3}}, b = {.q[0][0] = 5, .scale = {21 << 3 | 4}};
    bench_load(&bench, IMAGE_A, &a, 1, MXFP7_ROWS);
    bench_load(&bench, IMAGE_B, &b, 1, MXFP7_COLUMNS);
    struct cluster_inst program[] = {FILL(.addr = IMAGE_A, .n = 1), FILL(.addr = IMAGE_B, .n = 1, .sel = 1),
                                     GEMM(.gm = 1, .gn = 1, .nk = 1), DRAIN(.addr = IMAGE_C, .n = 1)};
    program[2].anchor = gemm_anchor;
    program[3].anchor = drain_anchor;
    bench_program(&bench, 0, program, 4);
    bench_run(&bench);
    struct word256 word = bench_memory(&bench, IMAGE_C);
    bench_close(&bench);
    return fp16_to_double(word.w[0] & 0xFFFF);
}

/* The anchor cancels the bias of both scales (40); that of a DRAIN has no effect. */
static void claim_I23(void) {
    static const unsigned anchors[] = {0, 39, 40, 41, 255};
    g_assert_cmpfloat(drained(40, 40), ==, 45);
    g_assert_cmpfloat(drained(41, 40), ==, 22.5);
    g_assert_cmpfloat(drained(38, 40), ==, 180);
    for (unsigned i = 0; i < G_N_ELEMENTS(anchors); i++)
        g_assert_cmpfloat(drained(40, anchors[i]), ==, 45);
}

/* ---- I24, I25 ---- */

/* Idle cycles between issues of a sweep of 1 x gn x nk; they must be the same everywhere. */
static unsigned idle_between_issues(unsigned gn, unsigned nk) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct operands operands = fill_both(&bench, 8, 64);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = gn, .nk = nk));
    bench_run(&bench);
    unsigned issues = bench_count(&bench, "issue", 0, -1);
    g_assert_cmpuint(issues, ==, gn * MAX(nk, 1u));
    cycle_t step = issues > 1 ? bench_cycle(&bench, "issue", 0, 1) - bench_cycle(&bench, "issue", 0, 0) : 1;
    for (unsigned k = 1; k < issues; k++)
        g_assert_cmpuint(bench_cycle(&bench, "issue", 0, k) - bench_cycle(&bench, "issue", 0, k - 1), ==, step);
    g_assert_cmpuint(bench_counts(&bench, 0).pacing_cycles, ==, (issues - 1) * (step - 1));
    operands_clear(&operands);
    bench_close(&bench);
    return (unsigned)step - 1;
}

static void claim_I24(void) {
    static const unsigned idle[] = {0, 4, 2, 1, 1, 0, 0, 0};
    for (unsigned gn = 1; gn < G_N_ELEMENTS(idle); gn++) {
        g_assert_cmpuint(idle_between_issues(gn, 2), ==, idle[gn]);
        g_assert_cmpuint(idle_between_issues(gn, 7), ==, idle[gn]);
        g_assert_cmpuint(idle_between_issues(gn, 1), ==, 0);
        g_assert_cmpuint(idle_between_issues(gn, 0), ==, 0);
    }
}

/* Without pacing a block that comes less than five cycles after another on the same sub-tile works on the value from
 * before it, and erases it. One sub-tile, six blocks a cycle apart: only blocks 0 and 5 are in the answer. */
static void claim_I25(void) {
    struct machine_bench bench;
    bench_open(&bench, MACHINE_TEXT("\"cluster\": {\"pacing\": false}"));
    struct operands operands = fill_both(&bench, 6, 6);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = 1, .nk = 6));
    bench_run(&bench);
    uint32_t stale[TILE_LANES], right[TILE_LANES];
    bench_block(stale, &operands.a[0], &operands.b[0], true);
    bench_block(stale, &operands.a[5], &operands.b[5], false);
    for (unsigned kb = 0; kb < 6; kb++)
        bench_block(right, &operands.a[kb], &operands.b[kb], kb == 0);
    g_assert_cmpmem(bench_cluster(&bench, 0)->tile[0], sizeof stale, stale, sizeof stale);
    g_assert_true(memcmp(right, stale, sizeof right) != 0);
    g_assert_cmpuint(bench_hazards(&bench, "acc.reuse"), ==, 5);
    operands_clear(&operands);
    bench_close(&bench);
}

/* With it the same sweep is right, and nothing is reported. */
static void claim_I25_paced(void) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct operands operands = fill_both(&bench, 6, 6);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = 1, .nk = 6));
    bench_run(&bench);
    uint32_t right[TILE_LANES];
    for (unsigned kb = 0; kb < 6; kb++)
        bench_block(right, &operands.a[kb], &operands.b[kb], kb == 0);
    g_assert_cmpmem(bench_cluster(&bench, 0)->tile[0], sizeof right, right, sizeof right);
    g_assert_cmpuint(bench_all_hazards(&bench), ==, 0);
    operands_clear(&operands);
    bench_close(&bench);
}

/* ---- I26, I27 ---- */

/* A GEMM retires as its sweep starts, three cycles behind the start pulse whatever its length; a FILL of the other bank
 * behind it is taken, answered and retired while the sweep runs. */
static void claim_I26(void) {
    static const unsigned blocks[] = {1, 4, 16};
    for (unsigned i = 0; i < G_N_ELEMENTS(blocks); i++) {
        unsigned nk = blocks[i], issues = 8 * 8 * nk;
        struct machine_bench bench;
        bench_open(&bench, WHOLE);
        struct operands operands = fill_both(&bench, 8 * nk, 8 * nk);
        BENCH_PROGRAM(&bench, 0, GEMM(.gm = 8, .gn = 8, .nk = nk), FILL(.addr = IMAGE_A, .n = 4, .fbank = 1));
        bench_run(&bench);
        cycle_t start = bench_cycle(&bench, "sweep start", 0, 0), retired = bench_cycle(&bench, "retired", 0, 0);
        g_assert_cmpuint(retired - start, ==, 3);
        g_assert_cmpuint(bench_cycle(&bench, "issue", 0, issues - 1) - start, ==, issues);
        g_assert_cmpuint(bench_cycle(&bench, "taken", 0, 1) - retired, ==, 2);
        /* 33 + 6 (n-1), and one cycle in which the GEMM's completion has the link before the descriptor */
        g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1) - bench_cycle(&bench, "taken", 0, 1), ==, 33 + 18 + 1);
        if (nk > 1)
            g_assert_cmpuint(bench_cycle(&bench, "retired", 0, 1), <, bench_cycle(&bench, "issue", 0, issues - 1));
        g_assert_cmpuint(bench_all_hazards(&bench), ==, 0);
        operands_clear(&operands);
        bench_close(&bench);
    }
}

/* A DRAIN straight after a sweep of two sub-tiles gets their sums, not what the tile held before. */
static void claim_I27(void) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct operands operands = fill_both(&bench, 1, 2);
    BENCH_PROGRAM(&bench, 0, GEMM(.gm = 1, .gn = 2, .nk = 1), DRAIN(.addr = IMAGE_C, .n = 2));
    bench_run(&bench);
    g_autofree struct word256 *want = bench_expected(operands.a, operands.b, 1, 2, 1);
    bench_assert_memory(&bench, IMAGE_C, want, 2);
    for (unsigned w = 0; w < 2; w++)
        g_assert_true(want[w].w[0] && want[w].w[1] && want[w].w[2] && want[w].w[3]);
    g_assert_cmpuint(bench_cycle(&bench, "drain start", 0, 0), >, bench_cycle(&bench, "issue", 0, 1) + 20 + 11);
    operands_clear(&operands);
    bench_close(&bench);
}

/* ---- I28, I31 ---- */

/* Fills all of both sides with 512 different entries, two banks of 256. */
static struct operands fill_whole_l1(struct machine_bench *bench) {
    struct operands operands = {bench_operand(bench, IMAGE_A, 512, 0, 31), bench_operand(bench, IMAGE_B, 512, 1, 32)};
    for (unsigned quarter = 0; quarter < 4; quarter++)
        BENCH_PROGRAM(
            bench, 0,
            FILL(.addr = IMAGE_A + 128 * 128 * quarter, .n = 128, .eoff = 128 * (quarter % 2), .fbank = quarter / 2),
            FILL(.addr = IMAGE_B + 128 * 128 * quarter, .n = 128, .eoff = 128 * (quarter % 2), .fbank = quarter / 2,
                 .sel = 1));
    bench_run(bench);
    bench_forget(bench);
    g_assert_cmpuint(bench_all_hazards(bench), ==, 0);
    return operands;
}

/* The tile a sweep should leave when every number wraps inside its own bank of 256. */
static void assert_wrapped(const struct machine_bench *bench, const struct operands *operands,
                           const struct cluster_inst *gemm) {
    for (unsigned g = 0; g < gemm->gm; g++)
        for (unsigned h = 0; h < gemm->gn; h++) {
            uint32_t tile[TILE_LANES] = {0};
            for (unsigned kb = 0; kb < gemm->nk; kb++)
                bench_block(tile, &operands->a[256 * gemm->abank + (gemm->aoff + g * gemm->nk + kb) % 256],
                            &operands->b[256 * gemm->bbank + (gemm->boff + h * gemm->nk + kb) % 256], kb == 0);
            g_assert_cmpmem(bench_cluster(bench, 0)->tile[g * gemm->gn + h], sizeof tile, tile, sizeof tile);
        }
}

/* Two banks of 256 under offsets and bank bits; what overruns wraps inside its own bank. */
static void claim_I28(void) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct operands operands = fill_whole_l1(&bench);
    const struct cluster_inst legal[] = {GEMM(.gm = 2, .gn = 3, .nk = 4), GEMM(.gm = 2, .gn = 3, .nk = 4, .abank = 1),
                                         GEMM(.gm = 2, .gn = 3, .nk = 4, .bbank = 1, .aoff = 7, .boff = 200),
                                         GEMM(.gm = 1, .gn = 1, .nk = 6, .abank = 1, .bbank = 1, .aoff = 250)};
    for (unsigned i = 0; i < G_N_ELEMENTS(legal); i++) {
        bench_program(&bench, 0, &legal[i], 1);
        bench_run(&bench);
        assert_wrapped(&bench, &operands, &legal[i]);
        g_assert_cmpuint(bench_all_hazards(&bench), ==, 0);
    }
    const struct cluster_inst over[] = {GEMM(.gm = 2, .gn = 3, .nk = 4, .aoff = 250),
                                        GEMM(.gm = 2, .gn = 3, .nk = 4, .bbank = 1, .boff = 251),
                                        GEMM(.gm = 1, .gn = 1, .nk = 9, .abank = 1, .aoff = 249, .boff = 255)};
    for (unsigned i = 0; i < G_N_ELEMENTS(over); i++) {
        bench_program(&bench, 0, &over[i], 1);
        bench_run(&bench);
        assert_wrapped(&bench, &operands, &over[i]);
        g_assert_cmpuint(bench_hazards(&bench, "cluster.l1_offset_wraps"), ==, i + 1);
    }
    operands_clear(&operands);
    bench_close(&bench);
}

/* A chunk of more than 256 entries in an L1 of 512 gets the wrapped answer and a report. */
static void claim_I31(void) {
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    struct operands operands = fill_whole_l1(&bench);
    const struct cluster_inst gemm = GEMM(.gm = 3, .gn = 1, .nk = 100);
    bench_program(&bench, 0, &gemm, 1);
    bench_run(&bench);
    assert_wrapped(&bench, &operands, &gemm);
    uint32_t unwrapped[TILE_LANES];
    for (unsigned kb = 0; kb < 100; kb++)
        bench_block(unwrapped, &operands.a[200 + kb], &operands.b[kb], kb == 0);
    g_assert_true(memcmp(bench_cluster(&bench, 0)->tile[2], unwrapped, sizeof unwrapped) != 0);
    g_assert_cmpuint(bench_hazards(&bench, "cluster.l1_offset_wraps"), ==, 1);
    operands_clear(&operands);
    bench_close(&bench);
}

/* ---- I29 ---- */

/* Four chunks of 8x8x4 with alternate banks, or all in one bank with a DRAIN between sweep and fill as a fence, or with
 * nothing between. Returns the cycle of the last sub-tile's issue; *right: the tile is what it should be. */
static cycle_t run_chunks(bool alternate, bool fence, bool *right, uint64_t *reports) {
    enum {
        CHUNKS = 4,
        ENTRIES = 32
    };
    struct machine_bench bench;
    bench_open(&bench, WHOLE);
    g_autofree struct mxfp7_entry *a = bench_operand(&bench, IMAGE_A, ENTRIES * CHUNKS, 0, 41);
    g_autofree struct mxfp7_entry *b = bench_operand(&bench, IMAGE_B, ENTRIES * CHUNKS, 1, 42);
    for (unsigned c = 0; c < CHUNKS; c++) {
        unsigned bank = alternate ? c % 2 : 0;
        struct cluster_inst chunk[] = {FILL(.addr = IMAGE_A + c * ENTRIES * 128, .n = ENTRIES, .fbank = bank),
                                       FILL(.addr = IMAGE_B + c * ENTRIES * 128, .n = ENTRIES, .sel = 1, .fbank = bank),
                                       GEMM(.gm = 8, .gn = 8, .nk = 4, .acc = c > 0, .abank = bank, .bbank = bank),
                                       DRAIN(.addr = IMAGE_C, .n = 1)};
        bench_program(&bench, 0, chunk, fence ? 4 : 3);
    }
    bench_run(&bench);
    uint32_t want[TILE_LANES];
    for (unsigned k = 0; k < 4 * CHUNKS; k++) /* sub-tile (7,7) */
        bench_block(want, &a[k / 4 * ENTRIES + 28 + k % 4], &b[k / 4 * ENTRIES + 28 + k % 4], k == 0);
    *right = memcmp(bench_cluster(&bench, 0)->tile[63], want, sizeof want) == 0;
    *reports = bench_hazards(&bench, "cluster.fill_under_sweep");
    cycle_t last = bench_cycle(&bench, "issue", 0, CHUNKS * 256 - 1);
    bench_close(&bench);
    return last;
}

static void claim_I29(void) {
    bool right;
    uint64_t reports;
    cycle_t two_banks = run_chunks(true, false, &right, &reports);
    g_assert_true(right);
    g_assert_cmpuint(reports, ==, 0);
    /* two fills of 33 + 6*31 = 219 cycles and three from retirement to the next taken hide each sweep of 256 */
    cycle_t fills = 2 * (219 + 2);
    g_assert_cmpuint(two_banks, <=, 4 * fills + 4 * 5 + 256 + GAP);
    cycle_t one_bank = run_chunks(false, true, &right, &reports);
    g_assert_true(right);
    g_assert_cmpuint(reports, ==, 0);
    g_assert_cmpuint(one_bank, >=, two_banks + 3 * 256);
    run_chunks(false, false, &right, &reports);
    g_assert_cmpuint(reports, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I19", claim_I19);
    g_test_add_func("/claim_I20", claim_I20);
    g_test_add_func("/claim_I21", claim_I21);
    g_test_add_func("/claim_I23", claim_I23);
    g_test_add_func("/claim_I24", claim_I24);
    g_test_add_func("/claim_I25", claim_I25);
    g_test_add_func("/claim_I25/paced", claim_I25_paced);
    g_test_add_func("/claim_I26", claim_I26);
    g_test_add_func("/claim_I27", claim_I27);
    g_test_add_func("/claim_I28", claim_I28);
    g_test_add_func("/claim_I29", claim_I29);
    g_test_add_func("/claim_I31", claim_I31);
    return g_test_run();
}
