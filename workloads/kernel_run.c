/* The vector kernels as workloads, one id each (kernel_list.h): rows dealt over the vector cores, loaded and started by
 * the control program, the answer equal bit for bit to a plain evaluation of the same instructions and within the
 * kernel's tolerance of FP64 (workloads §4, §5.1). */
#include <math.h>
#include <string.h>

#include "model/config.h"
#include "model/numeric/fp16.h"
#include "workloads/kernel_list.h"
#include "workloads/kernel_values.h"
#include "workloads/layout.h"
#include "workloads/operands.h"
#include "workloads/streams.h"
#include "workloads/vector_model.h"
#include "workloads/vector_program.h"

enum {
    LONGEST_VECTOR = 128,
    SHARE_ELEMENTS = 1024, /* of an elementwise kernel: a full RUN (§4.2) */
    SIDE_MAX = 65536,
};

struct kernel_params {
    unsigned rows, cols, cores;
    int form, tail;
    char *variant, *operands, *out;
    unsigned groups; /* group_norm only: its table is the only one that has it */
};

static const char *const form_names[] = {"reg", "mem", NULL};
static const char *const tail_names[] = {"pad", "vl", NULL};

#define KEY(member, type, names, value, min, max, unit, sentence)                                                      \
    { #member, type, offsetof(struct kernel_params, member), names, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key kernel_keys[] = {
    KEY(rows, KEY_UINT, NULL, 64, 1, SIDE_MAX, "rows", "Rows of the operands."),
    KEY(cols, KEY_UINT, NULL, 128, 1, SIDE_MAX, "elements", "Elements a row."),
    KEY(form, KEY_ENUM, form_names, VECTOR_CONSTANTS_REG, 0, 0, "", "Constants in scalar registers, or as arrays from memory."),
    KEY(tail, KEY_ENUM, tail_names, VECTOR_TAIL_PAD, 0, 0, "", "The last batch padded to a full one, or shortened by the vector length."),
    KEY(variant, KEY_STRING, NULL, 0, 1, 32, "", "Which of the kernel's texts; unset: the first, or wide for rows longer than 128."),
    KEY(cores, KEY_UINT, NULL, 0, 0, 256, "cores", "Vector cores that share the rows; 0: all."),
    KEY(operands, KEY_STRING, NULL, 0, 1, 64, "", "Distribution of the operands, as in workload gemm: normal (default), biased:MU, ..."),
    KEY(out, KEY_STRING, NULL, 0, 1, 4096, "", "Write the result to this .npy file, float16."),
    KEY(groups, KEY_UINT, NULL, 1, 1, 4096, "groups", "Groups of columns a row is normalised in."),
};
/* clang-format on */

/* One core's share: elements [first, first + count) of every operand, in spans of its own. */
struct part {
    struct node node;
    size_t first, count;
    struct vector_job job;
    struct vector_program program;
};

struct kernel_run {
    struct run *run;
    const struct kernel_params *params;
    const struct kernel_value *value;
    unsigned variant;
    struct vector_kernel kernel;
    unsigned rows, cols; /* of what the kernel sees: a group is a row */
    size_t count;
    double *inputs[VECTOR_INPUTS_MAX]; /* FP16 values, count each */
    struct part *parts;
    unsigned part_count;
    uint64_t end; /* of memory in use */
};

static void kernel_run_clear(struct kernel_run *kernel) {
    for (unsigned i = 0; i < VECTOR_INPUTS_MAX; i++)
        g_free(kernel->inputs[i]);
    for (unsigned p = 0; p < kernel->part_count; p++)
        vector_program_clear(&kernel->parts[p].program);
    g_free(kernel->parts);
    vector_kernel_clear(&kernel->kernel);
}

/* ---- what is asked for ---- */

static bool find_variant(const struct kernel_value *value, const char *name, unsigned *variant) {
    for (*variant = 0; value->variants[*variant][0]; ++*variant)
        if (g_str_equal(value->variants[*variant][0], name))
            return true;
    return false;
}

static bool kernel_check(const struct workload *workload, GError **error) {
    const struct kernel_params *params = workload->params;
    const struct kernel_value *value = kernel_value_find(workload->type->id);
    unsigned variant;
    if (params->variant && !find_variant(value, params->variant, &variant)) {
        g_autoptr(GString) names = g_string_new(NULL);
        for (unsigned v = 0; value->variants[v][0]; v++)
            g_string_append_printf(names, "%s%s", v ? ", " : "", value->variants[v][0]);
        return workload_error(workload, "variant", error, "is \"%s\", expected one of %s", params->variant, names->str);
    }
    if (params->groups > 1 && params->cols % params->groups)
        return workload_error(workload, "groups", error, "are %u, expected a divisor of cols = %u", params->groups,
                              params->cols);
    return true;
}

