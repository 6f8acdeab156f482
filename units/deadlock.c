/* The circle of waits; see deadlock.h. Everything that can wait is an actor with a number; an edge leads from who waits
 * to who holds what it waits for. */
#include "units/deadlock.h"

#include "noc/flex.h"

#include <string.h>

#include "units/cluster/cluster.h"

enum actor_kind {
    ACTOR_ENGINE,   /* control program */
    ACTOR_DISPATCH, /* dispatcher and its output */
    ACTOR_PORT,     /* a memory port's write side */
    ACTOR_EMIT,     /* a memory port's output */
    ACTOR_UNIT,     /* a unit's instruction */
    ACTOR_RECEIVE,  /* a unit's receive side, seen from the link */
    ACTOR_DRAIN,    /* a cluster's results on their way out */
    ACTOR_LINE,     /* the interlink toward the other meshes */
    ACTOR_ROUTER,   /* an input of a router: index = router * ROUTER_PORTS + input */
    ACTOR_KINDS,
};

enum {
    NOBODY = -1,
    WAITS_SHOWN = 24,
    QUEUES_SHOWN = 8,
};

struct edge {
    int from, to;
    char *what;
    cycle_t since;
};

struct search {
    struct system *system;
    cycle_t now, since;
    GArray *edges; /* of struct edge */
    int base[ACTOR_KINDS + 1];
    GArray *path;   /* of edge index */
    uint8_t *state; /* of every actor: 0 new, 1 on the path, 2 done */
};

/* ---- detection ---- */

cycle_t standstill_limit(const struct machine *machine) {
    return machine->engine.standstill_cycles + machine->memory.latency + machine->memory.row_miss +
           machine->memory.refresh_cycles + machine->agent.poll_interval;
}

bool system_standstill(const struct system *system, cycle_t now) {
    cycle_t last = system_last_progress(system);
    return now > last && now - last >= standstill_limit(system->machine);
}

/* ---- actors and edges ---- */

static int actor(const struct search *search, enum actor_kind kind, unsigned index) {
    return search->base[kind] + (int)index;
}

static void wait(struct search *search, int from, int to, cycle_t since, const char *format, ...) G_GNUC_PRINTF(5, 6);

static void wait(struct search *search, int from, int to, cycle_t since, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct edge edge = {.from = from, .to = to, .what = g_strdup_vprintf(format, args), .since = since};
    va_end(args);
    g_array_append_val(search->edges, edge);
}

static int unit_at(const struct search *search, unsigned x, unsigned y) {
    for (unsigned u = 0; u < search->system->endpoint_count; u++)
        if (search->system->endpoints[u].x == x && search->system->endpoints[u].y == y)
            return (int)u;
    return NOBODY;
}

static struct cluster *cluster_of(const struct endpoint *endpoint) {
    return endpoint->type == &unit_type_cluster ? endpoint->unit : NULL;
}

static int router_actor(const struct search *search, const struct router *router, unsigned input) {
    unsigned number = (router->y - 1u) * search->system->mesh.nx + (router->x - 1u);
    return actor(search, ACTOR_ROUTER, number * ROUTER_PORTS + input);
}

static int link_input(const struct search *search, const struct link_sink *out) {
    for (unsigned u = 0; u < search->system->endpoint_count; u++) /* an L2 adapter is part of the link */
        if (search->system->adapters[u] == out->self)
            out = &search->system->adapters[u]->mesh;
    const struct router_end *end = out->self;
    if (search->system->mesh.flex) /* the what-if network shows no routers */
        return NOBODY;
    return router_actor(search, end->router, end->input);
}

/* Who receives what an output of the router hands over. */
static int receiver(const struct search *search, const struct router *router, unsigned output) {
    const struct system *system = search->system;
    const struct router_output *out = &router->out[output];
    const void *sink = router->end[output].sink.self;
    if (out->kind == LINK_ROUTER)
        return router_actor(search, &router->part->routers[out->target], out->input);
    if (out->kind == LINK_BOUNDARY)
        return router_actor(search, system->mesh.boundaries[out->target]->router,
                            system->mesh.boundaries[out->target]->input);
    for (unsigned u = 0; u < system->endpoint_count; u++)
        if (sink == &system->endpoints[u] || (sink && sink == system->adapters[u]))
            return actor(search, ACTOR_RECEIVE, u);
    for (unsigned p = 0; p < system->agent.port_count; p++)
        if (sink == &system->agent.links[p])
            return actor(search, ACTOR_PORT, p);
    return NOBODY;
}

