/* What the planner alone can show of the claims I22, I24, I30, I31, I36 and I60. */
#include "workloads/planner.h"
#include "workloads/rounds.h"

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

/* At K = 4096 in chunks of 128, accumulating writes the result once; a result a chunk would be 32 times that. */
static void claim_I22_result_traffic_once(void) {
    struct gemm_options options;
    gemm_options_init(&options);
    g_autoptr(gemm_plan_ptr) whole = plan_of(&REF, 1, 64, 4096, 64, &options);
    g_autoptr(gemm_plan_ptr) chunk = plan_of(&REF, 1, 64, 128, 64, &options);
    g_assert_cmpuint(whole->chunks, ==, 32);
    g_assert_cmpuint(whole->counts.wr_words, ==, 64 * 64 / 16);
    g_assert_cmpuint(whole->chunks * chunk->counts.wr_words, ==, 32 * whole->counts.wr_words);
    g_assert_cmpuint(whole->counts.acc_load, ==, 64 * 64 / 16);
}

static void claim_I24_pacing(void) {
    static const unsigned idle[] = {0, 4, 2, 1, 1, 0, 0, 0};
    for (unsigned subtiles = 1; subtiles < G_N_ELEMENTS(idle); subtiles++) {
        g_assert_cmpuint(gemm_pace(subtiles, 2, 5), ==, idle[subtiles]);
        g_assert_cmpuint(gemm_pace(subtiles, 255, 5), ==, idle[subtiles]);
        g_assert_cmpuint(gemm_pace(subtiles, 1, 5), ==, 0);
        g_assert_cmpuint(gemm_pace(subtiles, 0, 5), ==, 0);
    }
    struct gemm_options options;
    gemm_options_init(&options);
    options.gm = options.gn = 1;
    options.nk = 8;
    g_autoptr(gemm_plan_ptr) paced = plan_of(&REF, 1, 16, 512, 16, &options);
    g_assert_cmpuint(paced->counts.idle_cycles, ==, 4 * paced->counts.sweep_cycles);
}

/* Words of the 256-cube with the tile forced to 32 x 16. */
static void claim_I30_resident_b(void) {
    struct gemm_options options;
    gemm_options_init(&options);
    options.gm = 32;
    options.gn = 16;
    options.resident = false;
    g_autoptr(gemm_plan_ptr) again = plan_of(&REF, 2, 256, 256, 256, &options);
    uint64_t a = 4 * operand_entries(&again->a) * again->bands;
    g_assert_cmpuint(a, ==, 8192);
    g_assert_cmpuint(again->counts.rd_words - a, ==, 4096);
    g_assert_cmpuint(again->counts.wr_words, ==, 4096);
    options.resident = true;
    g_autoptr(gemm_plan_ptr) once = plan_of(&REF, 2, 256, 256, 256, &options);
    g_assert_true(once->resident);
    g_assert_cmpuint(once->counts.rd_words, ==, a + 4 * operand_entries(&once->b));
    g_assert_cmpuint(once->counts.rd_words, ==, 8192 + 2048);
    /* The planner's own 16 x 32: 16,384 falls to 10,240. */
    gemm_options_init(&options);
    g_autoptr(gemm_plan_ptr) own = plan_of(&REF, 2, 256, 256, 256, &options);
    g_assert_cmpuint(own->counts.rd_words + own->counts.wr_words, ==, 10240);
    options.resident = false;
    g_autoptr(gemm_plan_ptr) own_again = plan_of(&REF, 2, 256, 256, 256, &options);
    g_assert_cmpuint(own_again->counts.rd_words + own_again->counts.wr_words, ==, 16384);
}

/* Whatever shape and L1, no sweep reaches over 256 entries, and none over the end of a bank (the replay sees to that).
 */
static void claim_I31_no_chunk_over_256(void) {
    for (unsigned trial = 0; trial < 500; trial++) {
        struct planner_limits limits = {1u << g_test_rand_int_range(4, 13), 1u << g_test_rand_int_range(4, 12),
                                        1u << g_test_rand_int_range(4, 12), 5};
        struct gemm_options options;
        gemm_options_init(&options);
        options.split_fills = g_test_rand_bit();
        options.resident = g_test_rand_bit();
        g_autoptr(gemm_plan_ptr) plan =
            plan_of(&limits, (unsigned)g_test_rand_int_range(1, 9), (size_t)g_test_rand_int_range(1, 700),
                    (size_t)g_test_rand_int_range(1, 3000), (size_t)g_test_rand_int_range(1, 700), &options);
        for (unsigned c = 0; c < plan->cluster_count; c++) {
            for (size_t s = 0; s < plan->clusters[c].inst_count; s++) {
                const struct cluster_inst *inst = &plan->clusters[c].insts[s].inst;
                g_assert_cmpuint(inst->gm * inst->nk, <=, 256);
                g_assert_cmpuint(inst->gn * inst->nk, <=, 256);
                if (inst->op == CLUSTER_FILL)
                    g_assert_cmpuint(inst->n, <=, 255);
            }
        }
    }
}

static void claim_I36_one_block_drains_itself(void) {
    struct gemm_options options;
    gemm_options_init(&options);
    g_autoptr(gemm_plan_ptr) one = plan_of(&REF, 1, 64, 32, 64, &options);
    g_assert_false(one->fused);
    g_assert_cmpuint(one->counts.acc_add_emit, ==, 0);
    g_assert_cmpuint(one->counts.acc_emit, ==, 256);
    g_autoptr(gemm_plan_ptr) two = plan_of(&REF, 1, 64, 64, 64, &options);
    g_assert_true(two->fused);
    options.nk = 1;
    g_autoptr(gemm_plan_ptr) chunked = plan_of(&REF, 1, 64, 64, 64, &options);
    g_assert_true(chunked->fused);
    g_assert_cmpuint(chunked->counts.acc_add_emit, ==, 256);
}

static void claim_I60_57_host_writes(void) {
    static const struct node node = {1, 1};
    struct gemm_options options;
    struct round_options round_options;
    gemm_options_init(&options);
    options.emit = false;
    round_options_init(&round_options);
    g_autoptr(gemm_plan_ptr) plan = plan_of(&REF, 1, 32, 128, 32, &options);
    g_autoptr(round_list_ptr) list = rounds_new(plan, &node, &round_options, NULL);
    g_assert_cmpuint(list->count, ==, 1);
    g_assert_cmpuint(5 * list->flits, ==, 20);
    g_assert_cmpuint(list->commands, ==, 9);
    g_assert_cmpuint(list->host_writes, ==, 57);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I22/result_traffic_once", claim_I22_result_traffic_once);
    g_test_add_func("/claim_I24/pacing_estimate", claim_I24_pacing);
    g_test_add_func("/claim_I30/resident_b_removes_repeats", claim_I30_resident_b);
    g_test_add_func("/claim_I31/no_chunk_over_256_entries", claim_I31_no_chunk_over_256);
    g_test_add_func("/claim_I36/one_k_block_falls_back", claim_I36_one_block_drains_itself);
    g_test_add_func("/claim_I60/57_host_writes", claim_I60_57_host_writes);
    return g_test_run();
}
