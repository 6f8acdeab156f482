/* What a what-if network is made of before anything moves: which routers exist, what hangs on their ports, by which
 * ports a flit may leave, and which virtual channels it may use. Both the running network (flex_router.h) and the
 * deadlock analysis (flex_deadlock.c) follow this one description.
 *
 * Ports of a router: 0..3 are the sides north, east, south, west; then one local port an endpoint (one on a mesh,
 * `concentration` of them on a concentrated mesh); then, on a concentrated mesh only, ports for the edge places that
 * find their side taken by the first edge place of the block. A lane is one virtual channel of one port. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/flit.h"
#include "model/machine.h"

enum {
    FLEX_SIDES = 4,      /* ports 0..3, in the order of enum routing_side */
    FLEX_MAX_LANES = 64, /* ports times virtual channels of a router: request sets are 64-bit */
    FLEX_MAX_VCS = 8,
    FLEX_COORDINATE_BITS = 12,
    FLEX_MAX_SIDE = (1 << FLEX_COORDINATE_BITS) - 2, /* columns or rows */
    FLEX_COORDINATE_MASK = (1 << FLEX_COORDINATE_BITS) - 1,
    FLEX_PORT_SHIFT = 2 * FLEX_COORDINATE_BITS,
};

/* Where a flit leaves the network: router x, router y and output port there, packed as above. */
typedef uint32_t flex_dest;

struct flex_plan;

/* Set of output ports (a bit each) by which a flit that came in by port `in` of router (x,y) may leave. */
typedef uint32_t flex_route_fn(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest);

struct flex_plan {
    unsigned nx, ny;           /* endpoints at (1..nx, 1..ny) */
    unsigned columns, rows;    /* routers at (1..columns, 1..rows) */
    unsigned block_x, block_y; /* endpoints of one router, across and down */
    unsigned ports, vcs, lanes;
    unsigned groups;                 /* sets of channels a flit can be bound to at an output */
    uint8_t group_vcs[FLEX_MAX_VCS]; /* channels of a group, a bit each */
    unsigned dateline;               /* channels below the dateline of a torus; 0: no dateline */
    bool torus;
    int assignment; /* enum vc_assignment */
    flex_route_fn *route;
    const struct routing_table *table;
    flex_dest *dest; /* by place, y * (nx + 2) + x */
};

void flex_plan_init(struct flex_plan *plan, const struct machine *machine);
void flex_plan_clear(struct flex_plan *plan);

/* True for coordinates where an endpoint can be: local places, and on anything but a torus edge places. */
bool flex_plan_has_place(const struct flex_plan *plan, unsigned x, unsigned y);

/* Where flits for a place leave. Coordinates outside resolve as noc-and-memory §3.3 says. */
flex_dest flex_plan_dest(const struct flex_plan *plan, unsigned x, unsigned y);

/* The router behind a side of router (x,y); false if there is none. */
bool flex_plan_neighbour(const struct flex_plan *plan, unsigned x, unsigned y, unsigned side, unsigned *to_x,
                         unsigned *to_y);

/* Group of channels for a flit in channel vc of port in of router (x,y) that leaves by port out. */
unsigned flex_plan_group(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, unsigned vc, unsigned out);

/* Channel of a flit at its first router, for every assignment but VC_FREE. */
unsigned flex_plan_vc(const struct flex_plan *plan, const struct flit *flit);

/* Ports, channels and groups that a parameter set asks for, without building anything: for range checks. */
unsigned flex_plan_ports(const struct machine *machine);
unsigned flex_plan_columns(const struct machine *machine);
unsigned flex_plan_rows(const struct machine *machine);

/* "north", "local", "local 2", "edge 0"; in a static table. */
const char *flex_port_name(const struct flex_plan *plan, unsigned port);

static inline unsigned flex_opposite(unsigned side) {
    return side ^ 2;
}

static inline unsigned flex_dest_x(flex_dest dest) {
    return dest & FLEX_COORDINATE_MASK;
}

static inline unsigned flex_dest_y(flex_dest dest) {
    return dest >> FLEX_COORDINATE_BITS & FLEX_COORDINATE_MASK;
}

static inline unsigned flex_dest_port(flex_dest dest) {
    return dest >> FLEX_PORT_SHIFT;
}

/* flex_routing.c */
flex_route_fn *flex_route_of(int routing);
