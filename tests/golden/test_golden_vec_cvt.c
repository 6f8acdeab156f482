/* vec_cvt.txt: the five converters around E8M15. */
#include "golden/golden.h"
#include "model/numeric/e8m15_convert.h"

static uint32_t convert(const struct golden *g, uint32_t input) {
    const char *kind = golden_text(g, 0);
    if (g_str_equal(kind, "f16_to_e8"))
        return e8m15_from_f16((uint16_t)input);
    if (g_str_equal(kind, "f32_to_e8"))
        return e8m15_from_f32(input);
    if (g_str_equal(kind, "e8_to_f16"))
        return e8m15_to_f16(input);
    if (g_str_equal(kind, "e8_to_f32"))
        return e8m15_to_f32(input);
    if (g_str_equal(kind, "acc22_to_e8"))
        return e8m15_from_fp22(input);
    g_error("%s:%u: no converter '%s'", g->path, g->line, kind);
}

static void outputs_match(void) {
    struct golden g;
    golden_open(&g, "vec_cvt.txt");
    while (golden_next(&g))
        golden_expect(&g, "output", convert(&g, golden_hex(&g, 1)), golden_hex(&g, 2));
    golden_close(&g);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/vec_cvt/outputs_match", outputs_match);
    return g_test_run();
}
