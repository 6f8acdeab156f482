/* Operands from a seed: the same everywhere, distributed as named, and FP16 values. */
#include <math.h>
#include <string.h>

#include "model/numeric/fp16.h"
#include "model/numeric/mxfp7.h"
#include "workloads/operands.h"

static void generate(const char *text, uint64_t seed, unsigned m, unsigned k, unsigned n, struct tensor **a,
                     struct tensor **b) {
    struct distribution distribution;
    g_autoptr(GError) error = NULL;
    g_assert_true(distribution_parse(text, &distribution, &error));
    operands_generate(&distribution, seed, m, k, n, a, b);
}

/* Recorded values: a change of generator, compiler or machine that moves a bit is seen here. */
static void same_everywhere(void) {
    g_assert_cmphex(random_bits(0, 0, 0), ==, UINT64_C(0xa706dd2f4d197e6f));
    g_assert_cmphex(random_bits(42, 1, 1000), ==, UINT64_C(0xfc7e7a94bb844a6a));
    g_assert_cmpfloat(random_normal(1, 0, 0), ==, -0x1.58bb60e4c33b3p-2);
    g_assert_cmpfloat(random_normal(1, 0, 7), ==, -0x1.5e3e8a12b0f17p-1);
    g_assert_cmpfloat(random_student4(1, 0, 7), ==, -0x1.0248d38b02fdp+1);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        double value = random_normal(3, 1, i);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = hash * UINT64_C(1099511628211) + bits;
    }
    g_assert_cmphex(hash, ==, UINT64_C(0x3955e701f886db8));
}

static void moments(const double *x, size_t count, double *mean, double *variance, double *kurtosis) {
    double s1 = 0, s2 = 0, s4 = 0;
    for (size_t i = 0; i < count; i++)
        s1 += x[i];
    *mean = s1 / (double)count;
    for (size_t i = 0; i < count; i++) {
        double d = x[i] - *mean;
        s2 += d * d;
        s4 += d * d * d * d;
    }
    *variance = s2 / (double)count;
    *kurtosis = s4 / (double)count / (*variance * *variance);
}

