/* Replays a recorded run of the control-program engine (control_runs.json) and compares everything that was recorded:
 * the engine's actions, the dispatch agent's traffic, the units, what the host read, and final memory. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* False and an error if the recording cannot be read; a run that differs is not an error but a differing row. */
bool replay_control(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
