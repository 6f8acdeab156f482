/* A rectangle of routers at (1..nx, 1..ny) and what is attached to it (noc-and-memory §1.1). Endpoints sit on local
 * ports and on the outward sides of the border routers. A router is stepped only in cycles in which it can have work.
 *
 * When a knob of noc.* asks for what the reference router lacks, the what-if network of flex.h stands in for the
 * routers, as one part; everything below works on either.
 *
 * The routers are split into parts; a part and the endpoints attached to its routers are stepped by one actor, and
 * different parts may be stepped at the same time. The split never changes a result. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/boundary.h"
#include "noc/clock.h"
#include "noc/router.h"

struct flex;
struct mesh;

/* Cycles first..last, both included. */
struct cycle_range {
    cycle_t first, last;
};

struct mesh_part {
    struct mesh *mesh;
    struct router *routers;
    uint32_t count;
    unsigned fall_through;
    unsigned capacity; /* words of an input FIFO */
    char *inputs;      /* of all routers */
    struct router_end *ends;
    struct flit_pool *pool; /* for every flit taken or freed by the part's actor */
    /* Due wheel: bit a router, a row a cycle modulo `wheel`. */
    unsigned wheel; /* power of two above fall_through + 1 */
    uint32_t words;
    uint64_t *due;
    bool *any;
    uint8_t *arrivals;          /* laid out like `due`, a byte a router: inputs with a word that becomes readable */
    cycle_t *group_due;         /* earliest due of the actor, lowered by every flit that comes in; may be NULL */
    struct clock_actor *actor;  /* woken by other parts */
    struct boundary **incoming; /* links from other parts */
    unsigned incoming_count;
    struct mesh_part **peers; /* parts this one sends to, and when it last woke each */
    cycle_t *peer_woken;
    unsigned peer_count;
    GArray *hol;    /* of struct cycle_range: cycles in which an input of the part was head-of-line blocked */
    uint64_t lost;  /* flits given to tied-off links */
    uint64_t hops;  /* flits moved by a router to its output link */
    uint64_t steps; /* router steps */
    struct flit_pool own_pool;
};

struct mesh {
    unsigned nx, ny;
    unsigned phase_base; /* arbitration pointer in cycle 0 */
    uint32_t count;
    struct router **at; /* in reading order */
    struct mesh_part *parts;
    unsigned part_count;
    struct boundary **boundaries;
    unsigned boundary_count;
    struct hazard_log *hazards;
    struct flex *flex; /* the what-if network, or NULL; `at` is then NULL and part 0 has no routers */
};

/* False with an error if these routers can't do what noc.* asks for. */
bool mesh_check(const struct machine *machine, GError **error);

/* All routers in one part. The machine has passed mesh_check. */
void mesh_init(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards);
/* part_of: a part number for every router in reading order, each of 0..parts-1 at least once. Part 0 uses `pool`. */
void mesh_init_parts(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool,
                     struct hazard_log *hazards, const uint32_t *part_of, unsigned parts);
void mesh_clear(struct mesh *mesh);

/* Fills part_of for engine.routers_per_actor and returns the number of parts. Routers marked in `pinned` (may be NULL)
 * are part 0; the others follow in groups of that many in reading order. 0 lets the program choose. */
unsigned mesh_split(const struct machine *machine, const bool *pinned, uint32_t *part_of);

/* True for router coordinates and edge places that are no corner. */
bool mesh_has_place(const struct mesh *mesh, unsigned x, unsigned y);

/* The part whose actor must step what is attached at place (x,y). */
struct mesh_part *mesh_part_at(const struct mesh *mesh, unsigned x, unsigned y);

/* Connects what is at place (x,y) as receiver, and returns its way in as a link. The place must exist. */
struct link_sink mesh_attach(struct mesh *mesh, unsigned x, unsigned y, struct link_sink receiver);

/* The flit offered at the start of the cycle to what is attached at place (x,y), FLIT_NONE if none. Only before the
 * part's routers are stepped in that cycle. */
flit_index mesh_offered(const struct mesh *mesh, unsigned x, unsigned y, cycle_t now);

/* Steps every router of a part that is due in cycle now. Returns the next cycle in which one is due, or CYCLE_NEVER. */
cycle_t mesh_part_step(struct mesh_part *part, cycle_t now);
/* The same for all parts, by one actor. */
cycle_t mesh_step(struct mesh *mesh, cycle_t now);

/* After a run: counts what is on its way between parts where it will arrive, so that figures don't show the split. */
void mesh_settle(struct mesh *mesh);

/* Marks a router as due in a cycle at most `wheel` - 1 ahead. */
static inline void mesh_mark(struct mesh_part *part, uint32_t router, cycle_t at) {
    unsigned slot = at & (part->wheel - 1);
    part->due[slot * part->words + router / 64] |= UINT64_C(1) << (router % 64);
    part->any[slot] = true;
    if (part->group_due && at < *part->group_due)
        *part->group_due = at;
}

/* A word pushed into an input FIFO of the router becomes readable in cycle at. */
static inline void mesh_arrive(struct mesh_part *part, uint32_t router, unsigned input, cycle_t at) {
    part->arrivals[(size_t)(at & (part->wheel - 1)) * part->count + router] |= 1u << input;
    mesh_mark(part, router, at);
}

/* Called by a router that has handed a flit to another part, and by one with a head-of-line blocked input. */
void mesh_wake_peer(struct boundary *link, cycle_t now);
void mesh_note_hol(struct mesh_part *part, cycle_t now);

static inline struct router *mesh_router(const struct mesh *mesh, unsigned x, unsigned y) {
    return mesh->at[(y - 1) * mesh->nx + (x - 1)];
}

/* What a router did, as figures of either network; a concentrated mesh has fewer routers than places. */
struct router_figures {
    unsigned x, y;
    struct router_input_counts in[ROUTER_PORTS];
    struct router_output_counts out[ROUTER_PORTS];
    uint32_t max_depth[ROUTER_PORTS];
    uint8_t standing; /* outputs whose register holds a flit, a bit each */
};

unsigned mesh_router_count(const struct mesh *mesh);
/* Router number `index` in reading order. */
struct router_figures mesh_figures(const struct mesh *mesh, unsigned index);

/* Flits inside routers and on the way between parts. */
uint64_t mesh_held(const struct mesh *mesh);
/* Sums over the parts. */
uint64_t mesh_hops(const struct mesh *mesh);
uint64_t mesh_steps(const struct mesh *mesh);
uint64_t mesh_lost(const struct mesh *mesh);
/* Cycles in which at least one input was head-of-line blocked: without the rule at most these could be saved. */
uint64_t mesh_hol_cycles(const struct mesh *mesh);
