/* Synthetic traffic: what every pattern sends where, the three loads, latency split in two, trace replay, and what is
 * refused before cycle 0. */
#include <math.h>
#include <string.h>

#include "bare_machine.h"
#include "noc/histogram.h"
#include "noc/traffic.h"

static struct traffic_params short_run(int pattern, double rate) {
    struct traffic_params params;
    traffic_params_init(&params);
    params.pattern = pattern;
    params.rate = rate;
    params.warmup_cycles = 200;
    params.measure_cycles = 2000;
    params.drain_cycles = 1000;
    return params;
}

static void run(unsigned nx, unsigned ny, const struct traffic_params *params, struct traffic_result *result) {
    struct machine machine = bare_machine(nx, ny);
    GError *error = NULL;
    traffic_run(&machine, params, result, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result->generated, ==, result->delivered + result->in_flight + result->queued);
    g_assert_cmpuint(result->injected, <=, result->generated);
    g_assert_cmpuint(result->delivered, <=, result->injected);
}

/* Runs a trace of one-line packets; the window is the first 10,000 cycles. */
static void run_trace(unsigned nx, unsigned ny, const char *lines, struct traffic_result *result) {
    char *text = g_strconcat("flitsim.trace/1\n", lines, NULL);
    struct traffic_params params = short_run(TRAFFIC_TRACE, 0);
    params.warmup_cycles = 0;
    params.measure_cycles = 10000;
    params.trace = text;
    params.record = true;
    run(nx, ny, &params, result);
    g_free(text);
}

/* ---- patterns ---- */

struct pattern_case {
    int pattern;
    unsigned nx, ny;
    unsigned silent;
    const char *sends[3]; /* "x,y x,y": some pairs that must occur */
};

static const struct pattern_case pattern_cases[] = {
    {TRAFFIC_UNIFORM, 2, 2, 0, {" 1,1 2,2 1\n", " 2,1 1,1 1\n", " 1,2 1,1 1\n"}},
    {TRAFFIC_TRANSPOSE, 4, 4, 4, {" 4,1 1,4 1\n", " 2,3 3,2 1\n", NULL}},
    {TRAFFIC_BIT_COMPLEMENT, 4, 2, 0, {" 1,1 4,2 1\n", " 3,1 2,2 1\n", NULL}},
    {TRAFFIC_BIT_REVERSE, 4, 4, 4, {" 2,1 1,3 1\n", " 4,1 1,4 1\n", NULL}},
    {TRAFFIC_SHUFFLE, 4, 4, 2, {" 2,1 3,1 1\n", " 1,3 2,1 1\n", " 4,2 3,4 1\n"}},
    {TRAFFIC_TORNADO, 8, 1, 0, {" 1,1 4,1 1\n", " 8,1 3,1 1\n", NULL}},
    {TRAFFIC_NEIGHBOUR, 4, 2, 0, {" 1,1 2,1 1\n", " 4,2 3,2 1\n", NULL}},
    {TRAFFIC_HOTSPOT, 4, 4, 0, {" 4,4 0,1 1\n", " 1,1 0,1 1\n", NULL}},
    {TRAFFIC_PERMUTATION, 3, 3, 0, {NULL}},
    {TRAFFIC_ROWPORT, 3, 3, 0, {" 3,2 0,2 1\n", " 1,3 0,3 1\n", NULL}},
    {TRAFFIC_RANDPORT, 3, 3, 0, {" 3,2 0,1 1\n", " 3,2 0,3 1\n", NULL}},
    {TRAFFIC_MIXHOT, 4, 4, 0, {" 3,2 0,1 1\n", " 3,2 4,2 1\n", NULL}},
};

