/* The mesh; see mesh.h. Section numbers are those of noc-and-memory. */
#include "noc/mesh.h"

#include <stdio.h>

#include "noc/flex.h"
#include <string.h>

#include "model/error.h"

enum {
    FALL_THROUGH_MAX = 1024,
    THREADED_ROUTERS = 256, /* below, one cycle of the mesh is too short to be worth sharing */
};

static const int step_x[ROUTER_PORTS] = {0, 1, 0, -1, 0};
static const int step_y[ROUTER_PORTS] = {-1, 0, 1, 0, 0};
static const unsigned opposite[ROUTER_PORTS] = {PORT_SOUTH, PORT_WEST, PORT_NORTH, PORT_EAST, PORT_LOCAL};

/* ---- building ---- */

bool mesh_check(const struct machine *machine, GError **error) {
    const struct noc_params *noc = &machine->noc;
    if (flex_needed(machine))
        return flex_check(machine, error);
    const struct {
        const char *key;
        uint64_t value, least, most;
    } limits[] = {
        {"mesh columns", machine->nx, 1, TAG_COORDINATE_MAX - 1},
        {"mesh rows", machine->ny, 1, TAG_COORDINATE_MAX - 1},
        {"noc.fall_through", noc->fall_through, 1, FALL_THROUGH_MAX},
        {"noc.fifo_depth + noc.fifo_extra", (uint64_t)noc->fifo_depth + noc->fifo_extra, 1, ROUTER_FIFO_MAX},
        {"noc.arbiter_phase", noc->arbiter_phase, 0, ROUTER_PORTS - 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                        "%s: is %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT,
                        limits[i].key, limits[i].value, limits[i].least, limits[i].most);
            return false;
        }
    return true;
}

/* The neighbour on a side, or NULL. */
static struct router *neighbour(const struct mesh *mesh, const struct router *router, unsigned port) {
    int x = router->x + step_x[port], y = router->y + step_y[port];
    bool inside = x >= 1 && y >= 1 && x <= (int)mesh->nx && y <= (int)mesh->ny;
    return port != PORT_LOCAL && inside ? mesh_router(mesh, (unsigned)x, (unsigned)y) : NULL;
}

/* Inputs the crossbar connects to an output (§3.4): a side with a router behind it never turns back, and from north or
 * south never into x towards another router. */
static uint8_t allowed_inputs(const struct mesh *mesh, const struct router *router, unsigned output) {
    uint8_t mask = 0;
    bool router_out = neighbour(mesh, router, output);
    for (unsigned input = 0; input < ROUTER_PORTS; input++) {
        bool omitted = false;
        if (neighbour(mesh, router, input)) {
            omitted = input == output;
            if (input == PORT_NORTH || input == PORT_SOUTH)
                omitted |= router_out && (output == PORT_EAST || output == PORT_WEST);
        }
        mask |= (unsigned)!omitted << input;
    }
    return mask;
}

/* Number of `to` among the parts that `from` sends to, added if it is new. */
static unsigned peer_number(struct mesh_part *from, struct mesh_part *to) {
    for (unsigned i = 0; i < from->peer_count; i++)
        if (from->peers[i] == to)
            return i;
    from->peers = g_renew(struct mesh_part *, from->peers, from->peer_count + 1);
    from->peer_woken = g_renew(cycle_t, from->peer_woken, from->peer_count + 1);
    from->peers[from->peer_count] = to;
    from->peer_woken[from->peer_count] = CYCLE_NEVER;
    return from->peer_count++;
}

static uint32_t boundary_new(struct mesh *mesh, struct mesh_part *from, struct router *router, unsigned input) {
    struct mesh_part *to = router->part;
    struct boundary *link = g_aligned_alloc0(1, sizeof *link, BOUNDARY_LINE);
    link->from = from;
    link->to = to;
    link->router = router;
    link->input = (uint8_t)input;
    link->peer = (uint16_t)peer_number(from, to);
    link->capacity = to->capacity;
    link->mask = to->wheel - 1;
    link->ring = g_new(struct boundary_word, to->wheel);
    atomic_init(&link->popped, BOUNDARY_NO_POP);
    router->shared |= 1u << input;
    if (!router->feed)
        router->feed = g_new0(struct boundary *, ROUTER_PORTS);
    router->feed[input] = link;
    to->incoming = g_renew(struct boundary *, to->incoming, to->incoming_count + 1);
    to->incoming[to->incoming_count++] = link;
    mesh->boundaries = g_renew(struct boundary *, mesh->boundaries, mesh->boundary_count + 1);
    mesh->boundaries[mesh->boundary_count] = link;
    return mesh->boundary_count++;
}

