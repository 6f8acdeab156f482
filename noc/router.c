/* The reference router; see router.h. Section numbers are those of noc-and-memory. */
#include "noc/router.h"

#include <stdio.h>

#include "noc/boundary.h"
#include "noc/mesh.h"

/* First input at or after the pointer, for every set of requesting inputs (§3.5). */
#define FROM(p, r)                                                                                                     \
    ((r) >> (p)&1                          ? (p)                                                                       \
     : (r) >> ((p) + 1) % ROUTER_PORTS & 1 ? ((p) + 1) % ROUTER_PORTS                                                  \
     : (r) >> ((p) + 2) % ROUTER_PORTS & 1 ? ((p) + 2) % ROUTER_PORTS                                                  \
     : (r) >> ((p) + 3) % ROUTER_PORTS & 1 ? ((p) + 3) % ROUTER_PORTS                                                  \
                                           : ((p) + 4) % ROUTER_PORTS)
#define FROM4(p, r) FROM(p, r), FROM(p, r + 1), FROM(p, r + 2), FROM(p, r + 3)
#define FROM32(p)                                                                                                      \
    { FROM4(p, 0), FROM4(p, 4), FROM4(p, 8), FROM4(p, 12), FROM4(p, 16), FROM4(p, 20), FROM4(p, 24), FROM4(p, 28) }
static const uint8_t first_from[ROUTER_PORTS][1 << ROUTER_PORTS] = {FROM32(0), FROM32(1), FROM32(2), FROM32(3),
                                                                    FROM32(4)};

uint32_t router_destination(const struct mesh *mesh, unsigned dst_x, unsigned dst_y) {
    unsigned cx = CLAMP(dst_x, 1, mesh->nx), cy = CLAMP(dst_y, 1, mesh->ny), last = PORT_LOCAL;
    if (dst_x != cx) /* the outward hop, x first */
        last = dst_x < cx ? PORT_WEST : PORT_EAST;
    else if (dst_y != cy)
        last = dst_y < cy ? PORT_NORTH : PORT_SOUTH;
    return cx | cy << TAG_X_BITS | last << TAG_LAST_SHIFT;
}

unsigned router_route(const struct router *router, uint32_t destination) {
    unsigned cx = destination & TAG_COORDINATE_MASK, cy = destination >> TAG_X_BITS & TAG_COORDINATE_MASK;
    unsigned route = destination >> TAG_LAST_SHIFT & 7; /* selections, not branches: nothing predicts them */
    route = cy < router->y ? PORT_NORTH : route;
    route = cy > router->y ? PORT_SOUTH : route;
    route = cx < router->x ? PORT_WEST : route;
    return cx > router->x ? PORT_EAST : route;
}

void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t stamp) {
    struct mesh_part *part = router->part;
    struct router_input *in = router_input(router, input);
    unsigned route = router_route(router, destination);
    unsigned held = router_input_held(router, input, stamp) + 1; /* alike on both sides of a pop in the same cycle */
    unsigned tail = in->head + in->count;
    if (tail >= part->capacity)
        tail -= part->capacity;
    in->ring[tail] = (struct router_word){flit, destination | route << TAG_ROUTE_SHIFT};
    in->count++;
    in->peak = (uint16_t)MAX(in->peak, held);
    in->flits++;
    mesh_arrive(part, router->index, input, stamp + part->fall_through);
}

static const char *router_name(const struct router *router, char name[32]) {
    snprintf(name, 32, "router(%u,%u)", router->x, router->y);
    return name;
}

static void lose(struct router *router, flit_index index, cycle_t now) {
    struct mesh_part *part = router->part;
    const struct flit *flit = flit_at(part->pool, index);
    char name[32];
    part->lost++;
    hazard_report(part->mesh->hazards, "route.sink", now, router_name(router, name),
                  "a flit for (%u,%u) left by a side with nothing attached and is lost", flit->dst_x, flit->dst_y);
    flit_free(part->pool, index);
}

static bool hand_to_boundary(struct boundary *link, struct router_word word, cycle_t now) {
    if (boundary_full(link, now))
        return false;
    boundary_push(link, word.flit, word.tag & TAG_DESTINATION_MASK, now);
    mesh_wake_peer(link, now);
    return true;
}

