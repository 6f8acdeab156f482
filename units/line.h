/* Several meshes joined in a line (noc-and-memory §10.1): a system a mesh, and the interlinks between them. What one
 * mesh sends works at its neighbour three cycles later, so the meshes of a cycle may be stepped in any order or at the
 * same time, and a mesh with nothing to do is not stepped at all. */
#pragma once

#include "units/system.h"

struct line {
    const struct machine *machine;
    unsigned count;
    struct machine machines[MACHINE_MAX_MESHES]; /* by mesh number; what they point to is `machine`'s */
    struct system *meshes[MACHINE_MAX_MESHES];
    struct interlink interlinks[MACHINE_MAX_MESHES];
    bool backwards; /* steps the meshes in falling order: changes nothing, which tests show */
};

/* Builds a machine of several meshes (machine->mesh_count > 0), which must outlive the line. FS_ERROR_INPUT when a unit
 * type is not known. */
struct line *line_new(const struct machine *machine, GError **error);
void line_free(struct line *line);
/* One cycle of every mesh that is due, for systems of one group without a clock. Returns the next cycle in which
 * anything is, CYCLE_NEVER when nothing can happen any more. */
cycle_t line_step(struct line *line, cycle_t now);
/* Something was given to a mesh from outside: it is stepped in `at` at the latest. */
void line_wake(struct line *line, unsigned mesh, cycle_t at);
bool line_quiet(const struct line *line);
/* Last cycle in which anything but polling happened in a mesh. */
cycle_t line_last_progress(const struct line *line);
uint64_t line_hazard_count(const struct line *line, const char *id);
