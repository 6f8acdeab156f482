/* With every knob at its default the what-if network is the reference mesh, cycle for cycle and counter for counter. */
#include "flex_traffic.h"

struct setting {
    unsigned nx, ny;
    double rate;
    cycle_t cycles;
    bool edges;
    unsigned depth, extra, fall_through, phase, refuse;
};

static void compare_counters(const struct traffic *flex, const struct traffic *reference) {
    for (unsigned y = 1; y <= flex->machine.ny; y++)
        for (unsigned x = 1; x <= flex->machine.nx; x++)
            for (unsigned port = 0; port < ROUTER_PORTS; port++) {
                const struct router *router = mesh_router(&reference->mesh, x, y);
                struct flex_input_counts in = flex_input(&flex->flex, x, y, port);
                struct flex_output_counts out = flex_output(&flex->flex, x, y, port);
                g_assert_cmpuint(in.flits, ==, router_input_counts(router, port).flits);
                g_assert_cmpuint(in.blocked, ==, router_input_counts(router, port).blocked);
                g_assert_cmpuint(in.hol_blocked, ==, router_input_counts(router, port).hol_blocked);
                g_assert_cmpuint(in.max_depth, ==, router_input(router, port)->peak);
                g_assert_cmpuint(out.flits, ==, router->out[port].counts.flits);
                g_assert_cmpuint(out.busy, ==, router->out[port].counts.busy);
            }
    g_assert_cmpuint(flex->flex.hops, ==, mesh_hops(&reference->mesh));
    g_assert_cmpuint(flex->flex.hol_cycles, ==, mesh_hol_cycles(&reference->mesh));
    g_assert_cmpuint(flex->flex.steps, ==, mesh_steps(&reference->mesh));
}

static void compare(const struct setting *setting, traffic_pattern *pattern) {
    struct traffic side[2];
    struct machine machine = traffic_machine(setting->nx, setting->ny);
    machine.noc.fifo_depth = setting->depth;
    machine.noc.fifo_extra = setting->extra;
    machine.noc.fall_through = setting->fall_through;
    machine.noc.arbiter_phase = setting->phase;
    g_assert_false(flex_needed(&machine));
    for (unsigned i = 0; i < 2; i++) {
        traffic_init(&side[i], &machine, i == 1, setting->edges);
        for (unsigned node = 0; node < side[i].node_count; node++)
            side[i].nodes[node].refuse = setting->refuse;
        traffic_run(&side[i], pattern, setting->rate, setting->cycles);
        g_assert_cmpuint(side[i].delivered, >, 0);
        traffic_drain(&side[i], 1000);
        traffic_assert_conserved(&side[i]);
        g_assert_cmpuint(side[i].reordered, ==, 0);
    }
    g_assert_cmpuint(side[0].delivered, ==, side[1].delivered);
    g_assert_cmphex(side[0].hash, ==, side[1].hash);
    g_assert_cmpuint(side[0].due, ==, side[1].due);
    compare_counters(&side[0], &side[1]);
    traffic_clear(&side[0]);
    traffic_clear(&side[1]);
}

static void sizes_and_rates(void) {
    static const unsigned sizes[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 2}, {3, 5}, {8, 8}, {16, 9}, {32, 32}};
    static const double rates[] = {0.02, 0.2, 0.5, 1.0};
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (unsigned j = 0; j < G_N_ELEMENTS(rates); j++) {
            cycle_t cycles = sizes[i][0] * sizes[i][1] > 200 ? 200 : 1500;
            compare(&(struct setting){sizes[i][0], sizes[i][1], rates[j], cycles, true, 32, 2, 3, 0, 0},
                    traffic_uniform);
        }
}

