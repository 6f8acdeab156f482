/* The result document; see result.h. Keys are those promised to the outside. */
#include "analysis/result.h"

#include <math.h>
#include <string.h>

#include "analysis/listing.h"
#include "model/isa/wire.h"
#include "model/keys.h"
#include "noc/flex.h"
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

/* ---- meshes: the one of most machines, or those of a line ---- */

static unsigned mesh_count(const struct run *run) {
    return run->line ? run->line->count : run->system ? 1 : 0;
}

static const struct system *mesh_at(const struct run *run, unsigned mesh) {
    return run->line ? run->line->meshes[mesh] : run->system;
}

/* Components of several meshes say whose they are. */
static void put_mesh(json_t *object, const struct run *run, unsigned mesh) {
    if (run->line)
        put_count(object, "mesh", mesh);
}

/* ---- counts ---- */

struct totals {
    uint64_t out[FLIT_TYPES], in[FLIT_TYPES], signals, reads, writes;
    struct cluster_counts clusters;
};

static void add_cluster(struct cluster_counts *sum, const struct cluster_counts *counts) {
    sum->load += counts->load;
    sum->add += counts->add;
    sum->emit += counts->emit;
    sum->add_emit += counts->add_emit;
    sum->send += counts->send;
    sum->add_peer += counts->add_peer;
    sum->saturated += counts->saturated;
}

static void add_totals(struct totals *totals, const struct system *system) {
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        for (unsigned type = 0; type < FLIT_TYPES; type++) {
            totals->out[type] += endpoint->counts.out[type];
            totals->in[type] += endpoint->counts.in[type];
        }
        if (endpoint->type == &unit_type_cluster)
            add_cluster(&totals->clusters, &((const struct cluster *)endpoint->unit)->counts);
    }
    totals->signals += system->agent.dispatch.signals;
    totals->reads += system->dram.reads;
    totals->writes += system->dram.writes;
}

static json_t *build_counts(const struct run *run) {
    json_t *counts = json_object();
    struct totals sums = {0};
    for (unsigned m = 0; m < mesh_count(run); m++)
        add_totals(&sums, mesh_at(run, m));
    const uint64_t *out = sums.out, *in = sums.in;
    const struct cluster_counts sum = sums.clusters;
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
                {"signals", sums.signals},
                {"acc_load", sum.load},
                {"acc_add", sum.add},
                {"acc_emit", sum.emit},
                {"acc_add_emit", sum.add_emit},
                {"acc_send", sum.send},
                {"acc_add_peer", sum.add_peer},
                {"dram_read_bytes", sums.reads * WORD_BYTES},
                {"dram_write_bytes", sums.writes * WORD_BYTES}};
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

static json_t *build_adapter(const struct l2_adapter *adapter) {
    json_t *object = json_object();
    put_count(object, "served_words", adapter->served);
    put_count(object, "written_words", adapter->taken);
    put_count(object, "forwarded_requests", adapter->forwarded);
    return object;
}

static json_t *build_unit(const struct run *run, const struct endpoint *endpoint, const struct account *account,
                          const struct l2_adapter *adapter) {
    struct unit_report report;
    json_t *unit = json_object();
    endpoint->type->report(endpoint->unit, &report);
    put_text(unit, "name", endpoint->name);
    put_text(unit, "type", endpoint->type->name);
    put_count(unit, "x", endpoint->x);
    put_count(unit, "y", endpoint->y);
    put(unit, "cycles", build_causes(account, report.causes, report.cause_count));
    put_count(unit, "instructions", report.instructions);
    if (adapter)
        put(unit, "l2", build_adapter(adapter));
    put_count(unit, "busy", run->cycles - account->cycles[0]);
    put_count(unit, "link_refused", endpoint->counts.blocked);
    return unit;
}

static bool add_units(json_t *units, const struct run *run, unsigned mesh, GError **error) {
    const struct system *system = mesh_at(run, mesh);
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        if (!check_sum(&system->unit_accounts[i], endpoint->name, run->cycles, error))
            return false;
        json_t *unit = build_unit(run, endpoint, &system->unit_accounts[i], system->adapters[i]);
        put_mesh(unit, run, mesh);
        json_array_append_new(units, unit);
    }
    return true;
}

