/* Building, attaching and stepping the what-if network; see flex.h. */
#include "noc/flex.h"

#include "noc/flex_router.h"

/* What the state of the routers is cut from, a block a kind. */
enum arena {
    ARENA_ENTRIES,
    ARENA_SLOTS,
    ARENA_LANES,
    ARENA_OUTPUTS,
    ARENA_STAGES,
    ARENA_CREDITS,
    ARENA_GRANTS,
    ARENA_PORTS,
};

static unsigned wraps_of(const struct flex_plan *plan, unsigned x, unsigned y) {
    if (!plan->torus)
        return 0;
    return (y == 1) | (x == plan->columns) << 1 | (y == plan->rows) << 2 | (x == 1) << 3;
}

static void init_kind(const struct flex_plan *plan, struct flex_kind *kind, unsigned x, unsigned y) {
    if (kind->group)
        return;
    kind->group = g_new0(uint8_t, plan->lanes * plan->ports);
    kind->lanes_of = g_new0(uint64_t, plan->ports * plan->groups);
    for (unsigned lane = 0; lane < plan->lanes; lane++)
        for (unsigned out = 0; out < plan->ports; out++) {
            unsigned group = flex_plan_group(plan, x, y, lane / plan->vcs, lane % plan->vcs, out);
            kind->group[lane * plan->ports + out] = (uint8_t)group;
            kind->lanes_of[out * plan->groups + group] |= UINT64_C(1) << lane;
        }
}

static void init_lane(const struct flex *net, struct flex_lane *lane, size_t index, bool from_router) {
    *lane = (struct flex_lane){.pop_cycle = CYCLE_NEVER, .landing = FLEX_NONE};
    lane->entry = (struct flex_entry *)net->arena[ARENA_ENTRIES] + index * net->capacity;
    for (unsigned i = 0; i < net->capacity; i++)
        lane->entry[i].next = i + 1;
    lane->slot = (struct flex_slot *)net->arena[ARENA_SLOTS] + index * net->slots;
    if (net->wire && from_router)
        lane->credit = (cycle_t *)net->arena[ARENA_CREDITS] + index * net->capacity;
}

static void init_output(struct flex *net, struct flex_router *router, unsigned port) {
    const struct flex_plan *plan = &net->plan;
    struct flex_output *out = &router->out[port];
    size_t index = (size_t)router->index * plan->ports + port;
    unsigned to_x, to_y;
    out->stage = (struct flex_stage *)net->arena[ARENA_STAGES] + index * plan->vcs * net->stages;
    if (net->arena[ARENA_GRANTS])
        out->granted = (uint64_t *)net->arena[ARENA_GRANTS] + index * plan->lanes;
    if (flex_plan_neighbour(plan, router->x, router->y, port, &to_x, &to_y)) {
        out->to = &net->routers[(to_y - 1) * plan->columns + to_x - 1];
        out->to_port = (uint8_t)flex_opposite(port);
    }
    out->tied = !out->to;
}

static void init_router(struct flex *net, uint32_t index) {
    const struct flex_plan *plan = &net->plan;
    struct flex_router *router = &net->routers[index];
    *router = (struct flex_router){.net = net,
                                   .index = index,
                                   .x = (uint16_t)(index % plan->columns + 1),
                                   .y = (uint16_t)(index / plan->columns + 1)};
    router->kind = &net->kinds[wraps_of(plan, router->x, router->y)];
    init_kind(plan, &net->kinds[wraps_of(plan, router->x, router->y)], router->x, router->y);
    router->lane = (struct flex_lane *)net->arena[ARENA_LANES] + (size_t)index * plan->lanes;
    router->out = (struct flex_output *)net->arena[ARENA_OUTPUTS] + (size_t)index * plan->ports;
    router->port = (struct flex_port *)net->arena[ARENA_PORTS] + (size_t)index * plan->ports;
    for (unsigned port = 0; port < plan->ports; port++) {
        router->port[port].inlet = (struct flex_inlet){router, (uint8_t)port};
        init_output(net, router, port);
        for (unsigned vc = 0; vc < plan->vcs; vc++) {
            unsigned lane = port * plan->vcs + vc;
            init_lane(net, &router->lane[lane], (size_t)index * plan->lanes + lane, router->out[port].to);
        }
    }
}

