/* Reference values of the vector kernels; see kernel_values.h. */
#include "workloads/kernel_values.h"

#include <math.h>
#include <string.h>

#include <glib.h>

enum {
    LANE_GROUP = 16,
};

#define EPS 1e-5 /* of the normalisations, as in their texts */

/* ---- elements ---- */

static double value_copy(double x) {
    return x;
}

static double value_neg(double x) {
    return -x;
}

static double value_recip(double x) {
    return 1 / x;
}

static double value_rsqrt(double x) {
    return 1 / sqrt(x);
}

double activation_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

double activation_silu(double x) {
    return x * activation_sigmoid(x);
}

double activation_relu(double x) {
    return fmax(x, 0);
}

double activation_gelu_tanh(double x) {
    return x / 2 * (1 + tanh(sqrt(2 / G_PI) * (x + 0.044715 * x * x * x)));
}

double activation_gelu_sigmoid(double x) {
    return x * activation_sigmoid(1.702 * x);
}

static double value_add(double x, double y) {
    return x + y;
}

static double value_sub(double x, double y) {
    return x - y;
}

static double value_mul(double x, double y) {
    return x * y;
}

static double value_div(double x, double y) {
    return x / y;
}

static double value_swiglu(double x, double y) {
    return activation_silu(x) * y;
}

static double value_geglu(double x, double y) {
    return activation_gelu_sigmoid(x) * y;
}

/* ---- rows ---- */

static double sum_of(const double *x, unsigned cols) {
    double sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += x[i];
    return sum;
}

static double sum_of_squares(const double *x, unsigned cols, double around) {
    double sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += (x[i] - around) * (x[i] - around);
    return sum;
}

static void spread(double *out, unsigned cols, double value) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = value;
}

static double extreme_of(const double *x, unsigned cols, double (*choose)(double, double)) {
    double found = x[0];
    for (unsigned i = 1; i < cols; i++)
        found = choose(found, x[i]);
    return found;
}

static void row_affine(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++)
        out[i] = x[0][i] * x[1][i] + x[2][i];
}

static void row_rotate(const double *const x[], double *out, unsigned cols) {
    for (unsigned i = 0; i < cols; i++) {
        unsigned from = i / LANE_GROUP * LANE_GROUP + (i + 1) % LANE_GROUP;
        out[i] = from < cols ? x[0][from] : 0; /* padding is zero */
    }
}

static void row_sum(const double *const x[], double *out, unsigned cols) {
    spread(out, cols, sum_of(x[0], cols));
}

static void row_max(const double *const x[], double *out, unsigned cols) {
    spread(out, cols, extreme_of(x[0], cols, fmax));
}

static void row_min(const double *const x[], double *out, unsigned cols) {
    spread(out, cols, extreme_of(x[0], cols, fmin));
}

static void row_sumsq(const double *const x[], double *out, unsigned cols) {
    spread(out, cols, sum_of_squares(x[0], cols, 0));
}

static void row_softmax(const double *const x[], double *out, unsigned cols) {
    double top = extreme_of(x[0], cols, fmax), sum = 0;
    for (unsigned i = 0; i < cols; i++)
        sum += out[i] = exp(x[0][i] - top);
    for (unsigned i = 0; i < cols; i++)
        out[i] /= sum;
}

static void row_rmsnorm(const double *const x[], double *out, unsigned cols) {
    double factor = 1 / sqrt(sum_of_squares(x[0], cols, 0) / cols + EPS);
    for (unsigned i = 0; i < cols; i++)
        out[i] = x[0][i] * factor * x[1][i];
}

static void row_layernorm(const double *const x[], double *out, unsigned cols) {
    double mean = sum_of(x[0], cols) / cols;
    double factor = 1 / sqrt(sum_of_squares(x[0], cols, mean) / cols + EPS);
    for (unsigned i = 0; i < cols; i++)
        out[i] = (x[0][i] - mean) * factor * x[1][i] + x[2][i];
}

/* ---- the table ---- */

#define VARIANTS(name, ...) static const char *const name##_variants[][2] = {__VA_ARGS__, {NULL, NULL}}
#define PLAIN(name, file)   VARIANTS(name, {"plain", file})

PLAIN(copy, "copy");
PLAIN(neg, "neg");
PLAIN(abs, "abs");
PLAIN(exp2, "exp2");
PLAIN(recip, "recip");
PLAIN(rsqrt, "rsqrt");
VARIANTS(relu, {"plain", "relu"}, {"portable", "relu-portable"});
VARIANTS(sigmoid, {"plain", "sigmoid"}, {"d4", "sigmoid-d4"});
VARIANTS(silu, {"plain", "silu"}, {"d4", "silu-d4"});
VARIANTS(gelu, {"tanh", "gelu-tanh"}, {"sigmoid", "gelu-sigmoid"});
PLAIN(add, "add");
PLAIN(sub, "sub");
PLAIN(mul, "mul");
PLAIN(max, "max");
PLAIN(min, "min");
PLAIN(div, "div");
PLAIN(affine, "affine");
PLAIN(swiglu, "swiglu");
PLAIN(geglu, "geglu");
PLAIN(rotate, "rotate");
PLAIN(rowsum, "row-sum");
PLAIN(rowmax, "row-max");
PLAIN(rowmin, "row-min");
PLAIN(rowsumsq, "row-sumsq");
VARIANTS(softmax, {"plain", "softmax"}, {"expsum", "softmax-expsum"}, {"wide", "softmax-wide"});
VARIANTS(rmsnorm, {"plain", "rmsnorm"}, {"sumsq", "rmsnorm-sumsq"}, {"inv", "rmsnorm-inv"}, {"wide", "rmsnorm-wide"});
VARIANTS(layernorm, {"plain", "layernorm"}, {"inv", "layernorm-inv"}, {"wide", "layernorm-wide"});