/* ---- routers ---- */

static void look_at_router(struct search *search, const struct router *router) {
    for (unsigned output = 0; output < ROUTER_PORTS; output++) {
        if (!(router->valid >> output & 1))
            continue;
        int holder = receiver(search, router, output);
        const struct flit *flit = flit_at(router->part->pool, router->out[output].word.flit);
        for (unsigned input = 0; input < ROUTER_PORTS; input++)
            if (router->occupied >> input & 1 && router_input(router, input)->slot.tag >> TAG_ROUTE_SHIFT == output)
                wait(search, router_actor(search, router, input), holder, search->since,
                     "the receiver to take a flit for (%u,%u), in front of %u more", flit->dst_x, flit->dst_y,
                     router_input(router, input)->count + 1u);
    }
}

/* ---- units ---- */

static void look_at_receive(struct search *search, unsigned u) {
    const struct endpoint *endpoint = &search->system->endpoints[u];
    const struct cluster *cluster = cluster_of(endpoint);
    int self = actor(search, ACTOR_RECEIVE, u);
    if (endpoint->inst.count >= endpoint->inst.capacity)
        wait(search, self, actor(search, ACTOR_UNIT, u), search->since,
             "room in the instruction queue: %u instructions wait", endpoint->inst.count);
    if (!endpoint->recv.count)
        return;
    const struct flit *head = flit_at(endpoint->pool, fifo_head(&endpoint->recv)->flit);
    if (head->type == FLIT_MEM_RD_RESP)
        wait(search, self, actor(search, ACTOR_UNIT, u), search->since,
             "a FILL to take the read response at its head, %u flits stored", endpoint->recv.count);
    else if (cluster && cluster->peer.pending && !drain_idle(cluster))
        wait(search, self, actor(search, ACTOR_DRAIN, u), search->since,
             "its own drain to finish before a peer sub-tile of (%u,%u) is taken, %u flits stored", cluster->peer.src_x,
             cluster->peer.src_y, endpoint->recv.count);
    else
        wait(search, self, actor(search, ACTOR_UNIT, u), search->since, "the unit to take a flit of type %u",
             head->type);
}

static void look_at_drain(struct search *search, unsigned u) {
    const struct endpoint *endpoint = &search->system->endpoints[u];
    const struct cluster *cluster = cluster_of(endpoint);
    if (!cluster || (drain_idle(cluster) && write_port_idle(cluster)))
        return;
    if (endpoint->output != FLIT_NONE) {
        const struct flit *flit = flit_at(endpoint->pool, endpoint->output);
        wait(search, actor(search, ACTOR_DRAIN, u), link_input(search, &endpoint->out), cluster->account.since,
             "the link to take a flit for (%u,%u)", flit->dst_x, flit->dst_y);
    } else {
        wait(search, actor(search, ACTOR_DRAIN, u), NOBODY, cluster->account.since,
             "%" G_GINT64_FORMAT " results that no sweep hands out", cluster->d_out);
    }
}

static void look_at_fill(struct search *search, unsigned u, const struct cluster *cluster) {
    const struct endpoint *endpoint = &search->system->endpoints[u];
    const struct machine_unit *place = cluster->context.place;
    const struct mem_port *port = &search->system->agent.ports[place->port];
    bool behind = endpoint->recv.count > 0,
         asked = port->fetch != FETCH_IDLE || port->emit_full || port->reads.count || port->output != FLIT_NONE;
    int holder = behind ? actor(search, ACTOR_RECEIVE, u) : asked ? actor(search, ACTOR_EMIT, place->port) : NOBODY;
    unsigned n = cluster->inst.n ? cluster->inst.n : 1;
    wait(search, actor(search, ACTOR_UNIT, u), holder, cluster->account.since,
         "read responses of a FILL: %u of %u entries are complete", cluster->completed, n);
}

