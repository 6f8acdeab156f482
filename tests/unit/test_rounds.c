/* Rounds: host writes of the worked examples, the limits, and random plans cut into rounds that lose nothing. */
#include "model/flit.h"
#include "workloads/rounds.h"

static const struct planner_limits REF = {512, 128, 256, 5};

static const struct node NODES[8] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 3}, {2, 3}, {1, 4}, {2, 4}};

static struct gemm_plan *plan_of(unsigned clusters, size_t m, size_t k, size_t n, bool emit) {
    struct gemm_options options;
    gemm_options_init(&options);
    options.emit = emit;
    g_autoptr(GError) error = NULL;
    struct gemm_plan *plan = gemm_plan_new(&REF, clusters, m, k, n, &options, &error);
    g_assert_no_error(error);
    return plan;
}

static struct round_list *rounds_of(const struct gemm_plan *plan, const struct round_options *options) {
    g_autoptr(GError) error = NULL;
    struct round_list *list = rounds_new(plan, NODES, options, &error);
    g_assert_no_error(error);
    return list;
}

/* The nine commands of the worked example, in order. */
static void worked_example(void) {
    static const struct control_command expected[] = {
        {CONTROL_WR, 0x70, 0, 0},    {CONTROL_WR, 0x60, 32, 0},       {CONTROL_POLL, 0x58, 0, 1},
        {CONTROL_WR, 0x40, 0x11, 0}, {CONTROL_WR, 0x48, 4, 0},        {CONTROL_WR, 0x68, 0, 0},
        {CONTROL_WR, 0x50, 1, 0},    {CONTROL_POLL, 0x70, 4, 0xffff}, {CONTROL_DONE, 0, 0, 0},
    };
    struct round_options options;
    round_options_init(&options);
    g_autoptr(gemm_plan_ptr) plan = plan_of(1, 32, 128, 32, false);
    g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
    g_assert_cmpuint(list->count, ==, 1);
    g_assert_cmpuint(list->host_writes, ==, 57);
    g_assert_cmpuint(list->rounds[0].command_count, ==, 9);
    for (unsigned c = 0; c < 9; c++) {
        const struct control_command *got = &list->rounds[0].commands[c], *want = &expected[c];
        g_assert_cmpuint(got->op, ==, want->op);
        g_assert_cmphex(got->address, ==, want->address);
        g_assert_cmphex(got->data, ==, want->data);
        g_assert_cmphex(got->mask, ==, want->mask);
    }
    for (unsigned f = 0; f < 4; f++) {
        g_assert_cmpuint(list->rounds[0].flits[f].last, ==, f == 3);
        g_assert_cmpuint(list->rounds[0].flits[f].txn, ==, f);
    }
}

static void cube_host_writes(void) {
    static const struct {
        int kicks;
        bool shadow;
        unsigned commands, writes, programs;
    } cases[] = {
        {KICK_PER_PASS, true, 38, 373, 8},
        {KICK_PER_PASS, false, 44, 397, 8},
        {KICK_PER_CLUSTER, true, 13, 273, 2},
    };
    static const struct node two[] = {{1, 1}, {1, 2}};
    g_autoptr(gemm_plan_ptr) plan = plan_of(2, 256, 256, 256, true);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct round_options options;
        round_options_init(&options);
        options.kicks = cases[i].kicks;
        options.shadow = cases[i].shadow;
        g_autoptr(round_list_ptr) list = rounds_new(plan, two, &options, NULL);
        g_assert_cmpuint(list->count, ==, 1);
        g_assert_cmpuint(list->commands, ==, cases[i].commands);
        g_assert_cmpuint(list->host_writes, ==, cases[i].writes);
        g_assert_cmpuint(list->rounds[0].programs, ==, cases[i].programs);
    }
}