static void depths_and_delays(void) {
    static const unsigned depths[] = {1, 2, 3, 7, 64};
    for (unsigned depth = 0; depth < G_N_ELEMENTS(depths); depth++)
        for (unsigned fall_through = 1; fall_through <= 5; fall_through += 2)
            for (unsigned extra = 0; extra <= 2; extra += 2)
                compare(&(struct setting){4, 4, 0.7, 1000, true, depths[depth], extra, fall_through, depth, 0},
                        traffic_uniform);
}

static void patterns(void) {
    traffic_pattern *const list[] = {traffic_mixhot, traffic_to_first, traffic_tornado, traffic_transpose};
    for (unsigned i = 0; i < G_N_ELEMENTS(list); i++)
        compare(&(struct setting){6, 6, 0.6, 2000, false, 8, 2, 3, 3, 0}, list[i]);
}

static void slow_sinks(void) {
    for (unsigned refuse = 1; refuse < 16; refuse += 7)
        compare(&(struct setting){5, 4, 0.5, 2000, true, 4, 2, 3, 1, refuse}, traffic_uniform);
}

/* The stray destinations of noc-and-memory §3.3 end where they end in the reference. */
static void illegal_destinations(void) {
    static const uint16_t stray[][2] = {{0, 0}, {15, 15}, {0, 5}, {5, 0}, {9, 2}, {2, 9}, {0, 2}, {4, 4}};
    for (unsigned edges = 0; edges < 2; edges++) {
        uint64_t lost[2], where[2] = {0, 0};
        for (unsigned i = 0; i < 2; i++) {
            struct traffic side;
            struct machine machine = traffic_machine(3, 3);
            traffic_init(&side, &machine, i == 1, edges);
            for (unsigned k = 0; k < G_N_ELEMENTS(stray); k++) {
                traffic_put(&side, 4, 0, FLIT_CU_DATA);
                flit_index index = GPOINTER_TO_UINT(g_queue_peek_tail(&side.nodes[4].queue)) - 1;
                flit_at(&side.pool, index)->dst_x = stray[k][0];
                flit_at(&side.pool, index)->dst_y = stray[k][1];
            }
            traffic_drain(&side, 200);
            lost[i] = i ? mesh_lost(&side.mesh) : side.flex.lost;
            g_assert_cmpuint(hazard_count(&side.hazards, "route.illegal_dst"), ==, 7);
            g_assert_cmpuint(hazard_count(&side.hazards, "route.sink"), ==, lost[i]);
            for (unsigned node = 0; node < side.node_count; node++)
                where[i] = where[i] * 31 + side.nodes[node].received;
            traffic_clear(&side);
        }
        g_assert_cmpuint(lost[0], ==, lost[1]);
        g_assert_cmpuint(lost[0], ==, edges ? 0 : 8);
        g_assert_cmpuint(where[0], ==, where[1]);
    }
}

/* A network without flits is never stepped, and a quiet one says so. */
static void idle_costs_nothing(void) {
    struct traffic traffic;
    struct machine machine = traffic_machine(16, 16);
    traffic_init(&traffic, &machine, false, false);
    g_assert_cmpuint(flex_step(&traffic.flex, UINT64_C(1) << 33), ==, CYCLE_NEVER);
    traffic_put(&traffic, 0, 255, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 1000));
    traffic_cycle(&traffic, false);
    g_assert_cmpuint(traffic.due, ==, CYCLE_NEVER);
    g_assert_cmpuint(traffic.flex.steps, ==, 31 * 3); /* load, grant, hand over at each of 31 routers */
    traffic_clear(&traffic);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/default_is_the_reference/sizes_and_rates", sizes_and_rates);
    g_test_add_func("/flex/default_is_the_reference/depths_and_delays", depths_and_delays);
    g_test_add_func("/flex/default_is_the_reference/patterns", patterns);
    g_test_add_func("/flex/default_is_the_reference/slow_sinks", slow_sinks);
    g_test_add_func("/flex/default_is_the_reference/illegal_destinations", illegal_destinations);
    g_test_add_func("/flex/idle_costs_nothing", idle_costs_nothing);
    return g_test_run();
}
