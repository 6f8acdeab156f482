/* The planner: every plan of the specification's table, its worked streams, the recorded schedule, and random plans
 * replayed on paper. */
#include "workloads/planner.h"

static const struct planner_limits REF = {512, 128, 256, 5};

static struct gemm_plan *plan_of(const struct planner_limits *limits, unsigned clusters, size_t m, size_t k, size_t n,
                                 const struct gemm_options *options) {
    g_autoptr(GError) error = NULL;
    struct gemm_plan *plan = gemm_plan_new(limits, clusters, m, k, n, options, &error);
    g_assert_no_error(error);
    gemm_plan_check(plan, &error);
    g_assert_no_error(error);
    return plan;
}

static void table_of_plans(void) {
    static const struct {
        unsigned m, k, n;
        struct planner_limits limits;
        unsigned gm, gn, nk, rows, bands, chunks;
        bool resident;
    } rows[] = {
        {32, 128, 32, {512, 128, 256, 5}, 8, 8, 4, 1, 1, 1, true},
        {64, 128, 64, {512, 128, 256, 5}, 16, 16, 4, 1, 1, 1, true},
        {128, 128, 128, {512, 128, 256, 5}, 16, 32, 4, 2, 1, 1, true},
        {256, 256, 256, {512, 128, 256, 5}, 16, 32, 4, 4, 2, 2, true},
        {256, 256, 512, {512, 128, 256, 5}, 16, 32, 4, 4, 4, 2, true},
        {256, 256, 1024, {512, 128, 256, 5}, 16, 32, 4, 4, 8, 2, true},
        {512, 256, 1024, {512, 128, 256, 5}, 16, 32, 4, 8, 8, 2, true},
        {512, 512, 512, {512, 128, 256, 5}, 16, 32, 4, 8, 4, 4, false},
        {1024, 1024, 1024, {512, 128, 256, 5}, 16, 32, 4, 16, 8, 8, false},
        {300, 300, 300, {512, 128, 256, 5}, 16, 32, 2, 5, 3, 5, false},
        {256, 1024, 256, {512, 128, 256, 5}, 16, 32, 4, 4, 2, 8, false},
        {64, 4096, 64, {512, 128, 256, 5}, 16, 16, 4, 1, 1, 32, false},
        {64, 288, 256, {512, 128, 256, 5}, 16, 32, 3, 1, 2, 3, false},
        {64, 320, 320, {512, 128, 256, 5}, 16, 32, 2, 1, 3, 5, false},
        {256, 256, 256, {256, 32, 32, 5}, 16, 16, 1, 4, 4, 8, false},
        {256, 256, 256, {4096, 512, 512, 5}, 64, 64, 2, 1, 1, 4, true},
        {256, 256, 256, {64, 128, 256, 5}, 8, 8, 8, 8, 8, 1, true},
    };
    struct gemm_options options;
    gemm_options_init(&options);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(gemm_plan_ptr) plan = plan_of(&rows[i].limits, 2, rows[i].m, rows[i].k, rows[i].n, &options);
        g_autofree char *got =
            g_strdup_printf("%u %u %u, %zux%zu, %zu, %d", plan->tile.gm, plan->tile.gn, plan->tile.nk, plan->row_tiles,
                            plan->bands, plan->chunks, plan->resident);
        g_autofree char *want = g_strdup_printf("%u %u %u, %ux%u, %u, %d", rows[i].gm, rows[i].gn, rows[i].nk,
                                                rows[i].rows, rows[i].bands, rows[i].chunks, rows[i].resident);
        g_assert_cmpstr(got, ==, want);
    }
}

