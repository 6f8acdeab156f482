/* See replay_control.h. Cycle 0 of a recording is the data beat of the GO write. */
#include "analysis/replay_control.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/replay_bench.h"
#include "analysis/replay_tree.h"
#include "model/isa/wire.h"

enum {
    EVENTS_HEAD = 110, /* a long list keeps these and */
    EVENTS_TAIL = 20,  /* these */
};

struct recorder {
    struct replay_bench bench;
    json_t *engine;
    json_t *status; /* change of the status register, written behind the actions of its cycle */
    json_t *kicks, *pushed, *out, *signals, *mailbox, *dropped, *units;
    struct dispatch_trace dispatch;
    struct control_trace control;
    struct endpoint_trace endpoint;
};

/* ---- gathering ---- */

static void flush_status(struct recorder *recorder) {
    if (recorder->status)
        json_array_append_new(recorder->engine, recorder->status);
    recorder->status = NULL;
}

static void note_status(struct recorder *recorder, uint64_t code, uint64_t polls, gint64 cycle) {
    const struct control *control = &recorder->bench.system->agent.control;
    g_autofree char *flags = g_strdup_printf("busy %d done %d error %d", control->busy, control->done, control->error);
    g_autofree char *code_text = g_strdup_printf("code %" PRIx64, code);
    g_autofree char *polls_text = g_strdup_printf("polls %" PRIu64, polls);
    flush_status(recorder);
    recorder->status = json_pack("[I,s,s,s]", (json_int_t)cycle, flags, code_text, polls_text);
}

static void engine_event(void *self, const char *what, uint64_t a, uint64_t b, cycle_t now) {
    struct recorder *recorder = self;
    gint64 cycle = bench_cycle(now);
    if (strcmp(what, "status") == 0) {
        note_status(recorder, a, b, cycle);
        return;
    }
    if (recorder->status && json_integer_value(json_array_get(recorder->status, 0)) < cycle)
        flush_status(recorder);
    json_t *event = json_pack("[I,s]", (json_int_t)cycle, what);
    if (strcmp(what, "fetch") == 0) {
        json_array_append_new(event, json_integer((json_int_t)a));
        json_array_append_new(event, json_integer((json_int_t)b));
    } else if (strcmp(what, "write response") != 0) {
        json_array_append_new(event, replay_hex(a));
    }
    json_array_append_new(recorder->engine, event);
}

static json_t *place(unsigned x, unsigned y) {
    g_autofree char *text = bench_place(x, y);
    return json_string(text);
}

static json_t *signal_tree(const struct recorder *recorder, const struct flit *flit, gint64 cycle) {
    struct signal_payload signal;
    signal_payload_decode(&flit->payload, &signal);
    g_autofree char *code = g_strdup_printf("%02x", signal.code);
    return json_pack("[I,o,i,s,o,i]", (json_int_t)cycle, place(flit->src_x, flit->src_y), flit->txn, code,
                     replay_hex(signal.arg), (int)recorder->bench.system->agent.dispatch.credit);
}

static void agent_event(void *self, const char *what, const struct flit *flit, cycle_t now) {
    struct recorder *recorder = self;
    gint64 cycle = bench_cycle(now);
    if (strcmp(what, "kick") == 0) {
        json_array_append_new(recorder->kicks, json_integer(cycle));
    } else if (strcmp(what, "flit pushed") == 0) {
        json_array_append_new(recorder->pushed, json_integer(cycle));
    } else if (strcmp(what, "flit on link") == 0) {
        json_array_append_new(recorder->out,
                              json_pack("[I,o,i,i,i]", (json_int_t)cycle, place(flit->dst_x, flit->dst_y), flit->type,
                                        flit->txn, flit->last));
    } else if (strcmp(what, "signal") == 0) {
        json_array_append_new(recorder->signals, signal_tree(recorder, flit, cycle));
    } else if (strcmp(what, "mailbox") == 0) {
        char digits[FLIT_HEX + 1];
        flit_to_hex(flit, digits, NULL);
        json_array_append_new(recorder->mailbox, json_pack("[I,s]", (json_int_t)cycle, digits));
    } else if (strcmp(what, "mailbox dropped") == 0) {
        json_array_append_new(recorder->dropped, json_integer(cycle));
    }
}

static json_t *unit_list(struct recorder *recorder, const struct endpoint *endpoint, const char *name) {
    g_autofree char *where = bench_place(endpoint->x, endpoint->y);
    json_t *unit = json_object_get(recorder->units, where);
    if (!unit) {
        unit = json_pack("{s:[],s:[]}", "taken", "retired");
        json_object_set_new(recorder->units, where, unit);
    }
    return json_object_get(unit, name);
}

static void unit_taken(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now) {
    json_array_append_new(
        unit_list(self, endpoint, "taken"),
        json_pack("[I,i]", (json_int_t)bench_cycle(now), (int)word_get(&inst->payload, WORD_BITS - 4, 4)));
}

static void unit_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)fault;
    (void)result;
    json_array_append_new(unit_list(self, endpoint, "retired"), json_integer(bench_cycle(now)));
}

/* ---- set-up ---- */

static void load_commands(struct recorder *recorder) {
    const json_t *commands = json_object_get(recorder->bench.entry, "commands");
    struct control *control = &recorder->bench.system->agent.control;
    for (size_t n = 0; n < json_array_size(commands) && n < control->room; n++) {
        const json_t *command = json_array_get(commands, n);
        control->commands[n] = (struct control_command){.op = json_integer_value(json_array_get(command, 0)) & 15,
                                                        .address = replay_unhex(json_array_get(command, 1)),
                                                        .data = replay_unhex(json_array_get(command, 2)),
                                                        .mask = replay_unhex(json_array_get(command, 3))};
    }
}

