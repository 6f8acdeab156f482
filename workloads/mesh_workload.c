/* The workloads on several meshes (workloads §5.8): `mesh-n`, `mesh-k` and `mesh-k4`, one GEMM split by columns or by K
 * over the first meshes of a line, planned and run by mesh_gemm.h, and the same on one mesh to compare with. */
#include "model/numeric/fp16.h"
#include "units/check.h"
#include "workloads/mesh_gemm.h"
#include "workloads/operands.h"
#include "workloads/run.h"
#include "workloads/tensor.h"

#include <math.h>

enum {
    SIDE_MAX = 65536,
};

struct mesh_params {
    unsigned m, k, n, gm, gn, nk, meshes, clusters;
    char *operands;
    bool compare, falling;
};

#define KEY(member, type, value, min, max, unit, sentence)                                                             \
    { #member, type, offsetof(struct mesh_params, member), NULL, {value, value }, min, max, unit, sentence }

/* clang-format off */
#define MESH_KEYS(m_, k_, n_, gm_, gn_, nk_, meshes_)                                                                  \
    KEY(m, KEY_UINT, m_, 1, SIDE_MAX, "rows", "Rows of A and C."),                                                     \
    KEY(k, KEY_UINT, k_, 1, SIDE_MAX, "elements", "Depth of the product."),                                            \
    KEY(n, KEY_UINT, n_, 1, SIDE_MAX, "columns", "Columns of C, rows of the stored B."),                               \
    KEY(gm, KEY_UINT, gm_, 0, 255, "sub-tiles", "Height of the tile; 0: the planner's choice."),                       \
    KEY(gn, KEY_UINT, gn_, 0, 255, "sub-tiles", "Width of the tile; 0: the planner's choice."),                        \
    KEY(nk, KEY_UINT, nk_, 0, 255, "blocks", "K blocks a chunk; 0: the planner's choice."),                            \
    KEY(meshes, KEY_UINT, meshes_, 0, MACHINE_MAX_MESHES, "meshes", "The first so many meshes of the line; 0: all."),  \
    KEY(clusters, KEY_UINT, 1, 0, 1024, "clusters", "Clusters used in each mesh; 0: all (K split: as many as the smallest mesh has)."), \
    KEY(operands, KEY_STRING, 0, 1, 64, "", "Distribution of the operands: scaled (default) or any other of gemm's."), \
    KEY(compare, KEY_BOOL, 1, 0, 1, "", "Run the same product on one mesh too, for the scaling."),                     \
    KEY(falling, KEY_BOOL, 0, 0, 1, "", "Step the meshes of a cycle in falling order: changes nothing.")

static const struct config_key mesh_n_keys[] = {MESH_KEYS(128, 256, 256, 8, 8, 2, 4)};
static const struct config_key mesh_k_keys[] = {MESH_KEYS(32, 512, 64, 8, 16, 0, 2)};
static const struct config_key mesh_k4_keys[] = {MESH_KEYS(32, 2048, 64, 8, 16, 0, 4)};
/* clang-format on */

/* A product and its operands. */
struct product {
    const struct mesh_params *params;
    struct tensor *a, *b;
    uint16_t *halves_a, *halves_b;
};

static void product_clear(struct product *product) {
    tensor_free(product->a);
    tensor_free(product->b);
    g_free(product->halves_a);
    g_free(product->halves_b);
}

static bool product_init(struct product *product, const struct run *run, GError **error) {
    struct distribution distribution;
    g_autoptr(GError) wrong = NULL;
    const struct mesh_params *params = run->workload->params;
    *product = (struct product){.params = params};
    if (!distribution_parse(params->operands ? params->operands : "scaled", &distribution, &wrong))
        return workload_error(run->workload, "operands", error, "%s", wrong->message);
    operands_generate(&distribution, run->seed, params->m, params->k, params->n, &product->a, &product->b);
    product->halves_a = tensor_to_fp16(product->a);
    product->halves_b = tensor_to_fp16(product->b);
    return true;
}

static struct mesh_gemm *plan(const struct run *run, unsigned meshes, GError **error) {
    const struct mesh_params *params = run->workload->params;
    struct mesh_gemm_options options;
    g_autoptr(GError) wrong = NULL;
    mesh_gemm_options_init(&options);
    options.split = run->workload->type->keys == mesh_n_keys ? MESH_SPLIT_N : MESH_SPLIT_K;
    options.meshes = meshes;
    options.clusters = params->clusters;
    options.gemm.gm = params->gm;
    options.gemm.gn = params->gn;
    options.gemm.nk = params->nk;
    struct mesh_gemm *gemm = mesh_gemm_new(run->machine, params->m, params->k, params->n, &options, &wrong);
    if (!gemm)
        workload_error(run->workload, "meshes", error, "%s", wrong->message);
    return gemm;
}

/* ---- answer ---- */

/* Operand values as the machine has them: blocks are quantised one by one, so the split does not matter. */
static double *quantised(const struct tensor *tensor, const uint16_t *halves) {
    struct operand_layout layout;
    operand_layout_init(&layout, tensor->shape[0], tensor->shape[1], 1, 1, false);
    g_autofree struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, operand_entries(&layout));
    double *values = g_new0(double, tensor->count);
    operand_quantise(&layout, halves, entries);
    grade_dequantise(&layout, entries, values);
    return values;
}