static json_t *build_port(const struct mem_port *port, const struct account *account) {
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
    return object;
}

static bool add_ports(json_t *ports, const struct run *run, unsigned mesh, GError **error) {
    const struct system *system = mesh_at(run, mesh);
    for (unsigned p = 0; p < system->agent.port_count; p++) {
        const struct mem_port *port = &system->agent.ports[p];
        if (!check_sum(&system->port_accounts[p], port->name, run->cycles, error))
            return false;
        json_t *object = build_port(port, &system->port_accounts[p]);
        put_mesh(object, run, mesh);
        json_array_append_new(ports, object);
    }
    return true;
}

/* One direction of a link each: what mesh `mesh` sends to its neighbour `to`. */
static void add_links(json_t *links, const struct run *run, unsigned mesh) {
    const struct interlink *interlink = &run->line->interlinks[mesh];
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        const struct interlink_link *link = &interlink->links[l];
        if (!link->peer)
            continue;
        json_t *object = json_object();
        put_mesh(object, run, mesh);
        put_count(object, "to", link->peer->mesh);
        put_count(object, "packets", link->tx_packets);
        put_count(object, "beats", link->tx_beats);
        put_count(object, "busy_cycles", link->busy_cycles);
        put_count(object, "starved_cycles", link->starved_cycles);
        json_array_append_new(links, object);
    }
}

static json_t *build_input(const struct router_input_counts *counts, uint64_t max_depth) {
    json_t *input = json_object();
    put_count(input, "flits", counts->flits);
    put_count(input, "blocked", counts->blocked);
    put_count(input, "hol_blocked", counts->hol_blocked);
    put_count(input, "max_depth", max_depth);
    return input;
}

/* Cycles in which a flit was granted to an empty register: every flit's grant that did not follow another's at once. */
static uint64_t bare_cycles(const struct router_figures *router, unsigned port) {
    return router->out[port].flits + (router->standing >> port & 1) - router->out[port].chained;
}

/* Every cycle of a link is one of four: a flit went, the receiver refused it, the link lay bare while a flit was being
 * granted to it, or nobody wanted it. The what-if network does not tell the last two apart. */
static json_t *build_output(const struct router_figures *router, unsigned port, bool whole, uint64_t cycles) {
    const struct router_output_counts *counts = &router->out[port];
    uint64_t bare = whole ? bare_cycles(router, port) : 0;
    json_t *link = json_object();
    put_count(link, "flits", counts->flits);
    put_count(link, "busy", counts->busy);
    put(link, "arbitration", whole ? json_integer((json_int_t)bare) : json_null());
    put(link, "lost", whole ? json_integer((json_int_t)counts->lost) : json_null());
    put_count(link, "idle", cycles - counts->flits - counts->busy - bare);
    return link;
}

static json_t *build_router(const struct router_figures *router, bool whole, uint64_t cycles) {
    json_t *object = json_object(), *in = json_array(), *out = json_array();
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        json_array_append_new(in, build_input(&router->in[port], router->max_depth[port]));
        json_array_append_new(out, build_output(router, port, whole, cycles));
    }
    put_count(object, "x", router->x);
    put_count(object, "y", router->y);
    put(object, "in", in);
    put(object, "out", out);
    return object;
}

static bool check_links(const struct router_figures *router, bool whole, uint64_t cycles, GError **error) {
    for (unsigned port = 0; port < ROUTER_PORTS; port++) {
        const struct router_output_counts *out = &router->out[port];
        if (out->flits + out->busy <= cycles &&
            (!whole || out->flits + out->busy + bare_cycles(router, port) <= cycles))
            continue;
        g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                    "internal error: output %u of router (%u,%u) was in use for more than the %" G_GUINT64_FORMAT
                    " cycles of the run",
                    port, router->x, router->y, cycles);
        return false;
    }
    return true;
}