/* The wheel has to reach as far ahead as a flit may be stamped. */
static void init_wheel(struct flex *net, const struct noc_params *noc) {
    unsigned serial = (noc->link_period + noc->link_width - 1) / noc->link_width;
    net->wheel = 2;
    while (net->wheel <= noc->fall_through + noc->link_latency + serial + 1)
        net->wheel *= 2;
    net->words = (net->count + 63) / 64;
    net->due = g_new0(uint64_t, (size_t)net->wheel * net->words);
    net->any = g_new0(bool, net->wheel);
}

static void init_arena(struct flex *net, const struct noc_params *noc) {
    size_t lanes = (size_t)net->count * net->plan.lanes, ports = (size_t)net->count * net->plan.ports;
    net->arena[ARENA_ENTRIES] = g_new(struct flex_entry, lanes * net->capacity);
    net->arena[ARENA_SLOTS] = g_new0(struct flex_slot, lanes * net->slots);
    net->arena[ARENA_LANES] = g_new(struct flex_lane, lanes);
    net->arena[ARENA_OUTPUTS] = g_new0(struct flex_output, ports);
    net->arena[ARENA_STAGES] = g_new0(struct flex_stage, ports * net->plan.vcs * net->stages);
    net->arena[ARENA_PORTS] = g_new0(struct flex_port, ports);
    if (net->wire)
        net->arena[ARENA_CREDITS] = g_new0(cycle_t, lanes * net->capacity);
    if (noc->arbitration == ARBITRATION_MATRIX)
        net->arena[ARENA_GRANTS] = g_new0(uint64_t, ports * net->plan.lanes);
}

void flex_init(struct flex *net, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards) {
    const struct noc_params *noc = &machine->noc;
    *net = (struct flex){.fall_through = noc->fall_through,
                         .capacity = noc->fifo_depth + noc->fifo_extra,
                         .stages = noc->pipeline + 1,
                         .slots = noc->holding_slots,
                         .slot_per_output = noc->holding_slots == 0,
                         .link_latency = noc->link_latency,
                         .link_width = noc->link_width,
                         .link_period = noc->link_period,
                         .wire = noc->link_latency > 0 || noc->link_period > noc->link_width,
                         .phase_base = noc->arbiter_phase,
                         .arbiter = flex_arbiter_of(noc->arbitration),
                         .pool = pool,
                         .hazards = hazards,
                         .last_hol = CYCLE_NEVER};
    flex_plan_init(&net->plan, machine);
    net->count = net->plan.columns * net->plan.rows;
    if (net->slot_per_output)
        net->slots = net->plan.ports;
    for (unsigned lane = 0; lane < net->plan.lanes; lane++)
        net->port_of[lane] = (uint8_t)(lane / net->plan.vcs);
    net->routers = g_new0(struct flex_router, net->count);
    net->kinds = g_new0(struct flex_kind, FLEX_KINDS);
    init_arena(net, noc);
    init_wheel(net, noc);
    for (uint32_t i = 0; i < net->count; i++)
        init_router(net, i);
}

void flex_clear(struct flex *net) {
    for (unsigned i = 0; i < FLEX_KINDS; i++) {
        g_free(net->kinds[i].group);
        g_free(net->kinds[i].lanes_of);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(net->arena); i++)
        g_free(net->arena[i]);
    g_free(net->kinds);
    g_free(net->routers);
    g_free(net->due);
    g_free(net->any);
    flex_plan_clear(&net->plan);
    *net = (struct flex){0};
}

static struct flex_router *router_at(const struct flex *net, unsigned x, unsigned y) {
    return &net->routers[(y - 1) * net->plan.columns + x - 1];
}

/* --- endpoints --- */

/* Channel by which a flit enters: with VC_FREE the one with most room, ties to the lower one. */
static unsigned entry_lane(const struct flex_inlet *inlet, const struct flit *flit, cycle_t now) {
    const struct flex *net = inlet->router->net;
    unsigned first = inlet->port * net->plan.vcs, chosen = first;
    if (net->plan.assignment != VC_FREE)
        return first + flex_plan_vc(&net->plan, flit);
    uint32_t best = 0;
    for (unsigned lane = first; lane < first + net->plan.vcs; lane++) {
        uint32_t room = flex_lane_room(net, &inlet->router->lane[lane], now);
        if (room > best) {
            best = room;
            chosen = lane;
        }
    }
    return chosen;
}

static bool inlet_accepts(void *self, const struct flit *flit, cycle_t now) {
    const struct flex_inlet *inlet = self;
    return flex_lane_room(inlet->router->net, &inlet->router->lane[entry_lane(inlet, flit, now)], now) > 0;
}