/* §3.5, with a command RAM that is not the limit. */
static void rounds_of_published_runs(void) {
    static const struct {
        unsigned clusters, m, k, n, rounds;
    } runs[] = {
        {2, 256, 256, 256, 1},  {2, 256, 256, 1024, 2}, {4, 256, 256, 512, 1},
        {4, 256, 256, 1024, 2}, {8, 256, 256, 1024, 2}, {8, 512, 256, 1024, 3},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
        struct round_options options;
        round_options_init(&options);
        options.commands = 1024;
        g_autoptr(gemm_plan_ptr) plan = plan_of(runs[i].clusters, runs[i].m, runs[i].k, runs[i].n, true);
        g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
        g_assert_cmpuint(list->count, ==, runs[i].rounds);
    }
}

static void limits_hold(const struct round_list *list, const struct round_options *options) {
    for (unsigned r = 0; r < list->count; r++) {
        const struct round *round = &list->rounds[r];
        g_assert_cmpuint(round->flit_count, <=, options->staging_flits);
        g_assert_cmpuint(round->command_count, <=, options->commands);
        g_assert_cmpuint(round->programs, <, options->credit);
        unsigned next = 0, lasts = 0;
        for (unsigned k = 0; k < round->kick_count; k++) {
            g_assert_cmpuint(round->kicks[k].base, ==, next);
            next += round->kicks[k].length;
            for (unsigned f = round->kicks[k].base; f < next; f++) {
                g_assert_cmpuint(round->flits[f].x, ==, round->kicks[k].x);
                g_assert_cmpuint(round->flits[f].y, ==, round->kicks[k].y);
                lasts += round->flits[f].last;
            }
        }
        g_assert_cmpuint(next, ==, round->flit_count);
        g_assert_cmpuint(lasts, ==, round->programs);
    }
}

/* Every node gets its cluster's instructions, all of them, in order. */
static void nothing_lost(const struct gemm_plan *plan, const struct round_list *list) {
    size_t sent[8] = {0};
    for (unsigned r = 0; r < list->count; r++) {
        for (unsigned f = 0; f < list->rounds[r].flit_count; f++) {
            const struct staged_flit *flit = &list->rounds[r].flits[f];
            unsigned c = 0;
            while (NODES[c].x != flit->x || NODES[c].y != flit->y)
                c++;
            const struct planned_inst *planned = &plan->clusters[c].insts[sent[c]];
            g_assert_cmpmem(&flit->inst, sizeof flit->inst, &planned->inst, sizeof planned->inst);
            g_assert_cmpuint(flit->txn, ==, sent[c] & 255);
            sent[c]++;
        }
    }
    for (unsigned c = 0; c < plan->cluster_count; c++)
        g_assert_cmpuint(sent[c], ==, plan->clusters[c].inst_count);
}

static void random_rounds_hold(void) {
    for (unsigned trial = 0; trial < 300; trial++) {
        struct round_options options;
        round_options_init(&options);
        options.kicks = g_test_rand_int_range(0, 3);
        options.wait = g_test_rand_bit();
        options.shadow = g_test_rand_bit();
        options.staging_flits = (unsigned)g_test_rand_int_range(8, 140);
        options.commands = (unsigned)g_test_rand_int_range(20, 128);
        options.credit = (unsigned)g_test_rand_int_range(2, 33);
        options.kick_flits = (unsigned)g_test_rand_int_range(1, 20);
        unsigned clusters = (unsigned)g_test_rand_int_range(1, 9);
        g_autoptr(gemm_plan_ptr) plan =
            plan_of(clusters, (size_t)g_test_rand_int_range(1, 400), (size_t)g_test_rand_int_range(1, 3000),
                    (size_t)g_test_rand_int_range(1, 400), g_test_rand_bit());
        g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
        limits_hold(list, &options);
        nothing_lost(plan, list);
        g_assert_cmpuint(list->host_writes, ==, 5 * list->flits + 4 * list->commands + list->count);
    }
}