/* Hands a valid output register to the receiver; false if it refuses. */
static inline bool hand_over(struct router *router, unsigned output, cycle_t now) {
    struct mesh_part *part = router->part;
    const struct router_output *out = &router->out[output];
    if (out->kind == LINK_ROUTER) {
        struct router *next = &part->routers[out->target];
        if (router_input_held(next, out->input, now) >= part->capacity)
            return false;
        router_push(next, out->input, out->word.flit, out->word.tag & TAG_DESTINATION_MASK, now);
        return true;
    }
    if (out->kind == LINK_BOUNDARY)
        return hand_to_boundary(part->mesh->boundaries[out->target], out->word, now);
    if (out->kind == LINK_TIED) {
        lose(router, out->word.flit, now);
        return true;
    }
    const struct link_sink *sink = &router->end[output].sink;
    if (!sink->accepts(sink->self, flit_at(part->pool, out->word.flit), now))
        return false;
    sink->deliver(sink->self, out->word.flit, now);
    return true;
}

/* Words that have come through their FIFO in this cycle. */
static inline void arrive(struct router *router, unsigned arrivals) {
    for (; arrivals; arrivals &= arrivals - 1) {
        unsigned input = (unsigned)__builtin_ctz(arrivals);
        struct router_input *in = router_input(router, input);
        unsigned place = in->head + in->readable++;
        if (place >= router->part->capacity)
            place -= router->part->capacity;
        unsigned route = in->ring[place].tag >> TAG_ROUTE_SHIFT;
        in->behind[route]++;
        in->behind_any |= 1u << route;
        router->readable |= 1u << input;
    }
}

static void illegal_turn(const struct router *router, unsigned input, unsigned output, cycle_t now) {
    char name[32];
    hazard_fatal(router->part->mesh->hazards, "route.illegal_turn", now, router_name(router, name),
                 "a flit on input %u wants output %u, a turn the crossbar omits", input, output);
}

static inline void load_slot(struct router *router, unsigned input, cycle_t now) {
    struct router_input *in = router_input(router, input);
    in->slot = in->ring[in->head];
    unsigned route = in->slot.tag >> TAG_ROUTE_SHIFT;
    router->request[route] |= 1u << input;
    router->wanted |= 1u << route;
    router->occupied |= 1u << input;
    router->popped |= 1u << input;
    if (--in->behind[route] == 0)
        in->behind_any &= ~(1u << route);
    if (--in->readable == 0)
        router->readable &= ~(1u << input);
    if (--in->count == 0)
        in->head = 0; /* keeps a lightly used ring in its first cache line */
    else if (++in->head == router->part->capacity)
        in->head = 0;
    if (router->shared >> input & 1)
        boundary_pop(router->feed[input], now);
    if (!(router->allowed[route] >> input & 1))
        illegal_turn(router, input, route, now);
}

/* The grants of a cycle; returns the inputs whose slot was emptied and sets the outputs that could have loaded one
 * but did not. */
static inline unsigned grant(struct router *router, cycle_t now, unsigned phase, unsigned *idle) {
    unsigned taken = 0, busy = 0;
    for (unsigned work = router->valid | router->wanted; work; work &= work - 1) {
        unsigned output = (unsigned)__builtin_ctz(work), bit = 1u << output;
        bool held = router->valid & bit;
        if (held) {
            if (!hand_over(router, output, now)) {
                router->out[output].counts.busy++;
                busy |= bit;
                continue;
            }
            router->out[output].counts.flits++;
            router->part->hops++;
            router->valid &= ~bit;
        }
        unsigned requests = router->request[output] & router->allowed[output];
        if (!requests)
            continue;
        unsigned input = first_from[phase][requests];
        if (held)
            router->out[output].counts.chained++;
        if (requests & (requests - 1))
            router->out[output].counts.lost += (unsigned)__builtin_popcount(requests) - 1;
        router->out[output].word = router_input(router, input)->slot;
        router->valid |= bit;
        router->request[output] &= ~(1u << input);
        if (!router->request[output])
            router->wanted &= ~bit;
        taken |= 1u << input;
        busy |= bit;
    }
    *idle = ALL_PORTS & ~busy;
    return taken;
}

/* Slots that kept their flit. */
static inline void note_blocked(struct router *router, unsigned waiting, unsigned idle, cycle_t now) {
    for (; waiting; waiting &= waiting - 1) {
        unsigned input = (unsigned)__builtin_ctz(waiting);
        router->blocked[input]++;
        if (router_input(router, input)->behind_any & idle) {
            router->hol_blocked[input]++;
            mesh_note_hol(router->part, now);
        }
    }
}

bool router_step(struct router *router, cycle_t now, unsigned phase, unsigned arrivals) {
    unsigned idle, taken = 0;
    arrive(router, arrivals);
    router->stepped = now;
    router->popped = 0;
    if (router->valid | router->wanted) {
        taken = grant(router, now, phase, &idle);
        note_blocked(router, router->occupied & ~taken, idle, now);
        router->occupied &= ~taken;
    }
    for (unsigned open = router->readable & ~router->occupied; open; open &= open - 1)
        load_slot(router, (unsigned)__builtin_ctz(open), now);
    return router->occupied | router->valid;
}
