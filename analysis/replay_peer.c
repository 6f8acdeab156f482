/* See replay_peer.h. Cycle 0 of a recording is its first kick request. */
#include "analysis/replay_peer.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/replay_bench.h"
#include "analysis/replay_tree.h"
#include "model/isa/wire.h"

enum {
    WRITES_SHOWN = 6, /* "first" of operand writes; of the other streams: */
    STEPS_SHOWN = 12,
    SUBTILES_SHOWN = 4,
    ENTRIES_SHOWN = 2,
    LANE_BITS = 22,
    TILE_PIECES = 6, /* 352 bits in pieces of 64 */
    ENTRY_PIECES = 15,
    TILE_DIGITS = 88,
    ENTRY_DIGITS = 232,
    ELEMENT_BITS = 7,
    ENTRY_SCALES = 896,
};

/* A stream of events: all in the hash, the first and last in full. */
struct stream {
    unsigned count, shown;
    json_t *first, *last;
    uint64_t hash;
};

struct watched {
    const struct endpoint *endpoint;
    struct cluster *cluster;
    json_t *taken, *retired, *descriptors, *received, *open, *sweeps, *drains;
    struct stream popped, commands, writes;
    uint64_t in_hash, out_hash;
    gint64 last_in, last_out;
    bool any_out;
    unsigned burst_left; /* data flits to come of the burst going out */
};

struct recorder {
    struct replay_bench bench;
    struct watched nodes[BENCH_UNITS];
    json_t *signals;
    struct cluster_trace cluster;
    struct endpoint_trace endpoint;
    struct dispatch_trace dispatch;
};

/* ---- gathering ---- */

static void note(struct stream *stream, json_t *event, uint64_t value) {
    if (stream->count++ < stream->shown)
        json_array_append(stream->first, event);
    json_decref(stream->last);
    stream->last = event;
    stream->hash = replay_hash(stream->hash, value);
}

static struct watched *watched_of(struct recorder *recorder, unsigned x, unsigned y) {
    for (unsigned u = 0; u < BENCH_UNITS; u++)
        if (recorder->nodes[u].endpoint->x == x && recorder->nodes[u].endpoint->y == y)
            return &recorder->nodes[u];
    g_assert_not_reached();
}

static void cluster_happened(void *self, const struct unit_context *where, const char *what, uint64_t a, uint64_t b,
                             cycle_t now) {
    struct watched *node = watched_of(self, where->place->x, where->place->y);
    json_int_t cycle = bench_cycle(now);
    if (strcmp(what, "unit data popped") == 0)
        note(&node->popped, json_integer(cycle), (uint64_t)cycle);
    else if (strcmp(what, "peer command") == 0)
        note(&node->commands, json_pack("[I,I]", cycle, (json_int_t)a), (uint64_t)cycle * 65536 + a);
    else if (strcmp(what, "operand entry written") == 0)
        note(&node->writes, json_pack("[I,I,I]", cycle, (json_int_t)a, (json_int_t)b),
             (uint64_t)cycle * 1024 + a * 512 + b);
    else if (strcmp(what, "peer stream open") == 0)
        json_array_append_new(node->open, json_pack("[I,I]", cycle, (json_int_t)a));
    else if (strcmp(what, "sweep start") == 0)
        json_array_append_new(node->sweeps, json_integer(cycle));
    else if (strcmp(what, "drain start") == 0)
        json_array_append_new(node->drains, json_integer(cycle));
}

static uint64_t hash_flit(uint64_t hash, const struct flit *flit, gint64 cycle) {
    uint32_t header = 0;
    flit_header_encode(flit, &header, NULL);
    hash = replay_hash(replay_hash(hash, (uint64_t)cycle), header);
    for (unsigned lane = 0; lane < 4; lane++)
        hash = replay_hash(hash, flit->payload.w[lane]);
    return hash;
}

static void flit_came(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    struct watched *node = watched_of(self, endpoint->x, endpoint->y);
    node->last_in = bench_cycle(now);
    node->in_hash = hash_flit(node->in_hash, flit, node->last_in);
}

static void append_flit(json_t *list, const struct flit *flit, gint64 cycle) {
    char digits[FLIT_HEX + 1];
    flit_to_hex(flit, digits, NULL);
    json_array_append_new(list, json_pack("[I,s]", (json_int_t)cycle, digits));
}

