/* Two layers in a row: `mlp`, act(x U') D' on generated operands, and `digits`, the perceptron of configs/data/digits
 * on its images, with the classes counted on the host (workloads §5.3). Between the layers the host relays the hidden
 * values out as an operand and the mover converts them. */
#include <math.h>

#include "model/numeric/fp16.h"
#include "workloads/kernel_values.h"
#include "workloads/layers.h"
#include "workloads/operands.h"
#include "workloads/tensor.h"

enum {
    MLP_SIDE_MAX = 8192,
};

#define MLP_TOLERANCE 5e-2 /* workloads §5.1 */

static double value_bias_relu(double x, double bias) {
    return fmax(x + bias, 0);
}

static uint16_t *scaled_halves(struct tensor *tensor, double factor) {
    for (size_t e = 0; e < tensor->count; e++)
        tensor->data[e] *= factor;
    uint16_t *halves = tensor_to_fp16(tensor);
    tensor_free(tensor);
    return halves;
}

/* ---- mlp ---- */

struct mlp_params {
    unsigned m, k, hidden, n, gm, gn, nk;
    int activation;
    bool fuse;
    char *operands, *out;
};

static const char *const activation_names[] = {"silu", "relu", "gelu", NULL};
static const char *const activation_kernels[] = {"silu", "relu", "gelu-tanh"};
static double (*const activation_values[])(double, double) = {layer_value_silu, layer_value_relu, layer_value_gelu};

