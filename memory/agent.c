/* The memory agent; see agent.h. Section numbers are those of noc-and-memory. */
#include "memory/agent.h"

#include <string.h>

static bool memory_class(const struct flit *flit) {
    return flit->type == FLIT_MEM_RD_REQ || flit->type == FLIT_MEM_WR_REQ || flit->type == FLIT_MEM_WR_DATA;
}

/* The flit leaves the mesh, and there is somewhere to go. */
static bool marked(const struct agent *agent, const struct flit *flit) {
    return agent->interlink && flit->rsvd & FLIT_RSVD_REMOTE;
}

void agent_wake(struct agent *agent, cycle_t at) {
    if (at < agent->due) {
        agent->due = at;
        if (agent->group_due && at < *agent->group_due)
            *agent->group_due = at;
    }
}

/* ---- inbound share (§6.2) ---- */

static bool remote_accepts(struct agent *agent, unsigned port, const struct flit *flit, cycle_t now) {
    if (agent->turn_cycle == now && agent->remote_turn == (int)port) {
        if (interlink_takes(agent->interlink, flit))
            return true;
        interlink_refused(agent->interlink, flit, now);
    }
    agent->refused_in++;
    return false;
}

static bool link_accepts(void *self, const struct flit *flit, cycle_t now) {
    struct agent_port_link *link = self;
    struct agent *agent = link->agent;
    if (marked(agent, flit))
        return remote_accepts(agent, link->port, flit, now);
    if (memory_class(flit))
        return port_accepts(&agent->ports[link->port], now);
    if (agent->turn_cycle == now && agent->turn == (int)link->port)
        return true;
    agent->refused_in++;
    return false;
}

static void link_deliver(void *self, flit_index flit, cycle_t now) {
    struct agent_port_link *link = self;
    struct agent *agent = link->agent;
    const struct flit *arrived = flit_at(agent->pool, flit);
    if (agent->latency)
        histogram_add(&agent->latency[arrived->type], now - arrived->offered, 1);
    if (marked(agent, arrived)) {
        port_trace_flit(&agent->ports[link->port], arrived, true, now);
        interlink_take(agent->interlink, flit);
        agent->remote_taken = true;
        agent_wake(agent, now);
        return;
    }
    if (agent->interlink)
        interlink_watch(agent->interlink, arrived, now);
    if (memory_class(arrived)) {
        struct mem_port *port = &agent->ports[link->port];
        port_deliver(port, flit, now);
        agent_wake(agent, now + port->fall_through);
        return;
    }
    port_trace_flit(&agent->ports[link->port], flit_at(agent->pool, flit), true, now);
    dispatch_take(&agent->dispatch, flit, now);
    agent->agent_in++;
    agent->turn_taken = true;
    agent_wake(agent, now);
}

void agent_begin(struct agent *agent, cycle_t now) {
    agent->turn = agent->remote_turn = -1;
    agent->turn_cycle = now;
    if (agent->interlink && interlink_incoming(agent->interlink) <= now)
        agent_wake(agent, now);
    for (unsigned k = 0; k < agent->port_count; k++) {
        unsigned p = (agent->turn_pointer + k) % agent->port_count;
        flit_index offered = mesh_offered(agent->mesh, agent->ports[p].x, agent->ports[p].y, now);
        if (offered == FLIT_NONE || memory_class(flit_at(agent->pool, offered)) ||
            marked(agent, flit_at(agent->pool, offered)))
            continue;
        agent->turn = (int)p;
        break;
    }
    for (unsigned k = 0; agent->interlink && k < agent->port_count; k++) {
        unsigned p = (agent->remote_pointer + k) % agent->port_count;
        flit_index offered = mesh_offered(agent->mesh, agent->ports[p].x, agent->ports[p].y, now);
        if (offered == FLIT_NONE || !marked(agent, flit_at(agent->pool, offered)))
            continue;
        agent->remote_turn = (int)p;
        break;
    }
}