/* A flit of a burst on its way out: the descriptor is the one that no burst has announced. */
static void note_burst(struct watched *node, const struct flit *flit, gint64 cycle) {
    struct data_descriptor descriptor;
    if (node->burst_left) {
        node->burst_left--;
        return;
    }
    data_descriptor_decode(&flit->payload, &descriptor);
    node->burst_left = descriptor.len + 1;
    append_flit(node->descriptors, flit, cycle);
}

static void flit_left(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    struct watched *node = watched_of(self, endpoint->x, endpoint->y);
    gint64 cycle = bench_cycle(now);
    struct signal_payload signal;
    signal_payload_decode(&flit->payload, &signal);
    if (flit->type == FLIT_CU_SIGNAL && signal.code == SIGNAL_DATA_RECEIVED)
        append_flit(node->received, flit, cycle);
    if (flit->type == FLIT_CU_DATA)
        note_burst(node, flit, cycle);
    node->any_out = true;
    node->last_out = cycle;
    node->out_hash = hash_flit(node->out_hash, flit, cycle);
}

static void unit_taken(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now) {
    struct watched *node = watched_of(self, endpoint->x, endpoint->y);
    json_array_append_new(
        node->taken, json_pack("[I,i]", (json_int_t)bench_cycle(now), (int)word_get(&inst->payload, WORD_BITS - 4, 4)));
}

static void unit_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)fault;
    (void)result;
    json_array_append_new(watched_of(self, endpoint->x, endpoint->y)->retired, json_integer(bench_cycle(now)));
}

static void agent_event(void *self, const char *what, const struct flit *flit, cycle_t now) {
    struct recorder *recorder = self;
    if (strcmp(what, "signal") != 0)
        return;
    struct signal_payload signal;
    signal_payload_decode(&flit->payload, &signal);
    g_autofree char *code = g_strdup_printf("%02x", signal.code);
    json_array_append_new(recorder->signals, json_pack("[I,i,i,i,s,o]", (json_int_t)bench_cycle(now), flit->src_x,
                                                       flit->src_y, flit->txn, code, replay_hex(signal.arg)));
}

static void watch(struct recorder *recorder) {
    struct system *system = recorder->bench.system;
    recorder->cluster = (struct cluster_trace){.self = recorder, .event = cluster_happened};
    recorder->endpoint = (struct endpoint_trace){
        .self = recorder, .flit_in = flit_came, .flit_out = flit_left, .taken = unit_taken, .retired = unit_retired};
    recorder->dispatch = (struct dispatch_trace){.self = recorder, .event = agent_event};
    system->agent.dispatch.trace = &recorder->dispatch;
    recorder->signals = json_array();
    for (unsigned u = 0; u < BENCH_UNITS; u++) {
        struct watched *node = &recorder->nodes[u];
        *node = (struct watched){.endpoint = &system->endpoints[u],
                                 .cluster = bench_cluster(&recorder->bench, u),
                                 .popped.shown = STEPS_SHOWN,
                                 .commands.shown = STEPS_SHOWN,
                                 .writes.shown = WRITES_SHOWN};
        system->endpoints[u].trace = &recorder->endpoint;
        node->cluster->trace = &recorder->cluster;
        json_t **lists[] = {&node->taken,          &node->retired,     &node->descriptors, &node->received,
                            &node->open,           &node->sweeps,      &node->drains,      &node->popped.first,
                            &node->commands.first, &node->writes.first};
        for (unsigned l = 0; l < G_N_ELEMENTS(lists); l++)
            *lists[l] = json_array();
    }
}

/* ---- result ---- */

static void set_list(json_t *tree, const char *name, json_t *list) {
    if (json_array_size(list))
        json_object_set(tree, name, list);
}

static void set_stream(json_t *tree, const char *name, const struct stream *stream) {
    if (stream->count)
        json_object_set_new(tree, name,
                            json_pack("{s:i,s:O,s:O,s:o}", "count", (int)stream->count, "first", stream->first, "last",
                                      stream->last, "timed_hash", replay_hash_text(stream->hash)));
}

