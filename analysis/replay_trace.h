/* Replays a recorded event trace (event_traces.json): a GEMM run of which every event is compared by its cycle. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* False and an error if the recording cannot be read; a run that differs is not an error but a differing row. */
bool replay_trace(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
