/* One router of the what-if network; see flex_router.h. A cycle is that of noc-and-memory §3.6 with lanes for inputs
 * and channels for output registers: outputs hand over and grant, then slots that are free load from their store. */
#include "noc/flex_router.h"

static inline unsigned lowest(uint64_t set) {
    return (unsigned)__builtin_ctzll(set);
}

/* --- the store of a lane --- */

/* Drops credits that have reached the sender by cycle now. */
static void collect_credits(const struct flex *net, struct flex_lane *lane, cycle_t now) {
    while (lane->credit_count && lane->credit[lane->credit_head] + net->link_latency < now) {
        lane->credit_count--;
        if (++lane->credit_head == net->capacity)
            lane->credit_head = 0;
    }
}

uint32_t flex_lane_room(const struct flex *net, struct flex_lane *lane, cycle_t now) {
    if (lane->credit) {
        collect_credits(net, lane, now);
        return net->capacity - lane->count - lane->credit_count;
    }
    return net->capacity - lane->count - (lane->pop_cycle == now ? lane->pops : 0);
}

static void note_pop(const struct flex *net, struct flex_lane *lane, cycle_t now) {
    if (lane->credit) {
        collect_credits(net, lane, now); /* places are as many as flits and credits together */
        uint32_t tail = lane->credit_head + lane->credit_count++;
        lane->credit[tail >= net->capacity ? tail - net->capacity : tail] = now;
        return;
    }
    lane->pops = lane->pop_cycle == now ? lane->pops + 1 : 1;
    lane->pop_cycle = now;
}

/* Most flits that were in the store at once; those still on the wire do not count. */
static void note_landings(const struct flex *net, struct flex_lane *lane, cycle_t now) {
    while (lane->landing != FLEX_NONE && lane->entry[lane->landing].ready <= now + net->fall_through) {
        lane->landing = lane->entry[lane->landing].next;
        lane->arrived++;
    }
    lane->peak = MAX(lane->peak, lane->arrived);
    lane->arrived--; /* the one that leaves */
}

void flex_router_push(struct flex_router *router, unsigned lane_number, flit_index flit, flex_dest dest,
                      cycle_t arrival) {
    struct flex *net = router->net;
    struct flex_lane *lane = &router->lane[lane_number];
    unsigned port = net->port_of[lane_number];
    uint32_t place = lane->unused;
    struct flex_entry *entry = &lane->entry[place];
    lane->unused = entry->next;
    *entry = (struct flex_entry){.ready = arrival + net->fall_through,
                                 .flit = flit,
                                 .dest = dest,
                                 .want = net->plan.route(&net->plan, router->x, router->y, port, dest),
                                 .next = FLEX_NONE};
    lane->queued |= entry->want;
    if (lane->count++)
        lane->entry[lane->tail].next = place;
    else
        lane->head = place;
    lane->tail = place;
    if (!lane->credit) /* alike on both sides of a pop in the same cycle */
        lane->peak = MAX(lane->peak, lane->count + (lane->pop_cycle == arrival ? lane->pops : 0));
    else if (lane->landing == FLEX_NONE)
        lane->landing = place;
    router->stored |= UINT64_C(1) << lane_number;
    router->port[port].in.flits++;
    flex_mark(net, router->index, entry->ready);
}

/* Takes an entry out of the list; before is the one in front of it. */
static void unlink_entry(struct flex_router *router, unsigned lane_number, uint32_t place, uint32_t before,
                         cycle_t now) {
    struct flex_lane *lane = &router->lane[lane_number];
    struct flex_entry *entry = &lane->entry[place];
    if (lane->credit)
        note_landings(router->net, lane, now);
    if (before == FLEX_NONE)
        lane->head = entry->next;
    else
        lane->entry[before].next = entry->next;
    if (lane->tail == place)
        lane->tail = before;
    entry->next = lane->unused;
    lane->unused = place;
    if (--lane->count == 0) {
        lane->queued = 0;
        router->stored &= ~(UINT64_C(1) << lane_number);
    }
    note_pop(router->net, lane, now);
}

/* --- holding slots --- */

uint8_t flex_channels(const struct flex_router *router, unsigned lane, unsigned output) {
    const struct flex_plan *plan = &router->net->plan;
    return plan->group_vcs[router->kind->group[lane * plan->ports + output]];
}