/* ---- outbound share (§6.3) ---- */

/* Port by which a flit of the agent leaves: the highest-numbered one in the destination's row, else port 0. */
static unsigned port_for_row(const struct agent *agent, unsigned y) {
    for (unsigned p = agent->port_count; p-- > 0;)
        if (agent->ports[p].y == y)
            return p;
    return 0;
}

/* Offers the dispatch agent's output register to the mesh. Returns the port whose link it uses in this cycle, -1: none.
 */
static int send_own(struct agent *agent, cycle_t now, bool *taken) {
    *taken = false;
    if (agent->dispatch.output == FLIT_NONE)
        return -1;
    const struct flit *flit = flit_at(agent->pool, agent->dispatch.output);
    unsigned p = port_for_row(agent, flit->dst_y);
    struct link_sink *out = &agent->ports[p].out;
    if (out->accepts(out->self, flit, now)) {
        if (agent->dispatch.trace)
            agent->dispatch.trace->event(agent->dispatch.trace->self, "flit on link", flit, now);
        port_trace_flit(&agent->ports[p], flit, false, now);
        out->deliver(out->self, agent->dispatch.output, now);
        agent->agent_out++;
        *taken = true;
    } else {
        agent->refused_out++;
    }
    return (int)p;
}

/* The same for what came over a link; `own` is the port whose link the dispatch agent uses. */
static int send_injected(struct agent *agent, int own, cycle_t now) {
    struct interlink_inbound *inbound = &agent->interlink->inbound;
    if (inbound->flit == FLIT_NONE)
        return -1;
    const struct flit *flit = flit_at(agent->pool, inbound->flit);
    unsigned p = port_for_row(agent, flit->dst_y);
    struct link_sink *out = &agent->ports[p].out;
    if (own == (int)p || !out->accepts(out->self, flit, now))
        return (int)p;
    port_trace_flit(&agent->ports[p], flit, false, now);
    out->deliver(out->self, inbound->flit, now);
    inbound->flit_taken = true;
    return (int)p;
}

/* ---- life ---- */

void agent_init(struct agent *agent, const struct machine *machine, struct mesh *mesh, struct dram *dram,
                struct flit_pool *pool, struct hazard_log *hazards, const struct agent_requester *mover) {
    *agent = (struct agent){.pool = pool,
                            .hazards = hazards,
                            .mesh = mesh,
                            .port_count = machine->port_count,
                            .dram = dram,
                            .turn = -1,
                            .remote_turn = -1,
                            .turn_cycle = CYCLE_NEVER,
                            .due = CYCLE_NEVER,
                            .host.due = CYCLE_NEVER,
                            .mover.due = CYCLE_NEVER};
    unsigned count = 0;
    for (unsigned p = 0; p < machine->port_count; p++) {
        struct mem_port *port = &agent->ports[p];
        port_init(port, machine, p, pool, hazards);
        port->dram = dram;
        port->ports = agent->ports;
        port->port_count = machine->port_count;
        agent->links[p] = (struct agent_port_link){agent, p};
        struct link_sink receiver = {.self = &agent->links[p], .accepts = link_accepts, .deliver = link_deliver};
        port->out = mesh_attach(mesh, port->x, port->y, receiver);
        agent->requesters[count++] = &port->requester;
    }
    agent->requesters[count++] = &agent->silent;
    if (mover)
        agent->mover = *mover;
    agent->requesters[count++] = mover ? mover->requester : &agent->silent;
    agent->path = path_new(machine, dram, agent->requesters, count);
    dispatch_init(&agent->dispatch, machine, pool, hazards);
    control_init(&agent->control, machine, &agent->dispatch);
}

