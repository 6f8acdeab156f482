/* The samples that end badly on purpose, each a workload of its own (workloads §3.1, §5.1, §6.7), and `peer-add`, which
 * ends well. A sample is a program text in configs/programs/, or a gemm, and the diagnosis it must end with.
 *
 * Texts say (1,1) and (1,2) for the machine's first and second cluster and (0,1) for its first memory port; they are
 * rewritten for the machine at hand. Operands lie at SAMPLE_A and SAMPLE_B as the tile in the table wants them. */
#include <string.h>

#include "model/config.h"
#include "model/numeric/fp16.h"
#include "workloads/grade.h"
#include "workloads/layout.h"
#include "workloads/operands.h"
#include "workloads/program.h"
#include "workloads/run.h"
#include "workloads/tensor.h"

enum {
    SAMPLE_A = 0x0,
    SAMPLE_B = 0x10000,
    SAMPLE_C = 0x20000,
    SAMPLE_BURST = 8,
    SAMPLE_L1_B = 256, /* entries a text may name */
    SHORT_INST = 32,
    SHORT_RECV = 64,
    SHORT_FIFO = 32,
};

enum sample_setting {
    AS_GIVEN,
    UNPACED,
    SHORT_QUEUES,
};

#define PLAIN "memory.fetch_transform=false, memory.write_burst=8"

static const char *const setting_names[] = {
    [AS_GIVEN] = PLAIN,
    [UNPACED] = PLAIN ", cluster.pacing=false",
    [SHORT_QUEUES] = PLAIN ", at most endpoint.inst_depth=32, endpoint.recv_depth=64, noc.fifo_depth=32",
};

struct sample {
    const struct workload_type *type;
    const char *gemm;     /* the workload it is, or NULL: the program text named by the id */
    const char *expected; /* a hazard or deadlock id, "numerics.saturated", or NULL: the right answer */
    enum sample_setting setting;
    unsigned clusters;   /* that the text uses */
    unsigned m, k, n;    /* the answer's problem */
    unsigned gm, gn, nk; /* and its tile */
    unsigned times;      /* the answer is so many times the product */
    const char *rule;    /* the sentence that the result carries */
};

static bool sample_adjust(const struct workload *workload, struct machine *machine, GError **error);
static bool sample_run(struct run *run, GError **error);

#define SAMPLE_TYPE(member, name, text)                                                                                \
    extern const struct workload_type workload_##member;                                                               \
    const struct workload_type workload_##member = {                                                                   \
        .id = name, .sentence = text, .adjust = sample_adjust, .run = sample_run}

SAMPLE_TYPE(peer_self, "peer-self", "Sample: a cluster sends its tile to itself and stops (deadlock.self_peer).");
SAMPLE_TYPE(peer_add, "peer-add", "Sample: a cluster adds its neighbour's equal tile to its own, exactly 2 T.");
SAMPLE_TYPE(credit_starve, "credit-starve",
            "Sample: one credit for two programs, the second is never sent (dispatch.credit_starved).");
SAMPLE_TYPE(credit_overrun, "credit-overrun",
            "Sample: credit seeded once a kick fills the instruction queue and what stands before it "
            "(deadlock.overseeded).");
SAMPLE_TYPE(shared_fetch, "shared-fetch-no-rendezvous",
            "Sample: a fetch shared by two clusters that do not wait for each other lands in the wrong side of L1 "
            "(cluster.shared_fill_side).");
SAMPLE_TYPE(l1_wrap, "l1-wrap",
            "Sample: a chunk placed across the end of an L1 bank overwrites another (cluster.fill_wraps).");
SAMPLE_TYPE(reuse_violation, "reuse-violation",
            "Sample: a small tile swept without pacing adds to stale sums (acc.reuse).");
SAMPLE_TYPE(bias_overflow, "bias-overflow",
            "Sample: biased operands whose sums pass the largest FP16 number (numerics.saturated).");