static bool add_routers(json_t *routers, const struct run *run, unsigned mesh, GError **error) {
    const struct mesh *network = &mesh_at(run, mesh)->mesh;
    for (unsigned i = 0; i < mesh_router_count(network); i++) {
        struct router_figures router = mesh_figures(network, i);
        if (!check_links(&router, !network->flex, run->settled_cycles, error))
            return false;
        json_t *object = build_router(&router, !network->flex, run->settled_cycles);
        put_mesh(object, run, mesh);
        json_array_append_new(routers, object);
    }
    return true;
}

/* The distribution in bins [low, high, count] that grow with the value, eight to a doubling; those that are empty are
 * left out. */
static json_t *build_bins(const struct histogram *histogram) {
    json_t *bins = json_array();
    uint64_t low = 0, high = 0, count = 0;
    for (uint64_t page = 0; page < histogram->page_count; page++)
        for (uint64_t i = 0; histogram->pages[page] && i < HISTOGRAM_PAGE; i++) {
            uint64_t value = page << HISTOGRAM_PAGE_BITS | i, times = histogram->pages[page][i];
            if (!times)
                continue;
            if (value > high && count) {
                json_array_append_new(bins, json_pack("[I,I,I]", (json_int_t)low, (json_int_t)high, (json_int_t)count));
                count = 0;
            }
            if (!count) {
                unsigned bits = value ? 63 - (unsigned)__builtin_clzll(value) : 0;
                uint64_t width = bits > 3 ? UINT64_C(1) << (bits - 3) : 1;
                low = value & ~(width - 1);
                high = low + width - 1;
            }
            count += times;
        }
    if (count)
        json_array_append_new(bins, json_pack("[I,I,I]", (json_int_t)low, (json_int_t)high, (json_int_t)count));
    return bins;
}

static struct histogram latency_of(const struct run *run, unsigned type) {
    struct histogram all = {0};
    for (unsigned m = 0; m < mesh_count(run); m++) {
        struct histogram one = system_latency(mesh_at(run, m), type);
        histogram_merge(&all, &one);
        histogram_clear(&one);
    }
    return all;
}