static bool load_kernel(struct kernel_run *kernel, GError **error) {
    const struct kernel_params *params = kernel->run->workload->params;
    const struct kernel_value *value = kernel->value;
    const char *name = params->variant;
    if (!name && kernel->cols > LONGEST_VECTOR && find_variant(value, "wide", &kernel->variant))
        name = "wide";
    if (!name || !find_variant(value, name, &kernel->variant))
        kernel->variant = 0;
    g_autofree char *folder = config_find_kernels();
    return vector_kernel_load(&kernel->kernel, folder, value->variants[kernel->variant][1], error);
}

static void take_input(struct kernel_run *kernel, unsigned number, struct tensor *tensor) {
    const struct kernel_params *params = kernel->params;
    bool by_column = number > 0 && kernel->value->weights == WEIGHTS_COLUMNS;
    kernel->inputs[number] = g_new(double, kernel->count);
    for (size_t e = 0; e < kernel->count; e++) {
        double x = tensor->data[by_column ? e % params->cols : e];
        kernel->inputs[number][e] = fp16_to_double(fp16_from_double(kernel->value->positive ? fabs(x) + 0.5 : x));
    }
    tensor_free(tensor);
}

static bool make_inputs(struct kernel_run *kernel, GError **error) {
    const struct kernel_params *params = kernel->params;
    struct distribution distribution;
    g_autoptr(GError) wrong = NULL;
    if (!distribution_parse(params->operands ? params->operands : "normal", &distribution, &wrong))
        return workload_error(kernel->run->workload, "operands", error, "%s", wrong->message);
    for (unsigned i = 0; i < kernel->value->inputs; i += 2) {
        struct tensor *a, *b;
        operands_generate(&distribution, kernel->run->seed + i, params->rows, params->cols, params->rows, &a, &b);
        take_input(kernel, i, a);
        if (i + 1 < kernel->value->inputs)
            take_input(kernel, i + 1, b);
        else
            tensor_free(b);
    }
    return true;
}

/* ---- shares ---- */

static unsigned list_cores(const struct machine *machine, struct node *nodes) {
    unsigned count = 0;
    for (unsigned i = 0; i < machine->unit_count; i++)
        if (machine->units[i].kind == UNIT_VECTOR)
            nodes[count++] = (struct node){(uint16_t)machine->units[i].x, (uint16_t)machine->units[i].y};
    return count;
}

static bool deal(struct kernel_run *kernel, GError **error) {
    struct run *run = kernel->run;
    g_autofree struct node *nodes = g_new0(struct node, run->machine->unit_count + 1);
    unsigned cores = list_cores(run->machine, nodes);
    if (!cores)
        return workload_error(run->workload, "cores", error,
                              "need a vector core, which the machine does not have, expected a machine with one");
    if (kernel->params->cores > cores)
        return workload_error(run->workload, "cores", error, "are %u, expected at most the %u of the machine",
                              kernel->params->cores, cores);
    cores = kernel->params->cores ? kernel->params->cores : cores;
    size_t unit = kernel->value->by_row ? kernel->cols : SHARE_ELEMENTS, units = (kernel->count + unit - 1) / unit;
    kernel->part_count = (unsigned)MIN(cores, units);
    kernel->parts = g_new0(struct part, kernel->part_count);
    for (unsigned p = 0; p < kernel->part_count; p++) {
        size_t first = units * p / kernel->part_count * unit, next = units * (p + 1) / kernel->part_count * unit;
        kernel->parts[p] = (struct part){.node = nodes[p], .first = first, .count = MIN(next, kernel->count) - first};
    }
    return true;
}

static uint64_t take_span(struct kernel_run *kernel, uint64_t bytes) {
    uint64_t address = kernel->end;
    kernel->end += (bytes + VECTOR_SPAN_BYTES - 1) / VECTOR_SPAN_BYTES * VECTOR_SPAN_BYTES;
    return address;
}