/* Flits of workloads §3.5 and words of §7.3. */
static void published_counts(void) {
    static const struct {
        unsigned clusters, m, k, n, flits, rd, wr;
    } rows[] = {
        {2, 256, 256, 256, 44, 6144, 4096},     {2, 256, 256, 1024, 176, 24576, 16384},
        {4, 256, 256, 512, 88, 12288, 8192},    {4, 256, 256, 1024, 176, 24576, 16384},
        {8, 256, 256, 1024, 176, 24576, 16384}, {8, 512, 256, 1024, 336, 40960, 32768},
    };
    struct gemm_options options;
    gemm_options_init(&options);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(gemm_plan_ptr) plan = plan_of(&REF, rows[i].clusters, rows[i].m, rows[i].k, rows[i].n, &options);
        g_assert_cmpuint(plan->counts.flits, ==, rows[i].flits);
        g_assert_cmpuint(plan->counts.rd_words, ==, rows[i].rd);
        g_assert_cmpuint(plan->counts.wr_words, ==, rows[i].wr);
        g_assert_cmpuint(plan->counts.wr_bursts, ==, rows[i].wr / 8);
        g_assert_cmpuint(plan->counts.sweep_cycles * 512, ==, (uint64_t)rows[i].m * rows[i].k * rows[i].n);
    }
}

static char *inst_text(const struct planned_inst *planned) {
    const struct cluster_inst *inst = &planned->inst;
    const char *last = planned->last ? " last" : "";
    switch (inst->op) {
    case CLUSTER_FILL:
        return g_strdup_printf("FILL %c %" G_GINT64_MODIFIER "x n %u eoff %u bank %u%s", inst->sel ? 'B' : 'A',
                               inst->addr, inst->n, inst->eoff, inst->fbank, last);
    case CLUSTER_GEMM:
        return g_strdup_printf("GEMM %u %u %u aoff %u boff %u banks %u %u acc %u emit %u %" G_GINT64_MODIFIER "x%s",
                               inst->gm, inst->gn, inst->nk, inst->aoff, inst->boff, inst->abank, inst->bbank,
                               inst->acc, inst->emit, inst->addr, last);
    default:
        return g_strdup_printf("DRAIN %" G_GINT64_MODIFIER "x n %u fuse %u%s", inst->addr, inst->n, inst->fuse, last);
    }
}

static void expect_stream(const struct cluster_plan *cluster, size_t first, const char *const *lines, size_t count) {
    g_assert_cmpuint(cluster->inst_count, >=, first + count);
    for (size_t i = 0; i < count; i++) {
        g_autofree char *got = inst_text(&cluster->insts[first + i]);
        g_assert_cmpstr(got, ==, lines[i]);
        g_assert_cmpuint(cluster->insts[first + i].inst.anchor, ==, 40);
    }
}

static void worked_example(void) {
    static const char *const lines[] = {
        "FILL B 2000 n 32 eoff 0 bank 0",
        "FILL A 0 n 32 eoff 0 bank 0",
        "GEMM 8 8 4 aoff 0 boff 0 banks 0 0 acc 0 emit 0 0",
        "DRAIN 4000 n 64 fuse 0 last",
    };
    struct gemm_options options;
    gemm_options_init(&options);
    options.emit = false;
    options.fp16_fetch = true;
    options.b = 0x2000;
    options.c = 0x4000;
    g_autoptr(gemm_plan_ptr) plan = plan_of(&REF, 1, 32, 128, 32, &options);
    expect_stream(&plan->clusters[0], 0, lines, 4);
    g_assert_cmpuint(plan->clusters[0].inst_count, ==, 4);
    const struct plan_counts *counts = &plan->counts;
    g_assert_cmpuint(counts->acc_load, ==, 64);
    g_assert_cmpuint(counts->acc_add, ==, 192);
    g_assert_cmpuint(counts->acc_emit, ==, 64);
    g_assert_cmpuint(counts->rd_words, ==, 256);
    g_assert_cmpuint(counts->dram_read_words * 32, ==, 2 * 8192);
    g_assert_cmpuint(counts->wr_words + counts->wr_bursts, ==, 72);
    g_assert_cmpuint(counts->idle_cycles, ==, 0);
    options.emit = true;
    g_autoptr(gemm_plan_ptr) fused = plan_of(&REF, 1, 32, 128, 32, &options);
    g_assert_cmpuint(fused->counts.acc_add, ==, 128);
    g_assert_cmpuint(fused->counts.acc_add_emit, ==, 64);
    g_assert_cmpuint(fused->counts.acc_emit, ==, 0);
}

