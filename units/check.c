/* See check.h. */
#include "units/check.h"

#include "units/cluster/cluster.h"

uint64_t system_flits_live(const struct system *system) {
    uint64_t live = 0;
    for (unsigned p = 0; p < system->mesh.part_count; p++)
        live += system->mesh.parts[p].pool->live;
    return live;
}

static uint64_t endpoint_held(const struct endpoint *endpoint) {
    uint64_t held = endpoint->inst.count + endpoint->recv.count + endpoint->completions.count;
    held += endpoint->reply != FLIT_NONE;
    bool own = endpoint->output != FLIT_NONE;
    if (endpoint->type == &unit_type_cluster) {
        const struct cluster *cluster = endpoint->unit;
        held += (cluster->request != FLIT_NONE) + (cluster->signal != FLIT_NONE);
        held += cluster->write_port != FLIT_NONE;
    }
    return held + own;
}

static uint64_t port_held(const struct mem_port *port) {
    return port->reads.count + port->writes.count + (port->output != FLIT_NONE);
}

uint64_t system_flits_held(const struct system *system) {
    const struct dispatch *dispatch = &system->agent.dispatch;
    uint64_t held = mesh_held(&system->mesh) + dispatch->transmit.count + dispatch->mailbox.count +
                    (dispatch->output != FLIT_NONE) + (dispatch->arrived != FLIT_NONE);
    for (unsigned u = 0; u < system->endpoint_count; u++)
        held += endpoint_held(&system->endpoints[u]) + (system->adapters[u] ? l2_held(system->adapters[u]) : 0);
    for (unsigned p = 0; p < system->agent.port_count; p++)
        held += port_held(&system->agent.ports[p]);
    return held;
}

static bool check_endpoint(const struct endpoint *endpoint, cycle_t now) {
    uint64_t open = endpoint->in_flight && !endpoint->pop_pending;
    uint64_t signals = endpoint->signals_sent + endpoint->completions.count;
    if (endpoint->inst_popped == endpoint->retired + open && endpoint->retired == signals)
        return true;
    hazard_report(endpoint->hazards, "cu.signal_balance", now, endpoint->name,
                  "%" G_GUINT64_FORMAT " instructions taken, %" G_GUINT64_FORMAT " retired, %" G_GUINT64_FORMAT
                  " signals made",
                  endpoint->inst_popped, endpoint->retired, signals);
    return false;
}

static bool check_port(const struct mem_port *port, cycle_t now) {
    bool writing = port->writer == WRITER_WRITE || port->writer == WRITER_WAIT;
    bool loaded = port->output != FLIT_NONE && flit_at(port->pool, port->output)->type == FLIT_MEM_WR_ACK;
    uint64_t acks = port->counts.out[FLIT_MEM_WR_ACK] + loaded;
    if (port->counts.writes_issued == acks + writing)
        return true;
    hazard_report(port->hazards, "wr.ack_balance", now, port->name,
                  "%" G_GUINT64_FORMAT " bursts issued, %" G_GUINT64_FORMAT " acknowledged", port->counts.writes_issued,
                  acks);
    return false;
}

bool system_balances(struct system *system, cycle_t now) {
    uint64_t live = system_flits_live(system), held = system_flits_held(system);
    bool balances = live == held;
    if (!balances)
        hazard_report(&system->hazards, "net.leak", now, "machine",
                      "%" G_GUINT64_FORMAT " flits are in use and %" G_GUINT64_FORMAT " stand somewhere", live, held);
    for (unsigned u = 0; u < system->endpoint_count; u++)
        balances &= check_endpoint(&system->endpoints[u], now);
    for (unsigned p = 0; p < system->agent.port_count; p++)
        balances &= check_port(&system->agent.ports[p], now);
    return balances;
}
