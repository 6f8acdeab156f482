/* The whole simulated machine: routers, units, memory agent and DRAM put together from a description, and stepped cycle
 * by cycle (noc-and-memory §15). Who drives it from outside attaches as the agent's host.
 *
 * Components are hosted in groups, one actor each. Group 0 holds the memory agent and the routers its ports are
 * attached to; the other routers follow as engine.routers_per_actor says, every unit with its router. Groups meet only
 * in links between routers, whose flits are stamped, so the grouping never changes a result. */
#pragma once

#include <stdbool.h>

#include "memory/agent.h"
#include "memory/dram.h"
#include "memory/mover.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/clock.h"
#include "noc/endpoint.h"
#include "noc/l2.h"
#include "noc/mesh.h"

struct plugin_set;
struct system;

struct system_group {
    struct system *system;
    struct mesh_part *part;
    struct endpoint **endpoints;
    unsigned endpoint_count;
    struct l2_adapter **adapters;
    unsigned adapter_count;
    bool has_agent;
    cycle_t due;                          /* next cycle with work, CYCLE_NEVER: none */
    cycle_t mesh_due;                     /* of routers that were given flits since they were stepped */
    cycle_t stepped;                      /* last cycle with work */
    uint64_t units_progress;              /* of its endpoints */
    uint64_t progress;                    /* work done, as system_progress counts it */
    cycle_t last_progress;                /* last cycle in which it grew */
    bool closed;                          /* accounts are closed at system->end */
    struct histogram latency[FLIT_TYPES]; /* first link to acceptance by the receiver, cycles */
};

struct system {
    const struct machine *machine;
    struct flit_pool pool;
    struct hazard_log hazards;
    struct mesh mesh;
    struct dram dram;
    struct agent agent;
    struct mover mover;
    struct transform_bank *bank; /* of the mover */
    struct plugin_set *plugins;  /* unit types beside the built-in ones */
    struct endpoint *endpoints;  /* one a unit, in the machine's order */
    unsigned endpoint_count;
    struct l2_adapter **adapters; /* by unit, NULL where none is built */
    struct system_group *groups;
    unsigned group_count;
    /* Accounts as of cycle `end`, the first one that is no longer part of the run; CYCLE_NEVER while it goes on. */
    cycle_t end;
    struct account *unit_accounts, *port_accounts;
};

/* What must hold of a machine before it can be built: the network can do what noc.* asks for and cannot deadlock, unit
 * types and transform occupants exist. FS_ERROR_INPUT `KEY: what, expected what`. Every mesh of several is checked. */
bool system_check(const struct machine *machine, GError **error);

/* The occupants of the mover's transform slot that memory.occupants names: slots[i] has id i + 1; none is the default
 * bank. FS_ERROR_INPUT for a name that is none. */
bool system_occupants(const struct machine *machine, const struct transform_occupant *slots[TRANSFORM_SLOTS],
                      unsigned *count, GError **error);

/* Builds the machine. FS_ERROR_INPUT as system_check. The machine must outlive the system. */
struct system *system_new(const struct machine *machine, GError **error);
void system_free(struct system *system);

/* Makes it one mesh of a line, before the first cycle; see units/line.h. */
void system_join_line(struct system *system, struct interlink *interlink);

/* One cycle of everything a group hosts that is due in it. Returns its next due cycle. The form of a clock's step. */
cycle_t system_group_step(void *group, cycle_t now);

/* The same for a system of one group. */
cycle_t system_step(struct system *system, cycle_t now);

/* Ends the part of the run that accounts cover: `end` is the first cycle that no longer belongs to it, later than any
 * stepped. Every group closes its own accounts before it steps such a cycle; system_close does so for those that do not
 * get there. The causes of a component then add up to `end`. */
void system_end(struct system *system, cycle_t end);
void system_close(struct system *system);

/* No flit anywhere, no unit in an instruction, memory quiet. Between cycles only. */
bool system_quiet(const struct system *system);

/* A number that grows whenever anything but polling happens. */
uint64_t system_progress(const struct system *system);

/* Last cycle in which anything but polling happened: flits moved, instructions taken or retired, units at work, words
 * read or written. */
cycle_t system_last_progress(const struct system *system);

/* Latencies of all flits of a type. To be cleared. */
struct histogram system_latency(const struct system *system, unsigned type);

/* The control processor's node range, as a program on it would reach it: there the transform bank has its registers, at
 * PROCESSOR_TRANSFORM + (id << 8 | register) (noc-and-memory §9.5). The host's window has no path to them. False if
 * nothing answers there, which is so with a 64-bit control complex. Between cycles; now: the cycle it takes effect. */
#define PROCESSOR_TRANSFORM UINT32_C(0xF0010000)
bool system_processor_write(struct system *system, uint32_t address, uint32_t value, cycle_t now);
bool system_processor_read(struct system *system, uint32_t address, uint32_t *value, cycle_t now);