const struct flex_slot *flex_slot_for(const struct flex_router *router, unsigned lane_number, unsigned output) {
    const struct flex_lane *lane = &router->lane[lane_number];
    if (router->net->slot_per_output)
        return &lane->slot[output];
    const struct flex_slot *slot = lane->slot;
    while (slot->out != output)
        slot++;
    return slot;
}

/* Room of an output for a flit of this lane: free places downstream less flits that go there already. */
static int64_t room_by(const struct flex_router *router, unsigned lane, unsigned output, cycle_t now) {
    struct flex_output *out = &router->out[output];
    unsigned vcs = router->net->plan.vcs;
    int64_t best = INT64_MIN;
    if (!out->to)
        return 0;
    for (unsigned set = flex_channels(router, lane, output); set; set &= set - 1) {
        unsigned vc = lowest(set);
        int64_t room = flex_lane_room(router->net, &out->to->lane[out->to_port * vcs + vc], now);
        best = MAX(best, room - out->count[vc]);
    }
    return best - __builtin_popcountll(out->request);
}

/* The port to take out of those that would do. */
static unsigned choose_port(const struct flex_router *router, unsigned lane, uint32_t ports, cycle_t now) {
    unsigned chosen = lowest(ports);
    if (!(ports & (ports - 1)))
        return chosen;
    int64_t best = INT64_MIN;
    for (; ports; ports &= ports - 1) {
        int64_t room = room_by(router, lane, lowest(ports), now);
        if (room > best) {
            best = room;
            chosen = lowest(ports);
        }
    }
    return chosen;
}

static void fill_slot(struct flex_router *router, unsigned lane_number, struct flex_slot *slot,
                      const struct flex_entry *entry, unsigned output) {
    *slot = (struct flex_slot){entry->flit, entry->dest, (uint8_t)output};
    router->out[output].request |= UINT64_C(1) << lane_number;
    router->wanted |= 1u << output;
    router->occupied |= UINT64_C(1) << lane_number;
}

/* One flit from the head of the store to a free slot. */
static void load_in_order(struct flex_router *router, unsigned lane_number, cycle_t now) {
    struct flex_lane *lane = &router->lane[lane_number];
    const struct flex_entry *entry = &lane->entry[lane->head];
    if (entry->ready > now)
        return;
    unsigned output = choose_port(router, lane_number, entry->want, now);
    fill_slot(router, lane_number, &lane->slot[lane->slots_used++], entry, output);
    if (lane->slots_used == router->net->slots)
        router->closed |= UINT64_C(1) << lane_number;
    unlink_entry(router, lane_number, lane->head, FLEX_NONE, now);
}

/* For each output whose slot is free the first flit in the store that wants it. */
static void load_by_output(struct flex_router *router, unsigned lane_number, cycle_t now) {
    struct flex_lane *lane = &router->lane[lane_number];
    uint32_t seen = 0;
    if (!(lane->queued & ~lane->slots_used))
        return;
    for (uint32_t place = lane->head, before = FLEX_NONE, next; place != FLEX_NONE; place = next) {
        struct flex_entry *entry = &lane->entry[place];
        uint32_t ports = entry->want & ~lane->slots_used;
        next = entry->next;
        seen |= entry->want;
        if (entry->ready > now)
            return;
        if (!ports) {
            before = place;
            continue;
        }
        unsigned output = choose_port(router, lane_number, ports, now);
        fill_slot(router, lane_number, &lane->slot[output], entry, output);
        lane->slots_used |= 1u << output;
        unlink_entry(router, lane_number, place, before, now);
    }
    lane->queued = lane->count ? seen : 0;
}

/* Empties the slot whose flit was granted. */
static void release_slot(struct flex_router *router, unsigned lane_number, unsigned output) {
    struct flex_lane *lane = &router->lane[lane_number];
    struct flex_output *out = &router->out[output];
    uint64_t bit = UINT64_C(1) << lane_number;
    out->request &= ~bit;
    router->closed &= ~bit;
    if (router->net->slot_per_output) {
        lane->slots_used &= ~(1u << output);
    } else if (router->net->slots == 1) {
        lane->slots_used = 0;
    } else {
        unsigned gone = (unsigned)(flex_slot_for(router, lane_number, output) - lane->slot);
        lane->slots_used--;
        for (unsigned i = gone; i < lane->slots_used; i++) {
            lane->slot[i] = lane->slot[i + 1];
            if (lane->slot[i].out == output)
                out->request |= bit;
        }
    }
    if (!lane->slots_used)
        router->occupied &= ~bit;
    if (!out->request)
        router->wanted &= ~(1u << output);
}

