/* vec_reduce.txt: whole-register reductions and, for expsum, the elements it writes back. */
#include "golden/golden.h"
#include "model/numeric/e8m15_reduce.h"

enum {
    LENGTH_MAX = 128,
};

static enum vec_reduction kind_of(const struct golden *g) {
    static const char *const names[] = {"sum", "max", "min", "sumsq", "dot", "expsum"};
    for (unsigned kind = 0; kind < G_N_ELEMENTS(names); kind++)
        if (g_str_equal(golden_text(g, 0), names[kind]))
            return (enum vec_reduction)kind;
    g_error("%s:%u: no reduction '%s'", g->path, g->line, golden_text(g, 0));
}

static gboolean is_unused(const struct golden *g, unsigned field) {
    return g_str_equal(golden_text(g, field), "-");
}

static void read_vector(const struct golden *g, unsigned field, unsigned length, uint32_t vector[LENGTH_MAX]) {
    g_auto(GStrv) elements = g_strsplit(golden_text(g, field), ",", -1);
    g_assert_cmpuint(g_strv_length(elements), ==, length);
    g_assert_cmpuint(length, <=, LENGTH_MAX);
    for (unsigned e = 0; e < length; e++)
        vector[e] = (uint32_t)g_ascii_strtoull(elements[e], NULL, 16);
}

static void results_match(void) {
    struct golden g;
    golden_open(&g, "vec_reduce.txt");
    while (golden_next(&g)) {
        enum vec_reduction kind = kind_of(&g);
        unsigned length = (unsigned)golden_decimal(&g, 1);
        uint32_t a[LENGTH_MAX], b[LENGTH_MAX], powers[LENGTH_MAX], recorded[LENGTH_MAX];
        read_vector(&g, 2, length, a);
        read_vector(&g, is_unused(&g, 3) ? 2 : 3, length, b);
        golden_expect(&g, "result", e8m15_reduce(kind, a, b, length, powers, E8M15_EXP2_WRAPS), golden_hex(&g, 4));
        if (is_unused(&g, 5))
            continue;
        read_vector(&g, 5, length, recorded);
        for (unsigned e = 0; e < length; e++)
            golden_expect(&g, "element", powers[e], recorded[e]);
    }
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/vec_reduce/results_match", results_match);
    return g_test_run();
}