static void pattern_sends_where_it_says(gconstpointer data) {
    const struct pattern_case *expected = data;
    struct traffic_params params = short_run(expected->pattern, 0.05);
    struct traffic_result result;
    int parsed;
    params.record = true;
    run(expected->nx, expected->ny, &params, &result);
    g_assert_true(traffic_pattern_parse(traffic_pattern_name((unsigned)expected->pattern), &parsed));
    g_assert_cmpint(parsed, ==, expected->pattern);
    if (expected->pattern != TRAFFIC_PERMUTATION)
        g_assert_cmpuint(result.silent, ==, expected->silent);
    for (unsigned i = 0; i < 3 && expected->sends[i]; i++)
        g_assert_nonnull(strstr(result.trace, expected->sends[i]));
    g_assert_cmpuint(result.delivered, ==, result.generated);
    traffic_result_clear(&result);
}

static void every_pattern_has_a_case(void) {
    g_assert_cmpuint(G_N_ELEMENTS(pattern_cases), ==, TRAFFIC_PATTERNS - 1); /* and the traces below */
    for (int i = 0; i < TRAFFIC_TRACE; i++)
        g_assert_cmpint(pattern_cases[i].pattern, ==, i);
    g_assert_null(traffic_pattern_name(TRAFFIC_PATTERNS));
}

static void hot_spots_are_weighted(void) {
    static const struct traffic_hotspot spots[] = {{1, 1, 3}, {5, 2, 1}};
    struct traffic_params params = short_run(TRAFFIC_HOTSPOT, 0.02);
    struct traffic_result result;
    params.hotspots = spots;
    params.hotspot_count = 2;
    params.measure_cycles = 20000;
    run(4, 4, &params, &result);
    uint64_t here = result.routers[0].out[PORT_LOCAL].flits, there = result.routers[7].out[PORT_EAST].flits;
    g_assert_cmpuint(here + there, ==, result.delivered);
    g_assert_cmpfloat(fabs((double)here / (double)there - 3), <, 0.25);
    traffic_result_clear(&result);
}

static void given_permutation_is_used(void) {
    static const uint32_t to[] = {1, 2, 3, 0};
    struct traffic_params params = short_run(TRAFFIC_PERMUTATION, 0.1);
    struct traffic_result result;
    params.permutation = to;
    params.permutation_count = 4;
    params.record = true;
    run(2, 2, &params, &result);
    g_assert_nonnull(strstr(result.trace, " 2,1 1,2 1\n"));
    g_assert_null(strstr(result.trace, " 2,1 1,1 1\n"));
    traffic_result_clear(&result);
}

/* ---- loads and latency ---- */

static void empty_mesh_gives_five_cycles_a_router(void) {
    struct traffic_result result;
    run_trace(4, 3, "1 7 1,1 4,3 1\n", &result);
    g_assert_cmpuint(result.network.sum, ==, 30);
    g_assert_cmpuint(result.latency.sum, ==, 30);
    g_assert_cmpuint(result.queueing.sum, ==, 0);
    g_assert_cmpuint(result.flit_hops, ==, 6);
    traffic_result_clear(&result);
}

static void second_packet_queues_for_the_first(void) {
    struct traffic_result result;
    run_trace(4, 3, "1 0 1,1 4,3 8\n2 0 1,1 4,3 8\n", &result);
    g_assert_cmpuint(result.queueing.sum, ==, 8);
    g_assert_cmpuint(result.queueing.max, ==, 8);
    g_assert_cmpuint(result.network.sum, ==, 2 * (30 + 7));
    g_assert_cmpuint(result.latency.sum, ==, result.network.sum + result.queueing.sum);
    g_assert_cmpuint(result.latency.count, ==, 2);
    traffic_result_clear(&result);
}

static void saturation_is_said_and_ends_on_time(void) {
    double before = 0;
    for (unsigned tenth = 1; tenth <= 10; tenth++) {
        struct traffic_params params = short_run(TRAFFIC_UNIFORM, tenth / 10.0);
        struct traffic_result result;
        run(8, 8, &params, &result);
        g_assert_cmpint(result.saturated, ==, tenth >= 5);
        g_assert_cmpuint(result.cycles, <=, 3200);
        g_assert_cmpfloat(result.accepted, >, before - 0.01);
        g_assert_cmpfloat(result.accepted, <=, result.offered + 0.01);
        before = result.accepted;
        traffic_result_clear(&result);
    }
}

