/* Reader of the recorded vector-lane operations, which come in two files of one form: op a b c result predicate. */
#pragma once

#include "golden/golden.h"
#include "model/numeric/e8m15.h"

static inline enum vec_op golden_vec_op(const struct golden *g) {
    static const char *const names[] = {"mov", "neg", "abs",   "add",   "sub",   "mul",  "fma",  "fnma", "max",
                                        "min", "sel", "cmplt", "cmpgt", "cmpeq", "exp2", "log2", "inv",  "rsqrt"};
    for (unsigned op = 0; op < G_N_ELEMENTS(names); op++)
        if (g_str_equal(golden_text(g, 0), names[op]))
            return (enum vec_op)op;
    g_error("%s:%u: no operation '%s'", g->path, g->line, golden_text(g, 0));
}

static inline void golden_vec_file(const char *name) {
    struct golden g;
    guint64 operations = 0;
    golden_open(&g, name);
    while (golden_next(&g)) {
        enum vec_op op = golden_vec_op(&g);
        struct e8m15_result result =
            e8m15_alu(op, golden_hex(&g, 1), golden_hex(&g, 2), golden_hex(&g, 3), E8M15_EXP2_WRAPS);
        golden_expect(&g, "result", result.value, golden_hex(&g, 4));
        golden_expect(&g, "predicate", result.predicate, golden_hex(&g, 5));
        operations |= UINT64_C(1) << op;
    }
    if (g.failures == 0) /* the whole file was read: every arithmetic opcode occurs */
        g_assert_cmphex(operations, ==, bit_mask(VEC_RSQRT + 1));
    golden_close(&g);
}
