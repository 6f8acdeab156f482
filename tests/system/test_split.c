/* K split over clusters: chain, tree and the way through memory, run on the machine of four clusters and compared bit
 * by bit with the accumulator's own arithmetic. */
#include "model/numeric/fp16.h"
#include "model/numeric/fp22.h"
#include "program_run.h"
#include "workloads/operands.h"
#include "workloads/split.h"
#include "workloads/tensor.h"

enum {
    ROWS = 32,
    DEPTH = 1024,
    IMAGE_A = 0,
    IMAGE_B = 1 << 18,
    IMAGE_C = 1 << 19,
    CLUSTERS = 4,
};

struct split_run {
    struct program_run run;
    struct split_plan *plan;
    struct mxfp7_entry *a, *b;
    unsigned next;
    cycle_t cycles;
};

static struct mxfp7_entry *load(struct split_run *split, const struct tensor *tensor,
                                const struct operand_layout *layout, enum mxfp7_packing packing, uint64_t address) {
    g_autofree uint16_t *halves = tensor_to_fp16(tensor);
    size_t count = operand_entries(layout);
    struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, count);
    operand_quantise(layout, halves, entries);
    for (size_t e = 0; e < count; e++) {
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&entries[e], packing, words);
        dram_load(&split->run.system->dram, address + e * sizeof words, words, sizeof words);
    }
    return entries;
}

static cycle_t host(void *self, cycle_t now) {
    struct split_run *split = self;
    struct agent *agent = &split->run.system->agent;
    if (split->next && !agent->control.done)
        return now + 1;
    if (split->next == split->plan->rounds->count)
        return CYCLE_NEVER;
    const struct round *round = &split->plan->rounds->rounds[split->next++];
    for (unsigned f = 0; f < round->flit_count; f++)
        dispatch_stage(&agent->dispatch, f, &round->flits[f].payload, FLIT_CU_INST, round->flits[f].txn,
                       round->flits[f].last);
    memcpy(agent->control.commands, round->commands, round->command_count * sizeof *round->commands);
    agent->control.done = false;
    control_write(&agent->control, ENGINE_CONTROL, 1, now);
    return now + 1;
}

static void go(struct split_run *split) {
    struct system *system = split->run.system;
    cycle_t now = 0;
    system->agent.host = (struct agent_host){.self = split, .step = host, .due = 0};
    agent_wake(&system->agent, 0);
    while (now != CYCLE_NEVER && !system_standstill(system, now))
        now = system_step(system, now);
    g_assert_true(now == CYCLE_NEVER && system_quiet(system));
    split->cycles = system_last_progress(system);
}

static void open_split(struct split_run *split, unsigned factor, int form) {
    g_autoptr(GError) error = NULL;
    struct node nodes[CLUSTERS] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
    struct gemm_options gemm;
    struct round_options rounds;
    struct split_options options = {.factor = factor, .form = form, .agent = {0, 1}};
    struct distribution distribution;
    struct tensor *a, *b;
    *split = (struct split_run){0};
    program_open(&split->run, "# cold:\n");
    gemm_options_init(&gemm);
    round_options_init(&rounds);
    gemm.gm = gemm.gn = 8;
    gemm.nk = 4;
    gemm.a = IMAGE_A;
    gemm.b = IMAGE_B;
    gemm.c = IMAGE_C;
    struct planner_limits limits = planner_limits_of(&split->run.machine);
    split->plan = split_plan_new(&limits, nodes, CLUSTERS, ROWS, DEPTH, ROWS, &gemm, &options, &rounds, &error);
    g_assert_no_error(error);
    distribution_parse("normal", &distribution, NULL);
    operands_generate(&distribution, 1, ROWS, DEPTH, ROWS, &a, &b);
    split->a = load(split, a, &split->plan->gemm->a, MXFP7_ROWS, IMAGE_A);
    split->b = load(split, b, &split->plan->gemm->b, MXFP7_COLUMNS, IMAGE_B);
    tensor_free(a);
    tensor_free(b);
    go(split);
}

static void close_split(struct split_run *split) {
    program_close(&split->run);
    split_plan_free(split->plan);
    g_free(split->a);
    g_free(split->b);
}

/* Partner r's part of sub-tile (g, h), block by block as its sweeps issue them. */
static void part(const struct split_run *split, unsigned r, unsigned g, unsigned h, uint32_t tile[TILE_LANES]) {
    const struct gemm_plan *gemm = split->plan->gemm;
    size_t first, end;
    split_chunks(split->plan, r, &first, &end);
    for (size_t chunk = first; chunk < end; chunk++)
        for (unsigned kb = 0; kb < gemm->tile.nk; kb++) {
            int32_t sums[TILE_LANES];
            const struct mxfp7_entry *a = &split->a[operand_chunk_first(&gemm->a, 0, chunk) + g * gemm->tile.nk + kb];
            const struct mxfp7_entry *b = &split->b[operand_chunk_first(&gemm->b, 0, chunk) + h * gemm->tile.nk + kb];
            mxfp7_block_dot(a, b, sums);
            (chunk == first && kb == 0 ? fp22_tile_load : fp22_tile_add)(tile, sums, a->scale, b->scale, CLUSTER_ANCHOR,
                                                                         FP22_WIDTH);
        }
}