static void worked_cube(void) {
    static const char *const first[] = {
        "FILL B 18000 n 128 eoff 0 bank 0",
        "FILL A 0 n 64 eoff 0 bank 0",
        "GEMM 16 32 4 aoff 0 boff 0 banks 0 0 acc 0 emit 0 0",
        "FILL B 1c000 n 128 eoff 128 bank 0",
        "FILL A 2000 n 64 eoff 64 bank 0",
        "GEMM 16 32 4 aoff 64 boff 128 banks 0 0 acc 1 emit 1 24000",
        "DRAIN 24000 n 512 fuse 1 last",
        "FILL A 4000 n 64 eoff 0 bank 0",
        "GEMM 16 32 4 aoff 0 boff 0 banks 0 0 acc 0 emit 0 0",
        "FILL A 6000 n 64 eoff 64 bank 0",
        "GEMM 16 32 4 aoff 64 boff 128 banks 0 0 acc 1 emit 1 2c000",
        "DRAIN 2c000 n 512 fuse 1 last",
    };
    struct gemm_options options;
    gemm_options_init(&options);
    options.b = 0x10000;
    options.c = 0x20000;
    g_autoptr(gemm_plan_ptr) plan = plan_of(&REF, 2, 256, 256, 256, &options);
    expect_stream(&plan->clusters[1], 0, first, G_N_ELEMENTS(first));
    g_assert_cmpuint(plan->counts.fills, ==, 20);
    g_assert_cmpuint(plan->counts.gemms, ==, 16);
    g_assert_cmpuint(plan->counts.drains, ==, 8);
    g_assert_cmpuint(plan->counts.acc_load, ==, 2 * 4 * 512);
    g_assert_cmpuint(plan->counts.acc_add, ==, 2 * 4 * 3072);
    g_assert_cmpuint(plan->counts.acc_add_emit, ==, 2 * 4 * 512);
}

/* The recorded schedule: ragged K, banks by a running counter, the late drain behind the next tile's first GEMM. */
static void reference_schedule(void) {
    static const char *const lines[] = {
        "FILL A 0 n 24 eoff 0 bank 0",
        "FILL B 0 n 24 eoff 0 bank 0",
        "GEMM 8 8 3 aoff 0 boff 0 banks 0 0 acc 0 emit 0 0",
        "FILL A c00 n 16 eoff 0 bank 1",
        "FILL B c00 n 16 eoff 0 bank 1",
        "GEMM 8 8 2 aoff 0 boff 0 banks 1 1 acc 1 emit 1 0 last",
        "FILL A 2800 n 24 eoff 0 bank 0",
        "FILL B 0 n 24 eoff 0 bank 0",
        "GEMM 8 8 3 aoff 0 boff 0 banks 0 0 acc 0 emit 0 0",
        "DRAIN 0 n 64 fuse 1",
        "FILL A 3400 n 16 eoff 0 bank 1",
    };
    static const struct {
        unsigned clusters, m, k, n, gm, gn, nk;
        bool emit;
        unsigned instructions, fills;
    } runs[] = {
        {2, 96, 160, 64, 8, 8, 3, true, 42, 24},        {2, 256, 256, 256, 16, 32, 4, true, 56, 32},
        {2, 64, 64, 64, 8, 8, 2, false, 16, 8},         {8, 256, 1024, 256, 16, 16, 8, true, 208, 128},
        {8, 512, 1024, 256, 16, 32, 4, true, 400, 256}, {1, 128, 512, 128, 32, 32, 4, true, 13, 8},
        {1, 16, 512, 16, 1, 1, 8, false, 112, 64},      {2, 64, 64, 64, 8, 8, 1, true, 28, 16},
    };
    static const struct planner_limits limits = {4096, 512, 512, 5};
    for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
        struct gemm_options options;
        gemm_options_init(&options);
        options.schedule = SCHEDULE_REFERENCE;
        options.gm = runs[i].gm;
        options.gn = runs[i].gn;
        options.nk = runs[i].nk;
        options.emit = runs[i].emit;
        options.late_drain = true;
        g_autoptr(gemm_plan_ptr) plan = plan_of(&limits, runs[i].clusters, runs[i].m, runs[i].k, runs[i].n, &options);
        g_assert_cmpuint(plan->counts.flits, ==, runs[i].instructions);
        g_assert_cmpuint(plan->counts.fills, ==, runs[i].fills);
        if (i)
            continue;
        expect_stream(&plan->clusters[0], 0, lines, G_N_ELEMENTS(lines));
        g_assert_cmpuint(plan->counts.rd_words, ==, 2 * 960);
        const struct cluster_plan *cluster = &plan->clusters[0];
        g_assert_true(cluster->insts[cluster->inst_count - 1].last);
        g_assert_cmpuint(cluster->insts[cluster->inst_count - 1].inst.op, ==, CLUSTER_DRAIN);
    }
}