/* Builds twice: spans follow from the first program's sizes. */
static bool build_part(struct kernel_run *kernel, struct part *part, GError **error) {
    const struct kernel_params *params = kernel->params;
    g_autoptr(GError) wrong = NULL;
    unsigned cols = kernel->value->by_row ? kernel->cols : (unsigned)part->count;
    part->job = (struct vector_job){.rows = (unsigned)(part->count / cols),
                                    .cols = cols,
                                    .constants = (enum vector_constants)params->form,
                                    .tail = (enum vector_tail)params->tail,
                                    .words_per_flit = kernel->run->machine->vector.imem_words_per_flit};
    for (unsigned pass = 0; pass < 2; pass++) {
        vector_program_clear(&part->program);
        if (!vector_program_build(&part->program, &kernel->kernel, &part->job, &wrong))
            return workload_error(kernel->run->workload, "cols", error, "do not suit: %s", wrong->message);
        if (pass == 1)
            break;
        for (unsigned i = 0; i < kernel->value->inputs; i++)
            part->job.inputs[i] = take_span(kernel, part->program.result_bytes);
        part->job.result = take_span(kernel, part->program.result_bytes);
        part->job.arrays =
            take_span(kernel, (uint64_t)part->program.image_count * part->program.batch_words * WORD_BYTES);
    }
    return true;
}

static bool build(struct kernel_run *kernel, GError **error) {
    for (unsigned p = 0; p < kernel->part_count; p++)
        if (!build_part(kernel, &kernel->parts[p], error))
            return false;
    uint64_t size = kernel->run->machine->memory.size;
    return kernel->end <= size ||
           workload_error(kernel->run->workload, "rows", error,
                          "need %" G_GUINT64_FORMAT " bytes of memory, expected at most memory.size = "
                          "%" G_GUINT64_FORMAT,
                          kernel->end, size);
}

/* ---- the run ---- */

static void load_memory(const struct kernel_run *kernel, struct dram *dram) {
    for (unsigned p = 0; p < kernel->part_count; p++) {
        const struct part *part = &kernel->parts[p];
        uint64_t bytes = part->program.result_bytes;
        for (unsigned i = 0; i < kernel->value->inputs; i++) {
            g_autofree uint16_t *image = g_malloc0(bytes);
            for (size_t e = 0; e < part->count; e++)
                image[e] = fp16_from_double(kernel->inputs[i][part->first + e]);
            dram_load(dram, part->job.inputs[i], image, bytes);
        }
        for (unsigned i = 0; i < part->program.image_count; i++) {
            const struct vector_image *image = &part->program.images[i];
            dram_load(dram, image->address, image->words, image->count * sizeof(struct word256));
        }
    }
}

static bool dispatch(struct kernel_run *kernel, GError **error) {
    struct streams streams;
    g_autoptr(GError) wrong = NULL;
    g_autofree struct stream *list = g_new0(struct stream, kernel->part_count);
    streams_init(&streams, kernel->run->machine);
    for (unsigned p = 0; p < kernel->part_count; p++) {
        const GArray *payloads = kernel->parts[p].program.payloads;
        stream_init(&list[p], kernel->parts[p].node);
        for (guint i = 0; i < payloads->len; i++)
            stream_add(&list[p], &g_array_index(payloads, struct word256, i), 1);
    }
    bool fine = streams_step(&streams, list, kernel->part_count, &wrong) ||
                workload_error(kernel->run->workload, "rows", error, "%s", wrong->message);
    if (fine)
        streams_run(&streams, kernel->run);
    for (unsigned p = 0; p < kernel->part_count; p++)
        stream_clear(&list[p]);
    streams_clear(&streams);
    return fine;
}

static void take_result(const struct kernel_run *kernel, struct dram *dram, uint16_t *result) {
    for (unsigned p = 0; p < kernel->part_count; p++) {
        const struct part *part = &kernel->parts[p];
        dram_store(dram, part->job.result, result + part->first, part->count * sizeof *result);
    }
}

/* The same instructions on plain arrays. */
static void evaluate(const struct kernel_run *kernel, uint16_t *result) {
    struct dram memory;
    dram_init(&memory, kernel->run->machine->memory.size);
    load_memory(kernel, &memory);
    for (unsigned p = 0; p < kernel->part_count; p++) {
        const GArray *payloads = kernel->parts[p].program.payloads;
        g_autofree struct vector_model *model = g_new(struct vector_model, 1);
        vector_model_init(model, &memory);
        model->words_per_flit = kernel->run->machine->vector.imem_words_per_flit;
        model->range = kernel->run->machine->vector.exp2_saturate ? E8M15_EXP2_SATURATES : E8M15_EXP2_WRAPS;
        for (guint i = 0; i < payloads->len; i++)
            vector_model_take(model, &g_array_index(payloads, struct word256, i));
    }
    take_result(kernel, &memory, result);
    dram_clear(&memory);
}

