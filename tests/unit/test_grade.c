/* References and distances: the machine model against the recorded tiles, the references against each other, and the
 * error figures of the specification. */
#include <math.h>
#include <string.h>

#include "golden/golden_gemm.h"
#include "model/numeric/fp16.h"
#include "workloads/grade.h"
#include "workloads/operands.h"

static const struct grade_machine MACHINE = {14, false};

/* A GEMM with all its references. */
struct graded {
    size_t m, k, n, clamped;
    struct operand_layout a_layout, b_layout;
    struct mxfp7_entry *a_entries, *b_entries;
    uint16_t *machine;
    double *exact, *quantised, *original;
};

static struct mxfp7_entry *quantise(const struct operand_layout *layout, const struct tensor *tensor) {
    g_autofree uint16_t *halves = tensor_to_fp16(tensor);
    struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, operand_entries(layout));
    operand_quantise(layout, halves, entries);
    return entries;
}

static struct graded *grade(const char *text, uint64_t seed, unsigned m, unsigned k, unsigned n, unsigned gm,
                            unsigned gn, unsigned nk, const struct grade_machine *machine) {
    struct graded *g = g_new0(struct graded, 1);
    struct distribution distribution;
    struct tensor *a, *b;
    g_assert_true(distribution_parse(text, &distribution, NULL));
    operands_generate(&distribution, seed, m, k, n, &a, &b);
    *g = (struct graded){.m = m, .k = k, .n = n};
    operand_layout_init(&g->a_layout, m, k, gm, nk, false);
    operand_layout_init(&g->b_layout, n, k, gn, nk, false);
    g->a_entries = quantise(&g->a_layout, a);
    g->b_entries = quantise(&g->b_layout, b);
    g->machine = g_new0(uint16_t, (size_t)m * n);
    g->exact = g_new(double, (size_t)m *n);
    g->quantised = g_new(double, (size_t)m *n);
    g->original = g_new(double, (size_t)m *n);
    g->clamped = grade_machine_result(&g->a_layout, g->a_entries, &g->b_layout, g->b_entries, machine, g->machine);
    grade_exact_result(&g->a_layout, g->a_entries, &g->b_layout, g->b_entries, g->exact);
    g_autofree double *av = g_new(double, (size_t)m *k), *bv = g_new(double, (size_t)n *k);
    grade_dequantise(&g->a_layout, g->a_entries, av);
    grade_dequantise(&g->b_layout, g->b_entries, bv);
    grade_fp64_result(m, k, n, av, bv, g->quantised);
    grade_fp64_result(m, k, n, a->data, b->data, g->original);
    tensor_free(a);
    tensor_free(b);
    return g;
}

static void graded_free(struct graded *g) {
    void *parts[] = {g->a_entries, g->b_entries, g->machine, g->exact, g->quantised, g->original, g};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        g_free(parts[i]);
}

/* The recorded GEMM in our layouts, chunks as recorded. */
static uint16_t *machine_of_golden(const struct golden_gemm *gemm, bool double_rate) {
    struct operand_layout a, b;
    unsigned depth = gemm->nk / gemm->chunks;
    operand_layout_init(&a, 4 * gemm->gm, 32 * gemm->nk, gemm->gm, depth, false);
    operand_layout_init(&b, 4 * gemm->gn, 32 * gemm->nk, gemm->gn, depth, false);
    g_autofree struct mxfp7_entry *ae = g_new(struct mxfp7_entry, operand_entries(&a));
    g_autofree struct mxfp7_entry *be = g_new(struct mxfp7_entry, operand_entries(&b));
    for (unsigned kb = 0; kb < gemm->nk; kb++) {
        for (unsigned g = 0; g < gemm->gm; g++)
            ae[operand_entry_of(&a, 4 * g, 32 * kb)] = gemm->a[g * gemm->nk + kb];
        for (unsigned h = 0; h < gemm->gn; h++)
            be[operand_entry_of(&b, 4 * h, 32 * kb)] = gemm->b[h * gemm->nk + kb];
    }
    uint16_t *c = g_new(uint16_t, 16 * gemm->gm * gemm->gn);
    grade_machine_result(&a, ae, &b, be, &(struct grade_machine){14, double_rate}, c);
    return c;
}

static void expect_subtile(const struct golden_gemm *gemm, const uint16_t *c, unsigned row, unsigned column,
                           struct word256 want) {
    for (unsigned lane = 0; lane < 16; lane++) {
        uint16_t got = c[(4 * row + lane / 4) * 4 * gemm->gn + 4 * column + lane % 4];
        g_assert_cmphex(got, ==, word_get(&want, 16 * lane, 16));
    }
}

