/* The router against the measured figures of reference/timing.md §1 and the scenarios of noc-and-memory §14, rows 1-4.
 * Small meshes are stepped by hand, with sources that always have a flit and sinks that can be told to refuse. */
#include <string.h>

#include "bare_machine.h"
#include "noc/fifo.h"
#include "noc/mesh.h"

enum {
    ENDS_MAX = 8,
    CYCLES_MAX = 2048,
};

struct rig;

/* An endpoint: source and sink at one place. */
struct end {
    struct rig *rig;
    unsigned x, y;
    struct link_sink way;
    unsigned to_x, to_y;
    unsigned left; /* flits still to send */
    flit_index offer;
    unsigned injected;
    cycle_t last_injected;
    bool refuses;
    unsigned every; /* takes a flit in cycles that are a multiple of this; 0: in any */
    unsigned taken;
    unsigned taken_from[ENDS_MAX];
    cycle_t first_taken, last_taken;
    char order[CYCLES_MAX]; /* digits: the end each flit came from */
};

struct rig {
    struct machine machine;
    struct mesh mesh;
    struct flit_pool pool;
    struct hazard_log hazards;
    struct end ends[ENDS_MAX];
    unsigned end_count;
    cycle_t now;
};

static bool end_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    const struct end *end = self;
    return !end->refuses && (!end->every || now % end->every == 0);
}

static void end_deliver(void *self, flit_index index, cycle_t now) {
    struct end *end = self;
    unsigned from = flit_at(&end->rig->pool, index)->txn;
    if (!end->taken)
        end->first_taken = now;
    end->last_taken = now;
    end->taken_from[from]++;
    end->order[end->taken++] = (char)('0' + from);
    flit_free(&end->rig->pool, index);
}

static struct rig *rig_new(unsigned nx, unsigned ny) {
    struct rig *rig = g_new0(struct rig, 1);
    rig->machine = bare_machine(nx, ny);
    flit_pool_init(&rig->pool);
    hazard_log_init(&rig->hazards);
    mesh_init(&rig->mesh, &rig->machine, &rig->pool, &rig->hazards);
    return rig;
}

static void rig_free(struct rig *rig) {
    mesh_clear(&rig->mesh);
    hazard_log_clear(&rig->hazards);
    flit_pool_clear(&rig->pool);
    g_free(rig);
}

static struct end *attach(struct rig *rig, unsigned x, unsigned y) {
    struct end *end = &rig->ends[rig->end_count++];
    *end = (struct end){.rig = rig, .x = x, .y = y, .offer = FLIT_NONE};
    end->way = mesh_attach(&rig->mesh, x, y, (struct link_sink){end, end_accepts, end_deliver});
    return end;
}

static struct end *source(struct rig *rig, unsigned x, unsigned y, unsigned to_x, unsigned to_y, unsigned flits) {
    struct end *end = attach(rig, x, y);
    end->to_x = to_x;
    end->to_y = to_y;
    end->left = flits;
    return end;
}

static void offer(struct rig *rig, struct end *end) {
    if (end->offer == FLIT_NONE && end->left) {
        end->offer = flit_new(&rig->pool);
        *flit_at(&rig->pool, end->offer) = (struct flit){.dst_x = (uint16_t)end->to_x,
                                                         .dst_y = (uint16_t)end->to_y,
                                                         .src_x = (uint16_t)end->x,
                                                         .src_y = (uint16_t)end->y,
                                                         .txn = (uint8_t)(end - rig->ends)};
    }
    if (end->offer == FLIT_NONE || !end->way.accepts(end->way.self, flit_at(&rig->pool, end->offer), rig->now))
        return;
    end->way.deliver(end->way.self, end->offer, rig->now);
    end->offer = FLIT_NONE;
    end->left--;
    end->injected++;
    end->last_injected = rig->now;
}

static void run(struct rig *rig, cycle_t cycles) {
    for (cycle_t end = rig->now + cycles; rig->now < end; rig->now++) {
        for (unsigned i = 0; i < rig->end_count; i++)
            offer(rig, &rig->ends[i]);
        mesh_step(&rig->mesh, rig->now);
    }
}

/* ---- latency and throughput ---- */

static void five_cycles_a_router(void) {
    static const unsigned to[][3] = {{1, 1, 1}, {2, 1, 2}, {4, 1, 4}, {1, 3, 3},
                                     {4, 3, 6}, {0, 1, 1}, {5, 3, 6}, {4, 0, 4}};
    for (unsigned i = 0; i < G_N_ELEMENTS(to); i++) {
        struct rig *rig = rig_new(4, 3);
        source(rig, 1, 1, to[i][0], to[i][1], 1);
        struct end *sink = to[i][0] == 1 && to[i][1] == 1 ? &rig->ends[0] : attach(rig, to[i][0], to[i][1]);
        run(rig, 100);
        g_assert_cmpuint(sink->taken, ==, 1);
        g_assert_cmpuint(sink->first_taken, ==, 5 * to[i][2]);
        rig_free(rig);
    }
}

