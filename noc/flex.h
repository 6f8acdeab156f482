/* The what-if network: routers and links with every knob an architect turns, attached and stepped like the reference
 * mesh of mesh.h. With all knobs at their defaults it does in every cycle what the reference does.
 *
 * Knobs are the members of struct noc_params (JSON: noc.NAME). Range and unit, default, meaning:
 *
 *   fifo_depth, fifo_extra   sum 1..65536 flits; 32 and 2
 *       Places of an input channel are fifo_depth + fifo_extra.
 *
 *   fall_through             1..1024 cycles; 3
 *       From a flit's acceptance by an input to its first reading there.
 *
 *   pipeline                 0..200 cycles; 0
 *       Register stages between holding slot and output register: one hop is fall_through + 2 + pipeline.
 *       They hold flits, and hold them up, like the register itself.
 *
 *   link_latency             0..1024 cycles; 0
 *       Extra time of a flit on a router-to-router link, and of a credit on its way back. No flit leaves
 *       without a place for it: full rate takes 2 link_latency + fall_through + 1 places a channel.
 *
 *   link_width, link_period  1..1024, width <= period; 1 flit and 1 cycle
 *       A router-to-router link moves link_width flits in link_period cycles; a flit arrives when its last
 *       part has. Endpoint links keep one flit a cycle.
 *
 *   holding_slots            0..16 slots; 1
 *       Routed flits waiting per input channel. With k the store is read into any free slot, in order; flits
 *       for the same output keep their order. 0 is a slot an output, each of which takes the first flit in the
 *       store that wants it: no head-of-line blocking until the store is full.
 *
 *   arbitration              free_running
 *       free_running (a pointer that moves every cycle), round_robin (after the last granted), oldest_first
 *       (smallest `offered` stamp: longest in the network; ties to the lower lane), matrix (least recently
 *       granted). With several channels the free-running pointer counts lanes.
 *
 *   arbiter_phase            0..63 lanes; 0
 *       Where the free-running pointer stands in cycle 0.
 *
 *   routing                  xy
 *       xy, yx, west_first, odd_even, table. The two adaptive ones are minimal and take the port with most
 *       room downstream less the flits already bound for it, ties to the lower port.
 *
 *   virtual_channels         1..8; 1
 *       Each has its own store, slots, credits and output register; the link serves channels in turn. Ports
 *       times channels of a router are at most 64.
 *
 *   vc_by_class              free
 *       free, class or pair: enum vc_assignment. On a torus half of the channels are for flits that have gone
 *       round an end in the present dimension.
 *
 *   topology                 mesh
 *       mesh, torus (opposite borders joined; no edge places; an even number of channels, or 1 if the rings
 *       are too short to close a circle), concentrated (blocks of `concentration` neighbouring endpoints share
 *       a router; endpoints keep their coordinates).
 *
 *   concentration            1..16 endpoints; 1
 *       Blocks are as square as the divisors allow, not taller than wide: 2 is 2x1, 4 is 2x2, 8 is 4x2.
 *
 *   force_deadlockable, force_reordering
 *       Accept what flex_check would refuse for that reason.
 *
 * With several channels the link to an endpoint may offer more than one flit in a cycle, one after the other until one
 * is taken, and whether an inlet accepts a flit depends on its channel; with one channel neither is so.
 *
 * A group of components may be stepped in any order within a cycle, but one network is stepped by one thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "model/cycle.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/flex_plan.h"
#include "noc/link.h"

struct flex_input_counts {
    uint64_t flits;       /* accepted, counted when they leave the sender */
    uint64_t blocked;     /* cycles in which a holding slot kept its flit */
    uint64_t hol_blocked; /* of these: no slot was free, and a readable flit in the store wanted an output that stayed
                             free */
    uint32_t max_depth;   /* most flits in the store of one channel */
};

struct flex_output_counts {
    uint64_t flits; /* accepted by the receiver or put on the wire */
    uint64_t busy;  /* cycles in which no flit that was ready found the receiver ready, the link being free */
};

struct flex_router;
struct flex_output;
struct flex_kind;

