/* The result document; see result.h. Keys are those promised to the outside. */
#include "analysis/result.h"

#include <math.h>
#include <string.h>

#include "analysis/listing.h"
#include "model/isa/wire.h"
#include "units/cluster/cluster.h"

enum {
    MACS_PER_CLUSTER_CYCLE = 512, /* compute-units §1.1 */
};

static void put(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

static void put_count(json_t *object, const char *key, uint64_t value) {
    put(object, key, json_integer((json_int_t)value));
}

/* Figures that do not exist (nothing measured, division by zero) are null, never a number. */
static void put_number(json_t *object, const char *key, double value) {
    put(object, key, isfinite(value) ? json_real(value) : json_null());
}

static void put_text(json_t *object, const char *key, const char *value) {
    put(object, key, value ? json_string(value) : json_null());
}

/* ---- counts ---- */

static struct cluster_counts cluster_totals(const struct run *run) {
    struct cluster_counts sum = {0};
    for (unsigned i = 0; i < run->system->endpoint_count; i++) {
        const struct endpoint *endpoint = &run->system->endpoints[i];
        if (endpoint->type != &unit_type_cluster)
            continue;
        const struct cluster_counts *counts = &((const struct cluster *)endpoint->unit)->counts;
        sum.load += counts->load;
        sum.add += counts->add;
        sum.emit += counts->emit;
        sum.add_emit += counts->add_emit;
        sum.send += counts->send;
        sum.add_peer += counts->add_peer;
        sum.saturated += counts->saturated;
    }
    return sum;
}

static json_t *build_counts(const struct run *run) {
    json_t *counts = json_object();
    uint64_t out[FLIT_TYPES] = {0}, in[FLIT_TYPES] = {0};
    const struct system *system = run->system;
    for (unsigned i = 0; i < system->endpoint_count; i++)
        for (unsigned type = 0; type < FLIT_TYPES; type++) {
            out[type] += system->endpoints[i].counts.out[type];
            in[type] += system->endpoints[i].counts.in[type];
        }
    struct cluster_counts sum = cluster_totals(run);
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"host_writes", run->host_writes},
                {"mover_writes", run->mover_writes},
                {"commands", run->commands},
                {"rounds", run->rounds},
                {"instructions", in[FLIT_CU_INST]},
                {"mem_rd_req", out[FLIT_MEM_RD_REQ]},
                {"mem_rd_resp", in[FLIT_MEM_RD_RESP]},
                {"mem_wr_req", out[FLIT_MEM_WR_REQ]},
                {"mem_wr_data", out[FLIT_MEM_WR_DATA]},
                {"mem_wr_ack", in[FLIT_MEM_WR_ACK]},
                {"cu_data", in[FLIT_CU_DATA]},
                {"signals", system->agent.dispatch.signals},
                {"acc_load", sum.load},
                {"acc_add", sum.add},
                {"acc_emit", sum.emit},
                {"acc_add_emit", sum.add_emit},
                {"acc_send", sum.send},
                {"acc_add_peer", sum.add_peer},
                {"dram_read_bytes", system->dram.reads * WORD_BYTES},
                {"dram_write_bytes", system->dram.writes * WORD_BYTES}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        put_count(counts, rows[i].key, rows[i].value);
    return counts;
}

/* ---- components ---- */

static json_t *build_causes(const struct account *account, const char *const *names, unsigned count) {
    json_t *causes = json_object();
    for (unsigned c = 0; c < count; c++)
        put_count(causes, names[c], account->cycles[c]);
    return causes;
}

static bool check_sum(const struct account *account, const char *name, uint64_t cycles, GError **error) {
    uint64_t sum = 0;
    for (unsigned c = 0; c < ACCOUNT_CAUSES; c++)
        sum += account->cycles[c];
    if (sum == cycles)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                "internal error: the causes of %s add up to %" G_GUINT64_FORMAT
                " cycles of a run of %" G_GUINT64_FORMAT,
                name, sum, cycles);
    return false;
}