static void one_flit_a_cycle_is_sustained(void) {
    struct rig *rig = rig_new(3, 1);
    source(rig, 1, 1, 3, 1, 500);
    struct end *back = source(rig, 3, 1, 1, 1, 500);
    run(rig, 600);
    g_assert_cmpuint(back->taken, ==, 500);
    g_assert_cmpuint(back->first_taken, ==, 15);
    g_assert_cmpuint(back->last_taken, ==, 15 + 499);
    g_assert_cmpuint(rig->ends[0].last_taken, ==, 15 + 499);
    rig_free(rig);
}

static void port_intake_reads_after_eight(void) {
    struct rig *rig = rig_new(1, 1);
    source(rig, 1, 1, 0, 1, 1);
    struct end *port = attach(rig, 0, 1);
    run(rig, 20);
    struct fifo intake;
    fifo_init(&intake, 4);
    fifo_push(&intake, 0, port->first_taken + rig->machine.noc.fall_through);
    g_assert_false(fifo_readable(&intake, 7));
    g_assert_true(fifo_readable(&intake, 8));
    fifo_clear(&intake);
    rig_free(rig);
}

static void time_scales_with_fall_through(void) {
    for (unsigned f = 1; f <= 64; f *= 4) {
        struct rig *rig = rig_new(1, 1);
        mesh_clear(&rig->mesh);
        rig->machine.noc.fall_through = f;
        mesh_init(&rig->mesh, &rig->machine, &rig->pool, &rig->hazards);
        struct end *end = source(rig, 1, 1, 1, 1, 3);
        run(rig, 200);
        g_assert_cmpuint(end->first_taken, ==, f + 2);
        g_assert_cmpuint(end->last_taken, ==, f + 4);
        rig_free(rig);
    }
}

/* ---- arbitration ---- */

struct contenders {
    const char *inputs; /* L, E, S: those that send to the place west of (1,1) */
    unsigned share[3];  /* of 500, in that order */
};

/* The west output of router (1,1) of a 2x2 mesh. */
static void shares_follow_cyclic_distance(void) {
    static const struct contenders cases[] = {
        {"LE", {300, 200}}, {"LS", {200, 300}}, {"ES", {400, 100}}, {"LES", {200, 200, 100}}};
    for (unsigned c = 0; c < G_N_ELEMENTS(cases); c++) {
        struct rig *rig = rig_new(2, 2);
        for (const char *input = cases[c].inputs; *input; input++)
            source(rig, *input == 'E' ? 2 : 1, *input == 'S' ? 2 : 1, 0, 1, 5000);
        struct end *sink = attach(rig, 0, 1);
        run(rig, 100);
        unsigned before[3];
        for (unsigned i = 0; i < 3; i++)
            before[i] = sink->taken_from[i];
        run(rig, 500);
        for (unsigned i = 0; cases[c].inputs[i]; i++)
            g_assert_cmpuint(sink->taken_from[i] - before[i], ==, cases[c].share[i]);
        if (c == 0) /* L E E L L, from some point of it */
            g_assert_nonnull(strstr(sink->order + 100, "0110001100"));
        rig_free(rig);
    }
}

static void local_and_north_share_four_to_one(void) {
    struct rig *rig = rig_new(1, 1);
    source(rig, 1, 1, 2, 1, 5000);
    source(rig, 1, 0, 2, 1, 5000);
    struct end *sink = attach(rig, 2, 1);
    run(rig, 1000);
    g_assert_cmpuint(sink->taken_from[0], ==, 796);
    g_assert_cmpuint(sink->taken_from[1], ==, 199);
    /* Granted in cycles 4, 5, …: north wins only where the pointer stands at it, in cycles that are multiples of 5. */
    g_assert_cmpint(strncmp(sink->order, "010000100001", 12), ==, 0);
    rig_free(rig);
}

static void one_in_five_starves_the_others(void) {
    struct rig *rig = rig_new(2, 2);
    source(rig, 1, 1, 0, 1, 5000);
    source(rig, 2, 1, 0, 1, 5000);
    struct end *sink = attach(rig, 0, 1);
    sink->every = 5;
    run(rig, 100);
    unsigned local = sink->taken_from[0], east = sink->taken_from[1];
    run(rig, 1000);
    unsigned more_local = sink->taken_from[0] - local, more_east = sink->taken_from[1] - east;
    g_assert_cmpuint(more_local + more_east, ==, 200);
    g_assert_cmpuint(MIN(more_local, more_east), ==, 0);
    rig_free(rig);
}