static void starved_sources_are_saturation(void) {
    struct traffic_params params = short_run(TRAFFIC_HOTSPOT, 0.05);
    struct traffic_result result;
    params.measure_cycles = 10000;
    run(8, 8, &params, &result);
    g_assert_true(result.saturated);
    g_assert_cmpuint(result.min_node_injected, <, 40); /* what its own queues took before they filled */
    g_assert_cmpfloat(result.accepted * 64, <=, 1.0);  /* one place takes a flit a cycle */
    traffic_result_clear(&result);
}

static void intervals_add_up(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.6);
    struct traffic_result result;
    struct traffic_interval sum = {0};
    params.interval_cycles = 300;
    params.drain_cycles = 100;
    run(4, 4, &params, &result);
    g_assert_cmpuint(result.intervals->len, ==, (result.cycles + 299) / 300);
    for (guint i = 0; i < result.intervals->len; i++) {
        const struct traffic_interval *interval = &g_array_index(result.intervals, struct traffic_interval, i);
        sum.generated += interval->generated;
        sum.injected += interval->injected;
        sum.delivered += interval->delivered;
        sum.messages += interval->messages;
    }
    g_assert_cmpuint(sum.generated, ==, result.generated);
    g_assert_cmpuint(sum.injected, ==, result.injected);
    g_assert_cmpuint(sum.delivered, ==, result.delivered);
    g_assert_cmpuint(sum.messages, ==, result.delivered);
    traffic_result_clear(&result);
}

static void bursts_keep_the_load_and_raise_latency(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.25);
    struct traffic_result steady, bursty;
    params.measure_cycles = 20000;
    run(8, 8, &params, &steady);
    params.on_cycles = 100;
    params.off_cycles = 250; /* 0.875 flits a cycle in a burst */
    run(8, 8, &params, &bursty);
    g_assert_cmpfloat(fabs(bursty.offered - 0.25), <, 0.01);
    g_assert_cmpfloat(fabs(steady.offered - 0.25), <, 0.005);
    g_assert_cmpfloat((double)bursty.latency.sum / (double)bursty.latency.count, >,
                      2 + (double)steady.latency.sum / (double)steady.latency.count);
    g_assert_cmpuint(bursty.queueing.sum, >, steady.queueing.sum);
    traffic_result_clear(&steady);
    traffic_result_clear(&bursty);
}

static void message_length_keeps_the_flit_load(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.1);
    struct traffic_result result;
    params.message_flits = 5;
    params.measure_cycles = 20000;
    run(4, 4, &params, &result);
    g_assert_cmpfloat(fabs(result.offered - 0.1), <, 0.005);
    g_assert_cmpuint(result.latency.count * 5, <=, result.delivered);
    g_assert_cmpuint(result.network.p50, >=, 10 + 4);
    traffic_result_clear(&result);
}

static void seed_decides_the_run(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.1);
    struct traffic_result first, again, other;
    params.seed = 5;
    run(4, 4, &params, &first);
    run(4, 4, &params, &again);
    params.seed = 6;
    run(4, 4, &params, &other);
    g_assert_cmphex(first.order_hash, ==, again.order_hash);
    g_assert_cmphex(first.order_hash, !=, other.order_hash);
    traffic_result_clear(&first);
    traffic_result_clear(&again);
    traffic_result_clear(&other);
}