struct flex {
    struct flex_plan plan;
    unsigned fall_through, capacity, stages;
    unsigned slots; /* holding slots of a lane */
    bool slot_per_output;
    unsigned link_latency, link_width, link_period;
    bool wire; /* links take time beyond the cycle of the hand-over */
    unsigned phase_base, phase;
    unsigned (*arbiter)(const struct flex_router *, struct flex_output *, unsigned, uint64_t, cycle_t);
    uint8_t port_of[FLEX_MAX_LANES];
    struct flex_router *routers;
    struct flex_kind *kinds; /* by the set of sides that wrap */
    uint32_t count;
    void *arena[8]; /* state of all routers, in a block a kind of state */
    struct flit_pool *pool;
    struct hazard_log *hazards;
    /* Due wheel as in mesh.h. */
    unsigned wheel;
    uint32_t words;
    uint64_t *due;
    bool *any;
    cycle_t *group_due; /* earliest due of the actor that hosts the network */
    uint64_t lost;      /* flits given to tied-off links, or on a torus to no place */
    uint64_t hops;      /* flits moved by a router to its output link */
    uint64_t steps;
    uint64_t hol_cycles; /* cycles with a head-of-line blocked input anywhere: at most these can be saved */
    cycle_t last_hol;
    cycle_t last_move; /* last cycle in which a flit moved anywhere */
};

/* True if some knob asks for what the reference mesh does not have; otherwise take mesh.h, which is faster. */
bool flex_needed(const struct machine *machine);

/* Refuses what the network cannot do, routings that can deadlock (naming the circle of channels) unless
 * noc.force_deadlockable, and reorderings unless noc.force_reordering or a bare mesh. Call it before flex_init. */
bool flex_check(const struct machine *machine, GError **error);

/* NULL if flits of one (source, destination) pair always arrive in the order of sending (with VC_BY_CLASS: those of
 * one message class), else a sentence that says why not. */
const char *flex_reorders(const struct machine *machine);

void flex_init(struct flex *net, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards);
void flex_clear(struct flex *net);

static inline bool flex_has_place(const struct flex *net, unsigned x, unsigned y) {
    return flex_plan_has_place(&net->plan, x, y);
}

/* Connects what is at place (x,y) as receiver, and returns its way in as a link. The place must exist. */
struct link_sink flex_attach(struct flex *net, unsigned x, unsigned y, struct link_sink receiver);

/* The flit that the link to what is attached at place (x,y) offers at the start of cycle now, FLIT_NONE if none. With
 * several channels the first that the link turns to; if that one is refused, the others are offered too. Only before
 * the network is stepped in that cycle. */
flit_index flex_offered(const struct flex *net, unsigned x, unsigned y, cycle_t now);

/* Steps every router that is due in cycle now. Returns the next cycle in which one is due, or CYCLE_NEVER. */
cycle_t flex_step(struct flex *net, cycle_t now);

/* Flits inside: stores, wires, holding slots, pipelines. */
uint64_t flex_held(const struct flex *net);

/* Counters of a port of router (x,y), 1-based router coordinates. */
struct flex_input_counts flex_input(const struct flex *net, unsigned x, unsigned y, unsigned port);
struct flex_output_counts flex_output(const struct flex *net, unsigned x, unsigned y, unsigned port);

/* A channel that waits, and what holds it up. */
struct flex_wait {
    uint16_t x, y;   /* router */
    uint8_t in, vc;  /* input port and channel whose flit waits */
    uint8_t out;     /* port it wants */
    flit_index flit; /* the waiting flit */
    bool endpoint;   /* held by what is attached to the port, not by a router */
    uint16_t held_x, held_y;
    uint8_t held_in, held_vc; /* channel that has no place */
};

/* True if flits are inside and none has moved for longer than any of them may legitimately take. */
bool flex_standstill(const struct flex *net, cycle_t now);

/* Follows waiting flits to what holds them up. True: `waits` (of struct flex_wait) is a circle, each held by the next
 * and the last by the first. False: no circle; `waits` has one entry for each endpoint that refuses a flit. */
bool flex_waits(struct flex *net, cycle_t now, GArray *waits);

/* "router (2,1) west channel 0 wants east, held by router (3,1) west channel 0"; free with g_free. */
char *flex_wait_text(const struct flex *net, const struct flex_wait *wait);

/* A channel of the dependency graph: input `in`, channel `vc` of router (x,y). */
struct flex_channel {
    uint16_t x, y;
    uint8_t in, vc;
};

/* Looks for channels that can wait for each other in a circle under the plan's topology, routing and channels; fills
 * `circle` (of struct flex_channel) with one if there is any. */
bool flex_find_circle(const struct flex_plan *plan, GArray *circle);