/* --- outputs --- */

/* Cycles beyond this one until a flit that starts now has crossed the link; books the link. */
static cycle_t occupy_link(const struct flex *net, struct flex_output *out, cycle_t now) {
    uint64_t start = MAX(out->link_free, now * net->link_width);
    out->link_free = start + net->link_period;
    return (out->link_free + net->link_width - 1) / net->link_width - 1 - now + net->link_latency;
}

static bool lose(struct flex_router *router, flit_index index, cycle_t now) {
    struct flex *net = router->net;
    const struct flit *flit = flit_at(net->pool, index);
    net->lost++;
    hazard_report(net->hazards, "route.sink", now, "mesh",
                  "a flit for (%u,%u) left router (%u,%u) by a side with nothing attached and is lost", flit->dst_x,
                  flit->dst_y, router->x, router->y);
    flit_free(net->pool, index);
    return true;
}

/* Hands the flit in a channel's output register to the receiver; false if it refuses. */
static bool hand_over(struct flex_router *router, struct flex_output *out, unsigned vc, const struct flex_stage *stage,
                      cycle_t now) {
    struct flex *net = router->net;
    if (out->to) {
        unsigned lane = out->to_port * net->plan.vcs + vc;
        if (!flex_lane_room(net, &out->to->lane[lane], now))
            return false;
        cycle_t arrival = net->wire ? now + occupy_link(net, out, now) : now;
        flex_router_push(out->to, lane, stage->flit, stage->dest, arrival);
        return true;
    }
    if (out->tied)
        return lose(router, stage->flit, now);
    if (!out->sink.accepts(out->sink.self, flit_at(net->pool, stage->flit), now))
        return false;
    out->sink.deliver(out->sink.self, stage->flit, now);
    return true;
}

static void drop_stage(struct flex_router *router, unsigned output, unsigned vc) {
    struct flex_output *out = &router->out[output];
    if (++out->head[vc] == router->net->stages)
        out->head[vc] = 0;
    out->full &= (uint8_t) ~(1u << vc);
    if (--out->count[vc] == 0) {
        out->valid &= (uint8_t) ~(1u << vc);
        if (!out->valid)
            router->sending &= ~(1u << output);
    }
}

/* The link takes the flit of one channel, the channels having their turns. */
static void serve_link(struct flex_router *router, unsigned output, cycle_t now) {
    struct flex *net = router->net;
    struct flex_output *out = &router->out[output];
    bool refused = false;
    if (net->wire && out->to && out->link_free >= (now + 1) * net->link_width)
        return;
    unsigned behind = out->valid & ((1u << out->next_vc) - 1u), ahead = out->valid ^ behind;
    while (ahead | behind) {
        unsigned vc = lowest(ahead ? ahead : behind);
        const struct flex_stage *stage = &out->stage[vc * net->stages + out->head[vc]];
        if (stage->ready <= now) {
            if (hand_over(router, out, vc, stage, now)) {
                drop_stage(router, output, vc);
                out->next_vc = vc + 1 == net->plan.vcs ? 0 : (uint8_t)(vc + 1);
                router->port[output].out.flits++;
                net->hops++;
                net->last_move = now;
                return;
            }
            refused = true;
        }
        if (ahead)
            ahead &= ahead - 1;
        else
            behind &= behind - 1;
    }
    router->port[output].out.busy += refused;
}

/* Lanes whose flit finds a register that takes it. */
static uint64_t grantable(const struct flex_router *router, unsigned output) {
    const struct flex_output *out = &router->out[output];
    const struct flex_plan *plan = &router->net->plan;
    if (plan->vcs == 1)
        return out->full ? 0 : out->request;
    uint64_t lanes = 0;
    for (unsigned group = 0; group < plan->groups; group++)
        if (plan->group_vcs[group] & ~out->full)
            lanes |= router->kind->lanes_of[output * plan->groups + group];
    return lanes & out->request;
}