static void look_at_unit(struct search *search, unsigned u) {
    const struct endpoint *endpoint = &search->system->endpoints[u];
    const struct cluster *cluster = cluster_of(endpoint);
    int self = actor(search, ACTOR_UNIT, u);
    if (!endpoint->in_flight && !endpoint->inst.count && !(cluster && cluster->peer.in_burst))
        return;
    if (!cluster) {
        char *what = endpoint->type->waits_for(endpoint->unit, search->now);
        if (what)
            wait(search, self, NOBODY, search->since, "%s", what);
        g_free(what);
        return;
    }
    if (cluster->state == SEQUENCER_FILL) {
        look_at_fill(search, u, cluster);
    } else if (cluster->peer.in_burst && !endpoint->recv.count) {
        int sender = unit_at(search, cluster->peer.src_x, cluster->peer.src_y);
        wait(search, self, sender == NOBODY ? NOBODY : actor(search, ACTOR_DRAIN, (unsigned)sender),
             cluster->account.since, "%u more flits of a burst of (%u,%u)", cluster->peer.left, cluster->peer.src_x,
             cluster->peer.src_y);
    } else if (cluster->state == SEQUENCER_GEMM || cluster->state == SEQUENCER_DRAIN) {
        char *what = unit_type_cluster.waits_for(cluster, search->now);
        wait(search, self, cluster->peer.open ? actor(search, ACTOR_RECEIVE, u) : actor(search, ACTOR_DRAIN, u),
             cluster->account.since, "%s", what);
        g_free(what);
    }
}

/* ---- memory ports ---- */

static bool all_slots_open(const struct mem_port *port) {
    for (unsigned s = 0; s < port->slot_count; s++)
        if (port->slots[s].state != SLOT_OPEN)
            return false;
    return true;
}

static void look_at_slots(struct search *search, const struct mem_port *port) {
    for (unsigned s = 0; s < port->slot_count; s++) {
        const struct write_slot *slot = &port->slots[s];
        if (slot->state != SLOT_OPEN)
            continue;
        int unit = unit_at(search, slot->src_x, slot->src_y);
        bool queued = port->writes.count > 0;
        bool sends = unit != NOBODY && !endpoint_quiet(&search->system->endpoints[unit]);
        int holder = queued  ? actor(search, ACTOR_PORT, port->index)
                     : sends ? actor(search, ACTOR_DRAIN, (unsigned)unit)
                             : NOBODY;
        wait(search, actor(search, ACTOR_PORT, port->index), holder, search->since,
             "%u more words of a write of (%u,%u)%s", slot->expected - slot->received, slot->src_x, slot->src_y,
             queued ? ", behind the head of its own queue" : "");
    }
}

static void look_at_port(struct search *search, const struct mem_port *port) {
    int self = actor(search, ACTOR_PORT, port->index);
    if (port->writes.count) {
        const struct flit *head = flit_at(port->pool, fifo_head(&port->writes)->flit);
        if (head->type == FLIT_MEM_WR_DATA)
            wait(search, self, NOBODY, search->since, "an open write of (%u,%u) for the word at the head of its queue",
                 head->src_x, head->src_y);
        else
            wait(search, self, self, search->since,
                 "a free write slot for (%u,%u): all %u wait for words behind this request", head->src_x, head->src_y,
                 port->slot_count);
    }
    look_at_slots(search, port);
    if (port->output != FLIT_NONE) {
        const struct flit *flit = flit_at(port->pool, port->output);
        wait(search, actor(search, ACTOR_EMIT, port->index), link_input(search, &port->out), port->account.since,
             "the mesh to take a flit of type %u for (%u,%u)", flit->type, flit->dst_x, flit->dst_y);
    }
}

/* ---- the interlink ---- */

/* The port at whose head a marked flit waits for the encapsulator; it holds the rest of the open burst up. */
static void look_at_encap(struct search *search, const struct interlink_encap *open) {
    const struct agent *agent = &search->system->agent;
    int self = actor(search, ACTOR_LINE, 0), unit = unit_at(search, open->src_x, open->src_y);
    for (unsigned p = 0; p < agent->port_count; p++) {
        flit_index offered = mesh_offered(agent->mesh, agent->ports[p].x, agent->ports[p].y, search->now);
        if (offered == FLIT_NONE || !(flit_at(agent->pool, offered)->rsvd & FLIT_RSVD_REMOTE))
            continue;
        const struct flit *flit = flit_at(agent->pool, offered);
        wait(search, actor(search, ACTOR_PORT, p), self, search->since,
             "the encapsulator, which collects a burst of (%u,%u), to take a flit of (%u,%u)", open->src_x, open->src_y,
             flit->src_x, flit->src_y);
        wait(search, self, actor(search, ACTOR_PORT, p), search->since,
             "the rest of the burst of (%u,%u) to mesh %u after %u flits: it stands behind that port", open->src_x,
             open->src_y, open->mesh, open->flits);
        return;
    }
    wait(search, self, unit == NOBODY ? NOBODY : actor(search, ACTOR_DRAIN, (unsigned)unit), search->since,
         "the rest of the burst of (%u,%u) to mesh %u after %u flits", open->src_x, open->src_y, open->mesh,
         open->flits);
}