/* ---- capacity and release ---- */

static void a_blocked_router_absorbs_36(void) {
    for (unsigned routers = 1; routers <= 2; routers++) {
        struct rig *rig = rig_new(routers, 1);
        struct end *from = source(rig, routers, 1, 0, 1, 1000), *sink = attach(rig, 0, 1);
        sink->refuses = true;
        run(rig, 300);
        g_assert_cmpuint(from->injected, ==, 36 * routers);
        g_assert_cmpuint(mesh_held(&rig->mesh), ==, 36 * routers);
        g_assert_cmpuint(router_input(mesh_router(&rig->mesh, 1, 1), routers == 1 ? PORT_LOCAL : PORT_EAST)->peak, ==,
                         34);
        rig_free(rig);
    }
}

static void room_goes_back_a_router_a_cycle(void) {
    for (unsigned routers = 1; routers <= 3; routers++) {
        struct rig *rig = rig_new(routers, 1);
        struct end *from = source(rig, routers, 1, 0, 1, 1000), *sink = attach(rig, 0, 1);
        sink->refuses = true;
        run(rig, 300);
        unsigned before = from->injected;
        sink->refuses = false;
        cycle_t released = rig->now;
        run(rig, routers);
        g_assert_cmpuint(sink->first_taken, ==, released);
        g_assert_cmpuint(from->injected, ==, before);
        run(rig, 50);
        g_assert_cmpuint(from->injected, ==, before + 50); /* then at full rate */
        g_assert_cmpuint(sink->taken, ==, 50 + routers);
        rig_free(rig);
    }
}

/* ---- routes ---- */

static void outward_destinations_leave_by_their_side(void) {
    static const struct {
        unsigned x, y, port;
    } cases[] = {{0, 0, PORT_WEST},  {15, 15, PORT_EAST}, {3, 0, PORT_EAST}, {0, 1, PORT_WEST},
                 {1, 0, PORT_NORTH}, {1, 2, PORT_SOUTH},  {3, 1, PORT_EAST}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig *rig = rig_new(2, 2);
        source(rig, 1, 1, cases[i].x, cases[i].y, 1);
        run(rig, 50);
        for (unsigned port = 0; port < ROUTER_PORTS; port++)
            g_assert_cmpuint(mesh_router(&rig->mesh, 1, 1)->out[port].counts.flits, ==, port == cases[i].port);
        rig_free(rig);
    }
}

static void strange_destinations_are_reported(void) {
    struct rig *rig = rig_new(2, 2);
    source(rig, 1, 1, 15, 15, 3);
    run(rig, 50);
    g_assert_cmpuint(hazard_count(&rig->hazards, "route.illegal_dst"), ==, 3);
    g_assert_cmpuint(hazard_count(&rig->hazards, "route.sink"), ==, 3);
    g_assert_cmpuint(mesh_lost(&rig->mesh), ==, 3);
    g_assert_cmpuint(rig->pool.live, ==, 0);
    rig_free(rig);
}

/* ---- counters ---- */

/* Sends one flit to a blocked place, then others to a free one behind it. */
static void head_of_line_cycles_are_counted(void) {
    struct rig *rig = rig_new(1, 1);
    struct end *from = source(rig, 1, 1, 0, 1, 2), *blocked = attach(rig, 0, 1), *open = attach(rig, 2, 1);
    blocked->refuses = true;
    run(rig, 2); /* one flit for the output register, one for the slot */
    from->to_x = 2;
    from->left = 1;
    run(rig, 28);
    const struct router *router = mesh_router(&rig->mesh, 1, 1);
    /* In the slot from 5 on; blocked from then, with the third flit readable from 5 on. */
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).flits, ==, 3);
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).blocked, ==, 25);
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).hol_blocked, ==, 25);
    g_assert_cmpuint(router->out[PORT_WEST].counts.busy, ==, 25);
    g_assert_cmpuint(mesh_hol_cycles(&rig->mesh), ==, 25);
    g_assert_cmpuint(open->taken, ==, 0);
    blocked->refuses = false;
    run(rig, 20);
    g_assert_cmpuint(open->taken, ==, 1);
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).hol_blocked, ==, 25);
    rig_free(rig);
}

