/* Running layers; see layers.h. */
#include "workloads/layers.h"

#include <math.h>

#include "model/numeric/fp16.h"
#include "workloads/grade.h"

void layers_answer_clear(struct layers_answer *answer) {
    g_free(answer->rows);
    g_free(answer->wanted);
    *answer = (struct layers_answer){0};
}

static double *widen(const uint16_t *halves, size_t count) {
    double *values = g_new(double, MAX(count, 1));
    for (size_t e = 0; e < count; e++)
        values[e] = fp16_to_double(halves[e]);
    return values;
}

/* y of one layer in FP64; x is given up. */
static double *reference_layer(const struct layer_shape *shape, double *x) {
    size_t count = shape->m * shape->n;
    double *product[LAYER_PRODUCTS_MAX] = {NULL};
    for (unsigned p = 0; p < shape->products; p++) {
        g_autofree double *w = widen(shape->w[p], shape->n * shape->k);
        product[p] = g_new(double, count);
        grade_fp64_result(shape->m, shape->k, shape->n, x, w, product[p]);
    }
    for (size_t e = 0; e < count && shape->value; e++) {
        double bias = shape->bias ? fp16_to_double(shape->bias[e % shape->n]) : 0;
        product[0][e] = shape->value(product[0][e], product[1] ? product[1][e] : bias);
    }
    g_free(product[1]);
    g_free(x);
    return product[0];
}

static void grade_rows(struct run *run, const struct layers_answer *answer, const uint16_t *model, double tolerance) {
    size_t first;
    run->model_mismatches = grade_bit_mismatches(model, answer->rows, answer->count, &first);
    for (size_t e = 0; e < answer->count; e++)
        run->model_max_abs = fmax(run->model_max_abs, fabs(fp16_to_double(model[e]) - fp16_to_double(answer->rows[e])));
    grade_against(answer->wanted, answer->rows, answer->count, &run->vs_fp64);
    run->graded = true;
    run->answer_wrong = run->model_mismatches || !(run->vs_fp64.normalised <= tolerance);
}

static void answer_and_grade(struct run *run, const struct layer *layers, unsigned count, const uint16_t *x,
                             double tolerance, struct layers_answer *answer) {
    const struct layer_shape *last = &layers[count - 1].shape, *first = &layers[0].shape;
    uint16_t *model = g_memdup2(x, first->m * first->k * sizeof *x);
    answer->count = last->m * last->n;
    answer->rows = g_new0(uint16_t, answer->count);
    answer->wanted = widen(x, first->m * first->k);
    layer_result(&layers[count - 1], &run->system->dram, answer->rows);
    for (unsigned l = 0; l < count; l++) {
        const struct layer_shape *shape = &layers[l].shape;
        uint16_t *rows = g_new0(uint16_t, shape->m * shape->n);
        layer_model(&layers[l], model, rows);
        g_free(model);
        model = rows;
        answer->wanted = reference_layer(shape, answer->wanted);
    }
    grade_rows(run, answer, model, tolerance);
    g_free(model);
}

/* ---- figures ---- */

static void note(struct run *run, const struct layer *layers, unsigned count, double tolerance) {
    struct layer_counts sum = {0};
    uint64_t stages = 0, saved = 0, bytes = 0;
    const struct gemm_plan *plan = layers[0].plan[0];
    for (unsigned l = 0; l < count; l++) {
        const struct layer_counts *counts = &layers[l].counts;
        const struct layer_shape *shape = &layers[l].shape;
        const uint64_t *from = (const uint64_t *)(const void *)counts;
        for (size_t i = 0; i < sizeof sum / sizeof(uint64_t); i++)
            ((uint64_t *)(void *)&sum)[i] += from[i];
        stages += 1 + (shape->kernel != NULL);
        /* a product that is written and read again */
        bytes = 2 * sizeof(uint16_t) * shape->products * shape->m * shape->n;
        saved += shape->kernel && shape->fuse ? bytes : 0;
        run->macs += (uint64_t)shape->products * shape->m * shape->k * shape->n;
    }
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"layers.count", count},
                {"layers.stages", stages},
                {"layers.gm", plan->tile.gm},
                {"layers.gn", plan->tile.gn},
                {"layers.nk", plan->tile.nk},
                {"layers.tiles", plan->row_tiles * plan->bands},
                {"layers.fills", sum.fills},
                {"layers.gemms", sum.gemms},
                {"layers.drains", sum.drains},
                {"layers.imem_flits", sum.imem},
                {"layers.desc_flits", sum.desc},
                {"layers.run_flits", sum.runs},
                {"layers.flits", sum.fills + sum.gemms + sum.drains + sum.imem + sum.desc + sum.runs},
                {"layers.arrival_signals", sum.arrivals},
                {"layers.temp_bytes", sum.temp_bytes},
                {"layers.saved_bytes", saved},
                {"layers.relayouts", sum.relayouts},
                {"layers.relayout_bytes", sum.relayout_bytes}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        run_add_count(run, rows[i].key, rows[i].value);
    run_add_number(run, "layers.tolerance", tolerance);
}

/* ---- the run ---- */

static bool build(struct layer *layers, unsigned *made, struct layer_machine *on, const struct layer_shape *shapes,
                  unsigned count, GError **error) {
    for (*made = 0; *made < count; ++*made)
        if (!layer_init(&layers[*made], on, &shapes[*made], *made ? &layers[*made - 1] : NULL, error))
            return false;
    return true;
}

static bool steps(struct run *run, struct layer *layers, unsigned count, const uint16_t *x, GError **error) {
    struct streams streams;
    bool fine = true;
    streams_init(&streams, run->machine);
    for (unsigned l = 0; l < count && fine; l++) {
        layer_load(&layers[l], &run->system->dram, l ? NULL : x);
        fine = layer_steps(&layers[l], &streams, &run->system->dram, error);
    }
    if (fine)
        streams_run(&streams, run);
    streams_clear(&streams);
    return fine;
}

bool layers_run(struct run *run, const struct layer_shape *shapes, unsigned count, const uint16_t *x, double tolerance,
                struct layers_answer *answer, GError **error) {
    struct layer_machine on;
    struct layer layers[LAYERS_MAX] = {0};
    unsigned made = 0;
    g_autoptr(GError) wrong = NULL;
    *answer = (struct layers_answer){0};
    if (!layer_machine_init(&on, run->machine, &wrong))
        return workload_error(run->workload, "m", error, "%s", wrong->message);
    run->clusters = on.cluster_count;
    bool fine = build(layers, &made, &on, shapes, count, &wrong) && (run->system = system_new(run->machine, &wrong));
    if (fine) {
        run->system->hazards.strict = run->strict;
        fine = steps(run, layers, count, x, &wrong);
    }
    if (fine)
        note(run, layers, count, tolerance);
    if (fine && !run->dead)
        answer_and_grade(run, layers, count, x, tolerance, answer);
    for (unsigned l = 0; l < made; l++)
        layer_clear(&layers[l]);
    layer_machine_clear(&on);
    return fine || workload_error(run->workload, "m", error, "%s", wrong->message);
}
