/* The reference router; see router.h. Section numbers are those of noc-and-memory. */
#include "noc/router.h"

#include "noc/mesh.h"

/* First input at or after the pointer, for every set of requesting inputs (§3.5). */
static uint8_t first_from(unsigned phase, unsigned requests) {
    unsigned turned = (requests >> phase | requests << (ROUTER_PORTS - phase)) & 0x1F;
    unsigned input = phase + (unsigned)__builtin_ctz(turned);
    return input >= ROUTER_PORTS ? input - ROUTER_PORTS : input;
}

unsigned router_route(const struct router *router, unsigned dst_x, unsigned dst_y) {
    unsigned mx = router->x, my = router->y;
    unsigned cx = CLAMP(dst_x, 1, router->mesh->nx), cy = CLAMP(dst_y, 1, router->mesh->ny);
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

void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t now) {
    struct mesh *mesh = router->mesh;
    unsigned route =
        router_route(router, destination & TAG_COORDINATE_MASK, destination >> TAG_X_BITS & TAG_COORDINATE_MASK);
    cycle_t ready = now + mesh->fall_through;
    struct fifo_entry *entry = fifo_push(&router->fifo[input], flit, ready);
    entry->tag = destination | route << TAG_ROUTE_SHIFT;
    router->stored |= 1u << input;
    router->in_counts[input].flits++;
    mesh_mark(mesh, router->index, ready);
}

/* Hands a valid output register to the receiver; false if it refuses. */
static bool hand_over(struct router *router, unsigned output, cycle_t now) {
    struct router_link *link = &router->out[output];
    flit_index flit = router->output_flit[output];
    if (link->router) {
        if (fifo_full(&link->router->fifo[link->input], now))
            return false;
        router_push(link->router, link->input, flit, router->output_tag[output] & ((1u << TAG_ROUTE_SHIFT) - 1), now);
        return true;
    }
    struct flit_pool *pool = router->mesh->pool;
    if (link->tied) {
        router->mesh->lost++;
        hazard_report(router->mesh->hazards, "route.sink", now, "mesh",
                      "a flit for (%u,%u) left router (%u,%u) by a side with nothing attached and is lost",
                      flit_at(pool, flit)->dst_x, flit_at(pool, flit)->dst_y, router->x, router->y);
        flit_free(pool, flit);
        return true;
    }
    if (!link->sink.accepts(link->sink.self, flit_at(pool, flit), now))
        return false;
    link->sink.deliver(link->sink.self, flit, now);
    return true;
}

/* Is there a readable flit behind the slot that wants one of the free outputs? */
static bool head_blocks_others(const struct router *router, unsigned input, unsigned free_outputs, cycle_t now) {
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

static void load_slot(struct router *router, unsigned input, cycle_t now) {
    const struct fifo_entry *entry = fifo_head(&router->fifo[input]);
    unsigned route = entry->tag >> TAG_ROUTE_SHIFT;
    router->slot_flit[input] = entry->flit;
    router->slot_tag[input] = entry->tag;
    router->request[route] |= 1u << input;
    router->wanted |= 1u << route;
    router->occupied |= 1u << input;
    fifo_pop(&router->fifo[input], now);
    if (!router->fifo[input].count)
        router->stored &= ~(1u << input);
    if (!(router->allowed[route] >> input & 1))
        hazard_fatal(router->mesh->hazards, "route.illegal_turn", now, "mesh",
                     "a flit on input %u of router (%u,%u) wants output %u, a turn the crossbar omits", input,
                     router->x, router->y, route);
}

bool router_step(struct router *router, cycle_t now, unsigned phase) {
    unsigned taken = 0, loadable = 0x1F, granted = 0;
    for (unsigned work = router->valid | router->wanted; work; work &= work - 1) {
        unsigned output = __builtin_ctz(work), bit = 1u << output;
        bool held = router->valid & bit;
        if (held) {
            if (!hand_over(router, output, now)) {
                router->out_counts[output].busy++;
                loadable &= ~bit;
                continue;
            }
            router->out_counts[output].flits++;
            router->mesh->hops++;
            router->valid &= ~bit;
        }
        unsigned requests = router->request[output] & router->allowed[output];
        if (!requests)
            continue;
        unsigned input = first_from(phase, requests);
        router->out_counts[output].bare += !held;
        router->output_flit[output] = router->slot_flit[input];
        router->output_tag[output] = router->slot_tag[input];
        router->valid |= bit;
        router->request[output] &= ~(1u << input);
        if (!router->request[output])
            router->wanted &= ~bit;
        taken |= 1u << input;
        granted |= bit;
    }
    for (unsigned waiting = router->occupied & ~taken; waiting; waiting &= waiting - 1) {
        unsigned input = __builtin_ctz(waiting);
        router->in_counts[input].blocked++;
        router->in_counts[input].refused += !(loadable >> (router->slot_tag[input] >> TAG_ROUTE_SHIFT) & 1);
        if ((router->stored >> input & 1) && head_blocks_others(router, input, loadable & ~granted, now))
            router->in_counts[input].hol_blocked++;
    }
    router->occupied &= ~taken;
    for (unsigned open = router->stored & ~router->occupied; open; open &= open - 1) {
        unsigned input = __builtin_ctz(open);
        if (fifo_head(&router->fifo[input])->ready <= now)
            load_slot(router, input, now);
    }
    return router->occupied | router->valid;
}
