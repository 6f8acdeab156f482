/* The mesh; see mesh.h. Section numbers are those of noc-and-memory. */
#include "noc/mesh.h"

static const int step_x[ROUTER_PORTS] = {0, 1, 0, -1, 0};
static const int step_y[ROUTER_PORTS] = {-1, 0, 1, 0, 0};
static const unsigned opposite[ROUTER_PORTS] = {PORT_SOUTH, PORT_WEST, PORT_NORTH, PORT_EAST, PORT_LOCAL};

static bool inside(const struct mesh *mesh, int x, int y) {
    return x >= 1 && y >= 1 && x <= (int)mesh->nx && y <= (int)mesh->ny;
}

/* Inputs the crossbar connects to an output (§3.4): a side with a router behind it never turns back, and from north or
 * south never into x towards another router. */
static uint8_t allowed_inputs(const struct router *router, unsigned output) {
    uint8_t mask = 0;
    bool router_out = router->out[output].router;
    for (unsigned input = 0; input < ROUTER_PORTS; input++) {
        bool omitted = false;
        if (router->out[input].router) {
            omitted = input == output;
            if (input == PORT_NORTH || input == PORT_SOUTH)
                omitted |= router_out && (output == PORT_EAST || output == PORT_WEST);
        }
        mask |= (unsigned)!omitted << input;
    }
    return mask;
}

static void router_init(struct mesh *mesh, struct router *router, uint32_t index, unsigned capacity) {
    *router = (struct router){.mesh = mesh, .index = index, .x = index % mesh->nx + 1, .y = index / mesh->nx + 1};
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        fifo_init(&router->fifo[port], capacity);
        router->inlet[port] = (struct router_inlet){router, port};
        int x = router->x + step_x[port], y = router->y + step_y[port];
        if (port != PORT_LOCAL && inside(mesh, x, y))
            router->out[port] = (struct router_link){.router = mesh_router(mesh, x, y), .input = opposite[port]};
        else
            router->out[port] = (struct router_link){.tied = true};
    }
    for (unsigned output = 0; output < ROUTER_PORTS; output++)
        router->allowed[output] = allowed_inputs(router, output);
}

void mesh_init(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards) {
    const struct noc_params *noc = &machine->noc;
    unsigned wheel = 2;
    while (wheel <= noc->fall_through + 1)
        wheel *= 2;
    *mesh = (struct mesh){.nx = machine->nx,
                          .ny = machine->ny,
                          .count = machine->nx * machine->ny,
                          .fall_through = noc->fall_through,
                          .phase_base = noc->arbiter_phase,
                          .pool = pool,
                          .hazards = hazards,
                          .wheel = wheel};
    mesh->words = (mesh->count + 63) / 64;
    mesh->routers = g_new0(struct router, mesh->count);
    mesh->due = g_new0(uint64_t, (size_t)wheel * mesh->words);
    mesh->any = g_new0(bool, wheel);
    for (uint32_t i = 0; i < mesh->count; i++)
        router_init(mesh, &mesh->routers[i], i, noc->fifo_depth + noc->fifo_extra);
}

void mesh_clear(struct mesh *mesh) {
    for (uint32_t i = 0; i < mesh->count; i++)
        for (unsigned port = 0; port < ROUTER_PORTS; port++)
            fifo_clear(&mesh->routers[i].fifo[port]);
    g_free(mesh->routers);
    g_free(mesh->due);
    g_free(mesh->any);
    *mesh = (struct mesh){0};
}

bool mesh_has_place(const struct mesh *mesh, unsigned x, unsigned y) {
    bool column = x >= 1 && x <= mesh->nx, row = y >= 1 && y <= mesh->ny;
    return (column && y <= mesh->ny + 1) || (row && x <= mesh->nx + 1);
}

static bool inlet_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    const struct router_inlet *inlet = self;
    return !fifo_full(&inlet->router->fifo[inlet->input], now);
}

static void inlet_deliver(void *self, flit_index index, cycle_t now) {
    struct router_inlet *inlet = self;
    struct mesh *mesh = inlet->router->mesh;
    const struct flit *flit = flit_at(mesh->pool, index);
    if (!mesh_has_place(mesh, flit->dst_x, flit->dst_y))
        hazard_report(mesh->hazards, "route.illegal_dst", now, "mesh",
                      "a flit from (%u,%u) names (%u,%u), where no endpoint can be", flit->src_x, flit->src_y,
                      flit->dst_x, flit->dst_y);
    router_push(inlet->router, inlet->input, index, (uint32_t)flit->dst_x | (uint32_t)flit->dst_y << TAG_X_BITS, now);
}

/* Router and port behind which place (x,y) lies. */
static struct router *router_of_place(const struct mesh *mesh, unsigned x, unsigned y, unsigned *port) {
    *port = x == 0              ? PORT_WEST
            : x == mesh->nx + 1 ? PORT_EAST
            : y == 0            ? PORT_NORTH
            : y == mesh->ny + 1 ? PORT_SOUTH
                                : PORT_LOCAL;
    return mesh_router(mesh, CLAMP(x, 1, mesh->nx), CLAMP(y, 1, mesh->ny));
}

struct link_sink mesh_attach(struct mesh *mesh, unsigned x, unsigned y, struct link_sink receiver) {
    g_assert(mesh_has_place(mesh, x, y));
    unsigned port;
    struct router *router = router_of_place(mesh, x, y, &port);
    router->out[port] = (struct router_link){.sink = receiver};
    return (struct link_sink){.self = &router->inlet[port], .accepts = inlet_accepts, .deliver = inlet_deliver};
}

flit_index mesh_offered(const struct mesh *mesh, unsigned x, unsigned y) {
    unsigned port;
    const struct router *router = router_of_place(mesh, x, y, &port);
    return router->valid >> port & 1 ? router->output_flit[port] : FLIT_NONE;
}

static cycle_t next_due(const struct mesh *mesh, cycle_t now) {
    for (unsigned ahead = 1; ahead < mesh->wheel; ahead++)
        if (mesh->any[(now + ahead) & (mesh->wheel - 1)])
            return now + ahead;
    return CYCLE_NEVER;
}

cycle_t mesh_step(struct mesh *mesh, cycle_t now) {
    unsigned slot = now & (mesh->wheel - 1);
    if (!mesh->any[slot])
        return next_due(mesh, now);
    mesh->any[slot] = false;
    unsigned phase = (now + mesh->phase_base) % ROUTER_PORTS;
    uint64_t *row = &mesh->due[(size_t)slot * mesh->words];
    for (uint32_t word = 0; word < mesh->words; word++) {
        uint64_t bits = row[word];
        row[word] = 0;
        for (; bits; bits &= bits - 1) {
            struct router *router = &mesh->routers[word * 64 + (unsigned)__builtin_ctzll(bits)];
            mesh->steps++;
            if (router_step(router, now, phase))
                mesh_mark(mesh, router->index, now + 1);
        }
    }
    return next_due(mesh, now);
}

uint64_t mesh_held(const struct mesh *mesh) {
    uint64_t held = 0;
    for (uint32_t i = 0; i < mesh->count; i++) {
        const struct router *router = &mesh->routers[i];
        held += (unsigned)__builtin_popcount(router->occupied) + (unsigned)__builtin_popcount(router->valid);
        for (unsigned port = 0; port < ROUTER_PORTS; port++)
            held += router->fifo[port].count;
    }
    return held;
}
