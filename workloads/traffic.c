/* The `traffic` workload: synthetic or recorded traffic on the bare network of a machine (docs/traffic.md). */
#include "noc/clock.h"
#include "noc/traffic.h"

#include <stdio.h>
#include <string.h>

#include "workloads/run.h"

struct traffic_keys {
    int pattern;
    double rate;
    unsigned cycles, warmup, drain, message, interval;
    double on, off, hotspot_share;
    char *hotspots, *permutation, *trace, *record;
};

static const char *const pattern_names[] = {"uniform",  "transpose", "bit_complement", "bit_reverse", "shuffle",
                                            "tornado",  "neighbour", "hotspot",        "permutation", "rowport",
                                            "randport", "mixhot",    "trace",          NULL};

#define KEY(member, type, names, value, min, max, unit, sentence)                                                      \
    { #member, type, offsetof(struct traffic_keys, member), names, {value, value }, min, max, unit, sentence }

/* clang-format off */
static const struct config_key keys[] = {
    KEY(pattern, KEY_ENUM, pattern_names, TRAFFIC_UNIFORM, 0, 0, "", "Who sends to whom."),
    KEY(rate, KEY_DOUBLE, NULL, 0.1, 0, 1, "flits/node/cycle", "Offered load of every source."),
    KEY(cycles, KEY_UINT, NULL, 10000, 1, 4294967295.0, "cycles", "Window in which figures are taken."),
    KEY(warmup, KEY_UINT, NULL, 2000, 0, 4294967295.0, "cycles", "Time before the window."),
    KEY(drain, KEY_UINT, NULL, 20000, 0, 4294967295.0, "cycles", "Longest time after the window, sources silent, for what is on its way."),
    KEY(message, KEY_UINT, NULL, 1, 1, 65535, "flits", "Length of a message."),
    KEY(on, KEY_DOUBLE, NULL, 0, 0, 1e9, "cycles", "Mean length of a burst of on-off injection."),
    KEY(off, KEY_DOUBLE, NULL, 0, 0, 1e9, "cycles", "Mean pause between bursts; 0: Bernoulli injection."),
    KEY(hotspots, KEY_STRING, NULL, 0, 1, 4096, "", "Hot spots as X:Y:WEIGHT;X:Y:WEIGHT; not given: the place west of row 1."),
    KEY(hotspot_share, KEY_DOUBLE, NULL, 1, 0, 1, "", "Share of messages that go to a hot spot; the others are uniform."),
    KEY(permutation, KEY_STRING, NULL, 0, 1, 1048576, "", "Destinations of the nodes in reading order, as N;N;N; not given: drawn from the seed."),
    KEY(trace, KEY_STRING, NULL, 0, 1, 4096, "", "Trace file to replay, with pattern=trace."),
    KEY(record, KEY_STRING, NULL, 0, 1, 4096, "", "Write the run's own trace to this file."),
    KEY(interval, KEY_UINT, NULL, 0, 0, 4294967295.0, "cycles", "Length of the intervals of a series; 0: none."),
};
/* clang-format on */

struct lists {
    GArray *hotspots, *permutation;
    char *trace;
};

static void lists_clear(struct lists *lists) {
    g_array_unref(lists->hotspots);
    g_array_unref(lists->permutation);
    g_free(lists->trace);
}

static bool parse_hotspots(const struct workload *workload, const char *text, GArray *spots, GError **error) {
    g_auto(GStrv) items = g_strsplit(text, ";", -1);
    for (unsigned i = 0; items[i]; i++) {
        struct traffic_hotspot spot;
        int end = 0;
        if (sscanf(items[i], "%u:%u:%lf%n", &spot.x, &spot.y, &spot.weight, &end) != 3 || items[i][end] ||
            !(spot.weight > 0 && spot.weight < 1e12))
            return workload_error(workload, "hotspots", error,
                                  "item %u is \"%s\", expected X:Y:WEIGHT with a weight "
                                  "above 0",
                                  i + 1, items[i]);
        g_array_append_val(spots, spot);
    }
    return true;
}

static bool parse_permutation(const struct workload *workload, const char *text, GArray *nodes, GError **error) {
    g_auto(GStrv) items = g_strsplit(text, ";", -1);
    for (unsigned i = 0; items[i]; i++) {
        guint64 node;
        if (!g_ascii_string_to_unsigned(items[i], 10, 0, UINT32_MAX, &node, NULL))
            return workload_error(workload, "permutation", error, "item %u is \"%s\", expected a node's number", i + 1,
                                  items[i]);
        uint32_t number = (uint32_t)node;
        g_array_append_val(nodes, number);
    }
    return true;
}

static bool read_lists(const struct workload *workload, struct lists *lists, GError **error) {
    const struct traffic_keys *params = workload->params;
    *lists = (struct lists){.hotspots = g_array_new(FALSE, FALSE, sizeof(struct traffic_hotspot)),
                            .permutation = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    if ((params->pattern == TRAFFIC_TRACE) != (params->trace != NULL))
        return workload_error(workload, params->trace ? "trace" : "pattern", error,
                              "stands alone, expected pattern=trace together with trace=FILE");
    if (params->hotspots && !parse_hotspots(workload, params->hotspots, lists->hotspots, error))
        return false;
    if (params->permutation && !parse_permutation(workload, params->permutation, lists->permutation, error))
        return false;
    if (!params->trace)
        return true;
    g_autofree char *path = json_source_beside(&workload->source, "trace", params->trace);
    lists->trace = json_source_read_text(path, NULL, error);
    return lists->trace;
}

static void fill(const struct run *run, const struct lists *lists, struct traffic_params *params) {
    const struct traffic_keys *given = run->workload->params;
    traffic_params_init(params);
    params->pattern = given->pattern;
    params->rate = given->rate;
    params->warmup_cycles = given->warmup;
    params->measure_cycles = given->cycles;
    params->drain_cycles = given->drain;
    params->message_flits = given->message;
    params->on_cycles = given->on;
    params->off_cycles = given->off;
    params->seed = run->seed;
    params->hotspots = (const struct traffic_hotspot *)(const void *)lists->hotspots->data;
    params->hotspot_count = lists->hotspots->len;
    params->hotspot_share = given->hotspot_share;
    params->permutation = (const uint32_t *)(const void *)lists->permutation->data;
    params->permutation_count = lists->permutation->len;
    params->trace = lists->trace;
    params->trace_name = given->trace;
    params->interval_cycles = given->interval;
    params->record = given->record != NULL;
}

static bool write_trace(const struct run *run, GError **error) {
    const struct traffic_keys *given = run->workload->params;
    g_autoptr(GError) cause = NULL;
    if (!given->record || g_file_set_contents(given->record, run->traffic->trace, -1, &cause))
        return true;
    return workload_error(run->workload, "record", error, "can't be written: %s, expected a writable file",
                          fs_error_reason(cause));
}

static bool run_traffic(struct run *run, GError **error) {
    struct traffic_params params;
    struct lists lists;
    g_autoptr(GError) wrong = NULL;
    bool fine = read_lists(run->workload, &lists, error);
    if (fine) {
        fill(run, &lists, &params);
        run->traffic = g_new0(struct traffic_result, 1);
        clock_start_engine();
        gint64 began = g_get_monotonic_time();
        fine = traffic_run(run->machine, &params, run->traffic, &wrong);
        run->wall_seconds = (double)(g_get_monotonic_time() - began) / 1e6;
        if (!fine && wrong->code == FS_ERROR_INTERNAL)
            g_propagate_error(error, g_steal_pointer(&wrong));
        else if (!fine)
            workload_error(run->workload, lists.trace ? "trace" : "pattern", error, "%s", wrong->message);
        fine = fine && write_trace(run, error);
        run->cycles = run->settled_cycles = run->traffic->cycles;
    }
    lists_clear(&lists);
    return fine;
}

const struct workload_type workload_traffic = {
    .id = "traffic",
    .sentence = "Synthetic traffic on the bare network of a machine: sources and sinks on every local port.",
    .keys = keys,
    .key_count = G_N_ELEMENTS(keys),
    .params_size = sizeof(struct traffic_keys),
    .run = run_traffic,
};
