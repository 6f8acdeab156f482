/* The `gemm` workload: C[M][N] = A[M][K] · B[N][K]ᵀ planned, loaded, run and graded (workloads §1–3, §6). */
#include <math.h>
#include <string.h>

#include "model/config.h"
#include "model/numeric/fp16.h"
#include "workloads/layout.h"
#include "workloads/moves.h"
#include "workloads/operands.h"
#include "workloads/planner.h"
#include "workloads/run.h"
#include "workloads/split.h"
#include "workloads/tensor.h"

enum transform_place {
    TRANSFORM_MOVER,
    TRANSFORM_UPLOAD,
    TRANSFORM_FETCH,
};

enum dimension_limit {
    DIMENSION_MAX = 65536,
};

enum split_limit {
    SPLIT_MAX = 255,
    SPLIT_AUTO, /* the word `auto` */
};

struct gemm_params {
    unsigned m, k, n;
    char *a, *b, *out;
    char *operands;
    int transform; /* enum transform_place */
    bool emit, resident, late_drain, shadow, schedule_a_first;
    unsigned gm, gn, nk, burst;
    int placement, kicks, wait;
    unsigned credit, split;
    int split_form; /* enum split_form */
};

static const char *const transform_names[] = {"mover", "upload", "fetch", NULL};
static const char *const placement_names[] = {"bands", "roundrobin", NULL};
static const char *const kick_names[] = {"pass", "cluster", NULL};
static const char *const wait_names[] = {"global", "node", NULL};
static const char *const split_words[] = {"auto", NULL};
static const char *const form_names[] = {"chain", "tree", "memory", NULL};