static json_t *build_latency(const struct run *run) {
    json_t *latency = json_object();
    for (unsigned type = 0; type < FLIT_TYPES; type++) {
        struct histogram all = latency_of(run, type), *histogram = &all;
        if (!histogram->count)
            continue;
        json_t *object = json_object();
        put_count(object, "count", histogram->count);
        put_number(object, "mean", (double)histogram->sum / (double)histogram->count);
        put_count(object, "p50", histogram_at(histogram, (histogram->count - 1) / 2));
        put_count(object, "p90", histogram_at(histogram, (histogram->count - 1) * 9 / 10));
        put_count(object, "p99", histogram_at(histogram, (histogram->count - 1) * 99 / 100));
        put_count(object, "max", histogram->max);
        put(object, "bins", build_bins(histogram));
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

static json_t *build_traffic_routers(const struct traffic_result *traffic, bool whole, uint64_t cycles) {
    json_t *routers = json_array();
    for (unsigned i = 0; i < traffic->router_count; i++)
        json_array_append_new(routers, build_router(&traffic->routers[i], whole, cycles));
    return routers;
}

/* ---- answer, hazards, deadlock ---- */

/* [low, high, count]: relative errors from low up to high; the first bin holds those that are 0, the last has no end.
 */
static json_t *build_error_bins(const struct numerics *numerics) {
    json_t *bins = json_array();
    for (unsigned bin = 0; bin < GRADE_BINS; bin++) {
        double high = bin == 0 ? 0 : grade_bin_low(bin + 1);
        json_t *row = json_array();
        json_array_append_new(row, json_real(grade_bin_low(bin)));
        json_array_append_new(row, bin + 1 < GRADE_BINS ? json_real(high) : json_null());
        json_array_append_new(row, json_integer((json_int_t)numerics->bins[bin]));
        json_array_append_new(bins, row);
    }
    return bins;
}

static json_t *build_worst(const struct numerics *numerics, size_t columns) {
    json_t *worst = json_array();
    for (unsigned i = 0; i < numerics->worst_count; i++) {
        const struct grade_element *element = &numerics->worst[i];
        json_t *object = json_object();
        put_count(object, "row", columns ? element->index / columns : 0);
        put_count(object, "column", columns ? element->index % columns : element->index);
        put_number(object, "got", element->got);
        put_number(object, "want", element->want);
        put_number(object, "rel", element->rel);
        json_array_append_new(worst, object);
    }
    return worst;
}

static json_t *build_grade(const struct numerics *numerics, size_t columns) {
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
    put_count(object, "count", numerics->count);
    put_count(object, "undefined", numerics->undefined);
    put(object, "histogram", build_error_bins(numerics));
    put(object, "worst", build_worst(numerics, columns));
    return object;
}

static json_t *build_numerics(const struct run *run) {
    if (!run->graded)
        return json_null();
    json_t *numerics = json_object(), *model = json_object();
    put_count(model, "mismatches", run->model_mismatches);
    put_number(model, "max_abs", run->model_max_abs);
    put(numerics, "vs_model", model);
    put(numerics, "vs_quantised",
        run->vs_quantised.count ? build_grade(&run->vs_quantised, run->answer_columns) : json_null());
    put(numerics, "vs_fp64", build_grade(&run->vs_fp64, run->answer_columns));
    return numerics;
}

static int by_first_cycle(const void *a, const void *b) {
    const struct hazard *one = *(struct hazard *const *)a, *two = *(struct hazard *const *)b;
    if (one->cycle != two->cycle)
        return one->cycle < two->cycle ? -1 : 1;
    int order = strcmp(one->id, two->id);
    return order ? order : strcmp(one->where, two->where);
}

static void add_hazards(json_t *hazards, const struct run *run, unsigned mesh) {
    const struct hazard_log *log = &mesh_at(run, mesh)->hazards;
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
        put_mesh(object, run, mesh);
        json_array_append_new(hazards, object);
    }
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

static void put_series(json_t *object, const char *key, const uint64_t *values, unsigned count) {
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_integer((json_int_t)values[i]));
    put(object, key, array);
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
    switch (fact->type) {
    case FACT_COUNT:
        put_count(into, key, fact->count);
        break;
    case FACT_NUMBER:
        put_number(into, key, fact->number);
        break;
    case FACT_FLAG:
        put(into, key, json_boolean(fact->count));
        break;
    case FACT_TEXT:
        put_text(into, key, fact->text);
        break;
    case FACT_SERIES:
        put_series(into, key, fact->series, fact->value_count);
        break;
    }
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

static void feed_system(GChecksum *checksum, const struct system *system) {
    feed_dram(checksum, &system->dram);
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        endpoint->type->digest(endpoint->unit, feed, checksum);
        feed(checksum, &endpoint->counts, sizeof endpoint->counts);
        if (system->adapters[i])
            feed(checksum, system->adapters[i]->lines, system->adapters[i]->line_count * WORD_BYTES);
    }
    for (unsigned p = 0; p < system->agent.port_count; p++)
        feed(checksum, &system->agent.ports[p].counts, sizeof system->agent.ports[p].counts);
    for (unsigned i = 0; i < mesh_router_count(&system->mesh); i++) {
        struct router_figures router = mesh_figures(&system->mesh, i);
        feed(checksum, &router, sizeof router);
    }
    for (unsigned l = 0; system->agent.interlink && l < INTERLINK_LINKS; l++) {
        const struct interlink_link *link = &system->agent.interlink->links[l];
        const uint32_t counts[] = {link->tx_packets, link->tx_beats, link->busy_cycles, link->starved_cycles};
        feed(checksum, counts, sizeof counts);
    }
}

char *result_digest(const struct run *run) {
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    const uint64_t times[] = {run->cycles, run->host_cycles, run->settled_cycles, run->dead_cycle};
    feed(checksum, times, sizeof times);
    for (unsigned m = 0; m < mesh_count(run); m++)
        feed_system(checksum, mesh_at(run, m));
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
        feed(checksum, fact->series, fact->value_count * sizeof *fact->series);
    }
    char *digest = g_strdup(g_checksum_get_string(checksum));
    g_checksum_free(checksum);
    return digest;
}