static void connect(struct mesh *mesh, struct router *router) {
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        struct router *next = neighbour(mesh, router, port);
        struct router_output *out = &router->out[port];
        router->allowed[port] = allowed_inputs(mesh, router, port);
        out->input = (uint8_t)opposite[port];
        out->kind = !next ? LINK_TIED : next->part == router->part ? LINK_ROUTER : LINK_BOUNDARY;
        if (out->kind == LINK_ROUTER)
            out->target = next->index;
        else if (out->kind == LINK_BOUNDARY)
            out->target = boundary_new(mesh, router->part, next, opposite[port]);
    }
}

/* Bytes of an input with its ring, in whole cache lines. */
static uint32_t input_stride(const struct mesh_part *part) {
    size_t size = sizeof(struct router_input) + part->capacity * sizeof(struct router_word);
    return (uint32_t)((size + BOUNDARY_LINE - 1) / BOUNDARY_LINE * BOUNDARY_LINE);
}

static void router_init(struct mesh_part *part, uint32_t index, unsigned x, unsigned y) {
    struct router *router = &part->routers[index];
    *router = (struct router){.part = part, .stepped = CYCLE_NEVER, .index = index};
    router->x = (uint16_t)x;
    router->y = (uint16_t)y;
    router->end = &part->ends[(size_t)index * ROUTER_PORTS];
    router->input_stride = input_stride(part);
    router->inputs = part->inputs + (size_t)index * ROUTER_PORTS * router->input_stride;
}

static void part_init(struct mesh *mesh, struct mesh_part *part, uint32_t count, const struct noc_params *noc,
                      struct flit_pool *pool) {
    unsigned wheel = 2;
    while (wheel <= noc->fall_through + 1)
        wheel *= 2;
    *part = (struct mesh_part){.mesh = mesh, .count = count, .wheel = wheel, .pool = pool};
    part->fall_through = noc->fall_through;
    part->capacity = noc->fifo_depth + noc->fifo_extra;
    if (part != mesh->parts) {
        flit_pool_init_shared(&part->own_pool, pool);
        part->pool = &part->own_pool;
    }
    part->words = (count + 63) / 64;
    part->routers = g_aligned_alloc0(count, sizeof(struct router), BOUNDARY_LINE);
    part->inputs = g_aligned_alloc0((size_t)count * ROUTER_PORTS, input_stride(part), BOUNDARY_LINE);
    part->ends = g_new0(struct router_end, (size_t)count * ROUTER_PORTS);
    part->arrivals = g_new0(uint8_t, (size_t)wheel * count);
    part->due = g_new0(uint64_t, (size_t)wheel * part->words);
    part->any = g_new0(bool, wheel);
    part->hol = g_array_new(FALSE, FALSE, sizeof(struct cycle_range));
}

/* One part without routers of its own, stepped as the what-if network. */
static void init_flex(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool) {
    mesh->flex = g_new0(struct flex, 1);
    flex_init(mesh->flex, machine, pool, mesh->hazards);
    mesh->parts = g_new0(struct mesh_part, 1);
    mesh->part_count = 1;
    mesh->parts[0] = (struct mesh_part){.mesh = mesh,
                                        .fall_through = machine->noc.fall_through,
                                        .pool = pool,
                                        .hol = g_array_new(FALSE, FALSE, sizeof(struct cycle_range))};
}

void mesh_init_parts(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool,
                     struct hazard_log *hazards, const uint32_t *part_of, unsigned parts) {
    const struct noc_params *noc = &machine->noc;
    uint32_t count = machine->nx * machine->ny;
    g_assert(noc->fall_through >= 1 && noc->fifo_depth + noc->fifo_extra <= ROUTER_FIFO_MAX);
    *mesh = (struct mesh){.nx = machine->nx, .ny = machine->ny, .count = count, .phase_base = noc->arbiter_phase};
    mesh->hazards = hazards;
    if (flex_needed(machine)) {
        init_flex(mesh, machine, pool);
        return;
    }
    mesh->at = g_new0(struct router *, count);
    mesh->parts = g_new0(struct mesh_part, parts);
    mesh->part_count = parts;
    uint32_t *size = g_new0(uint32_t, parts);
    for (uint32_t i = 0; i < count; i++)
        size[part_of[i]]++;
    for (unsigned p = 0; p < parts; p++)
        part_init(mesh, &mesh->parts[p], size[p], noc, pool);
    memset(size, 0, parts * sizeof *size);
    for (uint32_t i = 0; i < count; i++) {
        struct mesh_part *part = &mesh->parts[part_of[i]];
        uint32_t index = size[part_of[i]]++;
        router_init(part, index, i % mesh->nx + 1, i / mesh->nx + 1);
        mesh->at[i] = &part->routers[index];
    }
    for (uint32_t i = 0; i < count; i++)
        connect(mesh, mesh->at[i]);
    g_free(size);
}