static void forced_values_are_checked(void) {
    static const struct {
        unsigned gm, gn, nk;
        const char *message;
    } cases[] = {
        {64, 16, 0, "gm*gn sub-tiles of a tile: 1024, expected at most 512 on this machine"},
        {32, 16, 4, "gm*nk entries of an A chunk: 128, expected at most 64 on this machine"},
        {8, 64, 4, "gn*nk entries of a B chunk: 256, expected at most 128 on this machine"},
        {1, 1, 300, "nk: 300, expected at most 255 on this machine"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct gemm_options options;
        gemm_options_init(&options);
        options.gm = cases[i].gm;
        options.gn = cases[i].gn;
        options.nk = cases[i].nk;
        g_autoptr(GError) error = NULL;
        g_assert_null(gemm_plan_new(&REF, 1, 256, 256, 256, &options, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
}

/* C4: a chunk of 256 entries needs two fills; by default the planner stops at 255. */
static void fill_count_cap(void) {
    static const struct planner_limits limits = {4096, 512, 512, 5};
    struct gemm_options options;
    gemm_options_init(&options);
    options.gm = 16;
    options.gn = 32;
    options.nk = 8;
    g_autoptr(GError) error = NULL;
    g_assert_null(gemm_plan_new(&limits, 1, 64, 512, 128, &options, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    options.split_fills = true;
    g_autoptr(gemm_plan_ptr) plan = plan_of(&limits, 1, 64, 512, 128, &options);
    g_assert_cmpuint(plan->counts.fills, ==, 2 * (1 + 2));
    g_assert_cmpuint(plan->counts.rd_words, ==, 4 * (16 * 16 + 32 * 16));
}

/* Random shapes, machines and options: the plan holds on paper, and its counts follow from the shape. */
static void random_plans_hold(void) {
    for (unsigned trial = 0; trial < 1500; trial++) {
        static const unsigned depths[] = {32, 64, 128, 256, 512}, tiles[] = {16, 64, 256, 512, 4096};
        struct planner_limits limits = {tiles[g_test_rand_int_range(0, 5)], depths[g_test_rand_int_range(0, 5)],
                                        depths[g_test_rand_int_range(0, 5)], 5};
        struct gemm_options options;
        gemm_options_init(&options);
        options.schedule = g_test_rand_bit() && g_test_rand_bit();
        options.placement = g_test_rand_bit();
        options.resident = g_test_rand_int_range(0, 4) > 0;
        options.emit = g_test_rand_int_range(0, 4) > 0;
        options.late_drain = g_test_rand_bit();
        options.split_fills = g_test_rand_bit();
        options.fp16_fetch = g_test_rand_bit();
        options.gm = g_test_rand_int_range(0, 3) ? 0 : (unsigned)g_test_rand_int_range(1, 5);
        options.gn = g_test_rand_int_range(0, 3) ? 0 : (unsigned)g_test_rand_int_range(1, 5);
        options.a = 0x1000;
        options.b = 0x4000000;
        options.c = 0x8000000;
        size_t m = (size_t)g_test_rand_int_range(1, 400), n = (size_t)g_test_rand_int_range(1, 400),
               k = (size_t)g_test_rand_int_range(1, 900);
        unsigned clusters = (unsigned)g_test_rand_int_range(1, 12);
        g_autoptr(gemm_plan_ptr) plan = plan_of(&limits, clusters, m, k, n, &options);
        uint64_t subtiles = (uint64_t)plan->row_tiles * plan->bands * plan->tile.gm * plan->tile.gn;
        g_assert_cmpuint(plan->counts.wr_words, ==, subtiles);
        g_assert_cmpuint(plan->counts.acc_load, ==, subtiles);
        g_assert_cmpuint(plan->counts.acc_emit + plan->counts.acc_add_emit, ==, subtiles);
        g_assert_cmpuint(plan->counts.sweep_cycles, ==, subtiles * plan->a.blocks);
        g_assert_cmpuint(plan->counts.rd_words, >=, 4 * (operand_entries(&plan->a) + operand_entries(&plan->b)));
        if (plan->bands >= clusters && options.schedule == SCHEDULE_BANDS && options.placement == PLACE_BANDS) {
            uint64_t b_times = plan->resident ? 1 : plan->row_tiles;
            g_assert_cmpuint(plan->counts.rd_words, ==,
                             4 * (operand_entries(&plan->a) * plan->bands + operand_entries(&plan->b) * b_times));
        }
        size_t busy = 0;
        for (unsigned c = 0; c < clusters; c++)
            busy += plan->clusters[c].pass_count > 0;
        g_assert_cmpuint(busy, ==, MIN((size_t)clusters, plan->row_tiles * plan->bands));
    }
}

/* The paper replay is no rubber stamp: damage to a plan is found. */
static void check_finds_damage(void) {
    struct gemm_options options;
    gemm_options_init(&options);
    options.b = 0x10000;
    options.c = 0x20000;
    unsigned found = 0, tried = 0;
    for (unsigned slot = 0; slot < 22; slot++) {
        for (unsigned kind = 0; kind < 5; kind++) {
            g_autoptr(gemm_plan_ptr) plan = plan_of(&REF, 2, 256, 256, 256, &options);
            struct cluster_inst *inst = &plan->clusters[0].insts[slot].inst;
            switch (kind) {
            case 0:
                inst->op = CLUSTER_NOP;
                break;
            case 1:
                inst->addr += inst->op == CLUSTER_GEMM ? 0 : 128;
                break;
            case 2:
                inst->eoff ^= inst->op == CLUSTER_FILL ? 64 : 0;
                inst->aoff ^= inst->op == CLUSTER_GEMM ? 64 : 0;
                break;
            case 3:
                inst->n -= inst->op == CLUSTER_GEMM ? 0 : 1;
                break;
            default:
                inst->acc ^= inst->op == CLUSTER_GEMM;
                break;
            }
            bool changed = kind == 0 || (kind < 4) != (inst->op == CLUSTER_GEMM) || kind == 2;
            if (inst->op == CLUSTER_DRAIN && kind == 2)
                changed = false;
            tried += changed;
            found += changed && !gemm_plan_check(plan, NULL);
        }
    }
    g_assert_cmpuint(tried, >, 60);
    g_assert_cmpuint(found, ==, tried);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/planner/table_of_plans", table_of_plans);
    g_test_add_func("/planner/published_counts", published_counts);
    g_test_add_func("/planner/worked_example", worked_example);
    g_test_add_func("/planner/worked_cube", worked_cube);
    g_test_add_func("/planner/reference_schedule", reference_schedule);
    g_test_add_func("/planner/forced_values_are_checked", forced_values_are_checked);
    g_test_add_func("/planner/fill_count_cap", fill_count_cap);
    g_test_add_func("/planner/random_plans_hold", random_plans_hold);
    g_test_add_func("/planner/check_finds_damage", check_finds_damage);
    return g_test_run();
}
