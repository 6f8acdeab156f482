/* The vector kernels: word and flit counts of workloads §4.4, and results on the core against FP64 within the
 * tolerances of §5.1. */
#include <math.h>

#include "vector_bench.h"
#include "workloads/vector_program.h"

#define KERNELS FLITSIM_SOURCE_DIR "/workloads/kernels"

enum {
    INPUT_BASE = 0x100000,
    INPUT_STEP = 0x100000,
    RESULT = 0x800000,
    ARRAYS = 0x900000,
};

static struct vector_job job_of(unsigned rows, unsigned cols, enum vector_constants constants, enum vector_tail tail) {
    struct vector_job job = {
        .rows = rows, .cols = cols, .constants = constants, .tail = tail, .result = RESULT, .arrays = ARRAYS};
    for (unsigned i = 0; i < VECTOR_INPUTS_MAX; i++)
        job.inputs[i] = INPUT_BASE + i * INPUT_STEP;
    return job;
}

static struct vector_kernel load(const char *name) {
    struct vector_kernel kernel;
    GError *error = NULL;
    vector_kernel_load(&kernel, KERNELS, name, &error);
    g_assert_no_error(error);
    return kernel;
}

static struct vector_program build(const char *name, const struct vector_job *job) {
    struct vector_kernel kernel = load(name);
    struct vector_program program;
    GError *error = NULL;
    vector_program_build(&program, &kernel, job, &error);
    g_assert_no_error(error);
    vector_kernel_clear(&kernel);
    return program;
}

/* ---- counts ---- */

#define REG VECTOR_CONSTANTS_REG
#define MEM VECTOR_CONSTANTS_MEM

static void counts_of_the_shipped_images(void) {
    static const struct {
        const char *name;
        unsigned rows, cols;
        enum vector_constants constants;
        unsigned words, loads, alu, reductions, broadcasts, stores, fills, desc, run, flits;
    } rows[] = {
        {"silu", 64, 128, REG, 66, 8, 40, 0, 0, 8, 1, 22, 8, 96},
        {"silu", 64, 128, MEM, 82, 24, 40, 0, 0, 8, 3, 44, 8, 134},
        {"gelu-sigmoid", 64, 128, MEM, 82, 24, 40, 0, 0, 8, 3, 44, 8, 134},
        {"gelu-tanh", 64, 128, REG, 108, 8, 80, 0, 0, 8, 1, 22, 8, 138},
        {"relu", 64, 128, MEM, 41, 16, 8, 0, 0, 8, 2, 33, 8, 82},
        {"neg", 64, 128, MEM, 32, 8, 8, 0, 0, 8, 1, 22, 8, 62},
        {"abs", 64, 128, MEM, 32, 8, 8, 0, 0, 8, 1, 22, 8, 62},
        {"exp2", 64, 128, MEM, 32, 8, 8, 0, 0, 8, 1, 22, 8, 62},
        {"recip", 64, 128, MEM, 32, 8, 8, 0, 0, 8, 1, 22, 8, 62},
        {"rsqrt", 64, 128, MEM, 32, 8, 8, 0, 0, 8, 1, 22, 8, 62},
        {"add", 64, 128, MEM, 41, 16, 8, 0, 0, 8, 2, 33, 8, 82},
        {"sub", 64, 128, MEM, 41, 16, 8, 0, 0, 8, 2, 33, 8, 82},
        {"mul", 64, 128, MEM, 41, 16, 8, 0, 0, 8, 2, 33, 8, 82},
        {"max", 64, 128, MEM, 41, 16, 8, 0, 0, 8, 2, 33, 8, 82},
        {"div", 64, 128, MEM, 49, 16, 16, 0, 0, 8, 2, 33, 8, 90},
        {"affine", 64, 128, MEM, 50, 24, 8, 0, 0, 8, 3, 44, 8, 102},
        {"softmax", 64, 128, MEM, 137, 16, 40, 16, 16, 8, 2, 33, 8, 178},
        {"rmsnorm-inv", 64, 128, MEM, 127, 16, 56, 8, 10, 8, 2, 33, 8, 168},
        {"layernorm-inv", 64, 128, MEM, 384, 48, 176, 32, 34, 16, 3, 28, 4, 416},
        {"row-sum", 64, 128, MEM, 104, 16, 0, 16, 16, 16, 1, 14, 4, 122},
        {"softmax", 64, 64, MEM, 265, 32, 80, 32, 32, 16, 2, 21, 4, 290},
        {"rmsnorm-inv", 64, 64, MEM, 239, 32, 112, 16, 18, 16, 2, 21, 4, 264},
        {"layernorm-inv", 64, 64, MEM, 384, 48, 176, 32, 34, 16, 3, 28, 4, 416},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct vector_job job = job_of(rows[i].rows, rows[i].cols, rows[i].constants, VECTOR_TAIL_PAD);
        struct vector_program program = build(rows[i].name, &job);
        const struct vector_counts *c = &program.counts;
        g_test_message("%s %ux%u", rows[i].name, rows[i].rows, rows[i].cols);
        g_assert_cmpuint(c->words, ==, rows[i].words);
        g_assert_cmpuint(c->loads, ==, rows[i].loads);
        g_assert_cmpuint(c->alu, ==, rows[i].alu);
        g_assert_cmpuint(c->reductions, ==, rows[i].reductions);
        g_assert_cmpuint(c->broadcasts, ==, rows[i].broadcasts);
        g_assert_cmpuint(c->stores, ==, rows[i].stores);
        g_assert_cmpuint(c->fills, ==, rows[i].fills);
        g_assert_cmpuint(c->imem, ==, rows[i].words);
        g_assert_cmpuint(c->desc, ==, rows[i].desc);
        g_assert_cmpuint(c->run, ==, rows[i].run);
        g_assert_cmpuint(program.payloads->len, ==, rows[i].flits);
        vector_program_clear(&program);
    }
}