void mesh_init(struct mesh *mesh, const struct machine *machine, struct flit_pool *pool, struct hazard_log *hazards) {
    uint32_t *part_of = g_new0(uint32_t, machine->nx * machine->ny);
    mesh_init_parts(mesh, machine, pool, hazards, part_of, 1);
    g_free(part_of);
}

static void part_clear(struct mesh_part *part) {
    for (uint32_t i = 0; i < part->count; i++)
        g_free(part->routers[i].feed);
    g_aligned_free(part->routers);
    g_aligned_free(part->inputs);
    g_free(part->ends);
    g_free(part->arrivals);
    g_free(part->due);
    g_free(part->any);
    g_free(part->incoming);
    g_free(part->peers);
    g_free(part->peer_woken);
    g_array_unref(part->hol);
    flit_pool_clear(&part->own_pool);
}

void mesh_clear(struct mesh *mesh) {
    if (mesh->flex)
        flex_clear(mesh->flex);
    g_free(mesh->flex);
    for (unsigned p = 0; p < mesh->part_count; p++)
        part_clear(&mesh->parts[p]);
    for (unsigned i = 0; i < mesh->boundary_count; i++) {
        g_free(mesh->boundaries[i]->ring);
        g_aligned_free(mesh->boundaries[i]);
    }
    g_free(mesh->boundaries);
    g_free(mesh->parts);
    g_free(mesh->at);
    *mesh = (struct mesh){0};
}

unsigned mesh_split(const struct machine *machine, const bool *pinned, uint32_t *part_of) {
    const struct engine_params *engine = &machine->engine;
    uint32_t count = machine->nx * machine->ny, group = engine->routers_per_actor, pins = 0;
    for (uint32_t i = 0; pinned && i < count; i++)
        pins += pinned[i];
    if (!group)
        group =
            engine->threads > 1 && count >= THREADED_ROUTERS ? (count + engine->threads - 1) / engine->threads : count;
    bool whole = group >= count || flex_needed(machine); /* one actor for everything, pinned or not */
    uint32_t placed = 0, first = pins && !whole;
    for (uint32_t i = 0; i < count; i++)
        part_of[i] = whole || (pinned && pinned[i]) ? 0 : first + placed++ / group;
    return whole ? 1 : first + (placed + group - 1) / group;
}

/* ---- places ---- */

bool mesh_has_place(const struct mesh *mesh, unsigned x, unsigned y) {
    if (mesh->flex)
        return flex_has_place(mesh->flex, x, y);
    bool column = x >= 1 && x <= mesh->nx, row = y >= 1 && y <= mesh->ny;
    return (column && y <= mesh->ny + 1) || (row && x <= mesh->nx + 1);
}

static struct router *router_at(const struct mesh *mesh, unsigned x, unsigned y) {
    g_assert(mesh_has_place(mesh, x, y));
    return mesh_router(mesh, CLAMP(x, 1, mesh->nx), CLAMP(y, 1, mesh->ny));
}

struct mesh_part *mesh_part_at(const struct mesh *mesh, unsigned x, unsigned y) {
    return mesh->flex ? &mesh->parts[0] : router_at(mesh, x, y)->part;
}

static bool end_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    const struct router_end *end = self;
    return router_input_held(end->router, end->input, now) < end->router->part->capacity;
}

static void end_deliver(void *self, flit_index index, cycle_t now) {
    struct router_end *end = self;
    const struct mesh *mesh = end->router->part->mesh;
    const struct flit *flit = flit_at(end->router->part->pool, index);
    if (!mesh_has_place(mesh, flit->dst_x, flit->dst_y)) {
        char name[32];
        snprintf(name, sizeof name, "router(%u,%u)", end->router->x, end->router->y);
        hazard_report(mesh->hazards, "route.illegal_dst", now, name,
                      "a flit from (%u,%u) names (%u,%u), where no endpoint can be", flit->src_x, flit->src_y,
                      flit->dst_x, flit->dst_y);
    }
    router_push(end->router, end->input, index, router_destination(mesh, flit->dst_x, flit->dst_y), now);
}