static void every_shape_runs(void) {
    static const unsigned shapes[][2] = {{1, 2}, {1, 64}, {64, 1}, {3, 5}, {64, 64}, {300, 2}};
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.01);
        struct traffic_result result;
        params.warmup_cycles = 0;
        params.measure_cycles = 200;
        params.drain_cycles = 5000;
        run(shapes[i][0], shapes[i][1], &params, &result);
        g_assert_cmpuint(result.queued + result.in_flight, ==, 0);
        traffic_result_clear(&result);
    }
}

static void idle_mesh_keeps_count_over_2_to_33(void) {
    const cycle_t late = (UINT64_C(1) << 33) + 5;
    struct traffic_params params = short_run(TRAFFIC_TRACE, 0);
    struct traffic_result result;
    params.warmup_cycles = 0;
    params.measure_cycles = late + 1;
    params.drain_cycles = UINT64_C(1) << 34;
    char *text = g_strdup_printf("flitsim.trace/1\n1 0 1,1 2,2 1\n2 %" G_GUINT64_FORMAT " 2,2 1,1 1\n", late);
    params.trace = text;
    run(2, 2, &params, &result);
    g_assert_cmpuint(result.cycles, ==, late + 15 + 1);
    g_assert_cmpuint(result.network.sum, ==, 30);
    traffic_result_clear(&result);
    params = short_run(TRAFFIC_UNIFORM, 0);
    params.measure_cycles = late;
    run(64, 64, &params, &result);
    g_assert_cmpuint(result.cycles, ==, late + 200);
    g_assert_cmpuint(result.generated + result.flit_hops + result.router_steps, ==, 0);
    traffic_result_clear(&result);
    g_free(text);
}

/* ---- traces ---- */

static void recorded_trace_replays_to_the_same_latencies(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.35), again;
    struct traffic_result first, second;
    params.message_flits = 3;
    params.on_cycles = 30;
    params.off_cycles = 20;
    params.record = true;
    run(5, 4, &params, &first);
    again = short_run(TRAFFIC_TRACE, 0);
    again.trace = first.trace;
    again.record = true;
    run(5, 4, &again, &second);
    g_assert_cmphex(first.order_hash, ==, second.order_hash);
    g_assert_cmpuint(first.cycles, ==, second.cycles);
    g_assert_cmpuint(first.latency.sum, ==, second.latency.sum);
    g_assert_cmpuint(first.queueing.sum, ==, second.queueing.sum);
    g_assert_cmpuint(first.network.p999, ==, second.network.p999);
    g_assert_cmpuint(first.hol_cycles, ==, second.hol_cycles);
    traffic_result_clear(&first);
    traffic_result_clear(&second);
}

static void packets_wait_for_others(void) {
    struct traffic_result result;
    run_trace(2, 1,
              "# question, answer, and a third that needs both\n"
              "10 3 1,1 2,1 1\n"
              "11 0 2,1 1,1 2 10+4\n"
              "12 50 1,1 0,1 1 10+1 11+1\n",
              &result);
    g_assert_nonnull(strstr(result.trace, "\n0 3 1,1 2,1 1\n"));
    g_assert_nonnull(strstr(result.trace, "\n1 17 2,1 1,1 2\n")); /* 3 + 10 + 4 */
    g_assert_nonnull(strstr(result.trace, "\n3 50 1,1 0,1 1\n"));
    g_assert_cmpuint(result.held_back, ==, 0);
    g_assert_cmpuint(result.cycles, ==, 10000);
    traffic_result_clear(&result);
    run_trace(2, 1, "1 0 1,1 2,1 1\n2 0 2,1 1,1 1 1+90000\n", &result);
    g_assert_cmpuint(result.held_back, ==, 1);
    traffic_result_clear(&result);
}

/* ---- what is refused ---- */

static void assert_refused(unsigned nx, unsigned ny, const struct traffic_params *params, const char *needle) {
    struct machine machine = bare_machine(nx, ny);
    GError *error = NULL;
    g_assert_false(traffic_check(&machine, params, &error));
    g_assert_nonnull(error);
    if (!strstr(error->message, needle))
        g_error("\"%s\" does not say \"%s\"", error->message, needle);
    g_clear_error(&error);
}