/* Vector words a chunk or row of workloads §4.3. */
static void words_of_the_library(void) {
    static const struct {
        const char *name;
        unsigned alu, reductions, broadcasts;
    } rows[] = {
        {"copy", 1, 0, 0},         {"relu-portable", 3, 0, 0},  {"sigmoid", 4, 0, 0},    {"silu", 5, 0, 0},
        {"gelu-sigmoid", 5, 0, 0}, {"gelu-tanh", 10, 0, 0},     {"geglu", 6, 0, 0},      {"swiglu", 6, 0, 0},
        {"row-max", 0, 1, 1},      {"row-sumsq", 0, 1, 1},      {"softmax", 5, 2, 2},    {"softmax-expsum", 4, 2, 2},
        {"rmsnorm", 6, 1, 1},      {"rmsnorm-sumsq", 4, 1, 1},  {"layernorm", 8, 2, 2},  {"div", 2, 0, 0},
        {"rmsnorm-inv", 7, 1, 1},  {"layernorm-inv", 11, 2, 2}, {"sigmoid-d4", 4, 0, 0}, {"affine", 1, 0, 0},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct vector_kernel kernel = load(rows[i].name);
        unsigned alu = 0, reductions = 0, broadcasts = 0;
        for (unsigned w = 0; w < kernel.body.count; w++) { /* no body holds a VSETI */
            unsigned op = kernel.body.words[w] >> 27;
            alu += op <= VECTOR_RSQRT;
            reductions += op == VECTOR_RED;
            broadcasts += op == VECTOR_BCAST;
        }
        g_test_message("%s", rows[i].name);
        g_assert_cmpuint(alu, ==, rows[i].alu);
        g_assert_cmpuint(reductions, ==, rows[i].reductions);
        g_assert_cmpuint(broadcasts, ==, rows[i].broadcasts);
        vector_kernel_clear(&kernel);
    }
}

/* ---- values ---- */

typedef void reference_fn(const double *const x[], double *out, unsigned cols);

static double x_copy(double x) {
    return x;
}

static double x_neg(double x) {
    return -x;
}

static double x_relu(double x) {
    return fmax(x, 0);
}

static double x_recip(double x) {
    return 1 / x;
}

static double x_rsqrt(double x) {
    return 1 / sqrt(x);
}

static double x_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double x_silu(double x) {
    return x * x_sigmoid(x);
}

static double x_gelu_sigmoid(double x) {
    return x * x_sigmoid(1.702 * x);
}