static void look_at_interlink(struct search *search) {
    const struct interlink *interlink = search->system->agent.interlink;
    if (!interlink)
        return;
    int self = actor(search, ACTOR_LINE, 0);
    for (unsigned e = 0; e < interlink->encap_count; e++)
        if (interlink->encaps[e].open)
            look_at_encap(search, &interlink->encaps[e]);
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
            const struct interlink_slot *slot = &interlink->links[l].slots[c];
            if (slot->full && slot->credit < slot->header.beats)
                wait(search, self, NOBODY, search->since, "credit for a packet of %u beats to mesh %u: it has %u",
                     slot->header.beats, slot->header.to, slot->credit);
        }
    if (!interlink->enabled && interlink->word.waiting)
        wait(search, self, NOBODY, search->since, "being enabled again, with a word of the mover for mesh %u before it",
             interlink->word.mesh);
}

static const char *diagnose_line(const struct search *search) {
    const struct hazard_log *log = &search->system->hazards;
    return !search->system->agent.interlink           ? NULL
           : hazard_count(log, "il.encap_interleave") ? "il.encap_interleave"
           : hazard_count(log, "il.too_long")         ? "il.too_long"
                                                      : NULL;
}

/* ---- dispatcher and control program ---- */

/* A unit that still has instructions, NOBODY if none has. */
static int working_unit(const struct search *search) {
    const struct system *system = search->system;
    for (unsigned u = 0; u < system->endpoint_count; u++)
        if (system->endpoints[u].in_flight || system->endpoints[u].inst.count)
            return actor(search, ACTOR_UNIT, u);
    return NOBODY;
}

static int port_of_row(const struct agent *agent, unsigned y) {
    for (unsigned p = agent->port_count; p-- > 0;)
        if (agent->ports[p].y == y)
            return (int)p;
    return 0;
}

static bool credit_out(const struct dispatch *dispatch) {
    return dispatch->running && dispatch->credit == 0;
}

static void look_at_dispatch(struct search *search) {
    const struct agent *agent = &search->system->agent;
    const struct dispatch *dispatch = &agent->dispatch;
    int self = actor(search, ACTOR_DISPATCH, 0);
    if (dispatch->output != FLIT_NONE) {
        const struct flit *flit = flit_at(dispatch->pool, dispatch->output);
        const struct mem_port *port = &agent->ports[port_of_row(agent, flit->dst_y)];
        wait(search, self, link_input(search, &port->out), search->since, "the mesh to take an instruction for (%u,%u)",
             flit->dst_x, flit->dst_y);
    } else if (credit_out(dispatch)) {
        wait(search, self, working_unit(search), search->since,
             "an instruction's completion: credit is 0 with %u flits left", dispatch->left);
    }
}

static void look_at_engine(struct search *search) {
    const struct control *control = &search->system->agent.control;
    if (!control->busy)
        return;
    const struct control_command *command = &control->commands[control->index];
    g_autoptr(GString) name = g_string_new(NULL);
    host_register_print(command->address, name);
    const struct dispatch *dispatch = &search->system->agent.dispatch;
    int unit = working_unit(search);
    bool dispatches = dispatch->running || dispatch->output != FLIT_NONE;
    wait(search, actor(search, ACTOR_ENGINE, 0), dispatches ? actor(search, ACTOR_DISPATCH, 0) : unit, search->since,
         "command %u: %s to become 0x%" G_GINT64_MODIFIER "x under mask 0x%" G_GINT64_MODIFIER
         "x; it reads 0x%" G_GINT64_MODIFIER "x",
         control->index, name->str, command->data, command->mask, control->value);
}

/* ---- names ---- */

