/* Replays a recorded run of transfers between clusters (peer_runs.json) and compares everything that was recorded: who
 * took and retired what, every flit with its cycle, the receiving side step by step, contents at the end, hangs. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* False and an error if the recording cannot be read; a run that differs is not an error but a differing row. */
bool replay_peer(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