static void grade(struct run *run, const struct mesh_gemm *gemm, const struct product *product) {
    size_t count = gemm->m * gemm->n, first;
    g_autofree uint16_t *ours = g_new0(uint16_t, count), *model = g_new0(uint16_t, count);
    g_autofree double *wanted = g_new0(double, count), *a = quantised(product->a, product->halves_a),
                      *b = quantised(product->b, product->halves_b);
    mesh_gemm_gather(gemm, run->line, ours);
    mesh_gemm_reference(gemm, model);
    run->model_mismatches = grade_bit_mismatches(model, ours, count, &first);
    run->answer_wrong = run->model_mismatches > 0;
    for (size_t i = 0; i < count; i++)
        run->model_max_abs = fmax(run->model_max_abs, fabs(fp16_to_double(model[i]) - fp16_to_double(ours[i])));
    grade_fp64_result(gemm->m, gemm->k, gemm->n, a, b, wanted);
    grade_against(wanted, ours, count, &run->vs_quantised);
    grade_fp64_result(gemm->m, gemm->k, gemm->n, product->a->data, product->b->data, wanted);
    grade_against(wanted, ours, count, &run->vs_fp64);
    run->answer_columns = gemm->n;
    run->graded = true;
}

/* ---- figures ---- */

static void note_run(struct run *run, const struct mesh_gemm *gemm, const struct mesh_figures *figures) {
    run->cycles = run->line->meshes[0]->end;
    run->host_cycles = figures->host_cycles;
    run->settled_cycles = figures->settled_cycles;
    run->host_writes = gemm->host_writes;
    run->commands = gemm->commands;
    run->rounds = gemm->rounds;
    run->instructions = gemm->flits;
    run->expected_signals = gemm->signals;
    run->macs = (uint64_t)gemm->m * gemm->k * gemm->n;
    for (unsigned p = 0; p < gemm->count; p++)
        run->clusters += gemm->shares[p].plan->cluster_count;
    run_add_count(run, "meshes.count", gemm->count);
    run_add_count(run, "meshes.clusters", run->clusters);
    run_add_count(run, "meshes.compute_steps", figures->compute_steps);
    run_add_count(run, "meshes.send_cycles", figures->send_cycles);
    run_add_count(run, "meshes.drain_cycles", figures->drain_cycles);
    run_add_count(run, "meshes.summed_cycles", figures->summed_cycles);
    run_add_count(run, "meshes.link_packets", figures->link_packets);
    run_add_count(run, "meshes.link_bytes", figures->link_beats * WORD_BYTES);
}

static void note_death(struct run *run, const struct mesh_figures *figures) {
    run->dead = true;
    run->dead_cycle = figures->dead_cycle;
    run->dead_reason = g_strdup("nothing can move while work is pending");
    for (unsigned m = 0; m < run->line->count; m++) {
        struct system *system = run->line->meshes[m];
        if (system_quiet(system) || run->deadlock.waits)
            continue;
        deadlock_report_init(&run->deadlock, system, system_last_progress(system), figures->dead_cycle);
    }
}

