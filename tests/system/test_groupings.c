/* A traffic run is the same bit for bit however its routers are grouped under actors, with and without run-ahead, on
 * one thread or two. */
#include <string.h>

#include "bare_machine.h"
#include "noc/traffic.h"

#ifdef FLITSIM_SANITIZED
#define RACES 1
#else
#define RACES 10
#endif

struct workload {
    const char *name;
    unsigned nx, ny;
    int pattern;
    double rate;
    uint32_t message_flits;
    double on_cycles, off_cycles;
    unsigned fifo_depth, fall_through;
};

static const struct traffic_hotspot hotspots[] = {{1, 1, 3}, {4, 0, 1}, {9, 9, 0.5}};

static const struct workload workloads[] = {
    {"light", 8, 8, TRAFFIC_UNIFORM, 0.02, 1, 0, 0, 32, 3},
    {"saturated", 8, 8, TRAFFIC_UNIFORM, 0.7, 1, 0, 0, 32, 3},
    {"head_of_line", 4, 4, TRAFFIC_MIXHOT, 0.4, 1, 0, 0, 4, 3},
    {"one_row", 16, 1, TRAFFIC_BIT_COMPLEMENT, 0.3, 3, 0, 0, 2, 1},
    {"one_column", 1, 9, TRAFFIC_UNIFORM, 0.2, 1, 0, 0, 1, 2},
    {"bursts_of_messages", 8, 8, TRAFFIC_TORNADO, 0.2, 4, 20, 60, 8, 5},
    {"hot_spots", 9, 8, TRAFFIC_HOTSPOT, 0.05, 2, 10, 30, 16, 3},
};

static const struct engine_params engines[] = {
    {.routers_per_actor = 0, .run_ahead = true, .threads = 1},
    {.routers_per_actor = 0, .run_ahead = false, .threads = 1},
    {.routers_per_actor = 1, .run_ahead = true, .threads = 1},
    {.routers_per_actor = 1, .run_ahead = false, .threads = 1},
    {.routers_per_actor = 8, .run_ahead = true, .threads = 1},
    {.routers_per_actor = 8, .run_ahead = false, .threads = 1},
    {.routers_per_actor = 5, .run_ahead = true, .threads = 1},
    {.routers_per_actor = 8, .run_ahead = true, .threads = 2},
    {.routers_per_actor = 32, .run_ahead = true, .threads = 2},
    {.routers_per_actor = 3, .run_ahead = false, .threads = 2},
};

/* Everything that the run is and that the host must not show in. */
static char *digest(struct traffic_result *result) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)result->routers, (gssize)(result->nodes * sizeof *result->routers));
    g_checksum_update(sum, (const guchar *)result->intervals->data,
                      (gssize)(result->intervals->len * sizeof(struct traffic_interval)));
    uint64_t figures[] = {result->cycles,
                          result->generated,
                          result->injected,
                          result->delivered,
                          result->queued,
                          result->in_flight,
                          result->window_generated,
                          result->window_injected,
                          result->window_delivered,
                          result->window_delivered_to_nodes,
                          result->window_refused,
                          result->min_node_injected,
                          result->max_node_injected,
                          result->saturated,
                          result->latency.sum,
                          result->latency.p999,
                          result->network.sum,
                          result->network.p50,
                          result->queueing.sum,
                          result->queueing.max,
                          result->network_to_nodes.sum,
                          result->order_hash,
                          result->flit_hops,
                          result->router_steps,
                          result->hol_cycles};
    g_checksum_update(sum, (const guchar *)figures, sizeof figures);
    char *text = g_strdup(g_checksum_get_string(sum));
    g_checksum_free(sum);
    return text;
}

static char *run(const struct workload *workload, const struct engine_params *engine) {
    struct machine machine = bare_machine(workload->nx, workload->ny);
    struct traffic_params params;
    struct traffic_result result;
    GError *error = NULL;
    machine.engine = *engine;
    machine.noc.fifo_depth = workload->fifo_depth;
    machine.noc.fall_through = workload->fall_through;
    traffic_params_init(&params);
    params.pattern = workload->pattern;
    params.rate = workload->rate;
    params.message_flits = workload->message_flits;
    params.on_cycles = workload->on_cycles;
    params.off_cycles = workload->off_cycles;
    params.warmup_cycles = 100;
    params.measure_cycles = 900;
    params.drain_cycles = 300;
    params.interval_cycles = 250;
    params.hotspots = hotspots;
    params.hotspot_count = G_N_ELEMENTS(hotspots);
    params.hotspot_share = 0.5;
    params.seed = 7;
    traffic_run(&machine, &params, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result.delivered, >, 100);
    if (engine->routers_per_actor)
        g_assert_cmpuint(result.actors, ==, (result.nodes + engine->routers_per_actor - 1) / engine->routers_per_actor);
    char *text = digest(&result);
    traffic_result_clear(&result);
    return text;
}

static void same_at_any_grouping(gconstpointer data) {
    const struct workload *workload = data;
    char *first = run(workload, &engines[0]);
    for (unsigned i = 1; i < G_N_ELEMENTS(engines); i++) {
#ifdef FLITSIM_SANITIZED /* every actor is a thread of the system there */
        if (engines[i].routers_per_actor && engines[i].routers_per_actor < 8)
            continue;
#endif
        char *other = run(workload, &engines[i]);
        g_test_message("%u routers an actor, run-ahead %d, %u threads", engines[i].routers_per_actor,
                       engines[i].run_ahead, engines[i].threads);
        g_assert_cmpstr(first, ==, other);
        g_free(other);
    }
    g_free(first);
}

/* Many short runs on two threads: a race shows itself as another digest. */
static void threads_never_race(void) {
    static const struct workload busy = {"busy", 4, 4, TRAFFIC_UNIFORM, 0.5, 1, 0, 0, 1, 1};
    static const struct engine_params two = {.routers_per_actor = 2, .run_ahead = true, .threads = 2};
    char *first = run(&busy, &engines[0]);
    for (unsigned i = 0; i < RACES; i++) {
        char *other = run(&busy, &two);
        g_assert_cmpstr(first, ==, other);
        g_free(other);
    }
    g_free(first);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(workloads); i++) {
        char *path = g_strdup_printf("/groupings/same_at_any_grouping/%s", workloads[i].name);
        g_test_add_data_func(path, &workloads[i], same_at_any_grouping);
        g_free(path);
    }
    g_test_add_func("/groupings/threads_never_race", threads_never_race);
    return g_test_run();
}