static void bad_parameters_are_refused(void) {
    static const struct traffic_hotspot nowhere[] = {{0, 0, 1}}, weightless[] = {{1, 1, 0}};
    static const uint32_t twice[] = {0, 0, 1, 2};
    struct traffic_params p;
#define REFUSED(nx, ny, pattern, change, needle)                                                                       \
    do {                                                                                                               \
        p = short_run(pattern, 0.1);                                                                                   \
        change;                                                                                                        \
        assert_refused(nx, ny, &p, needle);                                                                            \
    } while (0)
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.rate = 1.5, "rate: 1.5");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.rate = -0.1, "rate");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.rate = NAN, "rate");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.message_flits = 0, "message_flits");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.measure_cycles = 0, "measure_cycles");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.measure_cycles = UINT64_MAX, "2^50");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.off_cycles = -1, "off_cycles");
    REFUSED(4, 4, TRAFFIC_UNIFORM, p.off_cycles = 10, "on_cycles 0");
    REFUSED(4, 4, TRAFFIC_UNIFORM, (p.rate = 0.5, p.on_cycles = 1, p.off_cycles = 9), "at most 1");
    REFUSED(4, 4, TRAFFIC_UNIFORM, (p.interval_cycles = 1, p.measure_cycles = 2000000), "interval_cycles");
    REFUSED(1, 1, TRAFFIC_UNIFORM, (void)0, "another node");
    REFUSED(4, 3, TRAFFIC_TRANSPOSE, (void)0, "4 and 3");
    REFUSED(1, 1, TRAFFIC_TRANSPOSE, (void)0, "to itself");
    REFUSED(3, 3, TRAFFIC_SHUFFLE, (void)0, "power of two");
    REFUSED(3, 3, TRAFFIC_BIT_REVERSE, (void)0, "has 9");
    REFUSED(3, 4, TRAFFIC_NEIGHBOUR, (void)0, "even number");
    REFUSED(2, 2, TRAFFIC_TORNADO, (void)0, "to itself");
    REFUSED(4, 4, TRAFFIC_HOTSPOT, (p.hotspots = nowhere, p.hotspot_count = 1), "(0,0)");
    REFUSED(4, 4, TRAFFIC_HOTSPOT, (p.hotspots = weightless, p.hotspot_count = 1), "weight");
    REFUSED(4, 4, TRAFFIC_HOTSPOT, p.hotspot_share = 2, "hotspot_share");
    REFUSED(2, 2, TRAFFIC_PERMUTATION, (p.permutation = twice, p.permutation_count = 4), "entry 1 is 0");
    REFUSED(2, 2, TRAFFIC_PERMUTATION, (p.permutation = twice, p.permutation_count = 3), "3 entries");
    REFUSED(2, 2, TRAFFIC_TRACE, (void)0, "trace");
#undef REFUSED
}