static void named_distributions(void) {
    static const struct {
        const char *text;
        double mean_a, variance_a, mean_b, variance_b;
    } cases[] = {
        {"normal", 0, 1, 0, 1},   {"scaled", 0, 0.0004, 0, 1}, {"relu", 0.3989, 0.3408, 0, 1},
        {"biased:6", 6, 1, 6, 1}, {"real", 0, 1, 0, 0.0008},   {"zeros", 0, 0, 0, 0},
        {"ones", 1, 0, 1, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct tensor *a, *b;
        double mean, variance, kurtosis;
        generate(cases[i].text, 11, 256, 512, 256, &a, &b);
        moments(a->data, a->count, &mean, &variance, &kurtosis);
        g_assert_cmpfloat_with_epsilon(mean, cases[i].mean_a, 0.02 * (1 + cases[i].mean_a));
        g_assert_cmpfloat_with_epsilon(variance, cases[i].variance_a, 0.03 * cases[i].variance_a + 1e-9);
        moments(b->data, b->count, &mean, &variance, &kurtosis);
        g_assert_cmpfloat_with_epsilon(mean, cases[i].mean_b, 0.02 * (1 + cases[i].mean_b));
        g_assert_cmpfloat_with_epsilon(variance, cases[i].variance_b, 0.15 * cases[i].variance_b + 1e-9);
        tensor_free(a);
        tensor_free(b);
    }
}

static void normal_shape(void) {
    enum {
        COUNT = 1 << 20
    };
    g_autofree double *x = g_new(double, COUNT);
    unsigned beyond[5] = {0};
    for (unsigned i = 0; i < COUNT; i++) {
        x[i] = random_normal(5, 0, i);
        for (unsigned sigma = 1; sigma < 5; sigma++)
            beyond[sigma] += fabs(x[i]) > sigma;
    }
    double mean, variance, kurtosis;
    moments(x, COUNT, &mean, &variance, &kurtosis);
    g_assert_cmpfloat_with_epsilon(mean, 0, 0.005);
    g_assert_cmpfloat_with_epsilon(variance, 1, 0.01);
    g_assert_cmpfloat_with_epsilon(kurtosis, 3, 0.03);
    for (unsigned sigma = 1; sigma < 5; sigma++) {
        double expected = COUNT * erfc(sigma / sqrt(2));
        g_assert_cmpfloat_with_epsilon(beyond[sigma], expected, 5 * sqrt(expected));
    }
}

static void seeds_and_streams_differ(void) {
    struct tensor *a, *b, *a2, *b2;
    generate("normal", 1, 32, 32, 32, &a, &b);
    generate("normal", 2, 32, 32, 32, &a2, &b2);
    unsigned equal = 0;
    for (size_t i = 0; i < a->count; i++)
        equal += (a->data[i] == b->data[i]) + (a->data[i] == a2->data[i]);
    g_assert_cmpuint(equal, <, 20);
    struct tensor *again, *again_b;
    generate("normal", 1, 32, 32, 32, &again, &again_b);
    g_assert_cmpmem(a->data, a->count * sizeof(double), again->data, again->count * sizeof(double));
    struct tensor *all[] = {a, b, a2, b2, again, again_b};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        tensor_free(all[i]);
}

static void fp16_values(void) {
    static const char *const names[] = {"normal", "scaled", "lowrank", "lowrank:3", "relu", "biased:4",
                                        "real",   "int",    "edge",    "zeros",     "ones"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct tensor *a, *b;
        generate(names[i], 9, 13, 70, 11, &a, &b);
        g_assert_cmpuint(a->shape[0], ==, 13);
        g_assert_cmpuint(b->shape[0], ==, 11);
        for (size_t j = 0; j < a->count; j++)
            g_assert_cmpfloat(a->data[j], ==, fp16_to_double(fp16_from_double(a->data[j])));
        tensor_free(a);
        tensor_free(b);
    }
}

/* Quantising and decoding an `int` operand gives it back. */
static void int_is_exact(void) {
    struct tensor *a, *b;
    generate("int", 4, 8, 64, 8, &a, &b);
    const struct tensor *both[] = {a, b};
    for (unsigned side = 0; side < 2; side++) {
        g_autofree uint16_t *halves = tensor_to_fp16(both[side]);
        for (unsigned group = 0; group < 2; group++) {
            for (unsigned block = 0; block < 2; block++) {
                uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK];
                struct mxfp7_entry entry;
                for (unsigned l = 0; l < MXFP7_LANES; l++)
                    memcpy(lanes[l], &halves[(4 * group + l) * 64 + 32 * block], sizeof lanes[l]);
                mxfp7_quantise((const uint16_t(*)[MXFP7_BLOCK])lanes, &entry);
                for (unsigned l = 0; l < MXFP7_LANES; l++)
                    for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                        g_assert_cmpfloat(mxfp7_decode(entry.q[l][k], entry.scale[l]), ==, fp16_to_double(lanes[l][k]));
            }
        }
    }
    tensor_free(a);
    tensor_free(b);
}

static void names(void) {
    static const char *const bad[] = {"",          "norm",       "normal:1",    "lowrank:",  "lowrank:0",
                                      "lowrank:x", "biased:1e9", "lowrank:2.5", "biased:nan"};
    struct distribution distribution;
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(distribution_parse(bad[i], &distribution, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    }
    g_assert_true(distribution_parse("biased:5.657", &distribution, NULL));
    g_assert_cmpfloat(distribution.parameter, ==, 5.657);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/operands/same_everywhere", same_everywhere);
    g_test_add_func("/operands/named_distributions", named_distributions);
    g_test_add_func("/operands/normal_shape", normal_shape);
    g_test_add_func("/operands/seeds_and_streams_differ", seeds_and_streams_differ);
    g_test_add_func("/operands/fp16_values", fp16_values);
    g_test_add_func("/operands/int_is_exact", int_is_exact);
    g_test_add_func("/operands/names", names);
    return g_test_run();
}
