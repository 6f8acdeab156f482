/* See replay_trace.h. Cycles are counted from the first kick request; an event is a place ("cluster 1,1"), a name
 * ("sweep start") and the cycles in which it happened. */
#include "analysis/replay_trace.h"

#include <stdio.h>
#include <string.h>

#include "analysis/replay_bench.h"
#include "analysis/replay_gemm.h"
#include "analysis/replay_tree.h"

enum {
    TAIL = 500, /* description, "tail" */
    KICK_FLITS = 12,
    UNITS_MAX = 8,
    STREAM_RING = 64, /* cycles that an issue is looked back at; power of two */
};

/* A condition that is written down when it changes. */
struct edge {
    const char *name;
    bool high;
};

enum edge_kind {
    EDGE_BUSY,
    EDGE_OPERANDS,
    EDGE_COMMAND,
    EDGE_EMIT,
    EDGE_DRAIN,
    EDGES,
};

struct watched {
    struct cluster *cluster;
    char *place;
    struct edge edges[EDGES];
    cycle_t issued[STREAM_RING]; /* cycle + 1 of an issue, by cycle modulo the ring */
    cycle_t emitted;             /* last cycle with a push to the drain queue, + 1 */
};

struct recorder {
    struct gemm_replay replay;
    json_t *events; /* place -> name -> cycles */
    struct watched clusters[UNITS_MAX];
    struct cluster_trace cluster;
    struct endpoint_trace endpoint;
    struct port_trace port;
    struct dispatch_trace dispatch;
};

/* ---- what the run is, from its name ---- */

static bool find_triple(const char *text, int values[3]) {
    for (; *text; text++)
        if (g_ascii_isdigit(*text) && sscanf(text, "%dx%dx%d", &values[0], &values[1], &values[2]) == 3)
            return true;
    return false;
}

static json_t *run_entry(const json_t *entry) {
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *tile_text = name ? strstr(name, "tile ") : NULL;
    int shape[3], tile[3];
    if (name && !tile_text)
        tile_text = strstr(name, "GEMM ");
    if (!tile_text || !find_triple(name, shape) || !find_triple(tile_text, tile))
        return NULL;
    json_t *nodes = json_pack("[[i,i]]", 1, 1);
    if (strstr(name, "two clusters"))
        json_array_append_new(nodes, json_pack("[i,i]", 1, 2));
    bool fused = strstr(name, "fused");
    return json_pack("{s:[i,i,i],s:{s:i,s:i,s:i},s:o,s:s,s:s,s:O,s:O,s:s,s:i,s:i}", "shape", shape[0], shape[1],
                     shape[2], "tile", "gm", tile[0], "gn", tile[1], "nk", tile[2], "cluster_xy", nodes, "drain",
                     fused ? "fused" : "plain", "drain_position",
                     fused ? "after next tile starts" : "after its own sweep", "memory",
                     json_object_get(entry, "memory"), "operands", json_object_get(entry, "operands"), "memory_ports",
                     "one per row", "write_burst", 8, "dispatch_chunk", KICK_FLITS);
}

/* ---- gathering ---- */

static gint64 since_kick(cycle_t now) {
    return (gint64)now - GEMM_FIRST_KICK;
}

static void happened(struct recorder *recorder, const char *place, const char *name, cycle_t now) {
    json_t *at = json_object_get(recorder->events, place);
    if (!at) {
        at = json_object();
        json_object_set_new(recorder->events, place, at);
    }
    json_t *list = json_object_get(at, name);
    if (!list) {
        list = json_array();
        json_object_set_new(at, name, list);
    }
    json_array_append_new(list, json_integer(since_kick(now)));
}

static void flit_happened(struct recorder *recorder, const char *place, bool in, const struct flit *flit, cycle_t now) {
    static const char *const names[FLIT_TYPES] = {
        [FLIT_MEM_RD_REQ] = "read_request",   [FLIT_MEM_WR_REQ] = "write_descriptor",
        [FLIT_MEM_RD_RESP] = "read_response", [FLIT_MEM_WR_ACK] = "write_ack",
        [FLIT_MEM_WR_DATA] = "write_data",    [FLIT_CU_INST] = "instruction",
        [FLIT_CU_SIGNAL] = "signal",          [FLIT_CU_CTRL] = "control",
        [FLIT_CU_DATA] = "unit_data"};
    g_autofree char *name = g_strdup_printf("%s %s", in ? "in" : "out", names[flit->type] ? names[flit->type] : "?");
    happened(recorder, place, name, now);
}