static char *actor_name(const struct search *search, int number) {
    static const char *const sides[ROUTER_PORTS] = {"north", "east", "south", "west", "local"};
    const struct system *system = search->system;
    unsigned kind = 0;
    while (number >= search->base[kind + 1])
        kind++;
    unsigned index = (unsigned)(number - search->base[kind]);
    switch (kind) {
    case ACTOR_ENGINE:
        return g_strdup("control program");
    case ACTOR_DISPATCH:
        return g_strdup("dispatch agent");
    case ACTOR_LINE:
        return g_strdup("interlink");
    case ACTOR_PORT:
    case ACTOR_EMIT:
        return g_strdup_printf("%s (%u,%u), %s", system->agent.ports[index].name, system->agent.ports[index].x,
                               system->agent.ports[index].y, kind == ACTOR_PORT ? "write side" : "output");
    case ACTOR_ROUTER: {
        const struct router *router = system->mesh.at[index / ROUTER_PORTS];
        return g_strdup_printf("router (%u,%u), %s input", router->x, router->y, sides[index % ROUTER_PORTS]);
    }
    default:
        return g_strdup_printf("%s (%u,%u)%s", system->endpoints[index].name, system->endpoints[index].x,
                               system->endpoints[index].y,
                               kind == ACTOR_RECEIVE ? ", receive queue"
                               : kind == ACTOR_DRAIN ? ", drain"
                                                     : "");
    }
}

/* ---- the circle ---- */

static const struct edge *edge_at(const struct search *search, guint index) {
    return &g_array_index(search->edges, struct edge, index);
}

/* Depth first from an actor; true with the circle's edges left on the path. Routers are few hops deep, so is this. */
static bool find_circle(struct search *search, int from) {
    search->state[from] = 1;
    for (guint e = 0; e < search->edges->len; e++) {
        int to = edge_at(search, e)->to;
        if (edge_at(search, e)->from != from || to == NOBODY || search->state[to] == 2)
            continue;
        g_array_append_val(search->path, e);
        if (search->state[to] == 1) {
            while (edge_at(search, g_array_index(search->path, guint, 0))->from != to)
                g_array_remove_index(search->path, 0);
            return true;
        }
        if (find_circle(search, to))
            return true;
        g_array_set_size(search->path, search->path->len - 1);
    }
    search->state[from] = 2;
    return false;
}

/* ---- diagnosis ---- */

static bool circle_has(const struct search *search, enum actor_kind kind, unsigned *count) {
    *count = 0;
    for (guint k = 0; k < search->path->len; k++) {
        int from = edge_at(search, g_array_index(search->path, guint, k))->from;
        *count += from >= search->base[kind] && from < search->base[kind + 1];
    }
    return *count > 0;
}

static const char *diagnose_circle(const struct search *search) {
    unsigned drains, others;
    if (circle_has(search, ACTOR_DRAIN, &drains))
        return drains > 1 ? "deadlock.mutual_peer" : "deadlock.self_peer";
    if (circle_has(search, ACTOR_PORT, &others))
        return "deadlock.write_slots";
    if (circle_has(search, ACTOR_RECEIVE, &others))
        return "deadlock.overseeded";
    return NULL;
}

static const char *diagnose_ports(const struct search *search) {
    const struct agent *agent = &search->system->agent;
    for (unsigned p = 0; p < agent->port_count; p++) {
        const struct mem_port *port = &agent->ports[p];
        if (port->writes.count)
            return flit_at(port->pool, fifo_head(&port->writes)->flit)->type == FLIT_MEM_WR_DATA ? "wr.orphan_data"
                   : all_slots_open(port) ? "deadlock.write_slots"
                                          : NULL;
        if (port->slots_used)
            return "wr.short";
    }
    return NULL;
}

static const char *diagnose(const struct search *search) {
    const struct system *system = search->system;
    const char *id = diagnose_line(search);
    if (!id && search->path->len)
        id = diagnose_circle(search);
    if (!id)
        id = diagnose_ports(search);
    for (unsigned u = 0; !id && u < system->endpoint_count; u++) {
        const struct endpoint *endpoint = &system->endpoints[u];
        if (endpoint->recv.count && flit_at(endpoint->pool, fifo_head(&endpoint->recv)->flit)->type == FLIT_MEM_RD_RESP)
            id = "deadlock.receive_queue";
    }
    if (!id && hazard_count(&system->hazards, "mem.unserved_aperture"))
        return "mem.unserved_aperture";
    if (id || working_unit(search) != NOBODY)
        return id;
    if (credit_out(&system->agent.dispatch))
        return "dispatch.credit_starved";
    if (!system->agent.control.busy)
        return NULL;
    if (hazard_count(&system->hazards, "ctrl.lost"))
        return "ctrl.lost";
    return hazard_count(&system->hazards, "dispatch.no_last") ? "dispatch.no_last" : "ctrl.poll_forever";
}