static double x_gelu_tanh(double x) {
    return x / 2 * (1 + tanh(sqrt(2 / G_PI) * (x + 0.044715 * x * x * x)));
}

static double xy_add(double x, double y) {
    return x + y;
}

static double xy_sub(double x, double y) {
    return x - y;
}

static double xy_mul(double x, double y) {
    return x * y;
}

static double xy_div(double x, double y) {
    return x / y;
}

static double xy_swiglu(double x, double y) {
    return x_silu(x) * y;
}

static double xy_geglu(double x, double y) {
    return x_gelu_sigmoid(x) * y;
}

static double mean(const double *x, unsigned cols) {
    double sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += x[i];
    return sum / cols;
}

static void row_affine(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = x[0][i] * x[1][i] + x[2][i];
}

static void row_sum(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = mean(x[0], cols) * cols;
}

static void row_max(const double *const x[], double *out, unsigned cols) {
    double largest = -INFINITY;
    for (unsigned i = 0; i < cols; i++)
        largest = fmax(largest, x[0][i]);
    for (unsigned i = 0; i < cols; i++)
        out[i] = largest;
}

static void row_min(const double *const x[], double *out, unsigned cols) {
    double smallest = INFINITY;
    for (unsigned i = 0; i < cols; i++)
        smallest = fmin(smallest, x[0][i]);
    for (unsigned i = 0; i < cols; i++)
        out[i] = smallest;
}

static double mean_square(const double *x, unsigned cols, double around) {
    double sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += (x[i] - around) * (x[i] - around);
    return sum / cols;
}

static void row_sumsq(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = mean_square(x[0], cols, 0) * cols;
}

static void row_softmax(const double *const x[], double *out, unsigned cols) {
    double sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += exp(x[0][i]);
    for (unsigned i = 0; i < cols; i++)
        out[i] = exp(x[0][i]) / sum;
}

static void row_rmsnorm(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = x[0][i] / sqrt(mean_square(x[0], cols, 0) + 1e-5) * x[1][i];
}

static void row_layernorm(const double *const x[], double *out, unsigned cols) {
    double middle = mean(x[0], cols), variance = mean_square(x[0], cols, middle);
    for (unsigned i = 0; i < cols; i++)
        out[i] = (x[0][i] - middle) / sqrt(variance + 1e-5) * x[1][i] + x[2][i];
}

static void row_rotate(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = x[0][i / LANES * LANES + (i + 1) % LANES];
}

static const struct value_case {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    reference_fn *row;
    double tolerance; /* of max|got - want| / max|want| (workloads §5.1) */
    bool positive;    /* inputs away from zero, so that FP16 holds their reciprocals */
} value_cases[] = {
    {.name = "copy", .one = x_copy},
    {.name = "neg", .one = x_neg},
    {.name = "abs", .one = fabs},
    {.name = "relu", .one = x_relu},
    {.name = "relu-portable", .one = x_relu},
    {.name = "exp2", .one = exp2, .tolerance = 1e-3},
    {.name = "recip", .one = x_recip, .tolerance = 1e-3, .positive = true},
    {.name = "rsqrt", .one = x_rsqrt, .tolerance = 1e-3, .positive = true},
    {.name = "sigmoid", .one = x_sigmoid, .tolerance = 1e-3},
    {.name = "sigmoid-d4", .one = x_sigmoid, .tolerance = 1e-3},
    {.name = "silu", .one = x_silu, .tolerance = 1e-3},
    {.name = "silu-d4", .one = x_silu, .tolerance = 1e-3},
    {.name = "gelu-sigmoid", .one = x_gelu_sigmoid, .tolerance = 1e-3},
    {.name = "gelu-tanh", .one = x_gelu_tanh, .tolerance = 1e-3},
    {.name = "add", .two = xy_add, .tolerance = 1e-3},
    {.name = "sub", .two = xy_sub, .tolerance = 1e-3},
    {.name = "mul", .two = xy_mul, .tolerance = 1e-3},
    {.name = "max", .two = fmax},
    {.name = "min", .two = fmin},
    {.name = "div", .two = xy_div, .tolerance = 1e-3, .positive = true},
    {.name = "swiglu", .two = xy_swiglu, .tolerance = 1e-3},
    {.name = "geglu", .two = xy_geglu, .tolerance = 1e-3},
    {.name = "affine", .row = row_affine, .tolerance = 1e-3},
    {.name = "row-sum", .row = row_sum, .tolerance = 1e-3},
    {.name = "row-max", .row = row_max},
    {.name = "row-min", .row = row_min},
    {.name = "row-sumsq", .row = row_sumsq, .tolerance = 1e-3},
    {.name = "rotate", .row = row_rotate},
    {.name = "softmax", .row = row_softmax, .tolerance = 2e-3},
    {.name = "softmax-expsum", .row = row_softmax, .tolerance = 2e-3},
    {.name = "rmsnorm", .row = row_rmsnorm, .tolerance = 3e-3},
    {.name = "rmsnorm-sumsq", .row = row_rmsnorm, .tolerance = 3e-3},
    {.name = "rmsnorm-inv", .row = row_rmsnorm, .tolerance = 3e-3},
    {.name = "layernorm", .row = row_layernorm, .tolerance = 3e-3},
    {.name = "layernorm-inv", .row = row_layernorm, .tolerance = 3e-3},
};