static void agent_event(void *self, const char *what, const struct flit *flit, cycle_t now) {
    (void)flit;
    if (strcmp(what, "signal") == 0)
        happened(self, "agent", "signal accepted", now);
    else
        happened(self, "agent", what, now);
}

static char *port_place(const struct mem_port *port) {
    return g_strdup_printf("port %u,%u", port->x, port->y);
}

static void port_event(void *self, const struct mem_port *port, const char *what, cycle_t now) {
    g_autofree char *place = port_place(port);
    if (strcmp(what, "slot opened") != 0)
        happened(self, place, what, now);
}

static void port_flit(void *self, const struct mem_port *port, const struct flit *flit, bool in, cycle_t now) {
    g_autofree char *place = port_place(port);
    flit_happened(self, place, in, flit, now);
}

static char *unit_place(unsigned x, unsigned y) {
    return g_strdup_printf("cluster %u,%u", x, y);
}

static void flit_came(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    g_autofree char *place = unit_place(endpoint->x, endpoint->y);
    flit_happened(self, place, true, flit, now);
}

static void flit_left(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    g_autofree char *place = unit_place(endpoint->x, endpoint->y);
    flit_happened(self, place, false, flit, now);
}

static void unit_taken(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now) {
    (void)inst;
    g_autofree char *place = unit_place(endpoint->x, endpoint->y);
    happened(self, place, "instruction taken", now);
}

static void unit_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)fault;
    (void)result;
    g_autofree char *place = unit_place(endpoint->x, endpoint->y);
    happened(self, place, "retired", now);
}

static void cluster_happened(void *self, const struct unit_context *where, const char *what, uint64_t a, uint64_t b,
                             cycle_t now) {
    static const char *const shown[] = {"operand entry written", "sweep start", "drain start", "sub-tile collected"};
    struct recorder *recorder = self;
    (void)a;
    (void)b;
    g_autofree char *place = unit_place(where->place->x, where->place->y);
    struct watched *cluster = recorder->clusters;
    while (strcmp(cluster->place, place) != 0)
        cluster++;
    if (strcmp(what, "issue") == 0)
        cluster->issued[now % STREAM_RING] = now + 1;
    else if (strcmp(what, "emit") == 0)
        cluster->emitted = now + 1;
    for (unsigned i = 0; i < G_N_ELEMENTS(shown); i++)
        if (strcmp(what, shown[i]) == 0)
            happened(recorder, place, what, now);
}

static bool issued_before(const struct watched *cluster, cycle_t now, unsigned ago) {
    return now >= ago && cluster->issued[(now - ago) % STREAM_RING] == now - ago + 1;
}

static void set_edge(struct recorder *recorder, struct watched *cluster, enum edge_kind kind, bool high, cycle_t now) {
    struct edge *edge = &cluster->edges[kind];
    if (edge->high == high)
        return;
    edge->high = high;
    g_autofree char *name = g_strdup_printf("%s %s", edge->name, high ? "rises" : "falls");
    happened(recorder, cluster->place, name, now);
}

/* The conditions of a cycle; those that events of the cycle itself make are looked at one cycle later. */
static void look(void *self, cycle_t now) {
    struct recorder *recorder = self;
    for (unsigned u = 0; u < recorder->replay.machine.unit_count; u++) {
        struct watched *watched = &recorder->clusters[u];
        const struct cluster *cluster = watched->cluster;
        bool busy = sweep_busy(cluster, now) || (cluster->busy_until && now <= cluster->busy_until);
        set_edge(recorder, watched, EDGE_BUSY, busy, now);
        set_edge(recorder, watched, EDGE_OPERANDS, issued_before(watched, now, 3), now);
        set_edge(recorder, watched, EDGE_COMMAND, issued_before(watched, now, ISSUE_TO_COMMAND), now);
        set_edge(recorder, watched, EDGE_DRAIN, !drain_idle(cluster), now);
        set_edge(recorder, watched, EDGE_EMIT, watched->emitted == now, now - 1);
    }
}

