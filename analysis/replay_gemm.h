/* Replays recorded GEMM runs (runs.json): builds the machine, plans and dispatches as the file's description says, and
 * compares cycles, every counter and the answer. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* entry: one element of "runs". False and an error if it cannot be read or built; differing rows are no error. */
bool replay_gemm(const json_t *entry, struct replay_result *out, GError **error);
