/* Replays a recorded run of the memory mover alone (mover_runs.json) in both memory attachments and compares every
 * quantity that was recorded. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* entry: one element of the file's "runs"; description: its "description" object, whose "attachments" are replayed.
 * False and an error if the recording cannot be read; a run that differs is not an error but a differing row. */
bool replay_mover(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
