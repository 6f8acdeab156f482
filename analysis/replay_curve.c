/* Replay of traffic points; see replay_curve.h. Averages and loads are compared as printed, with the digits of the
 * recording. */
#include "analysis/replay_curve.h"

#include <string.h>

#include "model/error.h"
#include "noc/traffic.h"

enum {
    CURVE_DEPTH = 32, /* description, "what" */
    CURVE_FALL_THROUGH = 3,
    CURVE_EXTRA = 2,
    /* The recorder's histogram ends here: later deliveries are in its last bin. The percentiles of two saturated points
     * (8x8 hotspot at 0.02 and 0.05) read 4095 where the run has 11547 and 4378, as their netlat_max shows. */
    CURVE_LAST_BIN = 4095,
};

static bool fail(GError **error, const char *what) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "not a traffic point: %s", what);
    return false;
}

static bool read_entry(const json_t *entry, struct machine *machine, struct traffic_params *params, GError **error) {
    const json_t *grid = json_object_get(entry, "grid"), *offered = json_object_get(entry, "offered");
    const char *pattern = json_string_value(json_object_get(entry, "pattern"));
    if (json_array_size(grid) != 2)
        return fail(error, "grid is not [columns, rows]");
    if (!json_is_number(offered))
        return fail(error, "offered is not a number");
    traffic_params_init(params);
    if (!pattern || !traffic_pattern_parse(pattern, &params->pattern))
        return fail(error, "pattern is not a known one");
    params->rate = json_number_value(offered);
    json_int_t columns = json_integer_value(json_array_get(grid, 0)),
               rows = json_integer_value(json_array_get(grid, 1));
    if (columns < 1 || rows < 1 || columns > 64 || rows > 64)
        return fail(error, "grid is not within 64 by 64");
    *machine = (struct machine){.nx = (unsigned)columns, .ny = (unsigned)rows, .bare = true};
    machine->noc = (struct noc_params){.fifo_depth = CURVE_DEPTH,
                                       .fall_through = CURVE_FALL_THROUGH,
                                       .fifo_extra = CURVE_EXTRA,
                                       .link_width = 1,
                                       .link_period = 1,
                                       .holding_slots = 1,
                                       .virtual_channels = 1};
    machine->engine = (struct engine_params){.run_ahead = true, .threads = 1};
    return true;
}

struct comparison {
    const json_t *entry;
    struct replay_result *out;
};

/* Columns that an entry does not have are not compared. */
static void whole(const struct comparison *comparison, const char *column, uint64_t ours) {
    const json_t *recorded = json_object_get(comparison->entry, column);
    if (recorded)
        replay_add_number(comparison->out, column, json_integer_value(recorded), (gint64)ours);
}

static void rounded(const struct comparison *comparison, const char *column, int digits, double ours) {
    const json_t *recorded = json_object_get(comparison->entry, column);
    if (!recorded)
        return;
    char *left = g_strdup_printf("%.*f", digits, json_number_value(recorded));
    char *right = g_strdup_printf("%.*f", digits, ours);
    replay_add_text(comparison->out, column, left, right);
    g_free(left);
    g_free(right);
}

static double mean(const struct traffic_latency *latency) {
    return latency->count ? (double)latency->sum / (double)latency->count : 0;
}

static void compare(const struct comparison *comparison, const struct traffic_params *params,
                    const struct traffic_result *result) {
    double node_cycles = (double)params->measure_cycles * result->nodes, cycles = (double)params->measure_cycles;
    char hash[32];
    rounded(comparison, "generated", 5, result->offered);
    rounded(comparison, "injected", 5, result->injected_load);
    rounded(comparison, "accepted", 5, result->accepted);
    rounded(comparison, "lat_avg", 3, mean(&result->latency));
    whole(comparison, "lat_max", result->latency.max);
    rounded(comparison, "netlat_avg", 3, mean(&result->network));
    whole(comparison, "netlat_p50", MIN(result->network.p50, CURVE_LAST_BIN));
    whole(comparison, "netlat_p99", MIN(result->network.p99, CURVE_LAST_BIN));
    whole(comparison, "netlat_max", result->network.max);
    rounded(comparison, "inj_blocked", 5, (double)result->window_refused / node_cycles);
    rounded(comparison, "min_node_inj", 4, (double)result->min_node_injected / cycles);
    rounded(comparison, "max_node_inj", 4, (double)result->max_node_injected / cycles);
    rounded(comparison, "accepted_to_nodes", 5, (double)result->window_delivered_to_nodes / node_cycles);
    rounded(comparison, "netlat_avg_to_nodes", 3, mean(&result->network_to_nodes));
    whole(comparison, "flits_delivered", result->delivered);
    whole(comparison, "unfinished", result->queued + result->in_flight);
    g_snprintf(hash, sizeof hash, "%016" G_GINT64_MODIFIER "x", result->order_hash);
    const char *recorded = json_string_value(json_object_get(comparison->entry, "order_hash"));
    replay_add_text(comparison->out, "order_hash", recorded ? recorded : "none", hash);
}

bool replay_curve(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description; /* says in words what traffic_params_init sets */
    struct machine machine;
    struct traffic_params params;
    struct traffic_result result;
    if (!read_entry(entry, &machine, &params, error) || !traffic_run(&machine, &params, &result, error))
        return false;
    const struct comparison comparison = {entry, out};
    compare(&comparison, &params, &result);
    traffic_result_clear(&result);
    return true;
}
