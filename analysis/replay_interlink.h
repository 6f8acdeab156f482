/* Replay of recorded runs of four interlinked meshes: remote bursts, remote moves, doorbells, transit, faults. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "analysis/replay.h"

/* entry: an item of "runs" of a recording. */
bool replay_interlink(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