#define KEY(member, type, names, value, min, max, unit, sentence)                                                      \
    { #member, type, offsetof(struct mlp_params, member), names, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key mlp_keys[] = {
    KEY(m, KEY_UINT, NULL, 64, 1, MLP_SIDE_MAX, "rows", "Rows of x."),
    KEY(k, KEY_UINT, NULL, 128, 1, MLP_SIDE_MAX, "elements", "Width of x."),
    KEY(hidden, KEY_UINT, NULL, 128, 1, MLP_SIDE_MAX, "elements", "Width of the hidden layer."),
    KEY(n, KEY_UINT, NULL, 64, 1, MLP_SIDE_MAX, "columns", "Columns of the result."),
    KEY(activation, KEY_ENUM, activation_names, 0, 0, 0, "", "What the first layer ends in."),
    KEY(fuse, KEY_BOOL, NULL, 1, 0, 1, "", "Deliver tiles into the vector cores' L1 and finish them there; false: through memory."),
    KEY(gm, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Height of the first layer's tile; 0: the planner's choice."),
    KEY(gn, KEY_UINT, NULL, 0, 0, 255, "sub-tiles", "Width of the first layer's tile; 0: the planner's choice."),
    KEY(nk, KEY_UINT, NULL, 0, 0, 255, "blocks", "K blocks a chunk of the first layer; 0: the planner's choice."),
    KEY(operands, KEY_STRING, NULL, 0, 1, 64, "", "Distribution of x and weights, as in workload gemm; unset: standard normal x, weights of standard deviation 1/sqrt(depth)."),
    KEY(out, KEY_STRING, NULL, 0, 1, 4096, "", "Write the result to this .npy file, float16."),
};
/* clang-format on */
#undef KEY

static bool mlp_operands(const struct run *run, uint16_t **x, uint16_t **up, uint16_t **down, GError **error) {
    const struct mlp_params *params = run->workload->params;
    struct distribution distribution;
    struct tensor *a, *b, *unused;
    g_autoptr(GError) wrong = NULL;
    if (!distribution_parse(params->operands ? params->operands : "normal", &distribution, &wrong))
        return workload_error(run->workload, "operands", error, "%s", wrong->message);
    operands_generate(&distribution, run->seed, params->m, params->k, params->hidden, &a, &b);
    *x = scaled_halves(a, 1);
    *up = scaled_halves(b, params->operands ? 1 : 1 / sqrt(params->k));
    operands_generate(&distribution, run->seed + 1, 1, params->hidden, params->n, &unused, &b);
    tensor_free(unused);
    *down = scaled_halves(b, params->operands ? 1 : 1 / sqrt(params->hidden));
    return true;
}

static bool write_rows(const char *path, size_t rows, size_t columns, const struct layers_answer *answer,
                       GError **error) {
    if (!path || !answer->rows)
        return true;
    const size_t shape[] = {rows, columns};
    g_autoptr(tensor_ptr) result = tensor_from_fp16(2, shape, answer->rows);
    return npy_write(result, path, NPY_FLOAT16, error);
}

static bool mlp_run(struct run *run, GError **error) {
    const struct mlp_params *params = run->workload->params;
    g_autofree uint16_t *x = NULL, *up = NULL, *down = NULL;
    struct layers_answer answer = {0};
    if (!mlp_operands(run, &x, &up, &down, error))
        return false;
    const struct layer_shape shapes[] = {
        {.m = params->m,
         .k = params->k,
         .n = params->hidden,
         .products = 1,
         .kernel = activation_kernels[params->activation],
         .value = activation_values[params->activation],
         .fuse = params->fuse,
         .gm = params->gm,
         .gn = params->gn,
         .nk = params->nk,
         .w = {up}},
        {.m = params->m, .k = params->hidden, .n = params->n, .products = 1, .w = {down}}};
    bool fine = layers_run(run, shapes, G_N_ELEMENTS(shapes), x, MLP_TOLERANCE, &answer, error) &&
                write_rows(params->out, params->m, params->n, &answer, error);
    layers_answer_clear(&answer);
    return fine;
}

const struct workload_type workload_mlp = {
    .id = "mlp",
    .sentence = "Two layers, act(x U') D': the hidden values are relaid out by the host and converted by the mover.",
    .keys = mlp_keys,
    .key_count = G_N_ELEMENTS(mlp_keys),
    .params_size = sizeof(struct mlp_params),
    .run = mlp_run,
};

/* ---- digits ---- */

enum digits_file {
    DIGITS_IMAGES,
    DIGITS_LABELS,
    DIGITS_W1,
    DIGITS_B1,
    DIGITS_W2,
    DIGITS_B2,
    DIGITS_FILES,
};

struct digits_params {
    char *images, *labels, *w1, *b1, *w2, *b2, *out;
    unsigned limit, terms;
    bool fuse;
};

#define KEY(member, type, value, min, max, unit, sentence)                                                             \
    { #member, type, offsetof(struct digits_params, member), NULL, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key digits_keys[] = {
    KEY(images, KEY_STRING, 0, 1, 4096, "", "Images, one a row (.npy); unset: images.npy of the sample data, and so on below."),
    KEY(labels, KEY_STRING, 0, 1, 4096, "", "The class of each image."),
    KEY(w1, KEY_STRING, 0, 1, 4096, "", "Weights of the hidden layer, [out][in]."),
    KEY(b1, KEY_STRING, 0, 1, 4096, "", "Bias of the hidden layer."),
    KEY(w2, KEY_STRING, 0, 1, 4096, "", "Weights of the output layer, [out][in]."),
    KEY(b2, KEY_STRING, 0, 1, 4096, "", "Bias of the output layer."),
    KEY(limit, KEY_UINT, 0, 0, MLP_SIDE_MAX, "images", "Only the first so many images; 0: all."),
    KEY(terms, KEY_UINT, 2, 1, 2, "terms", "int7 terms a weight is the sum of: with one, two digits more are lost to the number format."),
    KEY(fuse, KEY_BOOL, 1, 0, 1, "", "Deliver tiles into the vector cores' L1 and finish them there; false: through memory."),
    KEY(out, KEY_STRING, 0, 1, 4096, "", "Write the logits to this .npy file, float16."),
};
/* clang-format on */
#undef KEY

static const char *const digits_names[DIGITS_FILES] = {"images", "labels", "w1", "b1", "w2", "b2"};

struct digits {
    struct tensor *files[DIGITS_FILES];
    uint16_t *halves[DIGITS_FILES];
    size_t count, inputs, hidden, classes;
};

static void digits_clear(struct digits *digits) {
    for (unsigned f = 0; f < DIGITS_FILES; f++) {
        tensor_free(digits->files[f]);
        g_free(digits->halves[f]);
    }
}

static bool read_digits(const struct run *run, struct digits *digits, GError **error) {
    const struct digits_params *params = run->workload->params;
    const char *const given[DIGITS_FILES] = {params->images, params->labels, params->w1,
                                             params->b1,     params->w2,     params->b2};
    for (unsigned f = 0; f < DIGITS_FILES; f++) {
        g_autofree char *usual = g_strconcat(digits_names[f], ".npy", NULL);
        g_autofree char *path = workload_data_file(run->workload, digits_names[f], given[f] ? given[f] : usual);
        digits->files[f] = npy_read(path, error);
        if (!digits->files[f])
            return false;
        digits->halves[f] = tensor_to_fp16(digits->files[f]);
    }
    return true;
}

/* Every array's shape must be what the others make it. */
static bool check_digits(const struct run *run, struct digits *digits, GError **error) {
    const struct digits_params *params = run->workload->params;
    const struct tensor *images = digits->files[DIGITS_IMAGES], *w1 = digits->files[DIGITS_W1],
                        *w2 = digits->files[DIGITS_W2];
    digits->count = images->ndim == 2 ? images->shape[0] : 0;
    digits->inputs = images->ndim == 2 ? images->shape[1] : 0;
    digits->hidden = w1->ndim == 2 ? w1->shape[0] : 0;
    digits->classes = w2->ndim == 2 ? w2->shape[0] : 0;
    const size_t wanted[DIGITS_FILES] = {digits->count * digits->inputs,   digits->count,
                                         digits->hidden * digits->inputs,  digits->hidden,
                                         digits->classes * digits->hidden, digits->classes};
    for (unsigned f = 0; f < DIGITS_FILES; f++)
        if (!wanted[f] || wanted[f] > (size_t)MLP_SIDE_MAX * MLP_SIDE_MAX || digits->files[f]->count != wanted[f])
            return workload_error(run->workload, digits_names[f], error,
                                  "has %zu elements, expected %zu to suit %zu images of %zu values, %zu hidden units "
                                  "and %zu classes",
                                  digits->files[f]->count, wanted[f], digits->count, digits->inputs, digits->hidden,
                                  digits->classes);
    if (params->limit)
        digits->count = MIN(digits->count, params->limit);
    return true;
}

static void split_weights(const struct digits_params *params, struct digits *digits) {
    const struct {
        unsigned file;
        size_t rows, columns;
    } weights[] = {{DIGITS_W1, digits->hidden, digits->inputs}, {DIGITS_W2, digits->classes, digits->hidden}};
    for (unsigned i = 0; i < G_N_ELEMENTS(weights) && params->terms == 2; i++) {
        uint16_t *split = layer_split(digits->halves[weights[i].file], weights[i].rows, weights[i].columns);
        g_free(digits->halves[weights[i].file]);
        digits->halves[weights[i].file] = split;
    }
}

static size_t largest(const double *values, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

static void count_classes(struct run *run, const struct digits *digits, const struct layers_answer *answer) {
    uint64_t correct = 0, correct_fp64 = 0, same = 0;
    g_autofree double *ours = g_new(double, answer->count + 1);
    for (size_t e = 0; e < answer->count; e++)
        ours[e] = fp16_to_double(answer->rows[e]);
    for (size_t i = 0; i < digits->count; i++) {
        size_t at = i * digits->classes, label = (size_t)digits->files[DIGITS_LABELS]->data[i];
        size_t found = largest(ours + at, digits->classes), wanted = largest(answer->wanted + at, digits->classes);
        correct += found == label;
        correct_fp64 += wanted == label;
        same += found == wanted;
    }
    run_add_count(run, "digits.images", digits->count);
    run_add_count(run, "digits.correct", correct);
    run_add_count(run, "digits.correct_fp64", correct_fp64);
    run_add_count(run, "digits.agreement_fp64", same);
}

static bool digits_run(struct run *run, GError **error) {
    const struct digits_params *params = run->workload->params;
    struct digits digits = {0};
    struct layers_answer answer = {0};
    bool fine = read_digits(run, &digits, error) && check_digits(run, &digits, error);
    if (fine) {
        split_weights(params, &digits);
        const struct layer_shape shapes[] = {{.m = digits.count,
                                              .k = digits.inputs,
                                              .n = digits.hidden,
                                              .products = 1,
                                              .kernel = "bias-relu",
                                              .value = value_bias_relu,
                                              .fuse = params->fuse,
                                              .terms = params->terms,
                                              .w = {digits.halves[DIGITS_W1]},
                                              .bias = digits.halves[DIGITS_B1]},
                                             {.m = digits.count,
                                              .k = digits.hidden,
                                              .n = digits.classes,
                                              .products = 1,
                                              .kernel = "add",
                                              .value = layer_value_bias,
                                              .fuse = params->fuse,
                                              .terms = params->terms,
                                              .w = {digits.halves[DIGITS_W2]},
                                              .bias = digits.halves[DIGITS_B2]}};
        fine = layers_run(run, shapes, G_N_ELEMENTS(shapes), digits.halves[DIGITS_IMAGES], MLP_TOLERANCE, &answer,
                          error) &&
               write_rows(params->out, digits.count, digits.classes, &answer, error);
    }
    if (answer.rows)
        count_classes(run, &digits, &answer);
    layers_answer_clear(&answer);
    digits_clear(&digits);
    return fine;
}

const struct workload_type workload_digits = {
    .id = "digits",
    .sentence = "A two-layer perceptron classifies handwritten digits on clusters and vector cores.",
    .keys = digits_keys,
    .key_count = G_N_ELEMENTS(digits_keys),
    .params_size = sizeof(struct digits_params),
    .run = digits_run,
};