/* clang-format off */
static const struct kernel_value values[] = {
    {.id = "copy", .inputs = 1, .one = value_copy, .variants = copy_variants},
    {.id = "neg", .inputs = 1, .one = value_neg, .variants = neg_variants},
    {.id = "abs", .inputs = 1, .one = fabs, .variants = abs_variants},
    {.id = "exp2", .inputs = 1, .one = exp2, .tolerance = 1e-3, .variants = exp2_variants},
    {.id = "recip", .inputs = 1, .one = value_recip, .tolerance = 1e-3, .positive = true, .variants = recip_variants},
    {.id = "rsqrt", .inputs = 1, .one = value_rsqrt, .tolerance = 1e-3, .positive = true, .variants = rsqrt_variants},
    {.id = "relu", .inputs = 1, .one = activation_relu, .variants = relu_variants},
    {.id = "sigmoid", .inputs = 1, .one = activation_sigmoid, .tolerance = 1e-3, .variants = sigmoid_variants},
    {.id = "silu", .inputs = 1, .one = activation_silu, .tolerance = 1e-3, .variants = silu_variants},
    {.id = "gelu", .inputs = 1, .one = activation_gelu_tanh, .second = activation_gelu_sigmoid, .tolerance = 1e-3, .variants = gelu_variants},
    {.id = "add", .inputs = 2, .two = value_add, .tolerance = 1e-3, .variants = add_variants},
    {.id = "sub", .inputs = 2, .two = value_sub, .tolerance = 1e-3, .variants = sub_variants},
    {.id = "mul", .inputs = 2, .two = value_mul, .tolerance = 1e-3, .variants = mul_variants},
    {.id = "max", .inputs = 2, .two = fmax, .variants = max_variants},
    {.id = "min", .inputs = 2, .two = fmin, .variants = min_variants},
    {.id = "div", .inputs = 2, .two = value_div, .tolerance = 1e-3, .positive = true, .variants = div_variants},
    {.id = "affine", .inputs = 3, .row = row_affine, .tolerance = 1e-3, .variants = affine_variants},
    {.id = "swiglu-elementwise", .inputs = 2, .two = value_swiglu, .tolerance = 1e-3, .variants = swiglu_variants},
    {.id = "geglu-elementwise", .inputs = 2, .two = value_geglu, .tolerance = 1e-3, .variants = geglu_variants},
    {.id = "rotate", .inputs = 1, .row = row_rotate, .variants = rotate_variants},
    {.id = "rowsum", .inputs = 1, .by_row = true, .row = row_sum, .tolerance = 1e-3, .variants = rowsum_variants},
    {.id = "rowmax", .inputs = 1, .by_row = true, .row = row_max, .variants = rowmax_variants},
    {.id = "rowmin", .inputs = 1, .by_row = true, .row = row_min, .variants = rowmin_variants},
    {.id = "rowsumsq", .inputs = 1, .by_row = true, .row = row_sumsq, .tolerance = 1e-3, .variants = rowsumsq_variants},
    {.id = "softmax", .inputs = 1, .by_row = true, .row = row_softmax, .tolerance = 2e-3, .variants = softmax_variants},
    {.id = "rmsnorm", .inputs = 2, .by_row = true, .weights = WEIGHTS_COLUMNS, .row = row_rmsnorm, .tolerance = 3e-3, .variants = rmsnorm_variants},
    {.id = "layernorm", .inputs = 3, .by_row = true, .weights = WEIGHTS_COLUMNS, .row = row_layernorm, .tolerance = 3e-3, .variants = layernorm_variants},
    {.id = "group_norm", .inputs = 3, .by_row = true, .weights = WEIGHTS_COLUMNS, .row = row_layernorm, .tolerance = 3e-3, .variants = layernorm_variants},
};
/* clang-format on */

const struct kernel_value *kernel_value_find(const char *id) {
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        if (g_str_equal(values[i].id, id))
            return &values[i];
    return NULL;
}

void kernel_value_rows(const struct kernel_value *value, unsigned variant, const double *const x[], double *out,
                       unsigned rows, unsigned cols) {
    double (*one)(double) = variant == 1 && value->second ? value->second : value->one;
    for (unsigned r = 0; r < rows; r++) {
        const double *row[3] = {0};
        for (unsigned i = 0; i < value->inputs; i++)
            row[i] = x[i] + (size_t)r * cols;
        double *to = out + (size_t)r * cols;
        if (value->row)
            value->row(row, to, cols);
        for (unsigned c = 0; c < cols && !value->row; c++)
            to[c] = one ? one(row[0][c]) : value->two(row[0][c], row[1][c]);
    }
}