static json_t *build_units(const struct run *run, GError **error) {
    json_t *units = json_array();
    const struct system *system = run->system;
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        const struct account *account = &system->unit_accounts[i];
        struct unit_report report;
        endpoint->type->report(endpoint->unit, &report);
        if (!check_sum(account, endpoint->name, run->cycles, error)) {
            json_decref(units);
            return NULL;
        }
        json_t *unit = json_object();
        put_text(unit, "name", endpoint->name);
        put_text(unit, "type", endpoint->type->name);
        put_count(unit, "x", endpoint->x);
        put_count(unit, "y", endpoint->y);
        put(unit, "cycles", build_causes(account, report.causes, report.cause_count));
        put_count(unit, "instructions", report.instructions);
        put_count(unit, "busy", run->cycles - account->cycles[0]);
        put_count(unit, "link_refused", endpoint->counts.blocked);
        json_array_append_new(units, unit);
    }
    return units;
}

static json_t *build_ports(const struct run *run, GError **error) {
    json_t *ports = json_array();
    const struct agent *agent = &run->system->agent;
    for (unsigned p = 0; p < agent->port_count; p++) {
        const struct mem_port *port = &agent->ports[p];
        const struct account *account = &run->system->port_accounts[p];
        if (!check_sum(account, port->name, run->cycles, error)) {
            json_decref(ports);
            return NULL;
        }
        json_t *object = json_object();
        put_text(object, "name", port->name);
        put_count(object, "x", port->x);
        put_count(object, "y", port->y);
        put(object, "cycles", build_causes(account, port_cause_names, PORT_CAUSES));
        put_count(object, "entries", port->counts.entries);
        put_count(object, "read_words", port->counts.read_words);
        put_count(object, "write_words", port->counts.write_words);
        put_count(object, "write_bursts", port->counts.writes_issued);
        put_count(object, "slot_full_cycles", port->counts.no_slot_cycles);
        put_count(object, "refused_in_cycles", port->counts.refused_in);
        put_count(object, "refused_out_cycles", port->counts.refused_out);
        json_array_append_new(ports, object);
    }
    return ports;
}

static json_t *build_input(const struct router_input_counts *counts, uint64_t max_depth) {
    json_t *input = json_object();
    put_count(input, "flits", counts->flits);
    put_count(input, "blocked", counts->blocked);
    put_count(input, "hol_blocked", counts->hol_blocked);
    put_count(input, "max_depth", max_depth);
    return input;
}

static json_t *build_output(const struct router_output_counts *counts) {
    json_t *output = json_object();
    put_count(output, "flits", counts->flits);
    put_count(output, "busy", counts->busy);
    return output;
}

static json_t *build_router(const struct router_figures *router) {
    json_t *object = json_object(), *in = json_array(), *out = json_array();
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        json_array_append_new(in, build_input(&router->in[port], router->max_depth[port]));
        json_array_append_new(out, build_output(&router->out[port]));
    }
    put_count(object, "x", router->x);
    put_count(object, "y", router->y);
    put(object, "in", in);
    put(object, "out", out);
    return object;
}

static json_t *build_routers(const struct mesh *mesh) {
    json_t *routers = json_array();
    for (unsigned i = 0; i < mesh_router_count(mesh); i++) {
        struct router_figures router = mesh_figures(mesh, i);
        json_array_append_new(routers, build_router(&router));
    }
    return routers;
}

static json_t *build_latency(const struct system *system) {
    json_t *latency = json_object();
    for (unsigned type = 0; type < FLIT_TYPES; type++) {
        struct histogram all = system_latency(system, type), *histogram = &all;
        if (!histogram->count)
            continue;
        json_t *object = json_object();
        put_count(object, "count", histogram->count);
        put_number(object, "mean", (double)histogram->sum / (double)histogram->count);
        put_count(object, "p50", histogram_at(histogram, (histogram->count - 1) / 2));
        put_count(object, "p90", histogram_at(histogram, (histogram->count - 1) * 9 / 10));
        put_count(object, "p99", histogram_at(histogram, (histogram->count - 1) * 99 / 100));
        put_count(object, "max", histogram->max);
        g_autofree char *name = g_ascii_strdown(flit_type_name(type), -1);
        put(latency, name, object);
        histogram_clear(&all);
    }
    return latency;
}

/* ---- traffic ---- */

static json_t *build_traffic_latency(const struct traffic_latency *latency) {
    json_t *object = json_object();
    put_count(object, "count", latency->count);
    put_number(object, "mean", (double)latency->sum / (double)latency->count);
    put_count(object, "p50", latency->p50);
    put_count(object, "p90", latency->p90);
    put_count(object, "p99", latency->p99);
    put_count(object, "p999", latency->p999);
    put_count(object, "max", latency->max);
    return object;
}