/* The port behind which place (x,y) lies. */
static unsigned port_of_place(const struct mesh *mesh, unsigned x, unsigned y) {
    return x == 0              ? PORT_WEST
           : x == mesh->nx + 1 ? PORT_EAST
           : y == 0            ? PORT_NORTH
           : y == mesh->ny + 1 ? PORT_SOUTH
                               : PORT_LOCAL;
}

flit_index mesh_offered(const struct mesh *mesh, unsigned x, unsigned y, cycle_t now) {
    if (mesh->flex)
        return flex_offered(mesh->flex, x, y, now);
    const struct router *router = router_at(mesh, x, y);
    unsigned port = port_of_place(mesh, x, y);
    return router->valid >> port & 1 ? router->out[port].word.flit : FLIT_NONE;
}

struct link_sink mesh_attach(struct mesh *mesh, unsigned x, unsigned y, struct link_sink receiver) {
    if (mesh->flex)
        return flex_attach(mesh->flex, x, y, receiver);
    unsigned port = port_of_place(mesh, x, y);
    struct router *router = router_at(mesh, x, y);
    struct router_end *end = &router->end[port];
    *end = (struct router_end){.router = router, .sink = receiver, .input = (uint8_t)port};
    router->out[port].kind = LINK_SINK;
    return (struct link_sink){.self = end, .accepts = end_accepts, .deliver = end_deliver};
}

/* ---- stepping ---- */

void mesh_wake_peer(struct boundary *link, cycle_t now) {
    struct mesh_part *from = link->from;
    if (from->peer_woken[link->peer] == now)
        return;
    from->peer_woken[link->peer] = now;
    if (link->to->actor)
        clock_wake(link->to->actor, now + link->to->fall_through);
}

/* Moves what other parts have sent before cycle now into the input FIFOs. */
static void absorb(struct mesh_part *part, cycle_t now) {
    for (unsigned i = 0; i < part->incoming_count; i++) {
        struct boundary *link = part->incoming[i];
        const struct boundary_word *word;
        for (; (word = boundary_peek(link, now)); boundary_next(link))
            router_push(link->router, link->input, word->flit, word->destination, word->stamp);
    }
}

void mesh_settle(struct mesh *mesh) {
    for (unsigned p = 0; p < mesh->part_count; p++)
        absorb(&mesh->parts[p], CYCLE_NEVER);
}

static cycle_t next_due(const struct mesh_part *part, cycle_t now) {
    for (unsigned ahead = 1; ahead < part->wheel; ahead++)
        if (part->any[(now + ahead) & (part->wheel - 1)])
            return now + ahead;
    return CYCLE_NEVER;
}

static cycle_t step_flex(struct mesh_part *part, cycle_t now) {
    struct flex *flex = part->mesh->flex;
    flex->group_due = part->group_due;
    cycle_t next = flex_step(flex, now);
    part->hops = flex->hops;
    part->steps = flex->steps;
    part->lost = flex->lost;
    return next;
}

cycle_t mesh_part_step(struct mesh_part *part, cycle_t now) {
    if (part->mesh->flex)
        return step_flex(part, now);
    if (part->incoming_count)
        absorb(part, now);
    unsigned slot = now & (part->wheel - 1);
    if (!part->any[slot])
        return next_due(part, now);
    part->any[slot] = false;
    unsigned phase = (now + part->mesh->phase_base) % ROUTER_PORTS;
    uint64_t *row = &part->due[(size_t)slot * part->words];
    uint8_t *arrived = &part->arrivals[(size_t)slot * part->count];
    for (uint32_t word = 0; word < part->words; word++) {
        uint64_t bits = row[word];
        row[word] = 0;
        for (; bits; bits &= bits - 1) {
            struct router *router = &part->routers[word * 64 + (unsigned)__builtin_ctzll(bits)];
            part->steps++;
            unsigned arrivals = arrived[router->index];
            arrived[router->index] = 0;
            if (router_step(router, now, phase, arrivals))
                mesh_mark(part, router->index, now + 1);
        }
    }
    return next_due(part, now);
}

cycle_t mesh_step(struct mesh *mesh, cycle_t now) {
    cycle_t next = CYCLE_NEVER;
    for (unsigned p = 0; p < mesh->part_count; p++)
        next = MIN(next, mesh_part_step(&mesh->parts[p], now));
    return next;
}

