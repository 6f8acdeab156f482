/* Operands from a seed; see operands.h. */
#include "workloads/operands.h"

#include "model/numeric/mxfp7.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "operands are reproducible only where double arithmetic is done in double"
#endif

/* What is drawn, so that no two draws share bits. */
enum stream {
    STREAM_A,
    STREAM_B,
    STREAM_COMMON,
};

static uint64_t splitmix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = splitmix(seed + (stream + 1) * golden);
    return splitmix(key + (index + 1) * golden);
}

double random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
    return ((double)(random_bits(seed, stream, index) >> 12) + 0.5) * 0x1p-52;
}

int random_integer(uint64_t seed, uint64_t stream, uint64_t index, int lo, int hi) {
    uint64_t span = (uint64_t)((int64_t)hi - lo) + 1;
    return (int)(lo + (int64_t)((random_bits(seed, stream, index) >> 32) * span >> 32));
}

/* Natural logarithm of a positive normal number: exponent apart, then 2 artanh((f-1)/(f+1)) for f in [sqrt 1/2, sqrt 2)
 * by its series, cut below 2^-56. */
static double reproducible_log(double x) {
    const double ln2 = 0x1.62e42fefa39efp-1;
    int exponent;
    double f = frexp(x, &exponent);
    if (f < 0.70710678118654757) {
        f *= 2;
        exponent--;
    }
    double t = (f - 1) / (f + 1), t2 = t * t, sum = 0;
    for (int term = 21; term >= 1; term -= 2)
        sum = sum * t2 + 1.0 / term;
    return exponent * ln2 + 2 * t * sum;
}

/* Rational approximations of the normal inverse distribution function (M. J. Wichura, Algorithm AS 241, 1988), good to
 * 1e-16: the middle, and two ranges of the tail in sqrt(-log p). Highest power first. */
struct ratio {
    double p[8], q[8];
};

static const struct ratio MIDDLE = {
    {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0},
    {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0},
};
static const struct ratio NEAR_TAIL = {
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0},
};
static const struct ratio FAR_TAIL = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0},
};

static double ratio_at(const struct ratio *ratio, double x) {
    double p = 0, q = 0;
    for (unsigned i = 0; i < 8; i++) {
        p = p * x + ratio->p[i];
        q = q * x + ratio->q[i];
    }
    return p / q;
}

static double normal_quantile(double u) {
    double centred = u - 0.5;
    if (fabs(centred) <= 0.425)
        return centred * ratio_at(&MIDDLE, 0.180625 - centred * centred);
    double r = sqrt(-reproducible_log(centred < 0 ? u : 1 - u));
    double magnitude = r <= 5 ? ratio_at(&NEAR_TAIL, r - 1.6) : ratio_at(&FAR_TAIL, r - 5);
    return centred < 0 ? -magnitude : magnitude;
}

double random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
    return normal_quantile(random_uniform(seed, stream, index));
}

/* A normal over the root of a mean square of four, which is -log(u1 u2) / 2. */
double random_student4(uint64_t seed, uint64_t stream, uint64_t index) {
    double normal = random_normal(seed, stream, 3 * index);
    double u1 = random_uniform(seed, stream, 3 * index + 1), u2 = random_uniform(seed, stream, 3 * index + 2);
    return normal / sqrt(-reproducible_log(u1 * u2) / 2);
}

struct draw {
    uint64_t seed;
    double parameter;
    int stream; /* STREAM_A or STREAM_B */
};

typedef void fill_function(const struct draw *draw, struct tensor *out);

static void fill_normal(const struct draw *draw, struct tensor *out) {
    for (size_t i = 0; i < out->count; i++)
        out->data[i] = random_normal(draw->seed, draw->stream, i);
}

static void fill_scaled(const struct draw *draw, struct tensor *out) {
    fill_normal(draw, out);
    for (size_t i = 0; draw->stream == STREAM_A && i < out->count; i++)
        out->data[i] *= 0.02;
}

static void fill_relu(const struct draw *draw, struct tensor *out) {
    fill_normal(draw, out);
    for (size_t i = 0; draw->stream == STREAM_A && i < out->count; i++)
        out->data[i] = out->data[i] > 0 ? out->data[i] : 0;
}

static void fill_biased(const struct draw *draw, struct tensor *out) {
    fill_normal(draw, out);
    for (size_t i = 0; i < out->count; i++)
        out->data[i] += draw->parameter;
}

static void fill_real(const struct draw *draw, struct tensor *out) {
    if (draw->stream == STREAM_A)
        fill_normal(draw, out);
    for (size_t i = 0; draw->stream == STREAM_B && i < out->count; i++)
        out->data[i] = 0.02 * random_student4(draw->seed, draw->stream, i);
}

static void fill_lowrank(const struct draw *draw, struct tensor *out) {
    size_t rank = (size_t)draw->parameter, columns = out->shape[1];
    double divisor = sqrt((double)rank);
    g_autoptr(tensor_ptr) common = tensor_new_2d(rank, columns);
    fill_normal(&(struct draw){draw->seed, 0, STREAM_COMMON}, common);
    for (size_t row = 0; row < out->shape[0]; row++) {
        double *values = tensor_at(out, row, 0);
        for (size_t r = 0; r < rank; r++) {
            double factor = random_normal(draw->seed, draw->stream, row * rank + r);
            for (size_t k = 0; k < columns; k++)
                values[k] += factor * common->data[r * columns + k];
        }
        for (size_t k = 0; k < columns; k++)
            values[k] /= divisor;
    }
}