static void bad_traces_are_refused(void) {
    static const struct {
        const char *text, *needle;
    } cases[] = {
        {"", "empty"},
        {"flitsim.trace/2\n", "flitsim.trace/1"},
        {"flitsim.trace/1\n1 0 1,1 2,2\n", "t:2:12"},
        {"flitsim.trace/1\n1 0 1,1 2,2 0\n", "number of flits"},
        {"flitsim.trace/1\n1 0x 1,1 2,2 1\n", "t:2:3: found \"0x"},
        {"flitsim.trace/1\n1 0 1;1 2,2 1\n", "a place"},
        {"flitsim.trace/1\n1 0 1,1 9,9 1\n", "packet 1"},
        {"flitsim.trace/1\n1 0 1,1 0,0 1\n", "(0,0)"},
        {"flitsim.trace/1\n1 99999 1,1 2,2 1\n", "beyond"},
        {"flitsim.trace/1\n1 99999999999999999999 1,1 2,2 1\n", "cycle"},
        {"flitsim.trace/1\n1 0 1,1 2,2 1\n1 0 1,1 2,2 1\n", "no earlier packet has"},
        {"flitsim.trace/1\n1 0 1,1 2,2 1 2+1\n2 0 1,1 2,2 1\n", "earlier packet"},
        {"flitsim.trace/1\n1 0 1,1 2,2 1\n2 0 1,1 2,2 1 1\n", "t:3:16"},
        {"flitsim.trace/1\n1 0 1,1 2,2 1\n2 0 1,1 2,2 1 1+0\n", "at least 1"},
        {"flitsim.trace/1\n1 0 1,1 2,2 1 junk\n", "junk"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct traffic_params params = short_run(TRAFFIC_TRACE, 0);
        params.trace = cases[i].text;
        params.trace_name = "t";
        assert_refused(2, 2, &params, cases[i].needle);
    }
}

/* What the reference router lacks runs on the what-if network; what can deadlock is refused with the circle. */
static void other_routers_stand_in(void) {
    struct traffic_params params = short_run(TRAFFIC_UNIFORM, 0.1);
    struct machine machine;
    struct traffic_result result;
    GError *error = NULL;
    machine_init(&machine);
    machine.nx = machine.ny = 4;
    machine.bare = true;
    machine.noc.holding_slots = 0;
    g_assert_true(traffic_run(&machine, &params, &result, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(result.delivered, >, 0);
    g_assert_cmpuint(result.delivered, ==, result.generated);
    traffic_result_clear(&result);
    machine.nx = machine.ny = 8;
    machine.noc.holding_slots = 1;
    machine.noc.topology = TOPOLOGY_TORUS;
    g_assert_false(traffic_check(&machine, &params, &error));
    g_assert_nonnull(strstr(error->message, "can deadlock"));
    g_clear_error(&error);
    machine_clear(&machine);
}

static void percentiles_are_exact(void) {
    struct histogram histogram = {0};
    for (uint64_t value = 100000; value > 0; value--)
        histogram_add(&histogram, value * 7, 1);
    g_assert_cmpuint(histogram_at(&histogram, 0), ==, 7);
    g_assert_cmpuint(histogram_at(&histogram, 49999), ==, 350000);
    g_assert_cmpuint(histogram_at(&histogram, 99999), ==, 700000);
    g_assert_cmpuint(histogram.max, ==, 700000);
    histogram_clear(&histogram);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(pattern_cases); i++) {
        char *path = g_strdup_printf("/traffic/pattern/%s", traffic_pattern_name((unsigned)pattern_cases[i].pattern));
        g_test_add_data_func(path, &pattern_cases[i], pattern_sends_where_it_says);
        g_free(path);
    }
#define TEST(group, name) g_test_add_func("/traffic/" group "/" #name, name)
    TEST("pattern", every_pattern_has_a_case);
    TEST("pattern", hot_spots_are_weighted);
    TEST("pattern", given_permutation_is_used);
    TEST("latency", empty_mesh_gives_five_cycles_a_router);
    TEST("latency", second_packet_queues_for_the_first);
    TEST("latency", percentiles_are_exact);
    TEST("load", saturation_is_said_and_ends_on_time);
    TEST("load", starved_sources_are_saturation);
    TEST("load", intervals_add_up);
    TEST("load", bursts_keep_the_load_and_raise_latency);
    TEST("load", message_length_keeps_the_flit_load);
    TEST("load", seed_decides_the_run);
    TEST("load", every_shape_runs);
    TEST("load", idle_mesh_keeps_count_over_2_to_33);
    TEST("trace", recorded_trace_replays_to_the_same_latencies);
    TEST("trace", packets_wait_for_others);
    TEST("refused", bad_parameters_are_refused);
    TEST("refused", bad_traces_are_refused);
    TEST("refused", other_routers_stand_in);
#undef TEST
    return g_test_run();
}