/* ---- figures ---- */

void mesh_note_hol(struct mesh_part *part, cycle_t now) {
    if (part->hol->len) {
        struct cycle_range *last = &g_array_index(part->hol, struct cycle_range, part->hol->len - 1);
        if (last->last == now)
            return;
        if (last->last + 1 == now) {
            last->last = now;
            return;
        }
    }
    struct cycle_range range = {now, now};
    g_array_append_val(part->hol, range);
}

static gint by_first(gconstpointer a, gconstpointer b) {
    const struct cycle_range *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

uint64_t mesh_hol_cycles(const struct mesh *mesh) {
    if (mesh->flex)
        return mesh->flex->hol_cycles;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct cycle_range));
    for (unsigned p = 0; p < mesh->part_count; p++)
        g_array_append_vals(all, mesh->parts[p].hol->data, mesh->parts[p].hol->len);
    g_array_sort(all, by_first);
    uint64_t cycles = 0;
    cycle_t covered = 0; /* first cycle not counted yet */
    for (guint i = 0; i < all->len; i++) {
        const struct cycle_range *range = &g_array_index(all, struct cycle_range, i);
        cycle_t first = MAX(range->first, covered);
        if (range->last >= first) {
            cycles += range->last - first + 1;
            covered = range->last + 1;
        }
    }
    g_array_unref(all);
    return cycles;
}

static uint64_t router_held(const struct router *router) {
    uint64_t held = (unsigned)__builtin_popcount(router->occupied) + (unsigned)__builtin_popcount(router->valid);
    for (unsigned port = 0; port < ROUTER_PORTS; port++)
        held += router_input(router, port)->count;
    return held;
}

unsigned mesh_router_count(const struct mesh *mesh) {
    return mesh->flex ? mesh->flex->plan.columns * mesh->flex->plan.rows : mesh->count;
}

static struct router_figures flex_figures(const struct flex *flex, unsigned index) {
    struct router_figures figures = {.x = index % flex->plan.columns + 1, .y = index / flex->plan.columns + 1};
    for (unsigned port = 0; port < flex->plan.ports; port++) {
        struct flex_input_counts in = flex_input(flex, figures.x, figures.y, port);
        struct flex_output_counts out = flex_output(flex, figures.x, figures.y, port);
        unsigned shown = MIN(port, PORT_LOCAL); /* all endpoints of a concentrated router in one row */
        figures.in[shown].flits += in.flits;
        figures.in[shown].blocked += in.blocked;
        figures.in[shown].hol_blocked += in.hol_blocked;
        figures.max_depth[shown] = MAX(figures.max_depth[shown], in.max_depth);
        figures.out[shown].flits += out.flits;
        figures.out[shown].busy += out.busy;
    }
    return figures;
}

struct router_figures mesh_figures(const struct mesh *mesh, unsigned index) {
    if (mesh->flex)
        return flex_figures(mesh->flex, index);
    const struct router *router = mesh->at[index];
    struct router_figures figures = {.x = router->x, .y = router->y, .standing = router->valid};
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        figures.in[port] = router_input_counts(router, port);
        figures.out[port] = router->out[port].counts;
        figures.max_depth[port] = router_input(router, port)->peak;
    }
    return figures;
}

uint64_t mesh_held(const struct mesh *mesh) {
    if (mesh->flex)
        return flex_held(mesh->flex);
    uint64_t held = 0;
    for (uint32_t i = 0; i < mesh->count; i++)
        held += router_held(mesh->at[i]);
    for (unsigned i = 0; i < mesh->boundary_count; i++)
        held += atomic_load(&mesh->boundaries[i]->pushed) - mesh->boundaries[i]->absorbed;
    return held;
}

uint64_t mesh_hops(const struct mesh *mesh) {
    uint64_t sum = 0;
    for (unsigned p = 0; p < mesh->part_count; p++)
        sum += mesh->parts[p].hops;
    return sum;
}

uint64_t mesh_steps(const struct mesh *mesh) {
    uint64_t sum = 0;
    for (unsigned p = 0; p < mesh->part_count; p++)
        sum += mesh->parts[p].steps;
    return sum;
}

uint64_t mesh_lost(const struct mesh *mesh) {
    uint64_t sum = 0;
    for (unsigned p = 0; p < mesh->part_count; p++)
        sum += mesh->parts[p].lost;
    return sum;
}