static json_t *flits_tree(const uint64_t counts[FLIT_TYPES]) {
    static const char *const names[FLIT_TYPES] = {
        [FLIT_MEM_RD_REQ] = "read_request",   [FLIT_MEM_WR_REQ] = "write_descriptor",
        [FLIT_MEM_RD_RESP] = "read_response", [FLIT_MEM_WR_ACK] = "write_ack",
        [FLIT_MEM_WR_DATA] = "write_data",    [FLIT_CU_INST] = "instruction",
        [FLIT_CU_SIGNAL] = "signal",          [FLIT_CU_CTRL] = "control",
        [FLIT_CU_DATA] = "unit_data"};
    json_t *tree = json_object();
    for (unsigned type = 0; type < FLIT_TYPES; type++) {
        g_autofree char *digits = g_strdup_printf("%u", type);
        if (counts[type])
            json_object_set_new(tree, names[type] ? names[type] : digits, json_integer((json_int_t)counts[type]));
    }
    return tree;
}

/* Pieces of 64 bits, low first, of a string of fields put in from the bottom. */
static void put_bits(uint64_t *pieces, unsigned low, unsigned width, uint64_t value) {
    pieces[low / 64] |= value << low % 64;
    if (low % 64 + width > 64)
        pieces[low / 64 + 1] |= value >> (64 - low % 64);
}

/* What one side of the store or the tile holds, gathered entry by entry. */
struct contents {
    unsigned count, shown;
    uint64_t hash;
    json_t *values;
};

static void add_contents(struct contents *contents, unsigned index, const uint64_t *pieces, unsigned count,
                         unsigned digits) {
    bool any = false;
    for (unsigned p = 0; p < count; p++)
        any |= pieces[p] != 0;
    if (!any)
        return;
    contents->hash = replay_hash(contents->hash, index);
    GString *text = g_string_new(NULL);
    for (unsigned p = 0; p < count; p++) {
        contents->hash = replay_hash(contents->hash, pieces[p]);
        g_autofree char *piece = g_strdup_printf("%016" PRIx64, pieces[p]);
        g_string_prepend(text, piece);
    }
    if (contents->count++ < contents->shown) {
        g_autofree char *key = g_strdup_printf("%u", index);
        json_object_set_new(contents->values, key, json_string(text->str + text->len - digits));
    }
    g_string_free(text, TRUE);
}

static json_t *contents_tree(const struct contents *contents, const char *count, const char *values) {
    json_t *tree = json_pack("{s:i,s:o}", count, (int)contents->count, "hash", replay_hash_text(contents->hash));
    if (contents->count && contents->count <= contents->shown)
        json_object_set(tree, values, contents->values);
    json_decref(contents->values);
    return tree;
}

static json_t *tile_tree(const struct cluster *cluster) {
    struct contents contents = {.shown = SUBTILES_SHOWN, .values = json_object()};
    for (unsigned t = 0; t < cluster->params->tiles; t++) {
        uint64_t pieces[TILE_PIECES] = {0};
        for (unsigned lane = 0; lane < TILE_LANES; lane++)
            put_bits(pieces, LANE_BITS * lane, LANE_BITS, cluster->tile[t][lane]);
        add_contents(&contents, t, pieces, TILE_PIECES, TILE_DIGITS);
    }
    return contents_tree(&contents, "nonzero_subtiles", "subtiles");
}

static json_t *store_tree(const struct cluster *cluster, unsigned side) {
    struct contents contents = {.shown = ENTRIES_SHOWN, .values = json_object()};
    unsigned size = side ? cluster->params->l1_b : cluster->params->l1_a;
    for (unsigned e = 0; e < size; e++) {
        const struct mxfp7_entry *entry = &cluster->store[side][e];
        uint64_t pieces[ENTRY_PIECES] = {0};
        for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
            for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                put_bits(pieces, ELEMENT_BITS * (side ? MXFP7_LANES * k + lane : MXFP7_BLOCK * lane + k), ELEMENT_BITS,
                         (uint64_t)entry->q[lane][k] & bit_mask(ELEMENT_BITS));
            put_bits(pieces, ENTRY_SCALES + 8 * lane, 8, entry->scale[lane]);
        }
        add_contents(&contents, e, pieces, ENTRY_PIECES, ENTRY_DIGITS);
    }
    json_t *tree = contents.count ? contents_tree(&contents, "nonzero_entries", "entries") : NULL;
    if (!tree)
        json_decref(contents.values);
    return tree;
}

