/* Where things stand in a mesh (noc-and-memory §1.1, §11.1): as a picture of three-letter tokens in the machine file
 * ("map") or beside it ("map_file"), or as lists ("mesh", "units", "ports"). All give the same struct machine: units in
 * reading order (row by row), numbered within their type, each bound to a memory port. Memory ports of a picture are
 * numbered in reading order, listed ones in the order of the list. "meshes" lists several such descriptions. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "model/json_source.h"
#include "model/machine.h"

enum {
    MAP_MAX_ROUTERS = 14,       /* a side: coordinates 0..15 in four bits */
    MAP_MAX_BARE_ROUTERS = 256, /* a side of a bare mesh, whose flits are never encoded */
    MAP_MAX_PORTS = 4,
};

/* Fills nx, ny, units, ports, bare, plugins, or meshes and line, of a machine whose parameters are known. False and an
 * error (machine half filled, for machine_clear) when the description is not that of a mesh. */
bool map_parse(const struct json_source *source, struct machine *machine, GError **error);
