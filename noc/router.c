/* The reference router; see router.h. Section numbers are those of noc-and-memory. */
#include "noc/router.h"

#include <stdio.h>

#include "noc/boundary.h"
#include "noc/mesh.h"

/* First input at or after the pointer, for every set of requesting inputs (§3.5). */
static uint8_t first_from(unsigned phase, unsigned requests) {
    unsigned turned = (requests >> phase | requests << (ROUTER_PORTS - phase)) & ALL_PORTS;
    unsigned input = phase + (unsigned)__builtin_ctz(turned);
    return input >= ROUTER_PORTS ? input - ROUTER_PORTS : input;
}

unsigned router_route(const struct router *router, unsigned dst_x, unsigned dst_y) {
    unsigned mx = router->x, my = router->y;
    unsigned cx = CLAMP(dst_x, 1, router->part->mesh->nx), cy = CLAMP(dst_y, 1, router->part->mesh->ny);
    if (cx != mx)
        return cx < mx ? PORT_WEST : PORT_EAST;
    if (cy != my)
        return cy < my ? PORT_NORTH : PORT_SOUTH;
    if (dst_x != mx) /* the outward hop, x first */
        return dst_x < mx ? PORT_WEST : PORT_EAST;
    if (dst_y != my)
        return dst_y < my ? PORT_NORTH : PORT_SOUTH;
    return PORT_LOCAL;
}

void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t stamp) {
    struct mesh_part *part = router->part;
    struct fifo *fifo = &router->fifo[input];
    unsigned route =
        router_route(router, destination & TAG_COORDINATE_MASK, destination >> TAG_X_BITS & TAG_COORDINATE_MASK);
    cycle_t ready = stamp + part->fall_through;
    uint32_t held = fifo_held(fifo, stamp) + 1; /* counted alike on both sides of a pop in the same cycle */
    fifo->peak = MAX(fifo->peak, held);
    fifo_push(fifo, flit, ready)->tag = destination | route << TAG_ROUTE_SHIFT;
    router->behind[input] += UINT64_C(1) << (route * ROUTE_COUNT_BITS);
    router->stored |= 1u << input;
    router->in_counts[input].flits++;
    mesh_mark(part, router->index, ready);
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
    const struct router_link *link = &router->out[output];
    struct router_word word = router->output[output];
    if (link->kind == LINK_ROUTER) {
        if (fifo_full(&link->router->fifo[link->input], now))
            return false;
        router_push(link->router, link->input, word.flit, word.tag & TAG_DESTINATION_MASK, now);
        return true;
    }
    if (link->kind == LINK_BOUNDARY)
        return hand_to_boundary(link->boundary, word, now);
    if (link->kind == LINK_TIED) {
        lose(router, word.flit, now);
        return true;
    }
    const struct link_sink *sink = link->sink;
    if (!sink->accepts(sink->self, flit_at(router->part->pool, word.flit), now))
        return false;
    sink->deliver(sink->self, word.flit, now);
    return true;
}

/* The fields of router->behind for a set of outputs. */
static uint64_t route_fields(unsigned outputs) {
    static const uint64_t field = (UINT64_C(1) << ROUTE_COUNT_BITS) - 1;
    uint64_t fields = 0;
    for (; outputs; outputs &= outputs - 1)
        fields |= field << (unsigned)__builtin_ctz(outputs) * ROUTE_COUNT_BITS;
    return fields;
}

/* Is there a readable flit behind the slot that wants one of the free outputs? */
static bool head_blocks_others(const struct router *router, unsigned input, unsigned free_outputs, cycle_t now) {
    if (!(router->behind[input] & route_fields(free_outputs)))
        return false;
    const struct fifo *fifo = &router->fifo[input];
    uint32_t place = fifo->head;
    for (uint32_t k = 0; k < fifo->count; k++) {
        const struct fifo_entry *entry = &fifo->ring[place];
        if (entry->ready > now)
            return false;
        if (free_outputs >> (entry->tag >> TAG_ROUTE_SHIFT) & 1)
            return true;
        if (++place == fifo->capacity)
            place = 0;
    }
    return false;
}

static void illegal_turn(const struct router *router, unsigned input, unsigned output, cycle_t now) {
    char name[32];
    hazard_fatal(router->part->mesh->hazards, "route.illegal_turn", now, router_name(router, name),
                 "a flit on input %u wants output %u, a turn the crossbar omits", input, output);
}

static inline void load_slot(struct router *router, unsigned input, cycle_t now) {
    struct fifo *fifo = &router->fifo[input];
    const struct fifo_entry *entry = fifo_head(fifo);
    unsigned route = entry->tag >> TAG_ROUTE_SHIFT;
    router->slot[input] = (struct router_word){entry->flit, entry->tag};
    router->request[route] |= 1u << input;
    router->wanted |= 1u << route;
    router->occupied |= 1u << input;
    router->behind[input] -= UINT64_C(1) << (route * ROUTE_COUNT_BITS);
    fifo_pop(fifo, now);
    if (!fifo->count)
        router->stored &= ~(1u << input);
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
        if (router->valid & bit) {
            if (!hand_over(router, output, now)) {
                router->out_counts[output].busy++;
                busy |= bit;
                continue;
            }
            router->out_counts[output].flits++;
            router->part->hops++;
            router->valid &= ~bit;
        }
        unsigned requests = router->request[output] & router->allowed[output];
        if (!requests)
            continue;
        unsigned input = first_from(phase, requests);
        router->output[output] = router->slot[input];
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

bool router_step(struct router *router, cycle_t now, unsigned phase) {
    unsigned idle, taken = grant(router, now, phase, &idle);
    for (unsigned waiting = router->occupied & ~taken; waiting; waiting &= waiting - 1) {
        unsigned input = (unsigned)__builtin_ctz(waiting);
        router->in_counts[input].blocked++;
        if ((router->stored >> input & 1) && head_blocks_others(router, input, idle, now)) {
            router->in_counts[input].hol_blocked++;
            mesh_note_hol(router->part, now);
        }
    }
    router->occupied &= ~taken;
    for (unsigned open = router->stored & ~router->occupied; open; open &= open - 1) {
        unsigned input = (unsigned)__builtin_ctz(open);
        if (fifo_head(&router->fifo[input])->ready <= now)
            load_slot(router, input, now);
    }
    return router->occupied | router->valid;
}