/* ---- the report ---- */

static void wait_free(gpointer data) {
    struct deadlock_wait *wait = data;
    g_free(wait->who);
    g_free(wait->what);
    g_free(wait->held_by);
    g_free(wait);
}

static void add_wait(struct deadlock_report *report, const struct search *search, guint e, bool in_cycle) {
    const struct edge *edge = edge_at(search, e);
    struct deadlock_wait *wait = g_new(struct deadlock_wait, 1);
    *wait = (struct deadlock_wait){.who = actor_name(search, edge->from),
                                   .what = g_strdup(edge->what),
                                   .held_by = edge->to == NOBODY ? NULL : actor_name(search, edge->to),
                                   .since = edge->since,
                                   .in_cycle = in_cycle};
    g_ptr_array_add(report->waits, wait);
}

static bool on_path(const struct search *search, guint e) {
    for (guint k = 0; k < search->path->len; k++)
        if (g_array_index(search->path, guint, k) == e)
            return true;
    return false;
}

static void add_queue(struct deadlock_report *report, const struct fifo *fifo, char *name) {
    if (fifo->count && fifo->count >= fifo->capacity)
        g_ptr_array_add(report->queues, g_strdup_printf("%s holds %u of %u", name, fifo->count, fifo->capacity));
    g_free(name);
}

static void list_input(struct deadlock_report *report, const struct search *search, const struct router *router,
                       unsigned input) {
    if (router_input(router, input)->count < router->part->capacity)
        return;
    g_autofree char *name = actor_name(search, router_actor(search, router, input));
    g_ptr_array_add(report->queues, g_strdup_printf("%s holds %u of %u", name, router_input(router, input)->count,
                                                    router->part->capacity));
}

static void list_queues(struct deadlock_report *report, const struct search *search) {
    const struct system *system = search->system;
    for (unsigned u = 0; u < system->endpoint_count; u++) {
        const struct endpoint *endpoint = &system->endpoints[u];
        add_queue(report, &endpoint->recv, g_strdup_printf("%s, receive queue", endpoint->name));
        add_queue(report, &endpoint->inst, g_strdup_printf("%s, instruction queue", endpoint->name));
    }
    for (unsigned r = 0; system->mesh.at && r < system->mesh.count; r++)
        for (unsigned input = 0; input < ROUTER_PORTS; input++)
            list_input(report, search, system->mesh.at[r], input);
}

static void look_at_all(struct search *search) {
    struct system *system = search->system;
    look_at_engine(search);
    look_at_dispatch(search);
    look_at_interlink(search);
    for (unsigned u = 0; u < system->endpoint_count; u++) {
        look_at_unit(search, u);
        look_at_receive(search, u);
        look_at_drain(search, u);
    }
    for (unsigned p = 0; p < system->agent.port_count; p++)
        look_at_port(search, &system->agent.ports[p]);
    for (unsigned r = 0; system->mesh.at && r < system->mesh.count; r++)
        look_at_router(search, system->mesh.at[r]);
}

static void number_actors(struct search *search) {
    const struct system *system = search->system;
    const unsigned sizes[ACTOR_KINDS] = {[ACTOR_ENGINE] = 1,
                                         [ACTOR_DISPATCH] = 1,
                                         [ACTOR_PORT] = system->agent.port_count,
                                         [ACTOR_EMIT] = system->agent.port_count,
                                         [ACTOR_UNIT] = system->endpoint_count,
                                         [ACTOR_RECEIVE] = system->endpoint_count,
                                         [ACTOR_DRAIN] = system->endpoint_count,
                                         [ACTOR_LINE] = 1,
                                         [ACTOR_ROUTER] = system->mesh.at ? system->mesh.count * ROUTER_PORTS : 0};
    for (unsigned kind = 0; kind < ACTOR_KINDS; kind++)
        search->base[kind + 1] = search->base[kind] + (int)sizes[kind];
    search->state = g_new0(uint8_t, (size_t)search->base[ACTOR_KINDS]);
}

