/* A chain of layers (layer.h) as a run: memory, rounds, grades and figures. */
#pragma once

#include "workloads/layer.h"

enum {
    LAYERS_MAX = 2,
};

struct layers_answer {
    uint16_t *rows; /* of the last layer, as the machine left it */
    double *wanted; /* in FP64 from the FP16 operands */
    size_t count;
};

/* Runs them on x, [m][k] FP16 rows; layer i + 1 works on what layer i gives. Grades the last one: bit for bit against
 * arithmetic alone, and within `tolerance` of FP64. An error is one of key "m". The answer is empty when the run died;
 * clear it in any case. */
bool layers_run(struct run *run, const struct layer_shape *shapes, unsigned count, const uint16_t *x, double tolerance,
                struct layers_answer *answer, GError **error);
void layers_answer_clear(struct layers_answer *answer);