static void inlet_deliver(void *self, flit_index index, cycle_t now) {
    struct flex_inlet *inlet = self;
    struct flex *net = inlet->router->net;
    const struct flit *flit = flit_at(net->pool, index);
    if (!flex_has_place(net, flit->dst_x, flit->dst_y)) {
        hazard_report(net->hazards, "route.illegal_dst", now, "mesh",
                      "a flit from (%u,%u) names (%u,%u), where no endpoint can be", flit->src_x, flit->src_y,
                      flit->dst_x, flit->dst_y);
        if (net->plan.torus) { /* no side leads out of it */
            net->lost++;
            flit_free(net->pool, index);
            return;
        }
    }
    flex_router_push(inlet->router, entry_lane(inlet, flit, now), index,
                     flex_plan_dest(&net->plan, flit->dst_x, flit->dst_y), now);
    net->last_move = now;
}

struct link_sink flex_attach(struct flex *net, unsigned x, unsigned y, struct link_sink receiver) {
    g_assert(flex_has_place(net, x, y));
    flex_dest dest = flex_plan_dest(&net->plan, x, y);
    struct flex_router *router = router_at(net, flex_dest_x(dest), flex_dest_y(dest));
    struct flex_output *out = &router->out[flex_dest_port(dest)];
    out->tied = false;
    out->sink = receiver;
    return (struct link_sink){
        .self = &router->port[flex_dest_port(dest)].inlet, .accepts = inlet_accepts, .deliver = inlet_deliver};
}

flit_index flex_offered(const struct flex *net, unsigned x, unsigned y, cycle_t now) {
    flex_dest dest = flex_plan_dest(&net->plan, x, y);
    const struct flex_output *out = &router_at(net, flex_dest_x(dest), flex_dest_y(dest))->out[flex_dest_port(dest)];
    for (unsigned i = 0; i < net->plan.vcs; i++) {
        unsigned vc = (out->next_vc + i) % net->plan.vcs;
        const struct flex_stage *stage = &out->stage[vc * net->stages + out->head[vc]];
        if ((out->valid >> vc & 1) && stage->ready <= now)
            return stage->flit;
    }
    return FLIT_NONE;
}

/* --- time --- */

static cycle_t next_due(const struct flex *net, cycle_t now) {
    for (unsigned ahead = 1; ahead < net->wheel; ahead++)
        if (net->any[(now + ahead) & (net->wheel - 1)])
            return now + ahead;
    return CYCLE_NEVER;
}

cycle_t flex_step(struct flex *net, cycle_t now) {
    unsigned slot = now & (net->wheel - 1);
    if (!net->any[slot])
        return next_due(net, now);
    net->any[slot] = false;
    net->phase = (unsigned)((now + net->phase_base) % net->plan.lanes);
    uint64_t *row = &net->due[(size_t)slot * net->words];
    for (uint32_t word = 0; word < net->words; word++) {
        uint64_t bits = row[word];
        row[word] = 0;
        for (; bits; bits &= bits - 1) {
            struct flex_router *router = &net->routers[word * 64 + (unsigned)__builtin_ctzll(bits)];
            net->steps++;
            if (flex_router_step(router, now))
                flex_mark(net, router->index, now + 1);
        }
    }
    return next_due(net, now);
}

/* --- what others may know --- */

static unsigned slots_held(const struct flex *net, const struct flex_lane *lane) {
    return net->slot_per_output ? (unsigned)__builtin_popcount(lane->slots_used) : lane->slots_used;
}

uint64_t flex_held(const struct flex *net) {
    uint64_t held = 0;
    for (uint32_t i = 0; i < net->count; i++) {
        const struct flex_router *router = &net->routers[i];
        for (unsigned lane = 0; lane < net->plan.lanes; lane++)
            held += router->lane[lane].count + slots_held(net, &router->lane[lane]);
        for (unsigned port = 0; port < net->plan.ports; port++)
            for (unsigned vc = 0; vc < net->plan.vcs; vc++)
                held += router->out[port].count[vc];
    }
    return held;
}

struct flex_input_counts flex_input(const struct flex *net, unsigned x, unsigned y, unsigned port) {
    const struct flex_router *router = router_at(net, x, y);
    struct flex_input_counts counts = router->port[port].in;
    for (unsigned vc = 0; vc < net->plan.vcs; vc++) {
        const struct flex_lane *lane = &router->lane[port * net->plan.vcs + vc];
        counts.max_depth = MAX(counts.max_depth, MAX(lane->peak, lane->arrived));
    }
    return counts;
}

struct flex_output_counts flex_output(const struct flex *net, unsigned x, unsigned y, unsigned port) {
    return router_at(net, x, y)->port[port].out;
}