static void check_balance(struct run *run) {
    bool balances = true;
    for (unsigned m = 0; m < run->line->count; m++)
        balances &= system_balances(run->line->meshes[m], run->settled_cycles);
    if (balances)
        return;
    run->dead = true;
    run->dead_cycle = run->settled_cycles;
    run->dead_reason = g_strdup("flits, signals or acknowledgements do not balance");
}

/* The same product on the first mesh alone. */
static bool compare(struct run *run, const struct product *product, const struct mesh_figures *many, GError **error) {
    struct mesh_figures one;
    struct mesh_gemm *gemm = plan(run, 1, error);
    struct line *line = gemm ? line_new(run->machine, error) : NULL;
    if (line) {
        mesh_gemm_load(gemm, line, product->halves_a, product->halves_b);
        mesh_gemm_run(gemm, line, &one);
        uint64_t busiest = 0;
        for (unsigned p = 0; p < MACHINE_MAX_MESHES; p++)
            busiest = MAX(busiest, many->compute_cycles[p]);
        run_add_count(run, "scaling.one_mesh_cycles", one.cycles);
        run_add_number(run, "scaling.time", (double)one.cycles / (double)many->cycles);
        run_add_number(run, "scaling.compute", (double)one.compute_cycles[0] / (double)busiest);
        run_add_number(run, "scaling.summed_cycles", (double)many->summed_cycles / (double)one.summed_cycles);
    }
    line_free(line);
    mesh_gemm_free(gemm);
    return line;
}

static bool drive(struct run *run, struct mesh_gemm *gemm, const struct product *product, GError **error) {
    struct mesh_figures figures;
    if (!(run->line = line_new(run->machine, error)))
        return false;
    run->line->backwards = product->params->falling;
    for (unsigned m = 0; m < run->line->count; m++)
        run->line->meshes[m]->hazards.strict = run->strict;
    mesh_gemm_load(gemm, run->line, product->halves_a, product->halves_b);
    gint64 began = g_get_monotonic_time();
    mesh_gemm_run(gemm, run->line, &figures);
    run->wall_seconds = (double)(g_get_monotonic_time() - began) / 1e6;
    note_run(run, gemm, &figures);
    if (figures.dead) {
        note_death(run, &figures);
        return true;
    }
    check_balance(run);
    grade(run, gemm, product);
    return !product->params->compare || compare(run, product, &figures, error);
}

static bool mesh_run(struct run *run, GError **error) {
    struct product product = {0};
    if (run->machine->mesh_count < 2)
        return workload_error(run->workload, "meshes", error,
                              "%s is one mesh, expected a machine of several (ship_4_meshes)", run->machine->name);
    const struct mesh_params *params = run->workload->params;
    struct mesh_gemm *gemm = plan(run, params->meshes, error);
    bool fine = gemm && product_init(&product, run, error) && drive(run, gemm, &product, error);
    product_clear(&product);
    mesh_gemm_free(gemm);
    return fine;
}

#define MESH_TYPE(member, name, table, text)                                                                           \
    extern const struct workload_type workload_##member;                                                               \
    const struct workload_type workload_##member = {.id = name,                                                        \
                                                    .scope = WORKLOAD_ON_SEVERAL_MESHES,                               \
                                                    .sentence = text,                                                  \
                                                    .keys = table,                                                     \
                                                    .key_count = G_N_ELEMENTS(table),                                  \
                                                    .params_size = sizeof(struct mesh_params),                         \
                                                    .run = mesh_run}

MESH_TYPE(mesh_n, "mesh-n", mesh_n_keys, "A matrix product over several meshes, every mesh its columns of C, graded.");
MESH_TYPE(mesh_k, "mesh-k", mesh_k_keys,
          "A matrix product over two meshes, K split, the parts added in accumulator format, graded.");
MESH_TYPE(mesh_k4, "mesh-k4", mesh_k4_keys,
          "The same over four meshes: parts walk inward along the line, from both ends, graded.");