#define KEY(member, type, names, value, min, max, unit, sentence)                                                      \
    { #member, type, offsetof(struct gemm_params, member), names, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key gemm_keys[] = {
    KEY(m, KEY_UINT, NULL, 0, 0, DIMENSION_MAX, "rows", "Rows of A and C; 0: those of the file `a`, or 256."),
    KEY(k, KEY_UINT, NULL, 0, 0, DIMENSION_MAX, "elements", "Depth of the product; 0: that of the files, or 256."),
    KEY(n, KEY_UINT, NULL, 0, 0, DIMENSION_MAX, "columns", "Columns of C, rows of the stored B; 0: those of the file `b`, or 256."),
    KEY(a, KEY_STRING, NULL, 0, 1, 4096, "", "A as a .npy file [M][K]; generated when not given."),
    KEY(b, KEY_STRING, NULL, 0, 1, 4096, "", "B as a .npy file [N][K]; generated when not given."),
    KEY(out, KEY_STRING, NULL, 0, 1, 4096, "", "Write C to this .npy file, float16."),
    KEY(operands, KEY_STRING, NULL, 0, 1, 64, "", "Distribution of generated operands: normal (default), scaled, lowrank:R, relu, biased:MU, real, int, edge, zeros, ones."),
    KEY(transform, KEY_ENUM, transform_names, TRANSFORM_MOVER, 0, 0, "", "Where FP16 operands become int7+E5M3: by the memory mover, before the upload, or on every fetch."),
    KEY(emit, KEY_BOOL, NULL, 1, 0, 1, "", "Let the last K block's sweep hand results out (fused drain) where that is legal."),
    KEY(resident, KEY_BOOL, NULL, 1, 0, 1, "", "Keep a column band's B in L1 where it fits."),
    KEY(late_drain, KEY_BOOL, NULL, 0, 0, 1, "", "Place a fused DRAIN behind the next tile's first GEMM."),
    KEY(schedule_a_first, KEY_BOOL, NULL, 0, 0, 1, "", "Order of the recorded reference runs: FILL A, FILL B, GEMM per chunk, tiles dealt round-robin, nothing resident."),
    KEY(gm, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Height of the tile; 0: the planner's choice."),
    KEY(gn, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Width of the tile; 0: the planner's choice."),
    KEY(nk, KEY_UINT, NULL, 0, 0, 255, "blocks", "K blocks a chunk; 0: the planner's choice."),
    KEY(burst, KEY_UINT, NULL, 0, 0, 16, "words", "Words per write burst; 0: memory.write_burst of the machine."),
    KEY(placement, KEY_ENUM, placement_names, PLACE_BANDS, 0, 0, "", "Which cluster gets which tile: whole column bands, or tiles dealt round-robin."),
    KEY(kicks, KEY_ENUM, kick_names, KICK_PER_PASS, 0, 0, "", "A kick per output tile, or one per cluster and round."),
    KEY(wait, KEY_ENUM, wait_names, WAIT_GLOBAL, 0, 0, "", "Wait on the counter of all completions, or on each node's."),
    KEY(shadow, KEY_BOOL, NULL, 1, 0, 1, "", "Skip register writes that would not change a dispatch register."),
    KEY(credit, KEY_UINT, NULL, 0, 0, 65535, "flits", "Dispatch credit seeded a round; 0: the instruction queue's depth."),
    KEY(split, KEY_UINT, split_words, 0, 0, SPLIT_MAX, "clusters", "Clusters that share the K of a tile; 0: off; auto: as many as clusters and chunks allow."),
    KEY(split_form, KEY_ENUM, form_names, SPLIT_CHAIN, 0, 0, "", "How the parts of a split K are added: from peer to peer along a chain or a tree, or by the host from FP16 images in memory."),
};
/* clang-format on */

struct gemm {
    struct run *run;
    const struct gemm_params *params;
    size_t m, k, n;
    struct tensor *a, *b;
    uint16_t *halves_a, *halves_b;
    struct mxfp7_entry *entries_a, *entries_b;
    struct gemm_plan *plan;
    struct split_plan *split; /* K is split: plan and rounds are its own */
    struct round_list *rounds;
    uint64_t source_a, source_b; /* FP16 images that the mover converts */
    GArray *all_rounds;          /* of struct round: conversion first; those of `rounds` are borrowed */
    unsigned conversion_rounds;
    struct gemm_options images; /* the plan's options, image addresses included */
};

static void gemm_clear(struct gemm *gemm) {
    tensor_free(gemm->a);
    tensor_free(gemm->b);
    g_free(gemm->halves_a);
    g_free(gemm->halves_b);
    g_free(gemm->entries_a);
    g_free(gemm->entries_b);
    for (unsigned r = 0; r < gemm->conversion_rounds; r++)
        move_round_clear(&g_array_index(gemm->all_rounds, struct round, r));
    if (gemm->all_rounds)
        g_array_unref(gemm->all_rounds);
    if (gemm->split) {
        split_plan_free(gemm->split);
        return;
    }
    gemm_plan_free(gemm->plan);
    rounds_free(gemm->rounds);
}

/* ---- operands ---- */

static struct tensor *read_operand(const struct workload *workload, const char *key, const char *name, GError **error) {
    g_autofree char *path = workload_data_file(workload, key, name);
    struct tensor *tensor = npy_read(path, error);
    if (tensor && (tensor->ndim != 2 || tensor->count == 0)) {
        workload_error(workload, key, error, "is an array of %u dimensions and %zu elements, expected a matrix [%s][K]",
                       tensor->ndim, tensor->count, key[0] == 'a' ? "M" : "N");
        g_clear_pointer(&tensor, tensor_free);
    }
    return tensor;
}

static bool check_extent(const struct gemm *gemm, const char *key, unsigned asked, size_t extent, const char *file,
                         GError **error) {
    if (!asked || asked == extent)
        return true;
    return workload_error(gemm->run->workload, key, error, "is %u, expected %zu as in %s", asked, extent, file);
}

static bool check_finite(const struct gemm *gemm, const char *key, const struct tensor *tensor, GError **error) {
    for (size_t i = 0; i < tensor->count; i++)
        if (!isfinite(tensor->data[i]) || fabs(tensor->data[i]) >= 65520)
            return workload_error(gemm->run->workload, key, error,
                                  "holds %g at element %zu, expected finite values that FP16 can hold", tensor->data[i],
                                  i);
    return true;
}

static bool load_files(struct gemm *gemm, GError **error) {
    const struct gemm_params *params = gemm->params;
    const struct workload *workload = gemm->run->workload;
    if (params->a && !(gemm->a = read_operand(workload, "a", params->a, error)))
        return false;
    if (params->b && !(gemm->b = read_operand(workload, "b", params->b, error)))
        return false;
    if (gemm->a && gemm->b && gemm->a->shape[1] != gemm->b->shape[1])
        return workload_error(workload, "b", error, "is %zu x %zu, expected K = %zu columns as in a (%zu x %zu)",
                              gemm->b->shape[0], gemm->b->shape[1], gemm->a->shape[1], gemm->a->shape[0],
                              gemm->a->shape[1]);
    const struct tensor *deep = gemm->a ? gemm->a : gemm->b;
    gemm->m = gemm->a ? gemm->a->shape[0] : params->m ? params->m : 256;
    gemm->n = gemm->b ? gemm->b->shape[0] : params->n ? params->n : 256;
    gemm->k = deep ? deep->shape[1] : params->k ? params->k : 256;
    if (gemm->m > DIMENSION_MAX || gemm->n > DIMENSION_MAX || gemm->k > DIMENSION_MAX)
        return workload_error(workload, gemm->a ? "a" : "b", error,
                              "makes a product of %zu x %zu x %zu, expected at "
                              "most %d a side",
                              gemm->m, gemm->k, gemm->n, DIMENSION_MAX);
    return check_extent(gemm, "m", params->m, gemm->m, "a", error) &&
           check_extent(gemm, "n", params->n, gemm->n, "b", error) &&
           check_extent(gemm, "k", params->k, gemm->k, "the operand files", error) &&
           (!gemm->a || check_finite(gemm, "a", gemm->a, error)) &&
           (!gemm->b || check_finite(gemm, "b", gemm->b, error));
}

static bool get_operands(struct gemm *gemm, GError **error) {
    struct distribution distribution;
    g_autoptr(GError) wrong = NULL;
    const char *name = gemm->params->operands ? gemm->params->operands : "normal";
    if (!distribution_parse(name, &distribution, &wrong))
        return workload_error(gemm->run->workload, "operands", error, "%s", wrong->message);
    if (!load_files(gemm, error))
        return false;
    if (!gemm->a || !gemm->b) {
        struct tensor *a, *b;
        operands_generate(&distribution, gemm->run->seed, gemm->m, gemm->k, gemm->n, &a, &b);
        if (gemm->a)
            tensor_free(a);
        else
            gemm->a = a;
        if (gemm->b)
            tensor_free(b);
        else
            gemm->b = b;
    }
    tensor_round_fp16(gemm->a);
    tensor_round_fp16(gemm->b);
    gemm->halves_a = tensor_to_fp16(gemm->a);
    gemm->halves_b = tensor_to_fp16(gemm->b);
    return true;
}

/* ---- plan ---- */

static unsigned list_clusters(const struct machine *machine, struct node *nodes) {
    unsigned count = 0;
    for (unsigned i = 0; i < machine->unit_count; i++)
        if (machine->units[i].kind == UNIT_CLUSTER)
            nodes[count++] = (struct node){machine->units[i].x, machine->units[i].y};
    return count;
}

static uint64_t align_image(uint64_t bytes) {
    return (bytes + 4095) & ~UINT64_C(4095);
}

static void fill_options(const struct gemm *gemm, struct gemm_options *options) {
    const struct gemm_params *params = gemm->params;
    gemm_options_init(options);
    options->gm = params->gm;
    options->gn = params->gn;
    options->nk = params->nk;
    options->schedule = params->schedule_a_first ? SCHEDULE_REFERENCE : SCHEDULE_BANDS;
    options->placement = params->placement;
    options->resident = params->resident;
    options->emit = params->emit;
    options->late_drain = params->late_drain;
    options->fp16_fetch = params->transform == TRANSFORM_FETCH;
    options->write_burst = gemm->run->machine->memory.write_burst;
}

/* Partners a tile: as asked, or as many as the planned tiles leave clusters and chunks for. */
static unsigned split_factor(const struct gemm *gemm, unsigned clusters) {
    const struct gemm_plan *plan = gemm->plan;
    if (gemm->params->split != SPLIT_AUTO)
        return gemm->params->split;
    return (unsigned)MIN(clusters / (plan->row_tiles * plan->bands), plan->chunks);
}

/* Plans twice: image addresses follow from the first plan's layouts. */
static bool make_plan(struct gemm *gemm, unsigned clusters, GError **error) {
    struct planner_limits limits = planner_limits_of(gemm->run->machine);
    struct gemm_options options;
    g_autoptr(GError) wrong = NULL;
    fill_options(gemm, &options);
    uint64_t entry_bytes = options.fp16_fetch ? 256 : 128;
    for (unsigned round = 0; round < 2; round++) {
        gemm_plan_free(gemm->plan);
        gemm->plan = gemm_plan_new(&limits, clusters, gemm->m, gemm->k, gemm->n, &options, &wrong);
        if (!gemm->plan)
            return workload_error(gemm->run->workload,
                                  gemm->params->nk   ? "nk"
                                  : gemm->params->gn ? "gn"
                                                     : "gm",
                                  error, "%s", wrong->message);
        options.b = align_image(operand_entries(&gemm->plan->a) * entry_bytes);
        options.c = options.b + align_image(operand_entries(&gemm->plan->b) * entry_bytes);
    }
    gemm->images = options;
    uint64_t images = gemm->params->split_form == SPLIT_MEMORY ? MAX(split_factor(gemm, clusters), 1) : 1;
    uint64_t end = options.c + images * result_bytes(&gemm->plan->c);
    if (gemm->params->transform == TRANSFORM_MOVER) {
        gemm->source_a = align_image(end);
        gemm->source_b = gemm->source_a + align_image(operand_entries(&gemm->plan->a) * 256);
        end = gemm->source_b + operand_entries(&gemm->plan->b) * 256;
    }
    if (end > gemm->run->machine->memory.size)
        return workload_error(gemm->run->workload, "m", error,
                              "needs %" G_GUINT64_FORMAT
                              " bytes of memory, expected at most memory.size = %" G_GUINT64_FORMAT,
                              end, gemm->run->machine->memory.size);
    return true;
}

/* A port that converts on the fetch is told by the request not to (compute-units §2.1, preq) when the operands lie
 * there converted already. */
static void mark_converted(struct gemm *gemm) {
    if (!gemm->run->machine->memory.fetch_transform || gemm->params->transform == TRANSFORM_FETCH)
        return;
    for (unsigned r = 0; r < gemm->rounds->count; r++)
        for (unsigned f = 0; f < gemm->rounds->rounds[r].flit_count; f++) {
            struct staged_flit *flit = &gemm->rounds->rounds[r].flits[f];
            flit->inst.preq = flit->inst.op == CLUSTER_FILL;
            cluster_inst_encode(&flit->inst, &flit->payload, NULL);
        }
}

static bool make_rounds(struct gemm *gemm, const struct node *nodes, const struct round_options *options,
                        GError **error) {
    g_autoptr(GError) wrong = NULL;
    gemm->rounds = rounds_new(gemm->plan, nodes, options, &wrong);
    return gemm->rounds || workload_error(gemm->run->workload, "credit", error, "%s", wrong->message);
}

static bool make_split(struct gemm *gemm, const struct node *nodes, const struct round_options *options,
                       GError **error) {
    struct run *run = gemm->run;
    const struct machine_port *agent = &run->machine->ports[0];
    struct planner_limits limits = planner_limits_of(run->machine);
    struct split_options split = {.factor = gemm->params->split == SPLIT_AUTO ? 0 : gemm->params->split,
                                  .form = gemm->params->split_form,
                                  .agent = {(uint16_t)agent->x, (uint16_t)agent->y}};
    g_autoptr(GError) wrong = NULL;
    if (gemm->params->schedule_a_first)
        return workload_error(run->workload, "split", error,
                              "goes with the planner's own schedule, expected "
                              "schedule_a_first=false");
    gemm->split = split_plan_new(&limits, nodes, run->clusters, gemm->m, gemm->k, gemm->n, &gemm->images, &split,
                                 options, &wrong);
    if (!gemm->split)
        return workload_error(run->workload, "split", error, "%s", wrong->message);
    gemm_plan_free(gemm->plan);
    gemm->plan = gemm->split->gemm;
    gemm->rounds = gemm->split->rounds;
    return true;
}

static bool plan_run(struct gemm *gemm, GError **error) {
    struct run *run = gemm->run;
    const struct gemm_params *params = gemm->params;
    g_autofree struct node *nodes = g_new0(struct node, run->machine->unit_count + 1);
    run->clusters = list_clusters(run->machine, nodes);
    if (!run->clusters)
        return workload_error(run->workload, "m", error, "needs a matmul cluster, expected a machine with one");
    if (!make_plan(gemm, run->clusters, error))
        return false;
    struct round_options options;
    round_options_init(&options);
    options.staging_flits = run->machine->agent.staging_flits;
    options.commands = run->machine->agent.commands;
    options.credit = params->credit ? params->credit : run->machine->endpoint.inst_depth;
    options.kicks = params->kicks;
    options.wait = params->wait;
    options.shadow = params->shadow;
    bool split = split_factor(gemm, run->clusters) > 1;
    if (!(split ? make_split : make_rounds)(gemm, nodes, &options, error))
        return false;
    mark_converted(gemm);
    return true;
}

/* ---- memory ---- */

/* One converting move a tensor, before the first fetch (workloads §1.9). */
static void schedule_rounds(struct gemm *gemm) {
    static const struct move_geometry quantiser = {.in_beats = 8, .out_words = 4};
    struct run *run = gemm->run;
    const struct gemm_plan *plan = gemm->plan;
    gemm->all_rounds = g_array_new(FALSE, FALSE, sizeof(struct round));
    if (gemm->params->transform == TRANSFORM_MOVER) {
        GArray *moves = moves_new();
        moves_convert(moves, gemm->source_a, plan->options.a, operand_entries(&plan->a), quantiser, 1, MXFP7_ROWS);
        moves_convert(moves, gemm->source_b, plan->options.b, operand_entries(&plan->b), quantiser, 1, MXFP7_COLUMNS);
        run->mover_writes = move_rounds_append(gemm->all_rounds, moves, run->machine->agent.commands);
        g_array_unref(moves);
    }
    gemm->conversion_rounds = gemm->all_rounds->len;
    g_array_append_vals(gemm->all_rounds, gemm->rounds->rounds, gemm->rounds->count);
}

static void load_operand(struct gemm *gemm, const struct operand_layout *layout, const uint16_t *halves,
                         enum mxfp7_packing packing, uint64_t address, uint64_t source, struct mxfp7_entry **entries) {
    struct dram *dram = &gemm->run->system->dram;
    size_t count = operand_entries(layout);
    *entries = g_new0(struct mxfp7_entry, count);
    operand_quantise(layout, halves, *entries);
    if (gemm->params->transform != TRANSFORM_UPLOAD) {
        g_autofree uint8_t *image = g_malloc0(count * 256);
        operand_pack(layout, halves, image);
        dram_load(dram, gemm->params->transform == TRANSFORM_FETCH ? address : source, image, count * 256);
        return;
    }
    for (size_t e = 0; e < count; e++) {
        struct word256 words[4];
        mxfp7_pack(&(*entries)[e], packing, words);
        dram_load(dram, address + e * sizeof words, words, sizeof words);
    }
}

/* ---- answer ---- */

static void grade_model(struct gemm *gemm, const uint16_t *ours) {
    const struct gemm_plan *plan = gemm->plan;
    struct run *run = gemm->run;
    size_t count = gemm->m * gemm->n, first;
    const struct cluster_params *cluster = &run->machine->cluster;
    struct grade_machine machine = {.width = cluster->accumulator_bits, .double_rate = cluster->double_rate};
    g_autofree uint16_t *wanted = g_new0(uint16_t, count);
    if (gemm->split)
        split_reference(gemm->split, gemm->entries_a, gemm->entries_b, &machine, wanted);
    else
        grade_machine_result(&plan->a, gemm->entries_a, &plan->b, gemm->entries_b, &machine, wanted);
    run->model_mismatches = grade_bit_mismatches(wanted, ours, count, &first);
    for (size_t i = 0; i < count; i++)
        run->model_max_abs = fmax(run->model_max_abs, fabs(fp16_to_double(wanted[i]) - fp16_to_double(ours[i])));
    run->answer_wrong = run->model_mismatches > 0;
}

static void grade_values(struct gemm *gemm, const uint16_t *ours) {
    struct run *run = gemm->run;
    const struct gemm_plan *plan = gemm->plan;
    g_autofree double *wanted = g_new0(double, gemm->m * gemm->n);
    g_autofree double *a = g_new0(double, gemm->m * gemm->k), *b = g_new0(double, gemm->n * gemm->k);
    grade_dequantise(&plan->a, gemm->entries_a, a);
    grade_dequantise(&plan->b, gemm->entries_b, b);
    grade_fp64_result(gemm->m, gemm->k, gemm->n, a, b, wanted);
    grade_against(wanted, ours, gemm->m * gemm->n, &run->vs_quantised);
    grade_fp64_result(gemm->m, gemm->k, gemm->n, gemm->a->data, gemm->b->data, wanted);
    grade_against(wanted, ours, gemm->m * gemm->n, &run->vs_fp64);
    run->answer_columns = gemm->n;
    run->graded = true;
}

static void read_image(const struct gemm *gemm, unsigned r, uint16_t *rows) {
    const struct result_layout *layout = &gemm->plan->c;
    uint64_t bytes = result_bytes(layout);
    g_autofree uint8_t *image = g_malloc0(bytes);
    dram_store(&gemm->run->system->dram, gemm->plan->options.c + r * bytes, image, bytes);
    result_untile(layout, image, rows);
}

/* The partials of a K split through memory: the host reads them, adds them and puts the sum where the first one lay. */
static void finish_partials(const struct gemm *gemm, uint16_t *sum) {
    size_t count = gemm->m * gemm->n;
    unsigned factor = gemm->split->factor;
    uint64_t bytes = result_bytes(&gemm->plan->c);
    g_autofree uint16_t *parts = g_new0(uint16_t, factor * count);
    g_autofree uint8_t *image = g_malloc0(bytes);
    for (unsigned r = 0; r < factor; r++)
        read_image(gemm, r, &parts[r * count]);
    split_add(parts, factor, count, sum);
    result_tile(&gemm->plan->c, sum, image);
    dram_load(&gemm->run->system->dram, gemm->plan->options.c, image, bytes);
}

static bool take_answer(struct gemm *gemm, GError **error) {
    g_autofree uint16_t *ours = g_new0(uint16_t, gemm->m * gemm->n);
    if (gemm->split && gemm->split->form == SPLIT_MEMORY)
        finish_partials(gemm, ours);
    else
        read_image(gemm, 0, ours);
    grade_model(gemm, ours);
    grade_values(gemm, ours);
    if (!gemm->params->out)
        return true;
    const size_t shape[] = {gemm->m, gemm->n};
    g_autoptr(tensor_ptr) c = tensor_from_fp16(2, shape, ours);
    return npy_write(c, gemm->params->out, NPY_FLOAT16, error);
}

static void note_plan(struct gemm *gemm) {
    struct run *run = gemm->run;
    const struct gemm_plan *plan = gemm->plan;
    run->macs = (uint64_t)gemm->m * gemm->k * gemm->n;
    run->host_writes = gemm->rounds->host_writes;
    run->commands = gemm->rounds->commands;
    run->rounds = gemm->rounds->count;
    run->instructions = gemm->rounds->flits;
    run_add_count(run, "plan.m", gemm->m);
    run_add_count(run, "plan.k", gemm->k);
    run_add_count(run, "plan.n", gemm->n);
    run_add_count(run, "plan.gm", plan->tile.gm);
    run_add_count(run, "plan.gn", plan->tile.gn);
    run_add_count(run, "plan.nk", plan->tile.nk);
    run_add_count(run, "plan.row_tiles", plan->row_tiles);
    run_add_count(run, "plan.bands", plan->bands);
    run_add_count(run, "plan.chunks", plan->chunks);
    run_add_count(run, "plan.resident", plan->resident);
    run_add_count(run, "plan.fused", plan->fused);
    run_add_count(run, "plan.clusters", plan->cluster_count);
    run_add_count(run, "plan.read_words", plan->counts.dram_read_words);
    run_add_count(run, "plan.write_words", plan->counts.wr_words);
    run_add_count(run, "plan.sweep_cycles", plan->counts.sweep_cycles);
    run_add_count(run, "plan.pacing_cycles", plan->counts.idle_cycles);
}

/* What getting the operands into int7+E5M3 cost, and what every fetch costs after it (workloads §1.9, T05). */
static void note_conversion(struct gemm *gemm) {
    struct run *run = gemm->run;
    const struct gemm_plan *plan = gemm->plan;
    uint64_t entries = operand_entries(&plan->a) + operand_entries(&plan->b), cycles = 0;
    bool mover = gemm->params->transform == TRANSFORM_MOVER, fetch = gemm->params->transform == TRANSFORM_FETCH;
    for (guint r = 0; r < gemm->conversion_rounds && r < run->round_cycles->len; r++)
        cycles += g_array_index(run->round_cycles, cycle_t, r);
    run_add_text(run, "conversion.place", transform_names[gemm->params->transform]);
    run_add_count(run, "conversion.cycles", cycles);
    run_add_count(run, "conversion.entries", entries);
    run_add_count(run, "conversion.read_bytes", mover ? entries * 256 : 0);
    run_add_count(run, "conversion.write_bytes", mover ? entries * 128 : 0);
    run_add_count(run, "conversion.fetch_bytes_per_entry", fetch ? 256 : 128);
    run_add_count(run, "conversion.fetched_bytes", plan->counts.dram_read_words * WORD_BYTES);
}

/* How K was split, and what the parts cost on their way together. */
static void note_split(struct gemm *gemm) {
    const struct split_plan *split = gemm->split;
    struct run *run = gemm->run;
    if (!gemm->params->split)
        return;
    bool memory = split && split->form == SPLIT_MEMORY;
    run_add_count(run, "split.factor", split ? split->factor : 1);
    run_add_text(run, "split.form", split ? form_names[split->form] : "none");
    run_add_count(run, "split.steps", split ? split->steps : 0);
    run_add_count(run, "split.peer_flits", split ? split->peer_flits : 0);
    run_add_count(run, "split.relayout_bytes", memory ? (split->factor + 1) * split->image_bytes : 0);
}

static bool gemm_adjust(const struct workload *workload, struct machine *machine, GError **error) {
    (void)error;
    const struct gemm_params *params = workload->params;
    if (params->burst)
        machine->memory.write_burst = params->burst;
    if (params->transform == TRANSFORM_FETCH)
        machine->memory.fetch_transform = true;
    return true;
}

static bool gemm_run(struct run *run, GError **error) {
    struct gemm gemm = {.run = run, .params = run->workload->params};
    bool fine = get_operands(&gemm, error) && plan_run(&gemm, error) && (run->system = system_new(run->machine, error));
    if (fine) {
        const struct gemm_plan *plan = gemm.plan;
        run->system->hazards.strict = run->strict;
        load_operand(&gemm, &plan->a, gemm.halves_a, MXFP7_ROWS, plan->options.a, gemm.source_a, &gemm.entries_a);
        load_operand(&gemm, &plan->b, gemm.halves_b, MXFP7_COLUMNS, plan->options.b, gemm.source_b, &gemm.entries_b);
        note_plan(&gemm);
        note_split(&gemm);
        schedule_rounds(&gemm);
        run_rounds(run, (const struct round *)(const void *)gemm.all_rounds->data, gemm.all_rounds->len,
                   gemm.rounds->flits + (gemm.split ? gemm.split->acknowledgements : 0));
        note_conversion(&gemm);
        fine = run->dead || take_answer(&gemm, error);
    }
    gemm_clear(&gemm);
    return fine;
}

const struct workload_type workload_gemm = {
    .id = "gemm",
    .sentence = "A matrix product C[M][N] = A[M][K] B[N][K]' on all clusters, graded.",
    .keys = gemm_keys,
    .key_count = G_N_ELEMENTS(gemm_keys),
    .params_size = sizeof(struct gemm_params),
    .adjust = gemm_adjust,
    .run = gemm_run,
};