static json_t *node_tree(const struct watched *node) {
    json_t *tree =
        json_pack("{s:O,s:O,s:o,s:o,s:I,s:o,s:o,s:o}", "taken", node->taken, "retired", node->retired, "flits_in",
                  flits_tree(node->endpoint->counts.in), "timed_hash_in", replay_hash_text(node->in_hash),
                  "last_flit_in", (json_int_t)node->last_in, "flits_out", flits_tree(node->endpoint->counts.out),
                  "timed_hash_out", replay_hash_text(node->out_hash), "tile", tile_tree(node->cluster));
    if (node->any_out)
        json_object_set_new(tree, "last_flit_out", json_integer(node->last_out));
    set_list(tree, "burst_descriptors_out", node->descriptors);
    set_list(tree, "data_received_out", node->received);
    set_list(tree, "peer_stream_open", node->open);
    set_list(tree, "sweep_start", node->sweeps);
    set_list(tree, "drain_start", node->drains);
    set_stream(tree, "unit_data_popped", &node->popped);
    set_stream(tree, "peer_commands", &node->commands);
    set_stream(tree, "operand_writes", &node->writes);
    for (unsigned side = 0; side < 2; side++) {
        json_t *store = store_tree(node->cluster, side);
        if (store)
            json_object_set_new(tree, side ? "L1B" : "L1A", store);
    }
    return tree;
}

static json_t *result_tree(const struct recorder *recorder) {
    json_t *nodes = json_object();
    for (unsigned u = 0; u < BENCH_UNITS; u++) {
        const struct watched *node = &recorder->nodes[u];
        g_autofree char *where = bench_place(node->endpoint->x, node->endpoint->y);
        bool touched = node->any_out;
        for (unsigned type = 0; type < FLIT_TYPES; type++)
            touched |= node->endpoint->counts.in[type] != 0;
        if (touched)
            json_object_set_new(nodes, where, node_tree(node));
    }
    json_t *tree = json_pack("{s:O,s:o}", "signals_at_agent", recorder->signals, "nodes", nodes);
    if (json_object_get(recorder->bench.entry, "final_memory"))
        json_object_set_new(tree, "final_memory", bench_memory_tree(&recorder->bench));
    if (!system_quiet(recorder->bench.system))
        json_object_set_new(tree, "hang", json_true());
    return tree;
}

static json_t *recorded_tree(const json_t *entry) {
    static const char *const compared[] = {"signals_at_agent", "nodes", "final_memory", "hang"};
    json_t *tree = json_object();
    for (unsigned i = 0; i < G_N_ELEMENTS(compared); i++)
        if (json_object_get(entry, compared[i]))
            json_object_set(tree, compared[i], json_object_get(entry, compared[i]));
    return tree;
}

static void recorder_clear(struct recorder *recorder) {
    for (unsigned u = 0; u < BENCH_UNITS; u++) {
        struct watched *node = &recorder->nodes[u];
        json_t *owned[] = {node->taken,       node->retired,        node->descriptors,   node->received,
                           node->open,        node->sweeps,         node->drains,        node->popped.first,
                           node->popped.last, node->commands.first, node->commands.last, node->writes.first,
                           node->writes.last};
        for (unsigned l = 0; l < G_N_ELEMENTS(owned); l++)
            json_decref(owned[l]);
    }
    json_decref(recorder->signals);
    bench_close(&recorder->bench);
}

bool replay_peer(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description;
    struct recorder recorder = {0};
    const json_t *until = json_object_get(entry, "recorded_until");
    bool ok = bench_open(&recorder.bench, entry, error);
    if (ok) {
        recorder.bench.writes = json_object_get(entry, "host_writes");
        watch(&recorder);
        ok = bench_run(&recorder.bench, until ? json_integer_value(until) : -1, error);
    }
    if (ok) {
        json_t *reference = recorded_tree(entry), *ours = result_tree(&recorder);
        replay_compare_tree(out, "", reference, ours);
        json_decref(reference);
        json_decref(ours);
    }
    recorder_clear(&recorder);
    return ok;
}
