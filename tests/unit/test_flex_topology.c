/* Topologies and sizes: distances, places, and what a torus and a concentrated mesh are good for. */
#include "flex_traffic.h"

static uint64_t lone_latency(const struct machine *machine, unsigned from, unsigned to) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, false);
    traffic_put(&traffic, from, to, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 1000));
    uint64_t latency = traffic.latency;
    traffic_clear(&traffic);
    return latency;
}

static unsigned ring_distance(unsigned a, unsigned b, unsigned size) {
    unsigned d = a > b ? a - b : b - a;
    return MIN(d, size - d);
}

static void torus_goes_the_short_way(void) {
    static const unsigned sizes[][2] = {{1, 1}, {2, 2}, {1, 6}, {5, 3}, {4, 6}};
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        unsigned nx = sizes[i][0], ny = sizes[i][1];
        struct machine machine = traffic_machine(nx, ny);
        machine.noc.topology = TOPOLOGY_TORUS;
        machine.noc.virtual_channels = 2;
        for (unsigned from = 0; from < nx * ny; from++)
            for (unsigned to = 0; to < nx * ny; to++) {
                unsigned hops = 1 + ring_distance(from % nx, to % nx, nx) + ring_distance(from / nx, to / nx, ny);
                g_assert_cmpuint(lone_latency(&machine, from, to), ==, 5 * hops);
            }
    }
}

static double accepted(const struct machine *machine, traffic_pattern *pattern, double *hops) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, false);
    traffic_run(&traffic, pattern, 0.9, 5000);
    traffic_assert_conserved(&traffic);
    *hops = (double)traffic.flex.hops / traffic.delivered;
    double rate = (double)traffic.delivered / 5000 / traffic.locals;
    g_test_message("accepted %.4f hops %.2f", rate, *hops);
    traffic_clear(&traffic);
    return rate;
}

static void torus_shortens_hops_and_carries_more(void) {
    struct machine machine = traffic_machine(8, 8);
    double mesh_hops, torus_hops;
    machine.noc.virtual_channels = 4;
    machine.noc.vc_by_class = VC_BY_PAIR;
    double mesh = accepted(&machine, traffic_uniform, &mesh_hops);
    machine.noc.topology = TOPOLOGY_TORUS;
    double torus = accepted(&machine, traffic_uniform, &torus_hops);
    g_assert_cmpfloat(torus_hops, <, mesh_hops - 0.8); /* 1 + 2 * 2 against 1 + 2 * 8/3, a router counted each */
    g_assert_cmpfloat(torus, >, mesh * 1.2);
}

static void torus_has_no_edges(void) {
    struct machine machine = traffic_machine(3, 3);
    struct machine_port port = {0, 2};
    struct traffic traffic;
    GError *error = NULL;
    machine.noc.topology = TOPOLOGY_TORUS;
    machine.noc.virtual_channels = 2;
    traffic_init(&traffic, &machine, false, false);
    g_assert_false(flex_has_place(&traffic.flex, 0, 2));
    g_assert_false(flex_has_place(&traffic.flex, 2, 4));
    g_assert_true(flex_has_place(&traffic.flex, 3, 3));
    traffic_put(&traffic, 0, 1, FLIT_CU_DATA); /* a stray flit is counted, not given to somebody else */
    flit_at(&traffic.pool, GPOINTER_TO_UINT(g_queue_peek_head(&traffic.nodes[0].queue)) - 1)->dst_x = 0;
    traffic_drain(&traffic, 100);
    g_assert_cmpuint(traffic.flex.lost, ==, 1);
    g_assert_cmpuint(traffic.delivered, ==, 0);
    g_assert_cmpuint(hazard_count(&traffic.hazards, "route.illegal_dst"), ==, 1);
    traffic_clear(&traffic);
    machine.bare = false;
    machine.noc.vc_by_class = VC_BY_PAIR;
    g_assert_true(flex_check(&machine, NULL));
    machine.ports = &port;
    machine.port_count = 1;
    g_assert_false(flex_check(&machine, &error));
    g_assert_nonnull(strstr(error->message, "the memory port at (0,2) sits on an edge"));
    g_clear_error(&error);
}

