/* Replays a recorded program on one vector core (vector_runs.json) in the attachment it was recorded with, and compares
 * everything that was recorded: cycles of every instruction and beat, link cycles, flits, final state, counters. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* entry: one element of the file's "runs"; description: its "description" object. The run is made with the hardware's
 * defects and, where it touches any, again without them, against the recorded cycles and the intended final state; rows
 * of that second run begin with "intended ". False and an error if the recording cannot be read; a run that differs is
 * not an error but a differing row. */
bool replay_vector(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