static void clear_search(struct search *search) {
    for (guint e = 0; e < search->edges->len; e++)
        g_free(g_array_index(search->edges, struct edge, e).what);
    g_array_unref(search->edges);
    g_array_unref(search->path);
    g_free(search->state);
}

/* The what-if network names its own circle of channels. */
static void add_flex_waits(struct deadlock_report *report, const struct search *search) {
    struct flex *flex = search->system->mesh.flex;
    GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
    bool circle = flex_waits(flex, search->now, waits);
    for (guint i = 0; i < waits->len; i++) {
        const struct flex_wait *wait = &g_array_index(waits, struct flex_wait, i);
        struct deadlock_wait *entry = g_new0(struct deadlock_wait, 1);
        *entry = (struct deadlock_wait){
            .who = g_strdup_printf("router (%u,%u), input %u, channel %u", wait->x, wait->y, wait->in, wait->vc),
            .what = flex_wait_text(flex, wait),
            .held_by = wait->endpoint ? g_strdup("the endpoint")
                                      : g_strdup_printf("router (%u,%u), input %u, channel %u", wait->held_x,
                                                        wait->held_y, wait->held_in, wait->held_vc),
            .since = search->since,
            .in_cycle = circle};
        g_ptr_array_add(report->waits, entry);
    }
    if (circle && !report->circle)
        report->circle = waits->len;
    g_array_unref(waits);
}

void deadlock_report_init(struct deadlock_report *report, struct system *system, cycle_t since, cycle_t now) {
    struct search search = {.system = system,
                            .now = now,
                            .since = since,
                            .edges = g_array_new(FALSE, FALSE, sizeof(struct edge)),
                            .path = g_array_new(FALSE, FALSE, sizeof(guint))};
    *report = (struct deadlock_report){.waits = g_ptr_array_new_with_free_func(wait_free),
                                       .queues = g_ptr_array_new_with_free_func(g_free)};
    number_actors(&search);
    look_at_all(&search);
    for (int from = 0; from < search.base[ACTOR_KINDS] && !search.path->len; from++)
        if (!search.state[from])
            find_circle(&search, from);
    report->circle = search.path->len;
    for (guint k = 0; k < search.path->len; k++)
        add_wait(report, &search, g_array_index(search.path, guint, k), true);
    for (guint e = 0; e < search.edges->len; e++)
        if (!on_path(&search, e))
            add_wait(report, &search, e, false);
    if (system->mesh.flex)
        add_flex_waits(report, &search);
    list_queues(report, &search);
    report->id = diagnose(&search);
    if (report->id && !hazard_count(&system->hazards, report->id)) {
        const struct deadlock_wait *first = report->waits->len ? g_ptr_array_index(report->waits, 0) : NULL;
        hazard_report(&system->hazards, report->id, since, first ? first->who : "machine", "it waits for %s",
                      first ? first->what : "what never comes");
    }
    clear_search(&search);
}

void deadlock_report_clear(struct deadlock_report *report) {
    if (report->waits)
        g_ptr_array_unref(report->waits);
    if (report->queues)
        g_ptr_array_unref(report->queues);
    *report = (struct deadlock_report){0};
}

char *deadlock_report_text(const struct deadlock_report *report) {
    GString *text = g_string_new(NULL);
    guint shown = MIN(report->waits->len, MAX(report->circle, (unsigned)WAITS_SHOWN));
    if (report->id)
        g_string_append_printf(text, "%s\n", report->id);
    for (guint i = 0; i < shown; i++) {
        const struct deadlock_wait *wait = g_ptr_array_index(report->waits, i);
        g_string_append_printf(text, "%s %s waits for %s, held by %s, since cycle %" G_GUINT64_FORMAT "\n",
                               wait->in_cycle ? "->" : "  ", wait->who, wait->what,
                               wait->held_by ? wait->held_by : "nobody", wait->since);
    }
    if (shown < report->waits->len)
        g_string_append_printf(text, "   and %u more waits\n", report->waits->len - shown);
    for (guint q = 0; q < MIN(report->queues->len, (guint)QUEUES_SHOWN); q++)
        g_string_append_printf(text, "   full: %s\n", (const char *)g_ptr_array_index(report->queues, q));
    if (report->queues->len > QUEUES_SHOWN)
        g_string_append_printf(text, "   and %u more full queues\n", report->queues->len - QUEUES_SHOWN);
    return g_string_free(text, FALSE);
}