/* A pass of 385 flits goes out in windows, all clusters in every round, and only its end is a last. */
static void long_pass_in_windows(void) {
    struct round_options options;
    round_options_init(&options);
    g_autoptr(gemm_plan_ptr) plan = plan_of(2, 64, 16384, 256, true);
    g_assert_cmpuint(plan->clusters[0].passes[0].count, ==, 3 * 128 + 1);
    g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
    limits_hold(list, &options);
    nothing_lost(plan, list);
    for (unsigned r = 0; r < list->count; r++) {
        g_assert_cmpuint(list->rounds[r].kick_count, ==, 2);
        g_assert_cmpuint(list->rounds[r].programs, ==, r + 1 == list->count ? 2 : 0);
    }
}

/* The recorded dispatch: clusters in turn, twelve flits a kick, one `last` a cluster. */
static void slices(void) {
    struct gemm_options gemm;
    struct round_options options;
    gemm_options_init(&gemm);
    gemm.schedule = SCHEDULE_REFERENCE;
    gemm.late_drain = true;
    round_options_init(&options);
    options.kicks = KICK_SLICES;
    options.staging_flits = 1400;
    options.commands = 4096;
    options.credit = 60000;
    g_autoptr(gemm_plan_ptr) plan = gemm_plan_new(&REF, 2, 256, 256, 256, &gemm, NULL);
    g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
    static const unsigned lengths[] = {12, 12, 12, 12, 4, 4};
    g_assert_cmpuint(list->count, ==, 1);
    g_assert_cmpuint(list->rounds[0].kick_count, ==, 6);
    for (unsigned k = 0; k < 6; k++) {
        g_assert_cmpuint(list->rounds[0].kicks[k].cluster, ==, k % 2);
        g_assert_cmpuint(list->rounds[0].kicks[k].length, ==, lengths[k]);
    }
    g_assert_cmpuint(list->rounds[0].programs, ==, 2);
}

/* A node's counter only grows, so the second round waits for the sum. */
static void per_node_waits(void) {
    struct round_options options;
    round_options_init(&options);
    options.wait = WAIT_PER_NODE;
    options.window = 0x40000;
    g_autoptr(gemm_plan_ptr) plan = plan_of(2, 256, 256, 1024, true);
    g_autoptr(round_list_ptr) list = rounds_of(plan, &options);
    g_assert_cmpuint(list->count, ==, 2);
    const struct round *second = &list->rounds[1];
    const struct control_command *wait = &second->commands[second->command_count - 3];
    g_assert_cmphex(wait->address, ==, 0x40000 + 0x1000 + 8 * 0x11);
    g_assert_cmphex(wait->data, ==, 88 << 8);
    g_assert_cmphex(wait->mask, ==, 0xffff00);
    g_assert_cmphex(wait[1].address, ==, 0x40000 + 0x1000 + 8 * 0x12);
}

static void impossible_limits(void) {
    static const struct { unsigned staging, commands, credit; } cases[] = {{0, 128, 32}, {128, 8, 32}, {128, 128, 1}};
    g_autoptr(gemm_plan_ptr) plan = plan_of(2, 64, 128, 64, true);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct round_options options;
        round_options_init(&options);
        options.staging_flits = cases[i].staging;
        options.commands = cases[i].commands;
        options.credit = cases[i].credit;
        g_autoptr(GError) error = NULL;
        g_assert_null(rounds_new(plan, NODES, &options, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rounds/worked_example", worked_example);
    g_test_add_func("/rounds/cube_host_writes", cube_host_writes);
    g_test_add_func("/rounds/published_runs", rounds_of_published_runs);
    g_test_add_func("/rounds/random_rounds_hold", random_rounds_hold);
    g_test_add_func("/rounds/long_pass_in_windows", long_pass_in_windows);
    g_test_add_func("/rounds/slices_of_twelve", slices);
    g_test_add_func("/rounds/per_node_waits", per_node_waits);
    g_test_add_func("/rounds/impossible_limits", impossible_limits);
    return g_test_run();
}
