/* Deadlock: found in the description before a run, refused unless forced, and named when a forced run stands still. */
#include "flex_traffic.h"
#include "model/error.h"

static bool has_circle(const struct machine *machine, GArray *circle) {
    struct flex_plan plan;
    flex_plan_init(&plan, machine);
    bool found = flex_find_circle(&plan, circle);
    for (guint i = 0; i < circle->len; i++) { /* each channel is fed by the router of the one before */
        const struct flex_channel *channel = &g_array_index(circle, struct flex_channel, i);
        const struct flex_channel *next = &g_array_index(circle, struct flex_channel, (i + 1) % circle->len);
        unsigned x, y;
        g_assert_true(flex_plan_neighbour(&plan, next->x, next->y, next->in, &x, &y));
        g_assert_cmpuint(x, ==, channel->x);
        g_assert_cmpuint(y, ==, channel->y);
        g_assert_cmpuint(channel->vc, <, plan.vcs);
    }
    g_assert_true(found == (circle->len > 0));
    flex_plan_clear(&plan);
    return found;
}

/* What flex_check takes for safe without a search has no circle on any small size. */
static void known_safe_has_no_circle(void) {
    static const unsigned sizes[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 2}, {3, 4}, {5, 5}, {6, 7}};
    GArray *circle = g_array_new(FALSE, FALSE, sizeof(struct flex_channel));
    for (unsigned size = 0; size < G_N_ELEMENTS(sizes); size++)
        for (unsigned vcs = 1; vcs <= 8; vcs++)
            for (int assignment = VC_FREE; assignment <= VC_BY_PAIR; assignment++)
                for (int routing = ROUTING_XY; routing < ROUTING_TABLE; routing++)
                    for (int topology = TOPOLOGY_MESH; topology <= TOPOLOGY_CONCENTRATED; topology++) {
                        struct machine machine = traffic_machine(sizes[size][0], sizes[size][1]);
                        bool torus = topology == TOPOLOGY_TORUS;
                        if (torus && (vcs % 2 || routing > ROUTING_YX))
                            continue;
                        machine.noc.virtual_channels = vcs;
                        machine.noc.vc_by_class = assignment;
                        machine.noc.routing = routing;
                        machine.noc.topology = topology;
                        machine.noc.concentration = topology == TOPOLOGY_CONCENTRATED && vcs <= 4 ? 2 : 1;
                        g_assert_false(has_circle(&machine, circle));
                    }
    g_array_unref(circle);
}