/* Repeatable values, roughly normal. */
static double sample(uint64_t index) {
    double sum = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint64_t x = (index * 4 + k + 1) * UINT64_C(0x9E3779B97F4A7C15);
        x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
        sum += (double)(x >> 11) / (double)(UINT64_C(1) << 53) - 0.5;
    }
    return sum * 1.7;
}

/* Writes FP16 operands and returns them as doubles, `count` an input. */
static double *fill_inputs(struct vector_bench *b, const struct vector_job *job, unsigned count, bool positive) {
    double *values = g_new(double, VECTOR_INPUTS_MAX *count);
    for (unsigned i = 0; i < VECTOR_INPUTS_MAX; i++)
        for (unsigned e = 0; e < count; e++) {
            double x = sample(i * count + e);
            uint16_t half = fp16_from_double(positive ? fabs(x) + 0.5 : x);
            values[i * count + e] = fp16_to_double(half);
            dram_load(&b->memory, job->inputs[i] + 2 * e, &half, sizeof half);
        }
    return values;
}

static void wanted(const struct value_case *c, const double *values, unsigned rows, unsigned cols, double *want) {
    unsigned count = rows * cols;
    for (unsigned r = 0; r < rows; r++) {
        const double *x[] = {values + r * cols, values + count + r * cols, values + 2 * count + r * cols};
        double *out = want + r * cols;
        if (c->row)
            c->row(x, out, cols);
        for (unsigned i = 0; i < cols && !c->row; i++)
            out[i] = c->one ? c->one(x[0][i]) : c->two(x[0][i], x[1][i]);
    }
}

struct cost {
    cycle_t cycles;
    uint64_t beats;
};

/* Runs the program on the core alone and returns the largest error over the largest value. */
static double run_case(const struct value_case *c, const struct vector_job *job, struct cost *cost) {
    unsigned count = job->rows * job->cols;
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.vector.imem_words_per_flit = MAX(job->words_per_flit, 1u);
    vb_open(b);
    struct vector_program program = build(c->name, job);
    double *values = fill_inputs(b, job, count, c->positive), *want = g_new(double, count);
    uint16_t beyond = 0x1234, after = beyond;
    dram_load(&b->memory, job->result + program.result_bytes, &beyond, sizeof beyond);
    for (unsigned i = 0; i < program.image_count; i++)
        dram_load(&b->memory, program.images[i].address, program.images[i].words,
                  program.images[i].count * sizeof(struct word256));
    for (unsigned i = 0; i < program.payloads->len; i++)
        vb_payload(b, &g_array_index(program.payloads, struct word256, i));
    vb_go(b);
    g_assert_false(b->run.fault);
    g_assert_cmpuint(b->endpoint.retired, ==, program.payloads->len);
    g_assert_cmpuint(vb_sent_count(b, FLIT_MEM_WR_DATA) * WORD_BYTES, ==, program.result_bytes);
    dram_store(&b->memory, job->result + program.result_bytes, &after, sizeof after);
    g_assert_cmpuint(after, ==, beyond);
    wanted(c, values, job->rows, job->cols, want);
    double error = 0, scale = 0;
    for (unsigned e = 0; e < count; e++) {
        uint16_t half;
        dram_store(&b->memory, job->result + 2 * e, &half, sizeof half);
        error = fmax(error, fabs(fp16_to_double(half) - want[e]));
        scale = fmax(scale, fabs(want[e]));
    }
    *cost = (struct cost){b->now, b->state.beats};
    g_free(values);
    g_free(want);
    vector_program_clear(&program);
    vb_free(b);
    return error / scale;
}

