/* Inside of the what-if network: state of routers, lanes and outputs. Only the flex_*.c files and white-box tests
 * include it; everybody else uses flex.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "noc/flex.h"
#include "noc/flex_plan.h"

#define FLEX_NONE UINT32_MAX

enum {
    FLEX_KINDS = 16, /* sets of sides that go round an end */
};

/* A flit in a lane's store, in a list by arrival. */
struct flex_entry {
    cycle_t ready; /* first cycle in which it can be read */
    flit_index flit;
    flex_dest dest;
    uint32_t want; /* ports by which it may leave */
    uint32_t next;
};

struct flex_slot {
    flit_index flit; /* FLIT_NONE: empty (looked at only with a slot an output) */
    flex_dest dest;
    uint8_t out;
};

/* One virtual channel of an input: a store with `capacity` places and its holding slots. A flit on the wire towards it
 * already has its place, so the places a sender may still fill are the credits it has left. */
struct flex_lane {
    struct flex_entry *entry;
    uint32_t head, tail, unused; /* first, last, first free place */
    uint32_t count;
    uint32_t pops;     /* in cycle pop_cycle: their places are free for the sender a cycle later */
    cycle_t pop_cycle; /* CYCLE_NEVER before the first */
    uint32_t queued;   /* superset of the ports wanted in the store */
    uint32_t peak;
    struct flex_slot *slot;
    uint32_t slots_used; /* their number, or with a slot an output the outputs, a bit each */
    /* Only when links have latency: */
    cycle_t *credit; /* ring of pops whose credit is still on its way back */
    uint32_t credit_head, credit_count;
    uint32_t arrived, landing; /* flits that have left the wire; first entry still on it */
};

/* A place of an output's pipeline; the last one is the output register. */
struct flex_stage {
    cycle_t ready; /* first cycle on the link */
    flit_index flit;
    flex_dest dest;
};

struct flex_output {
    uint64_t request;                                /* lanes with a slot that wants this output */
    uint8_t valid;                                   /* channels with a flit in the pipeline */
    uint8_t full;                                    /* channels whose pipeline takes no more */
    uint8_t next_vc;                                 /* which channel the link serves first */
    uint8_t next_lane;                               /* round robin: the lane after the last granted */
    uint8_t to_port;                                 /* input of the receiving router */
    bool tied;                                       /* nothing there: accepted and lost */
    uint8_t head[FLEX_MAX_VCS], count[FLEX_MAX_VCS]; /* ring in `stage`, by channel */
    struct flex_router *to;
    struct link_sink sink;
    uint64_t link_free;       /* end of the last flit on the link, in cycles times link_width */
    struct flex_stage *stage; /* [vc * net->stages + place] */
    uint64_t *granted;        /* matrix: order of the last grant, by lane */
};

/* What differs between routers of one network: which channels lead where. Shared by routers with the same wraps. */
struct flex_kind {
    uint8_t *group;     /* [lane * ports + out] */
    uint64_t *lanes_of; /* [out * groups + group]: lanes of that group */
};

/* An input as a link for endpoints. */
struct flex_inlet {
    struct flex_router *router;
    uint8_t port;
};

struct flex_port {
    struct flex_inlet inlet;
    struct flex_input_counts in;
    struct flex_output_counts out;
};

struct flex_router {
    struct flex *net;
    const struct flex_kind *kind;
    uint32_t index;
    uint16_t x, y;
    uint32_t sending;  /* outputs with a valid channel */
    uint32_t wanted;   /* outputs with a request */
    uint64_t stored;   /* lanes with a flit in the store */
    uint64_t occupied; /* lanes with a flit in a slot */
    uint64_t closed;   /* lanes without an empty slot */
    struct flex_lane *lane;
    struct flex_output *out;
    struct flex_port *port;
};

/* One lane of those that may be granted. */
typedef unsigned flex_arbiter_fn(const struct flex_router *router, struct flex_output *out, unsigned output,
                                 uint64_t lanes, cycle_t now);
flex_arbiter_fn *flex_arbiter_of(int arbitration);

/* One cycle. True if the router has to be stepped in the next cycle whatever arrives. */
bool flex_router_step(struct flex_router *router, cycle_t now);

/* Takes a flit that reaches the input in cycle `arrival`; the caller has tested flex_lane_room for cycle now. */
void flex_router_push(struct flex_router *router, unsigned lane, flit_index flit, flex_dest dest, cycle_t arrival);

/* Places a sender may still fill, as it knows in cycle now. */
uint32_t flex_lane_room(const struct flex *net, struct flex_lane *lane, cycle_t now);

/* The slot of a lane whose flit goes next to an output. */
const struct flex_slot *flex_slot_for(const struct flex_router *router, unsigned lane, unsigned output);

/* Channels by which a lane's flit may leave by an output. */
uint8_t flex_channels(const struct flex_router *router, unsigned lane, unsigned output);

/* Marks a router as due in a cycle less than `wheel` ahead. */
static inline void flex_mark(struct flex *net, uint32_t router, cycle_t at) {
    unsigned slot = at & (net->wheel - 1);
    net->due[(size_t)slot * net->words + router / 64] |= UINT64_C(1) << (router % 64);
    net->any[slot] = true;
    if (net->group_due && at < *net->group_due)
        *net->group_due = at;
}
