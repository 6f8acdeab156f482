/* One beat of eight leaves goes through a three-level tree into one of sixteen partials; the partials, those never
 * touched included, then go through the tree once. */
#include "model/numeric/e8m15_reduce.h"

#include "model/numeric/e8m15_seed.h"

#include <stddef.h>

enum {
    LEAVES = 8,
    PARTIALS = 16,
};

static uint32_t combine(enum vec_reduction kind, uint32_t x, uint32_t y) {
    enum vec_op op = kind == VEC_MAXIMUM ? VEC_MAX : kind == VEC_MINIMUM ? VEC_MIN : VEC_ADD;
    return e8m15_alu(op, x, y, y, E8M15_EXP2_WRAPS).value;
}

/* Neighbours pairwise until one of the `count` (a power of two) values is left. */
static uint32_t reduce_tree(enum vec_reduction kind, uint32_t *values, unsigned count) {
    for (; count > 1; count /= 2)
        for (unsigned j = 0; j < count / 2; j++)
            values[j] = combine(kind, values[2 * j], values[2 * j + 1]);
    return values[0];
}

static uint32_t start_value(enum vec_reduction kind) {
    if (kind == VEC_MAXIMUM)
        return E8M15_SIGN | E8M15_INFINITY;
    return kind == VEC_MINIMUM ? E8M15_INFINITY : E8M15_ZERO;
}

/* Elements a beat takes: those of both inputs of the first level, or of one leaf each. */
static unsigned beat_width(enum vec_reduction kind) {
    return kind == VEC_SUM || kind == VEC_MAXIMUM || kind == VEC_MINIMUM ? 2 * LEAVES : LEAVES;
}

uint32_t e8m15_reduce(enum vec_reduction kind, const uint32_t *a, const uint32_t *b, unsigned length, uint32_t *powers,
                      enum e8m15_exp2_range range) {
    unsigned width = beat_width(kind);
    uint32_t partials[PARTIALS];
    for (unsigned n = 0; n < PARTIALS; n++)
        partials[n] = start_value(kind);
    for (unsigned beat = 0; beat * width < length; beat++) {
        uint32_t values[2 * LEAVES];
        for (unsigned e = 0; e < width; e++) {
            unsigned at = beat * width + e;
            values[e] = a[at];
            if (kind == VEC_SUMSQ || kind == VEC_DOT)
                values[e] = e8m15_alu(VEC_MUL, a[at], b[at], 0, range).value;
            if (kind == VEC_EXPSUM) {
                values[e] = e8m15_exp2(a[at], range);
                if (powers != NULL)
                    powers[at] = values[e];
            }
        }
        uint32_t *partial = &partials[beat % PARTIALS];
        *partial = combine(kind, reduce_tree(kind, values, width), *partial);
    }
    return reduce_tree(kind, partials, PARTIALS);
}
