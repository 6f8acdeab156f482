/* Replays a recorded point of synthetic traffic on a bare mesh (mesh_curves.json) and compares every column. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"

/* entry: one element of the file's "points"; description: its "description" object. False and an error if the entry
 * can't be read or run; a column that differs is not an error but a differing row. */
bool replay_curve(const json_t *entry, const json_t *description, struct replay_result *out, GError **error);
