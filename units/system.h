/* The whole simulated machine: routers, units, memory agent and DRAM put together from a description, and stepped cycle
 * by cycle (noc-and-memory §15). Who drives it from outside attaches as the agent's host. */
#pragma once

#include <stdbool.h>

#include "memory/agent.h"
#include "memory/dram.h"
#include "memory/mover.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/endpoint.h"
#include "noc/mesh.h"

struct system {
    const struct machine *machine;
    struct flit_pool pool;
    struct hazard_log hazards;
    struct mesh mesh;
    struct dram dram;
    struct agent agent;
    struct mover mover;
    struct transform_bank *bank; /* of the mover */
    struct endpoint *endpoints;  /* one a unit, in the machine's order */
    unsigned endpoint_count;
    struct histogram latency[FLIT_TYPES];          /* first link to acceptance by the receiver, cycles */
    struct account *unit_accounts, *port_accounts; /* as of system_close_accounts */
    cycle_t mesh_due;
    cycle_t due; /* earliest due of everything */
    uint64_t cycles_stepped;
};

/* Builds the machine. FS_ERROR_INPUT when a unit type is not known. The machine must outlive the system. */
struct system *system_new(const struct machine *machine, GError **error);
void system_free(struct system *system);

/* Makes it one mesh of a line, before the first cycle; see units/line.h. */
void system_join_line(struct system *system, struct interlink *interlink);

/* One cycle of everything that is due in it. Returns the next cycle in which anything is due, CYCLE_NEVER when nothing
 * can happen any more. */
cycle_t system_step(struct system *system, cycle_t now);

/* Keeps a copy of every unit's and port's account, closed at `end`: their causes then add up to it. */
void system_close_accounts(struct system *system, cycle_t end);

/* No flit anywhere, no unit in an instruction, memory quiet. */
bool system_quiet(const struct system *system);

/* A number that grows whenever anything but polling happens: flits moved, instructions retired, words read or written.
 */
uint64_t system_progress(const struct system *system);