static void check_values(unsigned rows, unsigned cols, enum vector_constants constants, enum vector_tail tail) {
    for (unsigned i = 0; i < G_N_ELEMENTS(value_cases); i++) {
        const struct value_case *c = &value_cases[i];
        struct vector_job job = job_of(rows, cols, constants, tail);
        struct cost cost;
        double error = run_case(c, &job, &cost);
        g_test_message("%s %ux%u: error %.2e, %" G_GUINT64_FORMAT " cycles", c->name, rows, cols, error, cost.cycles);
        g_assert_cmpfloat(error, <=, c->tolerance);
    }
}

static void values_of_full_batches(void) {
    check_values(64, 128, VECTOR_CONSTANTS_REG, VECTOR_TAIL_PAD);
}

/* 5 x 80 is less than a batch and no multiple of 128; 21 x 48 crosses batches. */
static void values_of_tails(void) {
    check_values(5, 80, VECTOR_CONSTANTS_REG, VECTOR_TAIL_VL);
    check_values(21, 48, VECTOR_CONSTANTS_REG, VECTOR_TAIL_VL);
    check_values(21, 48, VECTOR_CONSTANTS_REG, VECTOR_TAIL_PAD);
}

/* Rows longer than a vector: whole pieces, a short last piece, a row shorter than a vector. */
static void values_of_long_rows(void) {
    static const struct value_case cases[] = {
        {.name = "softmax-wide", .row = row_softmax, .tolerance = 2e-3},
        {.name = "rmsnorm-wide", .row = row_rmsnorm, .tolerance = 3e-3},
        {.name = "layernorm-wide", .row = row_layernorm, .tolerance = 3e-3},
    };
    static const unsigned lengths[] = {1024, 400, 48};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        for (unsigned n = 0; n < G_N_ELEMENTS(lengths); n++)
            for (unsigned tail = VECTOR_TAIL_PAD; tail <= VECTOR_TAIL_VL; tail++) {
                struct vector_job job = job_of(9, lengths[n], VECTOR_CONSTANTS_REG, (enum vector_tail)tail);
                struct cost cost;
                double error = run_case(&cases[i], &job, &cost);
                g_test_message("%s 9x%u: error %.2e, %" G_GUINT64_FORMAT " cycles", cases[i].name, lengths[n], error,
                               cost.cycles);
                g_assert_cmpfloat(error, <=, cases[i].tolerance);
            }
}

/* Constants as arrays give the same results, as far as FP16 has the constant. */
static void values_with_constants_from_memory(void) {
    static const char *const names[] = {"silu", "relu", "softmax", "gelu-sigmoid", "relu-portable"};
    for (unsigned n = 0; n < G_N_ELEMENTS(names); n++)
        for (unsigned i = 0; i < G_N_ELEMENTS(value_cases); i++) {
            if (strcmp(names[n], value_cases[i].name) != 0)
                continue;
            struct vector_job job = job_of(64, 128, VECTOR_CONSTANTS_MEM, VECTOR_TAIL_PAD);
            struct cost cost;
            g_assert_cmpfloat(run_case(&value_cases[i], &job, &cost), <=, value_cases[i].tolerance);
        }
}