/* A peak of 60..63 steps makes the quantiser choose a power-of-two scale, so every integer is itself again. */
static void fill_int(const struct draw *draw, struct tensor *out) {
    int lo = draw->stream == STREAM_A ? -63 : -32, hi = draw->stream == STREAM_A ? 63 : 31;
    for (size_t i = 0; i < out->count; i++) {
        size_t row = i / out->shape[1], k = i % out->shape[1];
        int value = random_integer(draw->seed, draw->stream, i, lo, hi);
        if (k % MXFP7_BLOCK == 0)
            value = (value < 0 ? -1 : 1) * (60 + (value & 3));
        out->data[i] = value * (double)(1 << row % 4);
    }
}

static double edge_value(unsigned pattern, size_t k, int random) {
    switch (pattern) {
    case 0:
        return -64;
    case 1:
        return 63;
    case 2:
        return 0;
    case 3:
        return random * 0x1p-24; /* a subnormal, or zero */
    case 4:
        return k == 0 ? 65504 : random * 0x1p-6;
    default:
        return k % 2 ? 65504 : -65504;
    }
}

static void fill_edge(const struct draw *draw, struct tensor *out) {
    for (size_t i = 0; i < out->count; i++) {
        size_t row = i / out->shape[1], k = i % out->shape[1];
        size_t block = k / MXFP7_BLOCK, spread = draw->stream == STREAM_A ? row + block : row / 2 + 5 * block;
        int random = random_integer(draw->seed, draw->stream, i, -63, 63);
        out->data[i] = edge_value((unsigned)(spread % 6), k % MXFP7_BLOCK, random);
    }
}

static void fill_zeros(const struct draw *draw, struct tensor *out) {
    (void)draw;
    (void)out; /* a new tensor is zero */
}

static void fill_ones(const struct draw *draw, struct tensor *out) {
    (void)draw;
    for (size_t i = 0; i < out->count; i++)
        out->data[i] = 1;
}

static const struct {
    const char *name;
    fill_function *fill;
    bool has_parameter;
    double parameter, lowest, highest; /* default and range */
} DISTRIBUTIONS[] = {
    [DISTRIBUTION_NORMAL] = {"normal", fill_normal, false, 0, 0, 0},
    [DISTRIBUTION_SCALED] = {"scaled", fill_scaled, false, 0, 0, 0},
    [DISTRIBUTION_LOWRANK] = {"lowrank", fill_lowrank, true, 16, 1, 65536},
    [DISTRIBUTION_RELU] = {"relu", fill_relu, false, 0, 0, 0},
    [DISTRIBUTION_BIASED] = {"biased", fill_biased, true, 4, -60000, 60000},
    [DISTRIBUTION_REAL] = {"real", fill_real, false, 0, 0, 0},
    [DISTRIBUTION_INT] = {"int", fill_int, false, 0, 0, 0},
    [DISTRIBUTION_EDGE] = {"edge", fill_edge, false, 0, 0, 0},
    [DISTRIBUTION_ZEROS] = {"zeros", fill_zeros, false, 0, 0, 0},
    [DISTRIBUTION_ONES] = {"ones", fill_ones, false, 0, 0, 0},
};

static bool parse_parameter(const char *text, int kind, double *parameter, GError **error) {
    char *end;
    *parameter = g_ascii_strtod(text, &end);
    bool number = *text && !*end && !isnan(*parameter);
    bool whole = kind != DISTRIBUTION_LOWRANK || (number && *parameter == floor(*parameter));
    if (number && whole && *parameter >= DISTRIBUTIONS[kind].lowest && *parameter <= DISTRIBUTIONS[kind].highest)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "parameter \"%s\" of distribution %s, expected %s in %g..%g", text,
                DISTRIBUTIONS[kind].name, kind == DISTRIBUTION_LOWRANK ? "a whole number" : "a number",
                DISTRIBUTIONS[kind].lowest, DISTRIBUTIONS[kind].highest);
    return false;
}

bool distribution_parse(const char *text, struct distribution *distribution, GError **error) {
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    for (int kind = 0; kind < (int)G_N_ELEMENTS(DISTRIBUTIONS); kind++) {
        if (strlen(DISTRIBUTIONS[kind].name) != length || strncmp(DISTRIBUTIONS[kind].name, text, length) != 0)
            continue;
        *distribution = (struct distribution){kind, DISTRIBUTIONS[kind].parameter};
        if (!colon)
            return true;
        if (DISTRIBUTIONS[kind].has_parameter)
            return parse_parameter(colon + 1, kind, &distribution->parameter, error);
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "distribution \"%s\", expected %s without a parameter", text,
                    DISTRIBUTIONS[kind].name);
        return false;
    }
    g_set_error(
        error, FS_ERROR, FS_ERROR_INPUT,
        "distribution \"%s\", expected normal, scaled, lowrank:R, relu, biased:MU, real, int, edge, zeros or ones",
        text);
    return false;
}

void operands_generate(const struct distribution *distribution, uint64_t seed, unsigned m, unsigned k, unsigned n,
                       struct tensor **a, struct tensor **b) {
    fill_function *fill = DISTRIBUTIONS[distribution->kind].fill;
    *a = tensor_new_2d(m, k);
    *b = tensor_new_2d(n, k);
    fill(&(struct draw){seed, distribution->parameter, STREAM_A}, *a);
    fill(&(struct draw){seed, distribution->parameter, STREAM_B}, *b);
    tensor_round_fp16(*a);
    tensor_round_fp16(*b);
}