/* ---- the document ---- */

static void put_rates(json_t *root, const struct run *run) {
    double cycles = (double)run->cycles, seconds = run->wall_seconds;
    uint64_t hops = run->traffic ? run->traffic->flit_hops : 0;
    for (unsigned m = 0; m < mesh_count(run); m++)
        hops += mesh_hops(&mesh_at(run, m)->mesh);
    put_number(root, "gflops", run->macs ? 2.0 * (double)run->macs / cycles * run->machine->clock_mhz / 1000 : NAN);
    put_number(root, "peak_fraction",
               run->macs ? (double)run->macs / (MACS_PER_CLUSTER_CYCLE * (double)run->clusters * cycles) : NAN);
    put_number(root, "wall_s", seconds);
    put_number(root, "cycles_per_wall_s", (double)run->settled_cycles / seconds);
    put_count(root, "flit_hops", hops);
    put_number(root, "flit_hops_per_wall_s", (double)hops / seconds);
}

/* Everything that was made is somewhere. */
static bool check_flits(const struct run *run, const struct system *system, GError **error) {
    int64_t live = 0;
    for (unsigned p = 0; p < system->mesh.part_count; p++)
        live += (int64_t)system->mesh.parts[p].pool->live;
    if (run->dead || live == system->agent.dispatch.mailbox.count)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                "internal error: %" G_GINT64_FORMAT " flits are alive after a run that has settled", live);
    return false;
}

static bool put_meshes(json_t *root, const struct run *run, GError **error) {
    json_t *units = json_array(), *ports = json_array(), *routers = json_array(), *hazards = json_array();
    json_t *links = run->line ? json_array() : NULL;
    bool fine = true;
    put(root, "counts", build_counts(run));
    put(root, "units", units);
    put(root, "ports", ports);
    put(root, "routers", routers);
    put(root, "latency", build_latency(run));
    put(root, "hazards", hazards);
    if (links)
        put(root, "links", links);
    for (unsigned m = 0; fine && m < mesh_count(run); m++) {
        fine = add_units(units, run, m, error) && add_ports(ports, run, m, error) &&
               add_routers(routers, run, m, error) && check_flits(run, mesh_at(run, m), error);
        add_hazards(hazards, run, m);
        if (links)
            add_links(links, run, m);
    }
    return fine;
}

/* What the machine has otherwise than its preset: {path: {value, default, unit}}. */
static json_t *build_configuration(const struct machine *machine) {
    json_t *differing = json_object();
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        if (g_str_equal(key->path, "name") || g_str_equal(key->path, "preset") || key_is_default(key, machine))
            continue;
        g_autofree char *usual = key_default_text(key, (enum machine_preset)machine->preset);
        json_t *row = json_object();
        put(row, "value", key_json(key, machine));
        put_text(row, "default", usual);
        put_text(row, "unit", key->unit);
        put(differing, key->path, row);
    }
    return differing;
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
    put(root, "configuration", build_configuration(run->machine));
    put(root, "rtl_defects", json_boolean(run->machine->rtl_defects));
    for (guint i = 0; i < run->facts->len; i++)
        put_fact(root, &g_array_index(run->facts, struct run_fact, i));
    if (mesh_count(run) && !put_meshes(root, run, error)) {
        json_decref(root);
        return NULL;
    }
    if (run->traffic) {
        put(root, "traffic", build_traffic(run->traffic));
        put(root, "routers", build_traffic_routers(run->traffic, !flex_needed(run->machine), run->settled_cycles));
        put(root, "hazards", json_array());
    }
    put(root, "numerics", build_numerics(run));
    put(root, "deadlock", build_deadlock(run));
    if (run->profile)
        put(root, "profile", listing_json(run->profile));
    return root;
}

int result_status(const struct run *run) {
    bool hazard = false;
    for (unsigned m = 0; run->strict && m < mesh_count(run); m++)
        hazard |= mesh_at(run, m)->hazards.hazards->len > 0;
    return run->dead || run->answer_wrong || hazard ? 1 : 0;
}
