/* The compute-unit port: instruction and receive queues, issue and retirement, completions, control replies and the one
 * output register that every unit sits behind (noc-and-memory §4). */
#pragma once

#include <stdbool.h>

#include "model/machine.h"
#include "noc/fifo.h"
#include "noc/histogram.h"
#include "noc/link.h"
#include "units/unit.h"

struct endpoint_counts {
    uint64_t in[FLIT_TYPES];  /* flits accepted from the mesh, by type */
    uint64_t out[FLIT_TYPES]; /* flits accepted by the mesh, by type */
    uint64_t refused;         /* cycles in which an offered flit was refused */
    uint64_t blocked;         /* cycles in which the mesh refused the output register */
};

struct endpoint {
    const struct unit_type *type;
    void *unit;
    const char *name;
    unsigned x, y;
    unsigned fall_through;
    struct flit_pool *pool;
    struct hazard_log *hazards;
    struct link_sink out; /* toward the mesh */
    struct fifo inst, recv, completions;
    uint32_t inst_depth; /* declared */
    bool in_flight, pop_pending;
    uint16_t reply_x, reply_y; /* of the instruction in flight: where its completion goes */
    uint8_t inst_txn, inst_last;
    flit_index reply; /* pending control reply, FLIT_NONE */
    cycle_t reply_from;
    flit_index output; /* output register */
    uint64_t inst_accepted, inst_popped;
    uint64_t retired, signals_sent;
    uint32_t busy_base; /* cycles busy are counted when they end */
    cycle_t busy_since;
    uint64_t progress; /* work of port logic and unit, as last summed up by the group */
    cycle_t due;       /* next cycle to be stepped in */
    cycle_t unit_due;
    cycle_t *group_due; /* earliest due of the actor that hosts it */
    struct endpoint_counts counts;
    struct histogram *latency; /* FLIT_TYPES of them, or NULL: network latency by type, shared */
    struct endpoint_trace *trace;
};

/* Called for every flit at the local link and every event of the unit's port logic, when set. */
struct endpoint_trace {
    void *self;
    void (*flit_in)(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now);
    void (*flit_out)(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now);
    void (*taken)(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now);
    void (*retired)(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result);
};

void endpoint_init(struct endpoint *endpoint, const struct machine *machine, const struct machine_unit *place,
                   const struct unit_type *type, struct flit_pool *pool, struct hazard_log *hazards);
void endpoint_clear(struct endpoint *endpoint);

/* The receiving side as a link: instruction or receive queue full refuses everything but a write ack that the unit
 * drops (§4.1). */
struct link_sink endpoint_sink(struct endpoint *endpoint);

/* One cycle; sets endpoint->due. */
void endpoint_step(struct endpoint *endpoint, cycle_t now);

/* True when nothing is queued, in flight or on the output register. */
bool endpoint_quiet(const struct endpoint *endpoint);