static bool grade(struct kernel_run *kernel, GError **error) {
    struct run *run = kernel->run;
    size_t first;
    g_autofree uint16_t *ours = g_new0(uint16_t, kernel->count), *model = g_new0(uint16_t, kernel->count);
    g_autofree double *wanted = g_new0(double, kernel->count);
    take_result(kernel, &run->system->dram, ours);
    evaluate(kernel, model);
    run->model_mismatches = grade_bit_mismatches(model, ours, kernel->count, &first);
    for (size_t e = 0; e < kernel->count; e++)
        run->model_max_abs = fmax(run->model_max_abs, fabs(fp16_to_double(model[e]) - fp16_to_double(ours[e])));
    bool by_row = kernel->value->by_row;
    kernel_value_rows(kernel->value, kernel->variant, (const double *const *)kernel->inputs, wanted,
                      by_row ? kernel->rows : 1, by_row ? kernel->cols : (unsigned)kernel->count);
    grade_against(wanted, ours, kernel->count, &run->vs_fp64);
    run->graded = true;
    run->answer_wrong = run->model_mismatches || !(run->vs_fp64.normalised <= kernel->value->tolerance);
    if (!kernel->params->out)
        return true;
    const size_t shape[] = {kernel->params->rows, kernel->params->cols};
    g_autoptr(tensor_ptr) result = tensor_from_fp16(2, shape, ours);
    return npy_write(result, kernel->params->out, NPY_FLOAT16, error);
}

/* The image of one core's full batch, and flits of all cores (§4.4). */
static void note(const struct kernel_run *kernel) {
    struct run *run = kernel->run;
    const struct vector_program *first = &kernel->parts[0].program;
    const struct vector_counts *image = &first->counts;
    uint64_t imem = 0, desc = 0, starts = 0, bytes = 0;
    for (unsigned p = 0; p < kernel->part_count; p++) {
        const struct vector_program *program = &kernel->parts[p].program;
        imem += program->counts.imem;
        desc += program->counts.desc;
        starts += program->counts.run;
        bytes += program->result_bytes;
    }
    run_add_text(run, "kernel.text", kernel->kernel.name);
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"kernel.cores", kernel->part_count},
                {"kernel.batches", first->batches},
                {"kernel.inputs", first->inputs},
                {"kernel.words", image->words},
                {"kernel.loads", image->loads},
                {"kernel.alu", image->alu},
                {"kernel.reductions", image->reductions},
                {"kernel.broadcasts", image->broadcasts},
                {"kernel.stores", image->stores},
                {"kernel.fills", image->fills},
                {"kernel.imem_flits", imem},
                {"kernel.desc_flits", desc},
                {"kernel.run_flits", starts},
                {"kernel.flits", imem + desc + starts},
                {"kernel.result_bytes", bytes}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        run_add_count(run, rows[i].key, rows[i].value);
    run_add_number(run, "kernel.tolerance", kernel->value->tolerance);
}

static bool kernel_workload_run(struct run *run, GError **error) {
    const struct kernel_params *params = run->workload->params;
    struct kernel_run kernel = {.run = run,
                                .params = params,
                                .value = kernel_value_find(run->workload->type->id),
                                .rows = params->rows * MAX(params->groups, 1),
                                .cols = params->cols / MAX(params->groups, 1),
                                .count = (size_t)params->rows * params->cols};
    bool fine = load_kernel(&kernel, error) && deal(&kernel, error) && build(&kernel, error) &&
                make_inputs(&kernel, error) && (run->system = system_new(run->machine, error));
    if (fine) {
        run->system->hazards.strict = run->strict;
        note(&kernel);
        load_memory(&kernel, &run->system->dram);
        fine = dispatch(&kernel, error) && (run->dead || grade(&kernel, error));
    }
    kernel_run_clear(&kernel);
    return fine;
}

#define KERNEL_KEYS_GROUPED G_N_ELEMENTS(kernel_keys)
#define KERNEL_KEYS         (KERNEL_KEYS_GROUPED - 1) /* all but the last */
#define KERNEL_WORKLOAD(name, identity, key_total, text)                                                               \
    extern const struct workload_type workload_##name;                                                                 \
    const struct workload_type workload_##name = {                                                                     \
        .id = identity,                                                                                                \
        .sentence = text,                                                                                              \
        .keys = kernel_keys,                                                                                           \
        .key_count = key_total,                                                                                        \
        .params_size = sizeof(struct kernel_params),                                                                   \
        .check = kernel_check,                                                                                         \
        .run = kernel_workload_run,                                                                                    \
    };
KERNEL_WORKLOADS(KERNEL_WORKLOAD)