static void combine(const struct split_run *split, unsigned g, unsigned h, uint32_t parts[][TILE_LANES]) {
    unsigned factor = split->plan->factor;
    for (unsigned r = 0; r < factor; r++)
        part(split, r, g, h, parts[r]);
    if (split->plan->form == SPLIT_CHAIN)
        for (unsigned p = factor - 1; p > 0; p--)
            fp22_tile_add_words(parts[p - 1], parts[p], FP22_WIDTH);
    for (unsigned d = 1; split->plan->form == SPLIT_TREE && d < factor; d *= 2)
        for (unsigned p = d; p < factor; p += 2 * d)
            fp22_tile_add_words(parts[p - d], parts[p], FP22_WIDTH);
}

static void assert_result(const struct split_run *split) {
    for (unsigned t = 0; t < 64; t++) {
        uint32_t parts[CLUSTERS][TILE_LANES];
        struct word256 wanted, ours = dram_read(&split->run.system->dram, IMAGE_C + WORD_BYTES * t, NULL);
        combine(split, t / 8, t % 8, parts);
        fp22_tile_emit(parts[0], FP22_WIDTH, &wanted);
        g_assert_cmpmem(&ours, sizeof ours, &wanted, sizeof wanted);
    }
}

static void splits(unsigned factor, int form, unsigned steps) {
    struct split_run split;
    open_split(&split, factor, form);
    g_assert_cmpuint(split.plan->steps, ==, steps);
    g_assert_cmpuint(split.run.system->hazards.hazards->len, ==, 0);
    assert_result(&split);
    uint64_t sent = 0;
    for (unsigned u = 0; u < CLUSTERS; u++)
        sent += split.run.system->endpoints[u].counts.out[FLIT_CU_DATA];
    g_assert_cmpuint(sent, ==, split.plan->peer_flits);
    close_split(&split);
}

static void unsplit(void) {
    splits(1, SPLIT_CHAIN, 0);
}

static void chain(void) {
    splits(2, SPLIT_CHAIN, 1);
    splits(3, SPLIT_CHAIN, 2);
    splits(4, SPLIT_CHAIN, 3);
}

static void tree(void) {
    splits(2, SPLIT_TREE, 1);
    splits(3, SPLIT_TREE, 2);
    splits(4, SPLIT_TREE, 2);
}

static void factor_is_chosen(void) {
    struct split_run split;
    open_split(&split, 0, SPLIT_TREE);
    g_assert_cmpuint(split.plan->factor, ==, 4); /* four clusters, one tile, eight chunks */
    close_split(&split);
}

static void splitting_pays(void) {
    struct split_run one, four;
    open_split(&one, 1, SPLIT_TREE);
    open_split(&four, 4, SPLIT_TREE);
    g_assert_cmpuint(four.cycles, <, one.cycles);
    g_test_message("%" G_GUINT64_FORMAT " cycles on one cluster, %" G_GUINT64_FORMAT " on four", one.cycles,
                   four.cycles);
    close_split(&one);
    close_split(&four);
}

/* The images of the partners, each rounded to FP16, stand side by side. */
static void through_memory(void) {
    struct split_run split;
    open_split(&split, 4, SPLIT_MEMORY);
    for (unsigned r = 0; r < 4; r++)
        for (unsigned t = 0; t < 64; t++) {
            uint32_t tile[TILE_LANES];
            struct word256 wanted;
            part(&split, r, t / 8, t % 8, tile);
            fp22_tile_emit(tile, FP22_WIDTH, &wanted);
            struct word256 ours =
                dram_read(&split.run.system->dram, IMAGE_C + r * split.plan->image_bytes + WORD_BYTES * t, NULL);
            g_assert_cmpmem(&ours, sizeof ours, &wanted, sizeof wanted);
        }
    close_split(&split);
}

static void refuses_more_partners_than_chunks(void) {
    g_autoptr(GError) error = NULL;
    struct node nodes[CLUSTERS] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
    struct planner_limits limits = {.tiles = 512, .l1_a = 512, .l1_b = 512, .reuse_min = 5};
    struct gemm_options gemm;
    struct round_options rounds;
    gemm_options_init(&gemm);
    round_options_init(&rounds);
    gemm.gm = gemm.gn = 8;
    gemm.nk = 4;
    struct split_options options = {.factor = 3, .form = SPLIT_CHAIN};
    g_assert_null(split_plan_new(&limits, nodes, CLUSTERS, 32, 256, 32, &gemm, &options, &rounds, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    g_assert_cmpstr(error->message, ==, "K split 3 ways: 4 clusters, 1 tiles and 2 chunks allow at most 2");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/split/unsplit", unsplit);
    g_test_add_func("/split/chain", chain);
    g_test_add_func("/split/tree", tree);
    g_test_add_func("/split/factor_is_chosen", factor_is_chosen);
    g_test_add_func("/split/splitting_pays", splitting_pays);
    g_test_add_func("/split/through_memory", through_memory);
    g_test_add_func("/split/refuses_more_partners_than_chunks", refuses_more_partners_than_chunks);
    return g_test_run();
}
