/* Routing policies: where flits go, what order they keep, and tables in their text form. */
#include "flex_traffic.h"
#include "model/error.h"

/* One flit between every two places; all arrive, each at its own. */
static void all_to_all(const struct machine *machine, bool edges) {
    struct traffic traffic;
    traffic_init(&traffic, machine, false, edges);
    for (unsigned from = 0; from < traffic.node_count; from++)
        for (unsigned to = 0; to < traffic.node_count; to++)
            traffic_put(&traffic, from, to, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 100000));
    traffic_assert_conserved(&traffic);
    for (unsigned node = 0; node < traffic.node_count; node++)
        g_assert_cmpuint(traffic.nodes[node].received, ==, traffic.node_count);
    g_assert_true(traffic.reordered == 0 || flex_reorders(machine));
    traffic_clear(&traffic);
}

static void every_policy_reaches_every_place(void) {
    static const unsigned sizes[][2] = {{1, 1}, {1, 5}, {5, 1}, {2, 2}, {4, 4}, {5, 7}};
    for (unsigned size = 0; size < G_N_ELEMENTS(sizes); size++)
        for (int routing = ROUTING_XY; routing < ROUTING_TABLE; routing++) {
            struct machine machine = traffic_machine(sizes[size][0], sizes[size][1]);
            machine.noc.routing = routing;
            g_assert_true(flex_check(&machine, NULL));
            all_to_all(&machine, true);
        }
}

/* Flits of the same random traffic over each link, the coordinates of all exchanged. */
static void yx_mirrors_xy(void) {
    const unsigned nx = 5, ny = 3;
    static const unsigned mirrored[] = {SIDE_WEST, SIDE_SOUTH, SIDE_EAST, SIDE_NORTH, FLEX_SIDES};
    struct machine machine = traffic_machine(nx, ny), mirror = traffic_machine(ny, nx);
    struct traffic one, other;
    uint64_t random = 1;
    mirror.noc.routing = ROUTING_YX;
    traffic_init(&one, &machine, false, false);
    traffic_init(&other, &mirror, false, false);
    for (unsigned i = 0; i < 3000; i++) {
        unsigned from = traffic_random(&random) % 15, to = traffic_random(&random) % 15;
        traffic_put(&one, from, to, FLIT_CU_DATA);
        traffic_put(&other, from % nx * ny + from / nx, to % nx * ny + to / nx, FLIT_CU_DATA);
    }
    g_assert_true(traffic_drain(&one, 10000));
    g_assert_true(traffic_drain(&other, 10000));
    for (unsigned y = 1; y <= ny; y++)
        for (unsigned x = 1; x <= nx; x++)
            for (unsigned port = 0; port <= FLEX_SIDES; port++)
                g_assert_cmpuint(flex_output(&one.flex, x, y, port).flits, ==,
                                 flex_output(&other.flex, y, x, mirrored[port]).flits);
    g_assert_cmpuint(flex_input(&one.flex, 3, 2, SIDE_WEST).flits, >, 0);
    traffic_clear(&one);
    traffic_clear(&other);
}

/* Turns a policy never makes, seen from its candidates for every way in and destination. */
static void adaptive_policies_keep_their_turn_rules(void) {
    struct flex_plan plan;
    struct machine machine = traffic_machine(7, 7);
    unsigned choices = 0;
    for (int routing = ROUTING_WEST_FIRST; routing <= ROUTING_ODD_EVEN; routing++) {
        machine.noc.routing = routing;
        flex_plan_init(&plan, &machine);
        for (unsigned to = 0; to < 49; to++)
            for (unsigned at = 0; at < 49; at++)
                for (unsigned in = 0; in <= FLEX_SIDES; in++) {
                    unsigned x = at % 7 + 1, y = at / 7 + 1;
                    int dx = (int)(to % 7 + 1) - (int)x, dy = (int)(to / 7 + 1) - (int)y;
                    if ((in == SIDE_WEST && dx < 0) || (in == SIDE_EAST && dx > 0) || (in == SIDE_NORTH && dy < 0) ||
                        (in == SIDE_SOUTH && dy > 0) || (in == SIDE_NORTH && routing == ROUTING_WEST_FIRST && dx < 0) ||
                        (in == SIDE_SOUTH && routing == ROUTING_WEST_FIRST && dx < 0))
                        continue; /* no minimal way comes in by this side */
                    uint32_t ports = plan.route(&plan, x, y, in, flex_plan_dest(&plan, to % 7 + 1, to / 7 + 1));
                    choices += (ports & (ports - 1)) != 0;
                    g_assert_true(routing == ROUTING_WEST_FIRST || in != SIDE_WEST || x % 2 || !dx || !dy ||
                                  ports == 1u << SIDE_EAST);
                    if (dx < 0 && dy && (routing == ROUTING_WEST_FIRST || x % 2))
                        g_assert_cmpuint(ports, ==, 1u << SIDE_WEST);
                    if (!(dx | dy))
                        g_assert_cmpuint(ports, ==, 1u << FLEX_SIDES);
                    g_assert_cmpuint(ports, !=, 0);
                }
        flex_plan_clear(&plan);
    }
    g_assert_cmpuint(choices, >, 1000);
}

