/* The memory agent of one mesh: its ports, the path behind them, the dispatch agent and what else shares them
 * (noc-and-memory §6.1–6.3). One synchronous machine, because all of it meets in the same cycle. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/control.h"
#include "memory/dispatch.h"
#include "memory/dram.h"
#include "memory/path.h"
#include "memory/port.h"
#include "memory/splitter.h"
#include "noc/histogram.h"
#include "noc/interlink.h"
#include "noc/mesh.h"

enum {
    AGENT_PORTS_MAX = 4,
    AGENT_REQUESTERS_MAX = 8,
};

/* A further requester of the memory path: stepped after path_step(), once a cycle while it is due. */
struct agent_requester {
    void *self;
    cycle_t (*step)(void *self, cycle_t now);
    struct mem_requester *requester;
    cycle_t due;
};

/* Who drives the agent's window from outside: stepped first in a cycle. Returns its next due cycle. */
struct agent_host {
    void *self;
    cycle_t (*step)(void *self, cycle_t now);
    cycle_t due;
};

struct agent_port_link {
    struct agent *agent;
    unsigned port;
};

struct agent {
    struct flit_pool *pool;
    struct hazard_log *hazards;
    const struct mesh *mesh;
    struct mem_port ports[AGENT_PORTS_MAX];
    unsigned port_count;
    struct agent_port_link links[AGENT_PORTS_MAX];
    struct dram *dram;
    struct mem_path *path;
    struct mem_requester *requesters[AGENT_REQUESTERS_MAX];
    struct mem_requester silent; /* host memory window: no traffic of its own */
    struct dispatch dispatch;
    struct control control;
    struct agent_host host;
    struct agent_requester mover;
    /* Of several meshes in a line; without it none of this is touched. */
    struct interlink *interlink;
    struct splitter splitter;      /* in front of the mover's place at the path */
    struct mem_requester incoming; /* writes of other meshes */
    unsigned remote_pointer;       /* round-robin of the encapsulator over the ports */
    int remote_turn;               /* port it looks at in this cycle, -1: none */
    bool remote_taken;
    unsigned turn_pointer; /* round-robin of the agent over its ports */
    int turn;              /* port whose non-memory flit the agent takes in this cycle, -1: none */
    bool turn_taken;
    cycle_t turn_cycle;
    cycle_t due;
    cycle_t *group_due;
    struct histogram *latency;    /* FLIT_TYPES of them, or NULL */
    uint64_t agent_in, agent_out; /* flits of the dispatch agent through the ports */
    uint64_t refused_in;          /* port-cycles in which a non-memory flit was refused */
    uint64_t refused_out;         /* cycles in which the mesh refused the agent's flit */
};

/* dram must outlive the agent. mover may be NULL: its place among the requesters stays silent. */
void agent_init(struct agent *agent, const struct machine *machine, struct mesh *mesh, struct dram *dram,
                struct flit_pool *pool, struct hazard_log *hazards, const struct agent_requester *mover);
void agent_clear(struct agent *agent);

/* Makes it an interlinked agent, before the first cycle. The interlink stays the caller's. */
void agent_join_line(struct agent *agent, const struct machine *machine, struct interlink *interlink);

/* Before any router is stepped in the cycle: looks at what the port links offer. */
void agent_begin(struct agent *agent, cycle_t now);

/* After routers and units: the agent's cycle; sets agent->due. */
void agent_step(struct agent *agent, cycle_t now);

/* Lowers the agent's due cycle. */
void agent_wake(struct agent *agent, cycle_t at);

/* Nothing stored, sent or in flight in ports, path and dispatcher. */
bool agent_quiet(const struct agent *agent);
