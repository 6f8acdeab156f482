/* A rectangle of routers at (1..nx, 1..ny) and what is attached to it (noc-and-memory §1.1). Endpoints sit on local
 * ports and on the outward sides of the border routers. A router is stepped only in cycles in which it can have work.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/router.h"

struct mesh {
    unsigned nx, ny;
    unsigned fall_through;
    unsigned phase_base; /* arbitration pointer in cycle 0 */
    struct router *routers;
    uint32_t count;
    struct flit_pool *pool;
    struct hazard_log *hazards;
    /* Due wheel: bit a router, a row a cycle modulo `wheel`. */
    unsigned wheel; /* power of two above fall_through */
    uint32_t words;
    uint64_t *due;
    bool *any;
    cycle_t *group_due; /* earliest due of the actor that hosts the mesh */
    uint64_t lost;      /* flits given to tied-off links */
    uint64_t hops;      /* flits moved by a router to its output link */
    uint64_t steps;
};

void mesh_init(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards);
void mesh_clear(struct mesh *mesh);

/* True for router coordinates and edge places that are no corner. */
bool mesh_has_place(const struct mesh *mesh, unsigned x, unsigned y);

/* Connects what is at place (x,y) as receiver, and returns its way in as a link. The place must exist. */
struct link_sink mesh_attach(struct mesh *mesh, unsigned x, unsigned y, struct link_sink receiver);

/* Steps every router that is due in cycle now. Returns the next cycle in which one is due, or CYCLE_NEVER. */
cycle_t mesh_step(struct mesh *mesh, cycle_t now);

/* Marks a router as due in a cycle at most `wheel` - 1 ahead. */
static inline void mesh_mark(struct mesh *mesh, uint32_t router, cycle_t at) {
    unsigned slot = at & (mesh->wheel - 1);
    mesh->due[slot * mesh->words + router / 64] |= UINT64_C(1) << (router % 64);
    mesh->any[slot] = true;
    if (mesh->group_due && at < *mesh->group_due)
        *mesh->group_due = at;
}

static inline struct router *mesh_router(const struct mesh *mesh, unsigned x, unsigned y) {
    return &mesh->routers[(y - 1) * mesh->nx + (x - 1)];
}

/* The flit offered at the start of the cycle to what is attached at place (x,y), FLIT_NONE if none. Only before the
 * routers are stepped in that cycle. */
flit_index mesh_offered(const struct mesh *mesh, unsigned x, unsigned y);

/* Flits inside routers: FIFOs, holding slots and output registers. */
uint64_t mesh_held(const struct mesh *mesh);
