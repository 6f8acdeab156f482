/* The `saxpy` workload: y <- a x + y on the units of the plug-in examples/saxpy, x[i] = i, y[i] = 100 - i, dealt in
 * whole memory words, the rest to the earlier units (workloads §5.7). */
#include "examples/saxpy/saxpy.h"

#include "workloads/rounds.h"
#include "workloads/run.h"

enum {
    ELEMENTS_MAX = 1 << 22, /* of FP32 integers that are exact, and of n */
    START_Y = 100,
};

struct saxpy_params {
    unsigned n;
    double a;
    uint64_t x, y;
};

#define KEY(member, type, value, min, max, unit, sentence)                                                             \
    { #member, type, offsetof(struct saxpy_params, member), NULL, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key saxpy_keys[] = {
    KEY(n, KEY_UINT, 64, 0, ELEMENTS_MAX, "elements", "Length of x and y."),
    KEY(a, KEY_DOUBLE, 2.5, -1e6, 1e6, "", "The factor, rounded to FP32."),
    KEY(x, KEY_UINT64, 0x10000, 0, 1099511627775.0, "bytes", "Address of x, a multiple of 32."),
    KEY(y, KEY_UINT64, 0x20000, 0, 1099511627775.0, "bytes", "Address of y, a multiple of 32."),
};
/* clang-format on */

struct saxpy_work {
    struct run *run;
    const struct saxpy_params *params;
    struct node *nodes;
    struct saxpy_inst *insts; /* one a unit */
    unsigned units;
};

static uint32_t list_units(const struct machine *machine, struct node *nodes) {
    unsigned count = 0;
    for (unsigned u = 0; u < machine->unit_count; u++)
        if (g_str_equal(machine->units[u].type, "saxpy"))
            nodes[count++] = (struct node){machine->units[u].x, machine->units[u].y};
    return count;
}

/* Whole words, so that no two units write the same one. */
static void deal(struct saxpy_work *work) {
    const struct saxpy_params *params = work->params;
    unsigned words = (params->n + SAXPY_LANES - 1) / SAXPY_LANES, first = 0;
    for (unsigned u = 0; u < work->units; u++) {
        unsigned end = first + words / work->units + (u < words % work->units);
        unsigned from = MIN(first * SAXPY_LANES, params->n), to = MIN(end * SAXPY_LANES, params->n);
        work->insts[u] = (struct saxpy_inst){.op = SAXPY_OP,
                                             .n = to - from,
                                             .a = (float)params->a,
                                             .x = params->x + from * sizeof(float),
                                             .y = params->y + from * sizeof(float)};
        first = end;
    }
}

/* The rounds of a GEMM plan of one instruction a unit, with these instructions in place of its own. Waits are by node,
 * so the counter of all completions need not be cleared. */
static struct round_list *make_rounds(const struct saxpy_work *work, GError **error) {
    const struct machine *machine = work->run->machine;
    struct round_options options;
    struct gemm_plan plan = {.cluster_count = work->units};
    struct planned_inst inst = {.last = true};
    struct gemm_pass pass = {.count = 1};
    round_options_init(&options);
    options.staging_flits = machine->agent.staging_flits;
    options.commands = machine->agent.commands;
    options.credit = machine->endpoint.inst_depth;
    options.wait = WAIT_PER_NODE;
    plan.clusters = g_new0(struct cluster_plan, work->units);
    for (unsigned u = 0; u < work->units; u++)
        plan.clusters[u] = (struct cluster_plan){&inst, 1, &pass, 1};
    struct round_list *list = rounds_new(&plan, work->nodes, &options, error);
    for (unsigned r = 0; list && r < list->count; r++) {
        struct round *round = &list->rounds[r];
        for (unsigned k = 0; k < round->kick_count; k++)
            saxpy_encode(&work->insts[round->kicks[k].cluster], &round->flits[round->kicks[k].base].payload);
        g_assert(round->commands[0].address == options.window + AGENT_SIG_DONE);
        memmove(&round->commands[0], &round->commands[1], --round->command_count * sizeof *round->commands);
    }
    g_free(plan.clusters);
    return list;
}

