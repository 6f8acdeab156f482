/* vec_tables.txt: the coefficients of the four seeds. */
#include "golden/golden.h"
#include "model/numeric/e8m15_seed.h"

static enum e8m15_seed seed_of(const struct golden *g) {
    static const char *const names[] = {"exp2", "log2", "inv", "rsqrt"};
    for (unsigned seed = 0; seed < G_N_ELEMENTS(names); seed++)
        if (g_str_equal(golden_text(g, 0), names[seed]))
            return (enum e8m15_seed)seed;
    g_error("%s:%u: no seed '%s'", g->path, g->line, golden_text(g, 0));
}

static void coefficients_match(void) {
    struct golden g;
    golden_open(&g, "vec_tables.txt");
    while (golden_next(&g)) {
        struct e8m15_quadratic q = e8m15_seed_segment(seed_of(&g), (unsigned)golden_decimal(&g, 1));
        golden_expect(&g, "c0", (guint64)q.c0, (guint64)golden_decimal(&g, 2));
        golden_expect(&g, "c1", (guint64)q.c1, (guint64)golden_decimal(&g, 3));
        golden_expect(&g, "c2", (guint64)q.c2, (guint64)golden_decimal(&g, 4));
    }
    if (g.failures == 0)
        g_assert_cmpuint(g.cases, ==, 3 * E8M15_SEGMENTS + E8M15_RSQRT_SEGMENTS);
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/vec_tables/coefficients_match", coefficients_match);
    return g_test_run();
}