static void watch(struct recorder *recorder) {
    struct system *system = recorder->bench.system;
    recorder->dispatch = (struct dispatch_trace){.self = recorder, .event = agent_event};
    recorder->control = (struct control_trace){.self = recorder, .event = engine_event};
    recorder->endpoint = (struct endpoint_trace){.self = recorder, .taken = unit_taken, .retired = unit_retired};
    system->agent.dispatch.trace = &recorder->dispatch;
    system->agent.control.trace = &recorder->control;
    for (unsigned u = 0; u < system->endpoint_count; u++)
        system->endpoints[u].trace = &recorder->endpoint;
    json_t **lists[] = {&recorder->engine,  &recorder->kicks,   &recorder->pushed, &recorder->out,
                        &recorder->signals, &recorder->mailbox, &recorder->dropped};
    for (unsigned l = 0; l < G_N_ELEMENTS(lists); l++)
        *lists[l] = json_array();
    recorder->units = json_object();
}

static void plan_host(struct recorder *recorder) {
    const json_t *reads = json_object_get(recorder->bench.entry, "host_reads");
    for (size_t i = 0; i < json_array_size(reads); i++) {
        const json_t *read = json_array_get(reads, i);
        struct bench_read planned = {.cycle = json_integer_value(json_array_get(read, 0)),
                                     .address = replay_unhex(json_array_get(read, 1))};
        g_array_append_val(recorder->bench.reads, planned);
    }
}

/* The host's list: GO in cycle 0, then what it does while and after the engine runs. */
static json_t *host_writes(const json_t *entry) {
    json_t *writes = json_array(), *before = json_object_get(entry, "host_writes_before");
    if (before)
        json_array_extend(writes, before);
    json_array_append_new(writes, json_pack("[i,s,s]", 0, "10000", "1"));
    json_array_extend(writes, json_object_get(entry, "host_writes_after"));
    return writes;
}

/* ---- result ---- */

static json_t *reads_tree(const struct recorder *recorder) {
    json_t *tree = json_array();
    for (guint i = 0; i < recorder->bench.reads->len; i++) {
        const struct bench_read *read = &g_array_index(recorder->bench.reads, struct bench_read, i);
        json_array_append_new(tree, json_pack("[I,o,o]", (json_int_t)read->cycle, replay_hex(read->address),
                                              replay_hash_text(read->value)));
    }
    return tree;
}

static void cut_events(const json_t *events, json_t *tree) {
    size_t count = json_array_size(events);
    if (count <= EVENTS_HEAD + EVENTS_TAIL) {
        json_object_set(tree, "engine", (json_t *)events);
        return;
    }
    uint64_t hash = 0;
    json_t *kept = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *event = json_array_get(events, i);
        hash = replay_hash(hash, (uint64_t)json_integer_value(json_array_get(event, 0)));
        if (i == EVENTS_HEAD)
            json_array_append_new(kept, json_pack("[s]", "..."));
        if (i < EVENTS_HEAD || i >= count - EVENTS_TAIL)
            json_array_append(kept, event);
    }
    json_object_set_new(tree, "engine", kept);
    json_object_set_new(tree, "engine_events_total", json_integer((json_int_t)count));
    json_object_set_new(tree, "engine_cycle_hash", replay_hash_text(hash));
}

static json_t *result_tree(struct recorder *recorder) {
    const json_t *entry = recorder->bench.entry;
    flush_status(recorder);
    json_t *tree =
        json_pack("{s:{s:O,s:O,s:O,s:O,s:O,s:O},s:O}", "agent", "kick_requests", recorder->kicks, "flits_pushed",
                  recorder->pushed, "flits_out", recorder->out, "signals", recorder->signals, "mailbox_in",
                  recorder->mailbox, "mailbox_dropped", recorder->dropped, "units", recorder->units);
    cut_events(recorder->engine, tree);
    if (json_object_get(entry, "final_memory"))
        json_object_set_new(tree, "final_memory", bench_memory_tree(&recorder->bench));
    if (recorder->bench.system->agent.control.busy)
        json_object_set_new(tree, "hang", json_true());
    else
        json_object_set_new(tree, "host_reads", reads_tree(recorder));
    return tree;
}

/* What was recorded, without what describes the run. */
static json_t *recorded_tree(const json_t *entry) {
    static const char *const given[] = {"name",           "note",         "memory_seed",        "memory",
                                        "staged_flits",   "commands",     "host_writes_before", "host_writes_after",
                                        "recorded_until", "arbiter_phase"};
    json_t *tree = json_copy((json_t *)entry);
    for (unsigned i = 0; i < G_N_ELEMENTS(given); i++)
        json_object_del(tree, given[i]);
    return tree;
}

static void recorder_clear(struct recorder *recorder) {
    json_t *lists[] = {recorder->engine,  recorder->kicks,   recorder->pushed,  recorder->out,  recorder->status,
                       recorder->signals, recorder->mailbox, recorder->dropped, recorder->units};
    for (unsigned l = 0; l < G_N_ELEMENTS(lists); l++)
        json_decref(lists[l]);
    bench_close(&recorder->bench);
}

bool replay_control(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description;
    struct recorder recorder = {0};
    const json_t *until = json_object_get(entry, "recorded_until");
    bool ok = bench_open(&recorder.bench, entry, error);
    if (ok) {
        json_t *writes = host_writes(entry);
        recorder.bench.writes = writes;
        watch(&recorder);
        load_commands(&recorder);
        plan_host(&recorder);
        /* an action is recorded in the cycle after the one named last */
        ok = bench_run(&recorder.bench, until ? json_integer_value(until) + 1 : -1, error);
        json_decref(writes);
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