static void watch(struct recorder *recorder) {
    static const char *const names[EDGES] = {[EDGE_BUSY] = "array busy",
                                             [EDGE_OPERANDS] = "array operands",
                                             [EDGE_COMMAND] = "accumulator command",
                                             [EDGE_EMIT] = "emit",
                                             [EDGE_DRAIN] = "drain busy"};
    struct system *system = recorder->replay.system;
    recorder->events = json_object();
    recorder->dispatch = (struct dispatch_trace){.self = recorder, .event = agent_event};
    recorder->port = (struct port_trace){.self = recorder, .event = port_event, .flit = port_flit};
    recorder->cluster = (struct cluster_trace){.self = recorder, .event = cluster_happened};
    recorder->endpoint = (struct endpoint_trace){
        .self = recorder, .flit_in = flit_came, .flit_out = flit_left, .taken = unit_taken, .retired = unit_retired};
    system->agent.dispatch.trace = &recorder->dispatch;
    for (unsigned p = 0; p < system->agent.port_count; p++)
        system->agent.ports[p].trace = &recorder->port;
    for (unsigned u = 0; u < system->endpoint_count; u++) {
        struct watched *watched = &recorder->clusters[u];
        watched->cluster = system->endpoints[u].unit;
        watched->place = unit_place(system->endpoints[u].x, system->endpoints[u].y);
        for (unsigned e = 0; e < EDGES; e++)
            watched->edges[e].name = names[e];
        watched->cluster->trace = &recorder->cluster;
        system->endpoints[u].trace = &recorder->endpoint;
    }
}

/* ---- comparison ---- */

static int by_cycle(const void *a, const void *b) {
    json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;
    return x < y ? -1 : x > y;
}

/* A recorded list with its triples [first, step, count] written out, in rising order. */
static json_t *written_out(const json_t *list) {
    g_autoptr(GArray) cycles = g_array_new(FALSE, FALSE, sizeof(json_int_t));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t first = json_integer_value(json_is_array(item) ? json_array_get(item, 0) : item);
        json_int_t step = json_integer_value(json_array_get(item, 1));
        json_int_t count = json_is_array(item) ? json_integer_value(json_array_get(item, 2)) : 1;
        for (json_int_t n = 0; n < count; n++) {
            json_int_t cycle = first + n * step;
            g_array_append_val(cycles, cycle);
        }
    }
    qsort(cycles->data, cycles->len, sizeof(json_int_t), by_cycle);
    json_t *out = json_array();
    for (guint i = 0; i < cycles->len; i++)
        json_array_append_new(out, json_integer(g_array_index(cycles, json_int_t, i)));
    return out;
}

static json_t *all_written_out(const json_t *events) {
    json_t *out = json_object(), *at, *list;
    const char *place, *name;
    json_object_foreach((json_t *)events, place, at) {
        json_t *named = json_object();
        json_object_foreach(at, name, list) {
            json_object_set_new(named, name, written_out(list));
        }
        json_object_set_new(out, place, named);
    }
    return out;
}

bool replay_trace(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description;
    struct recorder recorder = {0};
    json_t *run = run_entry(entry);
    if (!run) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "an event trace needs a name with the shape and \"tile GMxGNxNK\" or \"GEMM GMxGNxNK\"");
        return false;
    }
    bool ok = gemm_replay_open(&recorder.replay, run, error);
    if (ok) {
        watch(&recorder);
        gemm_replay_run(&recorder.replay, &(struct gemm_watch){.self = &recorder, .cycle = look, .tail = TAIL});
        json_t *reference = all_written_out(json_object_get(entry, "events"));
        json_t *ours = all_written_out(recorder.events);
        replay_compare_tree(out, "events", reference, ours);
        json_decref(reference);
        json_decref(ours);
    }
    for (unsigned u = 0; u < UNITS_MAX; u++)
        g_free(recorder.clusters[u].place);
    json_decref(recorder.events);
    json_decref(run);
    gemm_replay_close(&recorder.replay);
    return ok;
}