static json_t *build_intervals(const GArray *intervals) {
    json_t *array = json_array();
    for (guint i = 0; i < intervals->len; i++) {
        const struct traffic_interval *interval = &g_array_index(intervals, struct traffic_interval, i);
        json_t *object = json_object();
        put_count(object, "generated_flits", interval->generated);
        put_count(object, "injected_flits", interval->injected);
        put_count(object, "delivered_flits", interval->delivered);
        put_count(object, "messages", interval->messages);
        put_number(object, "latency_mean", (double)interval->latency / (double)interval->messages);
        put_number(object, "network_latency_mean", (double)interval->network_latency / (double)interval->messages);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *build_traffic(const struct traffic_result *traffic) {
    json_t *object = json_object();
    put_number(object, "offered", traffic->offered);
    put_number(object, "injected", traffic->injected_load);
    put_number(object, "accepted", traffic->accepted);
    put(object, "saturated", json_boolean(traffic->saturated));
    put(object, "latency", build_traffic_latency(&traffic->latency));
    put(object, "network_latency", build_traffic_latency(&traffic->network));
    put(object, "queueing_latency", build_traffic_latency(&traffic->queueing));
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"nodes", traffic->nodes},
                {"silent_nodes", traffic->silent},
                {"generated_flits", traffic->generated},
                {"injected_flits", traffic->injected},
                {"delivered_flits", traffic->delivered},
                {"queued_flits", traffic->queued},
                {"in_flight_flits", traffic->in_flight},
                {"held_back_messages", traffic->held_back},
                {"window_generated_flits", traffic->window_generated},
                {"window_injected_flits", traffic->window_injected},
                {"window_delivered_flits", traffic->window_delivered},
                {"refused_node_cycles", traffic->window_refused},
                {"min_node_injected_flits", traffic->min_node_injected},
                {"max_node_injected_flits", traffic->max_node_injected},
                {"hol_cycles", traffic->hol_cycles}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        put_count(object, rows[i].key, rows[i].value);
    g_autofree char *hash = g_strdup_printf("%016" G_GINT64_MODIFIER "x", traffic->order_hash);
    put_text(object, "order_hash", hash);
    if (traffic->intervals)
        put(object, "intervals", build_intervals(traffic->intervals));
    return object;
}

static json_t *build_traffic_routers(const struct traffic_result *traffic) {
    json_t *routers = json_array();
    for (unsigned i = 0; i < traffic->router_count; i++)
        json_array_append_new(routers, build_router(&traffic->routers[i]));
    return routers;
}

/* ---- answer, hazards, deadlock ---- */

static json_t *build_grade(const struct numerics *numerics) {
    json_t *object = json_object();
    put_number(object, "rel_p50", numerics->rel_p50);
    put_number(object, "rel_p90", numerics->rel_p90);
    put_number(object, "rel_p99", numerics->rel_p99);
    put_number(object, "rel_max", numerics->rel_max);
    put_count(object, "over_1pct", numerics->over_1pct);
    put_count(object, "over_10pct", numerics->over_10pct);
    put_number(object, "fp16_ulp_max", numerics->fp16_ulp_max);
    put_count(object, "saturated", numerics->saturated);
    put_number(object, "normalised", numerics->normalised);
    return object;
}

static json_t *build_numerics(const struct run *run) {
    if (!run->graded)
        return json_null();
    json_t *numerics = json_object(), *model = json_object();
    put_count(model, "mismatches", run->model_mismatches);
    put_number(model, "max_abs", run->model_max_abs);
    put(numerics, "vs_model", model);
    put(numerics, "vs_quantised", run->vs_quantised.count ? build_grade(&run->vs_quantised) : json_null());
    put(numerics, "vs_fp64", build_grade(&run->vs_fp64));
    return numerics;
}

static int by_first_cycle(const void *a, const void *b) {
    const struct hazard *one = *(struct hazard *const *)a, *two = *(struct hazard *const *)b;
    if (one->cycle != two->cycle)
        return one->cycle < two->cycle ? -1 : 1;
    int order = strcmp(one->id, two->id);
    return order ? order : strcmp(one->where, two->where);
}

static json_t *build_hazards(const struct hazard_log *log) {
    json_t *hazards = json_array();
    g_autofree struct hazard **sorted = g_memdup2(log->hazards->pdata, log->hazards->len * sizeof(void *));
    if (log->hazards->len)
        qsort(sorted, log->hazards->len, sizeof *sorted, by_first_cycle);
    for (guint i = 0; i < log->hazards->len; i++) {
        json_t *object = json_object();
        put_text(object, "id", sorted[i]->id);
        put_count(object, "cycle", sorted[i]->cycle);
        put_text(object, "where", sorted[i]->where);
        put_text(object, "what", sorted[i]->what);
        put_count(object, "count", sorted[i]->count);
        json_array_append_new(hazards, object);
    }
    return hazards;
}

static json_t *build_deadlock(const struct run *run) {
    if (!run->dead)
        return json_null();
    json_t *deadlock = json_object(), *waits = json_array(), *queues = json_array();
    put_count(deadlock, "cycle", run->dead_cycle);
    put_text(deadlock, "reason", run->dead_reason);
    put_text(deadlock, "id", run->deadlock.id);
    put_count(deadlock, "circle", run->deadlock.circle);
    for (guint i = 0; run->deadlock.waits && i < run->deadlock.waits->len; i++) {
        const struct deadlock_wait *wait = g_ptr_array_index(run->deadlock.waits, i);
        json_t *object = json_object();
        put_text(object, "who", wait->who);
        put_text(object, "for", wait->what);
        put_text(object, "held_by", wait->held_by);
        put_count(object, "since", wait->since);
        put(object, "in_circle", json_boolean(wait->in_cycle));
        json_array_append_new(waits, object);
    }
    for (guint i = 0; run->deadlock.queues && i < run->deadlock.queues->len; i++)
        json_array_append_new(queues, json_string(g_ptr_array_index(run->deadlock.queues, i)));
    put(deadlock, "waits", waits);
    put(deadlock, "full_queues", queues);
    return deadlock;
}

/* "plan.gm" becomes {"plan": {"gm": …}}. */
static void put_fact(json_t *root, const struct run_fact *fact) {
    const char *dot = strchr(fact->key, '.');
    json_t *into = root;
    if (dot) {
        g_autofree char *group = g_strndup(fact->key, (gsize)(dot - fact->key));
        if (!json_object_get(root, group))
            put(root, group, json_object());
        into = json_object_get(root, group);
    }
    const char *key = dot ? dot + 1 : fact->key;
    if (fact->type == FACT_COUNT)
        put_count(into, key, fact->count);
    else if (fact->type == FACT_NUMBER)
        put_number(into, key, fact->number);
    else
        put_text(into, key, fact->text);
}

/* ---- digest ---- */

static void feed(void *to, const void *data, size_t size) {
    for (const guint8 *bytes = data; size;) {
        gssize piece = (gssize)MIN(size, (size_t)1 << 30);
        g_checksum_update(to, bytes, piece);
        bytes += piece;
        size -= (size_t)piece;
    }
}

static int by_number(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

static void feed_dram(GChecksum *checksum, const struct dram *dram) {
    guint count = g_hash_table_size(dram->pages);
    g_autofree uint64_t *numbers = g_new0(uint64_t, count + 1);
    GHashTableIter iter;
    gpointer key;
    guint n = 0;
    g_hash_table_iter_init(&iter, dram->pages);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        numbers[n++] = *(uint64_t *)key;
    qsort(numbers, count, sizeof *numbers, by_number);
    for (guint i = 0; i < count; i++) {
        const struct dram_page *page = g_hash_table_lookup(dram->pages, &numbers[i]);
        feed(checksum, &numbers[i], sizeof numbers[i]);
        feed(checksum, page->words, sizeof page->words);
    }
}

char *result_digest(const struct run *run) {
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    const uint64_t times[] = {run->cycles, run->host_cycles, run->settled_cycles, run->dead_cycle};
    feed(checksum, times, sizeof times);
    const struct system *system = run->system;
    if (system) {
        feed_dram(checksum, &system->dram);
        for (unsigned i = 0; i < system->endpoint_count; i++) {
            const struct endpoint *endpoint = &system->endpoints[i];
            endpoint->type->digest(endpoint->unit, feed, checksum);
            feed(checksum, &endpoint->counts, sizeof endpoint->counts);
        }
        for (unsigned p = 0; p < system->agent.port_count; p++)
            feed(checksum, &system->agent.ports[p].counts, sizeof system->agent.ports[p].counts);
        for (unsigned i = 0; i < mesh_router_count(&system->mesh); i++) {
            struct router_figures router = mesh_figures(&system->mesh, i);
            feed(checksum, &router, sizeof router);
        }
    }
    if (run->traffic) {
        const struct traffic_result *traffic = run->traffic;
        const uint64_t values[] = {traffic->order_hash,     traffic->cycles,    traffic->generated,
                                   traffic->injected,       traffic->delivered, traffic->queued,
                                   traffic->window_refused, traffic->flit_hops, traffic->latency.sum,
                                   traffic->network.sum};
        feed(checksum, values, sizeof values);
        feed(checksum, traffic->routers, traffic->router_count * sizeof *traffic->routers);
    }
    for (guint i = 0; i < run->facts->len; i++) {
        const struct run_fact *fact = &g_array_index(run->facts, struct run_fact, i);
        feed(checksum, &fact->count, sizeof fact->count);
        feed(checksum, &fact->number, sizeof fact->number);
    }
    char *digest = g_strdup(g_checksum_get_string(checksum));
    g_checksum_free(checksum);
    return digest;
}

/* ---- the document ---- */

static void put_rates(json_t *root, const struct run *run) {
    double cycles = (double)run->cycles, seconds = run->wall_seconds;
    uint64_t hops = run->system ? mesh_hops(&run->system->mesh) : run->traffic ? run->traffic->flit_hops : 0;
    put_number(root, "gflops", run->macs ? 2.0 * (double)run->macs / cycles * run->machine->clock_mhz / 1000 : NAN);
    put_number(root, "peak_fraction",
               run->macs ? (double)run->macs / (MACS_PER_CLUSTER_CYCLE * (double)run->clusters * cycles) : NAN);
    put_number(root, "wall_s", seconds);
    put_number(root, "cycles_per_wall_s", (double)run->settled_cycles / seconds);
    put_count(root, "flit_hops", hops);
    put_number(root, "flit_hops_per_wall_s", (double)hops / seconds);
}

/* Everything that was made is somewhere. */
static bool check_flits(const struct run *run, GError **error) {
    const struct system *system = run->system;
    int64_t live = 0;
    for (unsigned p = 0; p < system->mesh.part_count; p++)
        live += (int64_t)system->mesh.parts[p].pool->live;
    if (run->dead || live == system->agent.dispatch.mailbox.count)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                "internal error: %" G_GINT64_FORMAT " flits are alive after a run that has settled", live);
    return false;
}

static bool put_system(json_t *root, const struct run *run, GError **error) {
    json_t *units = build_units(run, error), *ports = units ? build_ports(run, error) : NULL;
    put(root, "counts", build_counts(run));
    put(root, "units", units ? units : json_null());
    put(root, "ports", ports ? ports : json_null());
    put(root, "routers", build_routers(&run->system->mesh));
    put(root, "latency", build_latency(run->system));
    put(root, "hazards", build_hazards(&run->system->hazards));
    return ports && check_flits(run, error);
}

json_t *result_build(const struct run *run, GError **error) {
    json_t *root = json_object();
    put_text(root, "schema", RESULT_SCHEMA);
    put_text(root, "version", FLITSIM_VERSION);
    put_text(root, "machine", run->machine->name);
    put(root, "workload", workload_json(run->workload));
    put_count(root, "seed", run->seed);
    put_count(root, "cycles", run->cycles);
    put_count(root, "host_cycles", run->host_cycles);
    put_count(root, "settled_cycles", run->settled_cycles);
    put_number(root, "clock_mhz", run->machine->clock_mhz);
    put_rates(root, run);
    g_autofree char *digest = result_digest(run);
    put_text(root, "digest", digest);
    put(root, "rtl_defects", json_boolean(run->machine->rtl_defects));
    for (guint i = 0; i < run->facts->len; i++)
        put_fact(root, &g_array_index(run->facts, struct run_fact, i));
    if (run->system && !put_system(root, run, error)) {
        json_decref(root);
        return NULL;
    }
    if (run->traffic) {
        put(root, "traffic", build_traffic(run->traffic));
        put(root, "routers", build_traffic_routers(run->traffic));
        put(root, "hazards", json_array());
    }
    put(root, "numerics", build_numerics(run));
    put(root, "deadlock", build_deadlock(run));
    if (run->profile)
        put(root, "profile", listing_json(run->profile));
    return root;
}

int result_status(const struct run *run) {
    bool hazard = run->strict && run->system && run->system->hazards.hazards->len > 0;
    return run->dead || run->answer_wrong || hazard ? 1 : 0;
}