static void recorded_tiles(bool double_rate) {
    struct golden g;
    g_autoptr(GPtrArray) gemms = golden_gemms();
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func(g_free);
    unsigned tiles = 0;
    for (guint i = 0; i < gemms->len; i++)
        g_ptr_array_add(results, machine_of_golden(gemms->pdata[i], double_rate));
    golden_open(&g, double_rate ? "gemm_tile_pump.txt" : "gemm_tile.txt");
    while (golden_next(&g)) {
        unsigned shift = double_rate ? 0 : 1;
        if (!double_rate && *golden_text(&g, 0) != 'T')
            continue;
        gint64 id = golden_decimal(&g, shift);
        const struct golden_gemm *gemm = gemms->pdata[id];
        if (gemm->anchor != 40)
            continue;
        expect_subtile(gemm, results->pdata[id], (unsigned)golden_decimal(&g, shift + 1),
                       (unsigned)golden_decimal(&g, shift + 2), golden_word(&g, shift + 3));
        tiles++;
    }
    golden_close(&g);
    g_assert_cmpuint(tiles, >, 200);
}

static void machine_matches_recorded(void) {
    recorded_tiles(false);
}

static void double_rate_matches_recorded(void) {
    recorded_tiles(true);
}

/* R1 and R2 agree to FP64 rounding, and to the bit on integers. */
static void references_agree(void) {
    static const char *const names[] = {"normal", "lowrank:16", "int", "relu"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct graded *g = grade(names[i], 7, 45, 200, 38, 3, 4, 2, &MACHINE);
        double peak = 0, worst = 0;
        for (size_t e = 0; e < g->m * g->n; e++) {
            peak = fmax(peak, fabs(g->exact[e]));
            worst = fmax(worst, fabs(g->exact[e] - g->quantised[e]));
            if (strcmp(names[i], "int") == 0)
                g_assert_cmpfloat(g->exact[e], ==, g->original[e]);
        }
        g_assert_cmpfloat(worst, <=, 1e-14 * peak);
        graded_free(g);
    }
}

/* The machine's answer does not depend on how the planner cuts the problem. */
static void cut_does_not_matter(void) {
    struct graded *x = grade("normal", 3, 50, 300, 60, 4, 8, 4, &MACHINE);
    struct graded *y = grade("normal", 3, 50, 300, 60, 5, 3, 3, &MACHINE);
    size_t first;
    g_assert_cmpuint(grade_bit_mismatches(x->machine, y->machine, 50 * 60, &first), ==, 0);
    g_assert_cmpuint(first, ==, 50 * 60);
    y->machine[17] ^= 1;
    g_assert_cmpuint(grade_bit_mismatches(x->machine, y->machine, 50 * 60, &first), ==, 1);
    g_assert_cmpuint(first, ==, 17);
    graded_free(x);
    graded_free(y);
}

/* Figures of workloads §6.4 and §6.6. */
static void published_errors(void) {
    static const struct {
        const char *text;
        double p50, p99;
    } rows[] = {{"lowrank:16", 3.89e-3, 0.2297}, {"lowrank:32", 5.36e-3, 0.332}, {"normal", 1.611e-2, 1.10}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct graded *g = grade(rows[i].text, 1, 128, 256, 256, 16, 32, 4, &MACHINE);
        struct numerics r2, r3;
        grade_against(g->quantised, g->machine, g->m * g->n, &r2);
        grade_against(g->original, g->machine, g->m * g->n, &r3);
        g_test_message("%s: R3 p50 %.3e p90 %.3e p99 %.3e, R2 p50 %.3e max %.3e", rows[i].text, r3.rel_p50, r3.rel_p90,
                       r3.rel_p99, r2.rel_p50, r2.rel_max);
        g_assert_cmpfloat_with_epsilon(r3.rel_p50, rows[i].p50, 0.1 * rows[i].p50);
        g_assert_cmpfloat_with_epsilon(r3.rel_p99, rows[i].p99, 0.25 * rows[i].p99);
        if (i == 0) /* the published figure is that of rank 16 */
            g_assert_cmpfloat_with_epsilon(r2.rel_p50, 1.71e-4, 0.05e-4);
        graded_free(g);
    }
}