/* clang-format off */
static const struct sample samples[] = {
    {&workload_peer_self, NULL, "deadlock.self_peer", SHORT_QUEUES, 1, 64, 32, 64, 16, 16, 1, 1,
     "a tile is never sent to its own cluster"},
    {&workload_peer_add, NULL, NULL, AS_GIVEN, 2, 16, 64, 16, 4, 4, 2, 2,
     "a peer's tile is added in accumulator precision"},
    {&workload_credit_starve, NULL, "dispatch.credit_starved", AS_GIVEN, 2, 8, 64, 16, 2, 2, 2, 1,
     "a round needs more credits than it has programs"},
    {&workload_credit_overrun, NULL, "deadlock.overseeded", SHORT_QUEUES, 1, 4, 32, 4, 1, 1, 1, 1,
     "credit is seeded once a round, at most the depth of the instruction queue"},
    {&workload_shared_fetch, NULL, "cluster.shared_fill_side", AS_GIVEN, 2, 8, 128, 128, 2, 16, 4, 1,
     "clusters that share a fetch have to meet first (what-if cluster.rendezvous)"},
    {&workload_l1_wrap, NULL, "cluster.fill_wraps", AS_GIVEN, 1, 16, 128, 16, 4, 4, 2, 1,
     "a chunk lies within one bank of L1"},
    {&workload_reuse_violation, NULL, "acc.reuse", UNPACED, 1, 8, 256, 8, 2, 2, 8, 1,
     "a sub-tile is added to again after five cycles at the earliest"},
    {&workload_bias_overflow, "gemm:m=64,k=2048,n=64,operands=biased:5.657,transform=upload", "numerics.saturated",
     AS_GIVEN, 1, 0, 0, 0, 0, 0, 0, 1,
     "an emitted sum beyond 65504 is cut, and the machine does not say so"},
};
/* clang-format on */

static const struct sample *sample_of(const struct workload *workload) {
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++)
        if (samples[i].type == workload->type)
            return &samples[i];
    g_assert_not_reached();
}

static bool sample_error(const struct run *run, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool sample_error(const struct run *run, GError **error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return json_source_error_at(error, run->machine->name, 1, 1, "(machine)", "%s: %s", run->workload->type->id, text);
}

static bool sample_adjust(const struct workload *workload, struct machine *machine, GError **error) {
    (void)error;
    const struct sample *sample = sample_of(workload);
    if (sample->gemm)
        return true;
    machine->memory.fetch_transform = false;
    machine->memory.write_burst = SAMPLE_BURST;
    if (sample->setting == UNPACED)
        machine->cluster.pacing = false;
    if (sample->setting == SHORT_QUEUES) {
        machine->endpoint.inst_depth = MIN(machine->endpoint.inst_depth, (unsigned)SHORT_INST);
        machine->endpoint.recv_depth = MIN(machine->endpoint.recv_depth, (unsigned)SHORT_RECV);
        machine->noc.fifo_depth = MIN(machine->noc.fifo_depth, (unsigned)SHORT_FIFO);
    }
    return true;
}

/* ---- the text ---- */

/* The nodes of the text and those of the machine; false with an error when it has too few. */
static bool list_nodes(const struct run *run, const struct sample *sample, char *nodes[3], GError **error) {
    const struct machine *machine = run->machine;
    unsigned count = 0;
    for (unsigned u = 0; u < machine->unit_count && count < 2; u++)
        if (machine->units[u].kind == UNIT_CLUSTER)
            nodes[count++] = g_strdup_printf("(%u,%u)", machine->units[u].x, machine->units[u].y);
    if (count < sample->clusters || !machine->port_count)
        return sample_error(run, error,
                            "machine has %u matmul clusters and %u memory ports, expected at least %u and 1", count,
                            machine->port_count, sample->clusters);
    nodes[2] = g_strdup_printf("(%u,%u)", machine->ports[0].x, machine->ports[0].y);
    return true;
}

/* What the text takes for granted beside the nodes. */
static bool check_limits(const struct run *run, const struct sample *sample, GError **error) {
    const struct cluster_params *cluster = &run->machine->cluster;
    const struct {
        const char *key;
        unsigned value, least;
    } rows[] = {{"cluster.tiles", cluster->tiles, sample->gm * sample->gn},
                {"cluster.l1_a", cluster->l1_a, sample->gm * sample->nk * 2},
                {"cluster.l1_b", cluster->l1_b, SAMPLE_L1_B}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].value < rows[i].least)
            return sample_error(run, error, "machine has %s = %u, expected at least %u", rows[i].key, rows[i].value,
                                rows[i].least);
    return true;
}

