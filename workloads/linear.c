/* The workloads of one layer: linear_silu and its like, y = f(x W'), and the gated swiglu and geglu,
 * y = f(x W') (x V'), where a cluster makes both products of a tile one after the other (workloads §5.2, §5.3). */
#include <math.h>

#include "model/numeric/fp16.h"
#include "workloads/kernel_values.h"
#include "workloads/layers.h"
#include "workloads/operands.h"
#include "workloads/tensor.h"

enum {
    LAYER_SIDE_MAX = 8192,
};

#define LINEAR_TOLERANCE 5e-2  /* workloads §5.1 */
#define SCALE            0.125 /* as in kernels/scale.vs */

struct linear_params {
    unsigned m, k, n, gm, gn, nk;
    bool fuse;
    int form;
    char *variant, *operands, *out;
};

static const char *const form_names[] = {"reg", "mem", NULL};

#define KEY(member, type, names, value, min, max, unit, sentence)                                                      \
    { #member, type, offsetof(struct linear_params, member), names, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key linear_keys[] = {
    KEY(m, KEY_UINT, NULL, 64, 1, LAYER_SIDE_MAX, "rows", "Rows of x."),
    KEY(k, KEY_UINT, NULL, 128, 1, LAYER_SIDE_MAX, "elements", "Depth of the product."),
    KEY(n, KEY_UINT, NULL, 64, 1, LAYER_SIDE_MAX, "columns", "Columns of the result."),
    KEY(fuse, KEY_BOOL, NULL, 1, 0, 1, "", "Deliver tiles into the vector cores' L1 and finish them there; false: through memory."),
    KEY(form, KEY_ENUM, form_names, VECTOR_CONSTANTS_REG, 0, 0, "", "Not fused: constants in scalar registers, or as arrays from memory."),
    KEY(gm, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Height of the tile; 0: the planner's choice within what a core's L1 takes."),
    KEY(gn, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Width of the tile; 0: the planner's choice."),
    KEY(nk, KEY_UINT, NULL, 0, 0, 255, "blocks", "K blocks a chunk; 0: the planner's choice."),
    KEY(variant, KEY_STRING, NULL, 0, 1, 32, "", "Another text of the elementwise part: portable for linear_relu, d4 for linear_silu."),
    KEY(operands, KEY_STRING, NULL, 0, 1, 64, "", "Distribution of x and weights, as in workload gemm; unset: standard normal x, weights of standard deviation 1/sqrt(k)."),
    KEY(out, KEY_STRING, NULL, 0, 1, 4096, "", "Write the result to this .npy file, float16."),
};
/* clang-format on */

static double value_scale(double x, double none) {
    (void)none;
    return SCALE * x;
}

static double value_swiglu(double gate, double up) {
    return activation_silu(gate) * up;
}

static double value_geglu(double gate, double up) {
    return activation_gelu_sigmoid(gate) * up;
}

static const struct linear_row {
    const char *id, *kernel;
    const char *variant, *second; /* another text for the same values, and its name; or NULL */
    unsigned products;
    bool bias;
    double (*value)(double, double);
} rows[] = {
    {"linear_silu", "silu", "d4", "silu-d4", 1, false, layer_value_silu},
    {"linear_relu", "relu", "portable", "relu-portable", 1, false, layer_value_relu},
    {"linear_gelu", "gelu-tanh", NULL, NULL, 1, false, layer_value_gelu},
    {"linear_scale", "scale", NULL, NULL, 1, false, value_scale},
    {"linear_bias", "add", NULL, NULL, 1, true, layer_value_bias},
    {"swiglu", "swiglu", NULL, NULL, 2, false, value_swiglu},
    {"geglu", "geglu", NULL, NULL, 2, false, value_geglu},
};

static const struct linear_row *row_of(const char *id) {
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_str_equal(rows[i].id, id))
            return &rows[i];
    g_assert_not_reached();
}

static bool linear_check(const struct workload *workload, GError **error) {
    const struct linear_params *params = workload->params;
    const struct linear_row *row = row_of(workload->type->id);
    if (!params->variant || (row->variant && g_str_equal(params->variant, row->variant)))
        return true;
    return workload_error(workload, "variant", error, "is \"%s\", expected %s", params->variant,
                          row->variant ? row->variant : "none: there is one text only");
}

/* FP16 operands: x, weights, second weights, bias. */
struct operands {
    uint16_t *x, *w[LAYER_PRODUCTS_MAX], *bias;
};

static uint16_t *scaled_halves(struct tensor *tensor, double factor) {
    for (size_t e = 0; e < tensor->count; e++)
        tensor->data[e] *= factor;
    uint16_t *halves = tensor_to_fp16(tensor);
    tensor_free(tensor);
    return halves;
}

static bool make_operands(const struct run *run, struct operands *operands, GError **error) {
    const struct linear_params *params = run->workload->params;
    struct distribution distribution;
    struct tensor *x, *w, *unused;
    g_autoptr(GError) wrong = NULL;
    if (!distribution_parse(params->operands ? params->operands : "normal", &distribution, &wrong))
        return workload_error(run->workload, "operands", error, "%s", wrong->message);
    double factor = params->operands ? 1 : 1 / sqrt(params->k);
    operands_generate(&distribution, run->seed, params->m, params->k, params->n, &x, &w);
    operands->x = scaled_halves(x, 1);
    operands->w[0] = scaled_halves(w, factor);
    operands_generate(&distribution, run->seed + 1, 1, params->k, params->n, &unused, &w);
    tensor_free(unused);
    operands->w[1] = scaled_halves(w, factor);
    operands_generate(&distribution, run->seed + 2, 1, params->n, 1, &x, &unused);
    tensor_free(unused);
    operands->bias = scaled_halves(x, 1);
    return true;
}

static void operands_clear(struct operands *operands) {
    g_free(operands->x);
    g_free(operands->w[0]);
    g_free(operands->w[1]);
    g_free(operands->bias);
}

static bool write_answer(const struct linear_params *params, const struct layers_answer *answer, GError **error) {
    if (!params->out || !answer->rows)
        return true;
    const size_t shape[] = {params->m, params->n};
    g_autoptr(tensor_ptr) result = tensor_from_fp16(2, shape, answer->rows);
    return npy_write(result, params->out, NPY_FLOAT16, error);
}

static bool linear_run(struct run *run, GError **error) {
    const struct linear_params *params = run->workload->params;
    const struct linear_row *row = row_of(run->workload->type->id);
    struct operands operands = {0};
    struct layers_answer answer = {0};
    if (!make_operands(run, &operands, error))
        return false;
    struct layer_shape shape = {.m = params->m,
                                .k = params->k,
                                .n = params->n,
                                .products = row->products,
                                .kernel = params->variant ? row->second : row->kernel,
                                .value = row->value,
                                .fuse = params->fuse,
                                .form = params->form,
                                .gm = params->gm,
                                .gn = params->gn,
                                .nk = params->nk,
                                .w = {operands.w[0], operands.w[1]},
                                .bias = row->bias ? operands.bias : NULL};
    bool fine = layers_run(run, &shape, 1, operands.x, LINEAR_TOLERANCE, &answer, error) &&
                write_answer(params, &answer, error);
    layers_answer_clear(&answer);
    operands_clear(&operands);
    return fine;
}

#define LINEAR_WORKLOAD(name, text)                                                                                    \
    extern const struct workload_type workload_##name;                                                                 \
    const struct workload_type workload_##name = {                                                                     \
        .id = #name,                                                                                                   \
        .sentence = text,                                                                                              \
        .keys = linear_keys,                                                                                           \
        .key_count = G_N_ELEMENTS(linear_keys),                                                                        \
        .params_size = sizeof(struct linear_params),                                                                   \
        .check = linear_check,                                                                                         \
        .run = linear_run,                                                                                             \
    };
LINEAR_WORKLOAD(linear_silu, "silu(x W') on clusters and vector cores.")
LINEAR_WORKLOAD(linear_relu, "max(x W', 0) on clusters and vector cores.")
LINEAR_WORKLOAD(linear_gelu, "gelu(x W'), tanh form, on clusters and vector cores.")
LINEAR_WORKLOAD(linear_scale, "x W' / 8 on clusters and vector cores.")
LINEAR_WORKLOAD(linear_bias, "x W' + b on clusters and vector cores, b one value a column.")
LINEAR_WORKLOAD(swiglu, "silu(x W') (x V'): two products of a tile in sequence, x fetched once where it stays in L1.")
LINEAR_WORKLOAD(geglu, "gelu(x W') (x V'), as swiglu.")