/* Rows to columns: xy sends all of a row's flits over the same link, adaptive policies go round. */
static double transpose_rate(int routing) {
    struct machine machine = traffic_machine(8, 8);
    struct traffic traffic;
    machine.noc.routing = routing;
    traffic_init(&traffic, &machine, false, false);
    traffic_run(&traffic, traffic_transpose, 0.5, 6000);
    traffic_assert_conserved(&traffic);
    double rate = (double)traffic.delivered / 6000 / 64;
    g_test_message("routing %d: %.4f", routing, rate);
    traffic_clear(&traffic);
    return rate;
}

static void adaptive_policies_go_round_the_crowd(void) {
    double fixed = transpose_rate(ROUTING_XY);
    g_assert_cmpfloat(transpose_rate(ROUTING_ODD_EVEN), >, fixed * 1.2);
    g_assert_cmpfloat(transpose_rate(ROUTING_YX), >, fixed * 0.9);
    transpose_rate(ROUTING_WEST_FIRST);
}

static void reordering_is_told_and_refused_where_units_are(void) {
    struct machine machine = traffic_machine(4, 4);
    GError *error = NULL;
    g_assert_null(flex_reorders(&machine));
    machine.noc.routing = ROUTING_ODD_EVEN;
    g_assert_nonnull(strstr(flex_reorders(&machine), "odd_even is adaptive"));
    g_assert_true(flex_check(&machine, NULL)); /* a bare mesh */
    machine.bare = false;
    g_assert_false(flex_check(&machine, &error));
    g_assert_nonnull(strstr(error->message, "noc.force_reordering"));
    g_clear_error(&error);
    machine.noc.force_reordering = true;
    g_assert_true(flex_check(&machine, NULL));
    machine.noc.force_reordering = false;
    machine.noc.routing = ROUTING_XY;
    machine.noc.virtual_channels = 2;
    machine.noc.vc_by_class = VC_FREE;
    g_assert_false(flex_check(&machine, NULL));
    machine.noc.vc_by_class = VC_BY_CLASS;
    g_assert_true(flex_check(&machine, NULL));
    machine.noc.vc_by_class = VC_BY_PAIR;
    g_assert_true(flex_check(&machine, NULL));
}

/* --- tables --- */

static void table_of_xy_is_xy(void) {
    GError *error = NULL;
    struct machine machine = traffic_machine(4, 3);
    struct traffic by_table, by_rule;
    machine.noc.table = routing_table_parse("grid 4 3\nbase xy # as the hardware\n", "t", &error);
    g_assert_no_error(error);
    traffic_init(&by_rule, &machine, false, true);
    machine.noc.routing = ROUTING_TABLE;
    g_assert_true(flex_check(&machine, &error));
    traffic_init(&by_table, &machine, false, true);
    traffic_run(&by_rule, traffic_uniform, 0.5, 2000);
    traffic_run(&by_table, traffic_uniform, 0.5, 2000);
    g_assert_cmphex(by_rule.hash, ==, by_table.hash);
    traffic_clear(&by_rule);
    traffic_clear(&by_table);
    routing_table_free(machine.noc.table);
}