/* All at once: what a node is replaced by may be another one's name. */
static char *rename_nodes(const char *text, char *const nodes[3]) {
    static const char *const names[3] = {"(1,1)", "(1,2)", "(0,1)"};
    GString *out = g_string_new(NULL);
    while (*text) {
        unsigned found = 0;
        while (found < G_N_ELEMENTS(names) && !g_str_has_prefix(text, names[found]))
            found++;
        if (found < G_N_ELEMENTS(names) && nodes[found]) {
            g_string_append(out, nodes[found]);
            text += strlen(names[found]);
        } else {
            g_string_append_c(out, *text++);
        }
    }
    return g_string_free(out, FALSE);
}

static struct asm_program *load_text(const struct run *run, const struct sample *sample, char **file, GError **error) {
    g_autofree char *name = g_strconcat(sample->type->id, ".fs", NULL), *text = NULL;
    char *nodes[3] = {0};
    struct asm_program *program = NULL;
    *file = config_find_file("programs", name);
    if (!*file || !g_file_get_contents(*file, &text, NULL, NULL)) {
        sample_error(run, error, "its text %s can't be read, expected it among the shipped programs", name);
    } else if (list_nodes(run, sample, nodes, error) && check_limits(run, sample, error)) {
        g_autofree char *renamed = rename_nodes(text, nodes);
        program = asm_program_parse(renamed, *file, error);
    }
    for (unsigned n = 0; n < G_N_ELEMENTS(nodes); n++)
        g_free(nodes[n]);
    return program;
}

/* ---- operands and answer ---- */

struct sample_data {
    struct operand_layout a, b;
    struct result_layout c;
    struct tensor *tensor_a, *tensor_b;
    struct mxfp7_entry *entries_a, *entries_b;
};

static struct mxfp7_entry *load_operand(struct dram *dram, const struct operand_layout *layout,
                                        const struct tensor *tensor, enum mxfp7_packing packing, uint64_t address) {
    g_autofree uint16_t *halves = tensor_to_fp16(tensor);
    size_t count = operand_entries(layout);
    struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, count);
    operand_quantise(layout, halves, entries);
    for (size_t e = 0; e < count; e++) {
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&entries[e], packing, words);
        dram_load(dram, address + e * sizeof words, words, sizeof words);
    }
    return entries;
}

static void data_init(struct sample_data *data, const struct sample *sample, struct run *run) {
    static const struct distribution normal = {.kind = DISTRIBUTION_NORMAL};
    struct dram *dram = &run->system->dram;
    operand_layout_init(&data->a, sample->m, sample->k, sample->gm, sample->nk, false);
    operand_layout_init(&data->b, sample->n, sample->k, sample->gn, sample->nk, false);
    result_layout_init(&data->c, sample->m, sample->n, sample->gm, sample->gn);
    operands_generate(&normal, run->seed, sample->m, sample->k, sample->n, &data->tensor_a, &data->tensor_b);
    data->entries_a = load_operand(dram, &data->a, data->tensor_a, MXFP7_ROWS, SAMPLE_A);
    data->entries_b = load_operand(dram, &data->b, data->tensor_b, MXFP7_COLUMNS, SAMPLE_B);
}

static void data_clear(struct sample_data *data) {
    tensor_free(data->tensor_a);
    tensor_free(data->tensor_b);
    g_free(data->entries_a);
    g_free(data->entries_b);
}