void agent_join_line(struct agent *agent, const struct machine *machine, struct interlink *interlink) {
    unsigned count = agent->port_count + 2; /* ports, host window, mover */
    agent->interlink = interlink;
    for (unsigned p = 0; p < agent->port_count; p++)
        port_set_mesh(&agent->ports[p], interlink->mesh);
    splitter_init(&agent->splitter, agent->requesters[count - 1], interlink);
    agent->requesters[count - 1] = &agent->splitter.requester;
    agent->requesters[count++] = &agent->incoming;
    path_free(agent->path);
    agent->path = path_new(machine, agent->dram, agent->requesters, count);
    path_set_mesh(agent->path, interlink->mesh);
}

void agent_clear(struct agent *agent) {
    for (unsigned p = 0; p < agent->port_count; p++)
        port_clear(&agent->ports[p]);
    path_free(agent->path);
    dispatch_clear(&agent->dispatch);
    control_clear(&agent->control);
    *agent = (struct agent){0};
}

/* ---- one cycle ---- */

/* What mover and interlink offer to the memory path in this cycle. */
static void present_line(struct agent *agent) {
    const struct interlink_inbound *inbound = &agent->interlink->inbound;
    splitter_present(&agent->splitter);
    agent->incoming.write_offered = inbound->write_address;
    agent->incoming.write_address = inbound->register_address;
    agent->incoming.write_words = 1;
    agent->incoming.data_offered = inbound->write_data;
    agent->incoming.data = inbound->register_word;
}

static void step_line(struct agent *agent, cycle_t now) {
    struct interlink_inbound *inbound = &agent->interlink->inbound;
    if (agent->remote_taken) {
        agent->remote_pointer = ((unsigned)agent->remote_turn + 1) % agent->port_count;
        agent->remote_taken = false;
    }
    inbound->address_accepted = agent->incoming.write_accepted;
    inbound->data_accepted = agent->incoming.data_accepted;
    inbound->response = agent->incoming.response;
    interlink_step(agent->interlink, now);
    splitter_step(&agent->splitter);
}

void agent_step(struct agent *agent, cycle_t now) {
    bool taken, pending = false;
    int injected = -1;
    if (agent->interlink)
        interlink_begin(agent->interlink, now);
    if (agent->turn_taken) {
        agent->turn_pointer = (agent->turn + 1) % agent->port_count;
        agent->turn_taken = false;
    }
    if (agent->host.due <= now)
        agent->host.due = agent->host.step(agent->host.self, now);
    control_step(&agent->control, now);
    if (agent->control.ended && agent->host.step) {
        agent->control.ended = false;
        agent->host.due = now + 1;
    }
    int own = send_own(agent, now, &taken);
    if (agent->interlink) {
        injected = send_injected(agent, own, now);
        present_line(agent);
    }
    bool on_way = path_step(agent->path, now);
    if (agent->interlink)
        step_line(agent, now);
    for (unsigned p = 0; p < agent->port_count; p++) {
        if (port_sleeps(&agent->ports[p]))
            continue;
        port_step(&agent->ports[p], now, own == (int)p || injected == (int)p);
        pending |= !port_quiet(&agent->ports[p]);
    }
    if (agent->mover.step && (agent->mover.due <= now || on_way))
        agent->mover.due = agent->mover.step(agent->mover.self, now);
    pending |= dispatch_step(&agent->dispatch, now, taken) || on_way;
    cycle_t due = pending ? now + 1 : MIN(agent->host.due, control_due(&agent->control));
    due = MIN(due, MAX(agent->mover.due, now + 1));
    if (agent->interlink)
        due = MIN(due, interlink_due(agent->interlink, now));
    agent->due = CYCLE_NEVER;
    agent_wake(agent, MAX(due, now + 1));
}

bool agent_quiet(const struct agent *agent) {
    const struct dispatch *dispatch = &agent->dispatch;
    for (unsigned p = 0; p < agent->port_count; p++)
        if (!port_quiet(&agent->ports[p]))
            return false;
    if (agent->interlink && !(interlink_quiet(agent->interlink) && splitter_quiet(&agent->splitter)))
        return false;
    return dispatch->output == FLIT_NONE && !dispatch->transmit.count && !dispatch->running && !dispatch->push_next;
}