static void concentrated_blocks_share_a_router(void) {
    static const unsigned blocks[][3] = {{2, 2, 1}, {3, 3, 1}, {4, 2, 2}, {6, 3, 2}, {8, 4, 2}, {9, 3, 3}, {16, 4, 4}};
    for (unsigned i = 0; i < G_N_ELEMENTS(blocks); i++) {
        struct machine machine = traffic_machine(8, 6);
        machine.noc.topology = TOPOLOGY_CONCENTRATED;
        machine.noc.concentration = blocks[i][0];
        for (unsigned from = 0; from < 48; from += 5)
            for (unsigned to = 0; to < 48; to += 3) {
                int dx = (int)(from % 8 / blocks[i][1]) - (int)(to % 8 / blocks[i][1]);
                int dy = (int)(from / 8 / blocks[i][2]) - (int)(to / 8 / blocks[i][2]);
                g_assert_cmpuint(lone_latency(&machine, from, to), ==, 5 * (1 + ABS(dx) + ABS(dy)));
            }
    }
}

/* Every place, the edge places of every block too, reaches every other. */
static void concentrated_all_to_all(void) {
    static const unsigned sizes[][2] = {{1, 1}, {2, 2}, {5, 3}, {8, 6}, {1, 7}};
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (unsigned c = 1; c <= 16; c++) {
            struct machine machine = traffic_machine(sizes[i][0], sizes[i][1]);
            struct traffic traffic;
            machine.noc.topology = TOPOLOGY_CONCENTRATED;
            machine.noc.concentration = c;
            g_assert_true(flex_check(&machine, NULL));
            traffic_init(&traffic, &machine, false, true);
            for (unsigned from = 0; from < traffic.node_count; from++)
                for (unsigned to = 0; to < traffic.node_count; to++)
                    traffic_put(&traffic, from, to, FLIT_CU_DATA);
            g_assert_true(traffic_drain(&traffic, 20000));
            traffic_assert_conserved(&traffic);
            g_assert_cmpuint(traffic.reordered, ==, 0);
            traffic_clear(&traffic);
        }
}

static void concentration_one_is_the_mesh(void) {
    struct machine machine = traffic_machine(5, 4);
    struct traffic mesh, concentrated;
    traffic_init(&mesh, &machine, false, true);
    machine.noc.topology = TOPOLOGY_CONCENTRATED;
    traffic_init(&concentrated, &machine, false, true);
    traffic_run(&mesh, traffic_uniform, 0.4, 2000);
    traffic_run(&concentrated, traffic_uniform, 0.4, 2000);
    g_assert_cmphex(mesh.hash, ==, concentrated.hash);
    traffic_clear(&mesh);
    traffic_clear(&concentrated);
}

static void every_size_runs(void) {
    static const unsigned sizes[][2] = {{1, 1},   {1, 2},   {1, 9},   {9, 1},   {2, 2},  {3, 5},
                                        {32, 32}, {64, 64}, {100, 3}, {2, 200}, {70, 71}};
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (int topology = TOPOLOGY_MESH; topology <= TOPOLOGY_CONCENTRATED; topology++) {
            struct machine machine = traffic_machine(sizes[i][0], sizes[i][1]);
            struct traffic traffic;
            machine.noc.topology = topology;
            machine.noc.virtual_channels = topology == TOPOLOGY_TORUS ? 2 : 1;
            machine.noc.concentration = topology == TOPOLOGY_CONCENTRATED ? 4 : 1;
            machine.noc.vc_by_class = VC_BY_PAIR;
            g_assert_true(flex_check(&machine, NULL));
            traffic_init(&traffic, &machine, false, false);
            traffic_run(&traffic, traffic_uniform, 0.01, 100);
            g_assert_true(traffic_drain(&traffic, 20000));
            traffic_assert_conserved(&traffic);
            traffic_clear(&traffic);
        }
}

static void corner_to_corner_of_64x64(void) {
    struct machine machine = traffic_machine(64, 64);
    g_assert_cmpuint(lone_latency(&machine, 0, 64 * 64 - 1), ==, 127 * 5);
    machine.noc.topology = TOPOLOGY_TORUS;
    machine.noc.virtual_channels = 2;
    g_assert_cmpuint(lone_latency(&machine, 0, 64 * 64 - 1), ==, 3 * 5);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/torus/goes_the_short_way", torus_goes_the_short_way);
    g_test_add_func("/flex/torus/shortens_hops_and_carries_more", torus_shortens_hops_and_carries_more);
    g_test_add_func("/flex/torus/has_no_edges", torus_has_no_edges);
    g_test_add_func("/flex/concentrated/blocks_share_a_router", concentrated_blocks_share_a_router);
    g_test_add_func("/flex/concentrated/all_to_all", concentrated_all_to_all);
    g_test_add_func("/flex/concentrated/of_one_is_the_mesh", concentration_one_is_the_mesh);
    g_test_add_func("/flex/sizes/every_size_runs", every_size_runs);
    g_test_add_func("/flex/sizes/corner_to_corner_of_64x64", corner_to_corner_of_64x64);
    return g_test_run();
}