static void grade_product(const struct sample *sample, const double *a, const double *b, const uint16_t *ours,
                          struct numerics *numerics) {
    size_t count = (size_t)sample->m * sample->n;
    g_autofree double *wanted = g_new0(double, count);
    grade_fp64_result(sample->m, sample->k, sample->n, a, b, wanted);
    for (size_t i = 0; i < count; i++)
        wanted[i] *= sample->times;
    grade_against(wanted, ours, count, numerics);
}

/* A power of two times a product is exact in the accumulator and in FP16, so the model's answer is scaled. */
static void grade(const struct sample *sample, const struct sample_data *data, struct run *run) {
    size_t count = (size_t)sample->m * sample->n, first;
    const struct cluster_params *cluster = &run->machine->cluster;
    struct grade_machine machine = {.width = cluster->accumulator_bits, .double_rate = cluster->double_rate};
    g_autofree uint8_t *image = g_malloc0(result_bytes(&data->c));
    g_autofree uint16_t *ours = g_new0(uint16_t, count), *wanted = g_new0(uint16_t, count);
    g_autofree double *a = g_new0(double, (size_t)sample->m * sample->k);
    g_autofree double *b = g_new0(double, (size_t)sample->n * sample->k);
    dram_store(&run->system->dram, SAMPLE_C, image, result_bytes(&data->c));
    result_untile(&data->c, image, ours);
    grade_machine_result(&data->a, data->entries_a, &data->b, data->entries_b, &machine, wanted);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = fp16_from_double(sample->times * fp16_to_double(wanted[i]));
        run->model_max_abs = MAX(run->model_max_abs, ABS(fp16_to_double(wanted[i]) - fp16_to_double(ours[i])));
    }
    run->model_mismatches = grade_bit_mismatches(wanted, ours, count, &first);
    run->answer_wrong = run->model_mismatches > 0;
    grade_dequantise(&data->a, data->entries_a, a);
    grade_dequantise(&data->b, data->entries_b, b);
    grade_product(sample, a, b, ours, &run->vs_quantised);
    grade_product(sample, data->tensor_a->data, data->tensor_b->data, ours, &run->vs_fp64);
    run->answer_columns = sample->n;
    run->graded = true;
}

/* ---- the run ---- */

static bool run_text(struct run *run, const struct sample *sample, GError **error) {
    g_autofree char *file = NULL;
    g_autoptr(asm_program_owned) program = load_text(run, sample, &file, error);
    struct sample_data data;
    if (!program || !(run->system = system_new(run->machine, error)))
        return false;
    run->system->hazards.strict = run->strict;
    data_init(&data, sample, run);
    bool fine = program_execute(run, program, file, 0, error);
    if (fine && !run->dead)
        grade(sample, &data, run);
    data_clear(&data);
    return fine;
}

/* As the workload it is; the result keeps the sample's own id. */
static bool run_gemm(struct run *run, const struct sample *sample, GError **error) {
    const struct workload *own = run->workload;
    struct workload gemm;
    if (!workload_load(&gemm, sample->gemm, NULL, error))
        return false;
    run->workload = &gemm;
    bool fine = gemm.type->run(run, error);
    run->workload = own;
    workload_clear(&gemm);
    return fine;
}

static bool found(const struct run *run, const struct sample *sample) {
    if (!sample->expected)
        return run->graded && !run->model_mismatches;
    if (g_str_equal(sample->expected, "numerics.saturated"))
        return run->graded && run->vs_fp64.saturated > 0;
    return g_strcmp0(run->deadlock.id, sample->expected) == 0 ||
           hazard_count(&run->system->hazards, sample->expected) > 0;
}

static bool sample_run(struct run *run, GError **error) {
    const struct sample *sample = sample_of(run->workload);
    if (!(sample->gemm ? run_gemm : run_text)(run, sample, error))
        return false;
    bool seen = found(run, sample);
    run_add_text(run, "sample.expected", sample->expected ? sample->expected : "the right answer");
    run_add_flag(run, "sample.found", seen);
    run_add_text(run, "sample.rule", sample->rule);
    run_add_text(run, "sample.machine", sample->gemm ? "as given" : setting_names[sample->setting]);
    run->answer_wrong |= sample->expected ? seen : !seen;
    return true;
}