/* §6.7: K·mu² passes 65504. */
static void saturation(void) {
    struct graded *none = grade("biased:4", 1, 64, 1024, 64, 16, 16, 4, &MACHINE);
    struct graded *half = grade("biased:8", 1, 64, 1024, 64, 16, 16, 4, &MACHINE);
    struct graded *all = grade("biased:6", 1, 64, 2048, 64, 16, 16, 4, &MACHINE);
    struct numerics numerics;
    g_assert_cmpuint(none->clamped, ==, 0);
    g_assert_cmpuint(half->clamped, >, 64 * 64 * 0.40);
    g_assert_cmpuint(half->clamped, <, 64 * 64 * 0.65);
    g_assert_cmpuint(all->clamped, ==, 64 * 64);
    grade_against(all->quantised, all->machine, 64 * 64, &numerics);
    g_assert_cmpuint(numerics.saturated, ==, 64 * 64);
    graded_free(none);
    graded_free(half);
    graded_free(all);
}

static void metrics_by_hand(void) {
    const double want[] = {1, 2, 0, 0, 100, -4};
    const uint16_t got[] = {fp16_from_double(1), fp16_from_double(2.25), 0x8000, fp16_from_double(0.5),
                            0x5640 + 1,          fp16_from_double(-4)};
    struct numerics n;
    grade_against(want, got, 6, &n);
    g_assert_cmpuint(n.count, ==, 6);
    g_assert_cmpuint(n.mismatches, ==, 3);
    g_assert_cmpuint(n.undefined, ==, 1);
    g_assert_cmpuint(n.over_1pct, ==, 2);
    g_assert_cmpuint(n.over_10pct, ==, 2);
    g_assert_cmpfloat(n.rel_max, ==, 0.125);
    g_assert_cmpfloat(n.rel_p50, ==, 0);
    g_assert_cmpfloat(n.fp16_ulp_max, ==, 128);
    g_assert_cmpfloat(n.max_abs, ==, 0.5);
    g_assert_cmpfloat(n.normalised, ==, 0.005);
}

/* A plain triple loop is the judge. */
static void fp64_product(void) {
    enum {
        M = 7,
        K = 150,
        N = 600
    };
    g_autofree double *a = g_new(double, M *K), *b = g_new(double, N *K), *c = g_new(double, M *N);
    for (size_t i = 0; i < M * K; i++)
        a[i] = random_normal(1, 0, i);
    for (size_t i = 0; i < N * K; i++)
        b[i] = random_normal(1, 1, i);
    grade_fp64_result(M, K, N, a, b, c);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += a[i * K + k] * b[j * K + k];
            g_assert_cmpfloat(c[i * N + j], ==, sum);
        }
    }
}

static void cube_time(void) {
    struct graded *g = grade("normal", 1, 256, 256, 256, 16, 32, 4, &MACHINE);
    g_autofree double *c = g_new(double, 256 * 256);
    g_autofree double *a = g_new0(double, 256 * 256);
    g_test_timer_start();
    grade_machine_result(&g->a_layout, g->a_entries, &g->b_layout, g->b_entries, &MACHINE, g->machine);
    double machine = g_test_timer_elapsed();
    g_test_timer_start();
    grade_exact_result(&g->a_layout, g->a_entries, &g->b_layout, g->b_entries, c);
    double exact = g_test_timer_elapsed();
    g_test_timer_start();
    grade_fp64_result(256, 256, 256, a, a, c);
    double fp64 = g_test_timer_elapsed();
    g_test_timer_start();
    struct numerics numerics;
    grade_against(g->original, g->machine, 256 * 256, &numerics);
    g_test_message("256-cube: machine %.1f ms, exact %.1f ms, FP64 %.1f ms, distances %.1f ms", machine * 1e3,
                   exact * 1e3, fp64 * 1e3, g_test_timer_elapsed() * 1e3);
    graded_free(g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/grade/machine/matches_recorded_tiles", machine_matches_recorded);
    g_test_add_func("/grade/machine/double_rate_matches_recorded_tiles", double_rate_matches_recorded);
    g_test_add_func("/grade/machine/cut_does_not_matter", cut_does_not_matter);
    g_test_add_func("/grade/references_agree", references_agree);
    g_test_add_func("/grade/published_errors", published_errors);
    g_test_add_func("/grade/saturation", saturation);
    g_test_add_func("/grade/metrics_by_hand", metrics_by_hand);
    g_test_add_func("/grade/fp64_product", fp64_product);
    g_test_add_func("/grade/cube_time", cube_time);
    return g_test_run();
}