/* The channel a granted flit takes out of those of its group: with most room, ties to the lower one. */
static unsigned choose_channel(const struct flex_router *router, unsigned lane, unsigned output, cycle_t now) {
    const struct flex_output *out = &router->out[output];
    unsigned vcs = router->net->plan.vcs, open = flex_channels(router, lane, output) & ~out->full;
    unsigned chosen = lowest(open);
    int64_t best = INT64_MIN;
    if (!(open & (open - 1)))
        return chosen;
    for (; open; open &= open - 1) {
        unsigned vc = lowest(open);
        int64_t room = -(int64_t)out->count[vc];
        if (out->to)
            room += flex_lane_room(router->net, &out->to->lane[out->to_port * vcs + vc], now);
        if (room > best) {
            best = room;
            chosen = vc;
        }
    }
    return chosen;
}

static void grant(struct flex_router *router, unsigned lane, unsigned output, cycle_t now) {
    struct flex *net = router->net;
    struct flex_output *out = &router->out[output];
    const struct flex_slot *slot = flex_slot_for(router, lane, output);
    unsigned vc = net->plan.vcs == 1 ? 0 : choose_channel(router, lane, output, now);
    unsigned place = out->head[vc] + out->count[vc];
    if (place >= net->stages)
        place -= net->stages;
    out->stage[vc * net->stages + place] = (struct flex_stage){now + net->stages, slot->flit, slot->dest};
    if (++out->count[vc] == net->stages)
        out->full |= (uint8_t)(1u << vc);
    out->valid |= (uint8_t)(1u << vc);
    router->sending |= 1u << output;
    net->last_move = now;
    release_slot(router, lane, output);
}

/* --- counters --- */

/* Is there a readable flit in the store that wants one of these outputs? */
static bool store_wants(struct flex_lane *lane, uint32_t outputs, cycle_t now) {
    uint32_t seen = 0;
    if (!(lane->queued & outputs))
        return false;
    for (uint32_t place = lane->head; place != FLEX_NONE; place = lane->entry[place].next) {
        const struct flex_entry *entry = &lane->entry[place];
        if (entry->ready > now)
            return false;
        if (entry->want & outputs)
            return true;
        seen |= entry->want;
    }
    lane->queued = seen;
    return false;
}

/* Outputs that granted nobody and have a register free for flits of this lane. */
static uint32_t free_outputs(const struct flex_router *router, unsigned lane, uint32_t granted) {
    const struct flex_plan *plan = &router->net->plan;
    uint32_t outputs = 0;
    for (unsigned output = 0; output < plan->ports; output++)
        if (flex_channels(router, lane, output) & ~router->out[output].full)
            outputs |= 1u << output;
    return outputs & ~granted;
}

static void count_waits(struct flex_router *router, uint32_t granted, uint32_t refused, cycle_t now) {
    struct flex *net = router->net;
    uint32_t blocked = 0, behind = 0, open = ~(granted | refused);
    for (uint64_t waiting = router->occupied; waiting; waiting &= waiting - 1) {
        unsigned lane = lowest(waiting);
        uint32_t port = 1u << net->port_of[lane];
        blocked |= port;
        if ((behind & port) || !((router->stored & router->closed) >> lane & 1))
            continue;
        if (net->plan.vcs > 1)
            open = free_outputs(router, lane, granted);
        if (store_wants(&router->lane[lane], open, now))
            behind |= port;
    }
    if (behind && net->last_hol != now) {
        net->last_hol = now;
        net->hol_cycles++;
    }
    for (; blocked; blocked &= blocked - 1)
        router->port[lowest(blocked)].in.blocked++;
    for (; behind; behind &= behind - 1)
        router->port[lowest(behind)].in.hol_blocked++;
}

/* --- the cycle --- */

bool flex_router_step(struct flex_router *router, cycle_t now) {
    struct flex *net = router->net;
    uint32_t granted = 0, refused = 0;
    for (uint32_t work = router->sending | router->wanted; work; work &= work - 1) {
        unsigned output = lowest(work);
        struct flex_output *out = &router->out[output];
        if (out->valid)
            serve_link(router, output, now);
        if (out->full)
            refused |= 1u << output;
        uint64_t lanes = out->request ? grantable(router, output) : 0;
        if (!lanes)
            continue;
        grant(router, net->arbiter(router, out, output, lanes, now), output, now);
        granted |= 1u << output;
    }
    if (router->occupied)
        count_waits(router, granted, refused, now);
    for (uint64_t open = router->stored & ~router->closed; open; open &= open - 1) {
        if (net->slot_per_output)
            load_by_output(router, lowest(open), now);
        else
            load_in_order(router, lowest(open), now);
    }
    return router->occupied || router->sending;
}