static void load(const struct saxpy_work *work) {
    const struct saxpy_params *params = work->params;
    struct dram *dram = &work->run->system->dram;
    size_t count = (params->n + SAXPY_LANES - 1) / SAXPY_LANES * SAXPY_LANES;
    g_autofree float *x = g_new0(float, count + 1), *y = g_new0(float, count + 1);
    for (unsigned i = 0; i < params->n; i++) {
        x[i] = (float)i;
        y[i] = (float)START_Y - (float)i;
    }
    dram_load(dram, params->x, x, count * sizeof *x);
    dram_load(dram, params->y, y, count * sizeof *y);
}

static void grade(const struct saxpy_work *work) {
    const struct saxpy_params *params = work->params;
    struct run *run = work->run;
    g_autofree float *y = g_new0(float, params->n + 1);
    uint64_t wrong = 0;
    double worst = 0;
    dram_store(&run->system->dram, params->y, y, params->n * sizeof *y);
    for (unsigned i = 0; i < params->n; i++) {
        float wanted = (float)params->a * (float)i + ((float)START_Y - (float)i);
        wrong += y[i] != wanted;
        worst = MAX(worst, ABS((double)y[i] - (double)wanted));
    }
    run->model_mismatches = wrong;
    run->answer_wrong = wrong > 0;
    run_add_count(run, "saxpy.elements", params->n);
    run_add_count(run, "saxpy.units", work->units);
    run_add_count(run, "saxpy.mismatches", wrong);
    run_add_number(run, "saxpy.max_abs", worst);
}

static bool check_places(const struct run *run, GError **error) {
    const struct saxpy_params *params = run->workload->params;
    uint64_t bytes = (uint64_t)params->n * sizeof(float) + WORD_BYTES, size = run->machine->memory.size;
    const struct {
        const char *key;
        uint64_t address;
    } rows[] = {{"x", params->x}, {"y", params->y}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].address % WORD_BYTES || bytes > size || rows[i].address > size - bytes)
            return workload_error(run->workload, rows[i].key, error,
                                  "is %" G_GUINT64_FORMAT ", expected a multiple of 32 with room below memory.size",
                                  rows[i].address);
    uint64_t apart = params->x > params->y ? params->x - params->y : params->y - params->x;
    return apart >= bytes - WORD_BYTES || workload_error(run->workload, "y", error, "overlaps x, expected it apart");
}

static void drive(struct saxpy_work *work, const struct round_list *list) {
    struct run *run = work->run;
    run->system->hazards.strict = run->strict;
    load(work);
    run->instructions = list->flits;
    run->rounds = list->count;
    for (unsigned r = 0; r < list->count; r++) {
        run->commands += list->rounds[r].command_count;
        run->host_writes += round_host_writes(&list->rounds[r]);
    }
    run_rounds(run, list->rounds, list->count, list->flits);
    if (!run->dead)
        grade(work);
}

static bool saxpy_run(struct run *run, GError **error) {
    unsigned room = run->machine->unit_count + 1;
    g_autofree struct node *nodes = g_new0(struct node, room);
    g_autofree struct saxpy_inst *insts = g_new0(struct saxpy_inst, room);
    g_autoptr(GError) wrong = NULL;
    struct saxpy_work work = {.run = run, .params = run->workload->params, .nodes = nodes, .insts = insts};
    work.units = list_units(run->machine, nodes);
    if (!work.units)
        return workload_error(run->workload, "n", error,
                              "needs a saxpy unit, expected a machine with one (examples/saxpy/saxpy.json)");
    if (!check_places(run, error))
        return false;
    deal(&work);
    g_autoptr(round_list_ptr) list = make_rounds(&work, &wrong);
    if (!list)
        return workload_error(run->workload, "n", error, "%s", wrong->message);
    if (!(run->system = system_new(run->machine, error)))
        return false;
    drive(&work, list);
    return true;
}

extern const struct workload_type workload_saxpy;
const struct workload_type workload_saxpy = {
    .id = "saxpy",
    .sentence = "y <- a x + y on the units of the plug-in examples/saxpy, exact.",
    .keys = saxpy_keys,
    .key_count = G_N_ELEMENTS(saxpy_keys),
    .params_size = sizeof(struct saxpy_params),
    .run = saxpy_run,
};