static void same_destination_is_no_head_of_line_blocking(void) {
    struct rig *rig = rig_new(1, 1);
    source(rig, 1, 1, 0, 1, 10);
    attach(rig, 0, 1)->refuses = true;
    run(rig, 100);
    const struct router *router = mesh_router(&rig->mesh, 1, 1);
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).blocked, ==, 95);
    g_assert_cmpuint(router_input_counts(router, PORT_LOCAL).hol_blocked, ==, 0);
    g_assert_cmpuint(mesh_hol_cycles(&rig->mesh), ==, 0);
    rig_free(rig);
}

/* The set of outputs wanted behind the slot, which the counters of head-of-line blocking rest on, against the words. */
static void check_wanted_behind(const struct router *router) {
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        const struct router_input *in = router_input(router, port);
        unsigned wanted = 0;
        for (unsigned k = 0; k < in->readable; k++)
            wanted |= 1u << (in->ring[(in->head + k) % router->part->capacity].tag >> TAG_ROUTE_SHIFT);
        g_assert_cmpuint(in->behind_any, ==, wanted);
        g_assert_cmpuint(in->readable, <=, in->count);
    }
}

static void wanted_behind_follows_the_words(void) {
    struct rig *rig = rig_new(3, 2);
    for (unsigned i = 0; i < 6; i++)
        source(rig, i % 3 + 1, i / 3 + 1, 1, 1, 1000);
    for (unsigned cycle = 0; cycle < 1500; cycle++) {
        for (unsigned i = 0; i < 6; i++) {
            struct end *end = &rig->ends[i];
            end->to_x = (cycle * (i + 3) / 2 + i) % 3 + 1;
            end->to_y = (cycle / (i + 2)) % 2 + 1;
            end->refuses = (cycle / 10 + i) % 3 == 0;
        }
        run(rig, 1);
        for (unsigned i = 0; i < 6; i++)
            check_wanted_behind(rig->mesh.at[i]);
    }
    g_assert_cmpuint(mesh_hol_cycles(&rig->mesh), >, 100);
    rig_free(rig);
}

static void idle_routers_are_not_stepped(void) {
    struct rig *rig = rig_new(14, 14);
    source(rig, 1, 1, 14, 14, 1);
    attach(rig, 14, 14);
    run(rig, 1000);
    g_assert_cmpuint(mesh_hops(&rig->mesh), ==, 27);
    g_assert_cmpuint(mesh_steps(&rig->mesh), ==, 3 * 27); /* load, grant, hand over */
    g_assert_cmpuint(mesh_step(&rig->mesh, rig->now), ==, CYCLE_NEVER);
    rig_free(rig);
}

static void a_router_is_below_4_kb(void) {
    struct rig *rig = rig_new(2, 2);
    size_t inputs = (size_t)ROUTER_PORTS * mesh_router(&rig->mesh, 1, 1)->input_stride;
    g_assert_cmpuint(sizeof(struct router) + sizeof(struct router_end) * ROUTER_PORTS + inputs, <, 4096);
    rig_free(rig);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/router/latency/five_cycles_a_router", five_cycles_a_router);
    g_test_add_func("/router/latency/one_flit_a_cycle_is_sustained", one_flit_a_cycle_is_sustained);
    g_test_add_func("/router/latency/port_intake_reads_after_eight", port_intake_reads_after_eight);
    g_test_add_func("/router/latency/time_scales_with_fall_through", time_scales_with_fall_through);
    g_test_add_func("/router/arbiter/shares_follow_cyclic_distance", shares_follow_cyclic_distance);
    g_test_add_func("/router/arbiter/local_and_north_share_four_to_one", local_and_north_share_four_to_one);
    g_test_add_func("/router/arbiter/one_in_five_starves_the_others", one_in_five_starves_the_others);
    g_test_add_func("/router/queue/a_blocked_router_absorbs_36", a_blocked_router_absorbs_36);
    g_test_add_func("/router/queue/room_goes_back_a_router_a_cycle", room_goes_back_a_router_a_cycle);
    g_test_add_func("/router/route/outward_destinations_leave_by_their_side", outward_destinations_leave_by_their_side);
    g_test_add_func("/router/route/strange_destinations_are_reported", strange_destinations_are_reported);
    g_test_add_func("/router/counters/head_of_line_cycles_are_counted", head_of_line_cycles_are_counted);
    g_test_add_func("/router/counters/same_destination_is_no_head_of_line_blocking",
                    same_destination_is_no_head_of_line_blocking);
    g_test_add_func("/router/counters/wanted_behind_follows_the_words", wanted_behind_follows_the_words);
    g_test_add_func("/router/cost/idle_routers_are_not_stepped", idle_routers_are_not_stepped);
    g_test_add_func("/router/cost/a_router_is_below_4_kb", a_router_is_below_4_kb);
    return g_test_run();
}