static void table_lines_override(void) {
    GError *error = NULL;
    struct routing_table *table = routing_table_parse(
        "# a detour\n\ngrid 3 2\r\nbase xy\n1,1 3,1 south\n1-2,2 3,1 east\n*,2  1,* west", "t", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(*routing_table_at(table, 1, 1, 3, 1), ==, SIDE_SOUTH);
    g_assert_cmpuint(*routing_table_at(table, 2, 2, 3, 1), ==, SIDE_EAST);
    g_assert_cmpuint(*routing_table_at(table, 3, 2, 3, 1), ==, SIDE_NORTH);
    g_assert_cmpuint(*routing_table_at(table, 1, 2, 1, 1), ==, SIDE_WEST);
    g_assert_cmpuint(*routing_table_at(table, 1, 2, 1, 2), ==, SIDE_HERE);
    struct machine machine = traffic_machine(3, 2);
    machine.noc.routing = ROUTING_TABLE;
    machine.noc.table = table;
    *routing_table_at(table, 1, 2, 1, 1) = SIDE_NORTH;
    g_assert_true(flex_check(&machine, &error));
    all_to_all(&machine, true);
    struct traffic traffic;
    traffic_init(&traffic, &machine, false, false);
    traffic_put(&traffic, 0, 2, FLIT_CU_DATA);
    g_assert_true(traffic_drain(&traffic, 100));
    g_assert_cmpuint(traffic.latency, ==, 5 * 5); /* (1,1) (1,2) (2,2) (3,2) (3,1) */
    traffic_clear(&traffic);
    routing_table_free(table);
}

static void table_errors_name_the_line(void) {
    static const char *const wrong[][2] = {
        {"", "t:1: the first statement has to be \"grid COLUMNS ROWS\""},
        {"base xy\n", "t:1: the first statement"},
        {"grid 0 3\n", "t:1: columns and rows"},
        {"grid 3 200\n", "t:1: columns and rows"},
        {"grid 3 3x\n", "t:1: columns and rows"},
        {"grid 3 99999999999999999999\n", "t:1: columns and rows"},
        {"grid 3\n", "t:1: the first statement"},
        {"grid 3 3\ngrid 3 3\n", "t:2: the grid is given twice"},
        {"grid 3 3\nbase zz\n", "t:2: expected \"base xy\""},
        {"grid 3 3\n\n1,1 4,1 east\n", "t:3: the destination has to be * or X,Y"},
        {"grid 3 3\n0,1 2,1 east\n", "t:2: the router has to be"},
        {"grid 3 3\n3-1,1 2,1 east\n", "t:2: the router has to be"},
        {"grid 3 3\n1 2,1 east\n", "t:2: the router has to be"},
        {"grid 3 3\n1, 2,1 east\n", "t:2: the router has to be"},
        {"grid 3 3\n1,1 2,1 up\n", "t:2: the side has to be"},
        {"grid 3 3\n1,1 2,1\n", "t:2: expected ROUTER"},
        {"grid 3 3\n1,1 2,1 east please\n", "t:2: expected ROUTER"},
        {"grid 3 3\n1,1 2,1 east # fine\n1,1 2,1 east a b c d\n", "t:3: expected ROUTER"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        g_assert_null(routing_table_parse(wrong[i][0], "t", &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        if (!g_str_has_prefix(error->message, wrong[i][1]))
            g_error("\"%s\" gave \"%s\", expected \"%s\"", wrong[i][0], error->message, wrong[i][1]);
        g_clear_error(&error);
    }
}

static void useless_tables_are_refused(void) {
    static const char *const wrong[][2] = {
        {"grid 2 2\n", "says nothing for router (2,1) towards (1,1)"},
        {"grid 2 2\nbase xy\n1,1 2,2 north\n", "leads out of the grid by the north side of router (1,1) towards (2,2)"},
        {"grid 2 2\nbase xy\n2,1 2,2 west\n", "goes in a circle"},
        {"grid 3 2\nbase xy\n", "is for 3 x 2 routers, this network has 2 x 2"},
    };
    struct machine machine = traffic_machine(2, 2);
    GError *error = NULL;
    machine.noc.routing = ROUTING_TABLE;
    machine.noc.force_deadlockable = true; /* these are beyond forcing */
    g_assert_false(flex_check(&machine, &error));
    g_assert_nonnull(strstr(error->message, "no noc.routing_table is given"));
    g_clear_error(&error);
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        machine.noc.table = routing_table_parse(wrong[i][0], "t", &error);
        g_assert_no_error(error);
        g_assert_false(flex_check(&machine, &error));
        if (!strstr(error->message, wrong[i][1]))
            g_error("\"%s\" gave \"%s\", expected \"%s\"", wrong[i][0], error->message, wrong[i][1]);
        g_clear_error(&error);
        routing_table_free(machine.noc.table);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/routing/every_policy_reaches_every_place", every_policy_reaches_every_place);
    g_test_add_func("/flex/routing/yx_mirrors_xy", yx_mirrors_xy);
    g_test_add_func("/flex/routing/adaptive_policies_keep_their_turn_rules", adaptive_policies_keep_their_turn_rules);
    g_test_add_func("/flex/routing/adaptive_policies_go_round_the_crowd", adaptive_policies_go_round_the_crowd);
    g_test_add_func("/flex/routing/reordering_is_told_and_refused_where_units_are",
                    reordering_is_told_and_refused_where_units_are);
    g_test_add_func("/flex/routing/table/of_xy_is_xy", table_of_xy_is_xy);
    g_test_add_func("/flex/routing/table/lines_override", table_lines_override);
    g_test_add_func("/flex/routing/table/errors_name_the_line", table_errors_name_the_line);
    g_test_add_func("/flex/routing/table/useless_ones_are_refused", useless_tables_are_refused);
    return g_test_run();
}