/* The two forms of a tail: what VL saves in bytes and cycles, what it costs in words. */
static void tails_pad_or_shorten(void) {
    struct vector_job pad = job_of(9, 130, VECTOR_CONSTANTS_REG, VECTOR_TAIL_PAD), vl = pad;
    vl.tail = VECTOR_TAIL_VL;
    struct vector_program padded = build("silu", &pad), shortened = build("silu", &vl);
    g_assert_cmpuint(padded.result_bytes, ==, 2 * 1024 * 2);
    g_assert_cmpuint(shortened.result_bytes, ==, (1170 + 14) * 2); /* to a whole word */
    g_assert_cmpuint(shortened.counts.words, >, padded.counts.words);
    g_assert_cmpuint(padded.batches, ==, 2);
    g_assert_cmpuint(shortened.batches, ==, 2);
    vector_program_clear(&padded);
    vector_program_clear(&shortened);
    struct cost costs[2] = {{0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(value_cases); i++)
        if (strcmp(value_cases[i].name, "silu") == 0) {
            run_case(&value_cases[i], &pad, &costs[0]);
            run_case(&value_cases[i], &vl, &costs[1]);
        }
    g_assert_cmpuint(costs[1].cycles, <, costs[0].cycles);
    g_assert_cmpuint(costs[0].beats, ==, 5 * 2 * 64);
    g_assert_cmpuint(costs[1].beats, ==, 5 * (64 + 8 + 2)); /* 146 elements: ten groups */
}

/* Several instruction words a flit: fewer flits, the same results. */
static void packed_images(void) {
    static const struct value_case silu = {.name = "silu", .one = x_silu, .tolerance = 1e-3};
    for (unsigned words = 2; words <= 8; words++) {
        struct vector_job job = job_of(64, 128, VECTOR_CONSTANTS_REG, VECTOR_TAIL_PAD);
        job.words_per_flit = words;
        struct vector_program program = build("silu", &job);
        g_assert_cmpuint(program.counts.imem, ==, 1 + (66 + words - 1) / words);
        vector_program_clear(&program);
        struct cost cost;
        g_assert_cmpfloat(run_case(&silu, &job, &cost), <=, silu.tolerance);
    }
}

static void refused_shapes(void) {
    static const struct {
        const char *name;
        unsigned rows, cols;
        enum vector_constants constants;
        const char *part;
    } cases[] = {
        {"softmax", 4, 129, VECTOR_CONSTANTS_REG, "a row has 129 elements"},
        {"softmax", 4, 100, VECTOR_CONSTANTS_REG, "whole groups of 16"},
        {"softmax-wide", 4, 1000, VECTOR_CONSTANTS_REG, "whole groups of 16"},
        {"softmax-wide", 4, 8192, VECTOR_CONSTANTS_REG, "does not fit"},
        {"softmax-wide", 4, 1024, VECTOR_CONSTANTS_MEM, "in registers"},
        {"softmax", 0, 64, VECTOR_CONSTANTS_REG, "has no elements"},
        {"gelu-tanh", 4, 64, VECTOR_CONSTANTS_MEM, "more than the 3"},
        {"sigmoid-d4", 4, 64, VECTOR_CONSTANTS_MEM, "a chain cannot"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct vector_kernel kernel = load(cases[i].name);
        struct vector_job job = job_of(cases[i].rows, cases[i].cols, cases[i].constants, VECTOR_TAIL_PAD);
        struct vector_program program;
        GError *error = NULL;
        g_assert_false(vector_program_build(&program, &kernel, &job, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
        if (!strstr(error->message, cases[i].part))
            g_error("\"%s\" does not say \"%s\"", error->message, cases[i].part);
        g_clear_error(&error);
        vector_kernel_clear(&kernel);
    }
    struct vector_kernel kernel;
    GError *error = NULL;
    g_assert_false(vector_kernel_load(&kernel, KERNELS, "no-such-kernel", &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_IO);
    g_clear_error(&error);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vector/program/counts_of_the_shipped_images", counts_of_the_shipped_images);
    g_test_add_func("/vector/program/words_of_the_library", words_of_the_library);
    g_test_add_func("/vector/program/values_of_full_batches", values_of_full_batches);
    g_test_add_func("/vector/program/values_of_tails", values_of_tails);
    g_test_add_func("/vector/program/values_of_long_rows", values_of_long_rows);
    g_test_add_func("/vector/program/values_with_constants_from_memory", values_with_constants_from_memory);
    g_test_add_func("/vector/program/tails_pad_or_shorten", tails_pad_or_shorten);
    g_test_add_func("/vector/program/packed_images", packed_images);
    g_test_add_func("/vector/program/refused_shapes", refused_shapes);
    return g_test_run();
}