static void assert_refused(const struct machine *machine, const char *part) {
    GError *error = NULL;
    g_assert_false(flex_check(machine, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    g_test_message("%s", error->message);
    if (!strstr(error->message, part))
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    g_clear_error(&error);
}

static void torus_without_dateline_has_one(void) {
    struct machine machine = traffic_machine(6, 1);
    machine.noc.topology = TOPOLOGY_TORUS;
    assert_refused(&machine, "the network can deadlock: each of these channels can wait for the next, the last for the "
                             "first: router (1,1) east channel 0, router (6,1) east channel 0");
    assert_refused(&machine, "take 2 noc.virtual_channels or set noc.force_deadlockable");
    machine.noc.force_deadlockable = true;
    g_assert_true(flex_check(&machine, NULL));
    machine.noc.force_deadlockable = false;
    machine.noc.virtual_channels = 2;
    g_assert_true(flex_check(&machine, NULL));
    machine.noc.virtual_channels = 1;
    machine.nx = 3; /* one hop at most: no channel waits for another of its ring */
    g_assert_true(flex_check(&machine, NULL));
}

/* Turn models know nothing of rings. */
static void adaptive_torus_has_one(void) {
    for (int routing = ROUTING_WEST_FIRST; routing <= ROUTING_ODD_EVEN; routing++) {
        struct machine machine = traffic_machine(6, 6);
        machine.noc.topology = TOPOLOGY_TORUS;
        machine.noc.virtual_channels = 2;
        machine.noc.vc_by_class = VC_BY_PAIR;
        machine.noc.routing = routing;
        assert_refused(&machine, "; change the routing or set noc.force_deadlockable");
    }
}

/* Everything goes clockwise round four routers. */
static const char ring_table[] = "grid 2 2\n"
                                 "1,1 * east\n2,1 * south\n2,2 * west\n1,2 * north\n";

static void run_to_standstill(struct traffic *traffic, traffic_pattern *pattern) {
    traffic->pattern = pattern;
    traffic->rate = 1;
    while (!flex_standstill(&traffic->flex, traffic->now)) {
        traffic_cycle(traffic, true);
        g_assert_cmpuint(traffic->now, <, 20000);
    }
    traffic_assert_conserved(traffic);
}

/* A real circle: every wait is for the channel that waits next, and its flit is inside. */
static void assert_circle(struct traffic *traffic, GArray *waits) {
    const struct flex_plan *plan = &traffic->flex.plan;
    g_assert_true(flex_waits(&traffic->flex, traffic->now, waits));
    g_assert_cmpuint(waits->len, >=, 2);
    for (guint i = 0; i < waits->len; i++) {
        const struct flex_wait *wait = &g_array_index(waits, struct flex_wait, i);
        const struct flex_wait *next = &g_array_index(waits, struct flex_wait, (i + 1) % waits->len);
        unsigned x, y;
        g_assert_false(wait->endpoint);
        g_assert_true(flex_plan_neighbour(plan, wait->x, wait->y, wait->out, &x, &y));
        g_assert_cmpuint(x, ==, next->x);
        g_assert_cmpuint(y, ==, next->y);
        g_assert_cmpuint(wait->held_x, ==, next->x);
        g_assert_cmpuint(wait->held_in, ==, next->in);
        g_assert_cmpuint(wait->held_vc, ==, next->vc);
        const struct flit *flit = flit_at(&traffic->pool, wait->flit);
        g_assert_true(flit->dst_x != wait->x || flit->dst_y != wait->y);
        char *text = flex_wait_text(&traffic->flex, wait);
        g_test_message("%s", text);
        g_free(text);
    }
}

static void ring_table_is_refused_and_when_forced_caught(void) {
    struct machine machine = traffic_machine(2, 2);
    GError *error = NULL;
    machine.noc.routing = ROUTING_TABLE;
    machine.noc.table = routing_table_parse(ring_table, "ring", &error);
    g_assert_no_error(error);
    assert_refused(&machine, "router (1,1) south channel 0, router (2,1) west channel 0, router (2,2) north channel 0, "
                             "router (1,2) east channel 0");
    machine.noc.force_deadlockable = true;
    g_assert_true(flex_check(&machine, NULL));
    for (unsigned slots = 0; slots <= 2; slots++) {
        struct traffic traffic;
        machine.noc.holding_slots = slots;
        machine.noc.fifo_depth = 4;
        traffic_init(&traffic, &machine, false, false);
        run_to_standstill(&traffic, traffic_uniform);
        GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
        assert_circle(&traffic, waits);
        g_assert_cmpuint(waits->len, ==, 4);
        char *text = flex_wait_text(&traffic.flex, &g_array_index(waits, struct flex_wait, 0));
        g_assert_cmpstr(text, ==, "router (1,1) south channel 0 wants east, held by router (2,1) west channel 0");
        g_free(text);
        g_array_unref(waits);
        traffic_clear(&traffic);
    }
    routing_table_free(machine.noc.table);
}

static void forced_torus_is_caught(void) {
    static const unsigned latencies[] = {0, 3};
    for (unsigned i = 0; i < G_N_ELEMENTS(latencies); i++) {
        struct machine machine = traffic_machine(8, 1);
        struct traffic traffic;
        machine.noc.topology = TOPOLOGY_TORUS;
        machine.noc.fifo_depth = 2;
        machine.noc.link_latency = latencies[i];
        machine.noc.pipeline = latencies[i];
        traffic_init(&traffic, &machine, false, false);
        run_to_standstill(&traffic, traffic_tornado);
        GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
        assert_circle(&traffic, waits);
        g_assert_cmpuint(waits->len, ==, 8);
        g_array_unref(waits);
        traffic_clear(&traffic);
    }
}

/* The same with the dateline never stands still. */
static void dateline_keeps_it_moving(void) {
    for (int assignment = VC_FREE; assignment <= VC_BY_PAIR; assignment++) {
        struct machine machine = traffic_machine(8, 8);
        struct traffic traffic;
        machine.noc.topology = TOPOLOGY_TORUS;
        machine.noc.fifo_depth = 1;
        machine.noc.fifo_extra = 0;
        machine.noc.virtual_channels = 2;
        machine.noc.vc_by_class = assignment;
        traffic_init(&traffic, &machine, false, false);
        traffic_run(&traffic, traffic_uniform, 1, 3000);
        g_assert_false(flex_standstill(&traffic.flex, traffic.now));
        traffic_clear(&traffic);
    }
}

/* No circle, but nothing moves: the endpoint that refuses is named, everything waits for it. */
static void a_refusing_endpoint_is_named(void) {
    struct machine machine = traffic_machine(4, 1);
    struct traffic traffic;
    GArray *waits = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
    traffic_init(&traffic, &machine, false, false);
    traffic.nodes[0].refuse = 16;
    run_to_standstill(&traffic, traffic_to_first);
    g_assert_false(flex_waits(&traffic.flex, traffic.now, waits));
    g_assert_cmpuint(waits->len, ==, 1);
    char *text = flex_wait_text(&traffic.flex, &g_array_index(waits, struct flex_wait, 0));
    g_assert_cmpstr(text, ==, "router (1,1) east channel 0 wants local, held by the endpoint there, which refuses it");
    g_free(text);
    g_array_unref(waits);
    traffic_clear(&traffic);
}

static void an_empty_or_busy_network_does_not_stand_still(void) {
    struct machine machine = traffic_machine(6, 1);
    struct traffic traffic;
    machine.noc.link_latency = 200;
    machine.noc.pipeline = 100;
    machine.noc.fall_through = 50;
    traffic_init(&traffic, &machine, false, false);
    g_assert_false(flex_standstill(&traffic.flex, 1000000));
    traffic_put(&traffic, 0, 5, FLIT_CU_DATA);
    while (traffic.delivered == 0) {
        traffic_cycle(&traffic, false);
        g_assert_false(flex_standstill(&traffic.flex, traffic.now));
    }
    traffic_clear(&traffic);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flex/deadlock/known_safe_has_no_circle", known_safe_has_no_circle);
    g_test_add_func("/flex/deadlock/torus_without_dateline_has_one", torus_without_dateline_has_one);
    g_test_add_func("/flex/deadlock/adaptive_torus_has_one", adaptive_torus_has_one);
    g_test_add_func("/flex/deadlock/ring_table_is_refused_and_when_forced_caught",
                    ring_table_is_refused_and_when_forced_caught);
    g_test_add_func("/flex/deadlock/forced_torus_is_caught", forced_torus_is_caught);
    g_test_add_func("/flex/deadlock/dateline_keeps_it_moving", dateline_keeps_it_moving);
    g_test_add_func("/flex/deadlock/a_refusing_endpoint_is_named", a_refusing_endpoint_is_named);
    g_test_add_func("/flex/deadlock/an_empty_or_busy_network_does_not_stand_still",
                    an_empty_or_busy_network_does_not_stand_still);
    return g_test_run();
}
