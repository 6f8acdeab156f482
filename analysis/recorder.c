/* The recorder; see recorder.h.
 *
 * Links are registers: the output registers of routers, units, ports and dispatch agent. A flit that stands in a
 * register at the start of a cycle is on the link in that cycle, handed over or refused; so a slice on a link's track
 * is as long as the flit needed, and all slices of a router's output add up to its counters flits + busy. Causes come
 * from the accounts, so the slices of a unit add up to its cycles in the result. */
#include "analysis/recorder.h"

#include <errno.h>
#include <string.h>

#include "analysis/recorder_json.h"
#include "model/isa/cluster.h"
#include "model/isa/vector.h"
#include "model/isa/wire.h"

enum group {
    GROUP_HOST = 1,
    GROUP_LINKS = 2,
    GROUP_PORTS = 100,
    GROUP_UNITS = 1000,
};

enum unit_track {
    TRACK_CAUSE = 1,
    TRACK_INSTRUCTION,
    TRACK_SENT,
    TRACK_RECEIVED,
    TRACK_EVENT,
    TRACK_BURST,
};

enum {
    QUEUES_MAX = 4,
    FILE_BUFFER = 1 << 20,
};

/* What is on a link, seen from its sending register. */
struct link_state {
    const struct router *router; /* a router's output, else… */
    const flit_index *output;    /* … a register of its own */
    unsigned port;
    char *name;
    bool named;
    flit_index held;
    struct flit flit; /* a copy: the flit may be gone when the slice is written */
    cycle_t since;
};

/* A component whose cycles have causes and whose queues have depths. */
struct component {
    unsigned group;
    const struct account *account;
    const char *const *causes;
    struct account seen;
    bool open;          /* a slice of seen.cause is open */
    cycle_t cause_from; /* where the next slice begins */
    const struct fifo *queues[QUEUES_MAX];
    const char *queue_names[QUEUES_MAX];
    uint32_t depths[QUEUES_MAX];
};

/* A message that waits for its answer. */
struct pending {
    unsigned unit;
    uint8_t type, txn; /* of the answer */
    struct recorder_place from, via;
    cycle_t sent, reached; /* reached: at `via`, CYCLE_NEVER: not yet */
};

struct recorder {
    struct recorder_options options;
    struct run_observer observer;
    struct system *system;
    struct recorder_json json;
    FILE *flits;
    char *json_file, *flit_file, *buffers[2];
    struct link_state *links;
    unsigned link_count;
    struct component *components; /* units, then ports */
    bool *in_instruction;         /* a unit each */
    bool *in_burst;               /* a port each */
    struct endpoint_trace endpoint_hooks;
    struct port_trace port_hooks;
    struct dispatch_trace dispatch_hooks;
    GArray *pending; /* of struct pending, oldest first */
    uint64_t flows, lines;
    cycle_t last;           /* cycle of the last look */
    cycle_t cut, flits_cut; /* where the limit ended them; CYCLE_NEVER */
    bool attached, ended;
    bool recording; /* trace.json is still being written */
};

/* ---- limits ---- */

static cycle_t clamp(const struct recorder *recorder, cycle_t at) {
    return CLAMP(at, recorder->options.from, recorder->options.to);
}

static bool within(const struct recorder *recorder, cycle_t at) {
    return recorder->recording && at >= recorder->options.from && at < recorder->options.to;
}

/* ---- links ---- */

static flit_index held_by(const struct link_state *link) {
    if (!link->router)
        return *link->output;
    return link->router->valid >> link->port & 1 ? link->router->out[link->port].word.flit : FLIT_NONE;
}

/* The flit was taken in cycle end - 1. */
static void log_flit(struct recorder *recorder, const struct link_state *link, cycle_t end) {
    const struct flit *flit = &link->flit;
    if (!recorder->flits || recorder->flits_cut != CYCLE_NEVER)
        return;
    fprintf(recorder->flits,
            "%" G_GUINT64_FORMAT " %s %s (%u,%u)->(%u,%u) txn %u last %u waited %" G_GUINT64_FORMAT "\n", end - 1,
            link->name, flit_type_name(flit->type), flit->src_x, flit->src_y, flit->dst_x, flit->dst_y, flit->txn,
            flit->last, end - 1 - link->since);
    if (++recorder->lines >= recorder->options.limit)
        recorder->flits_cut = end;
}

static void write_link(struct recorder *recorder, struct link_state *link, cycle_t end) {
    const struct flit *flit = &link->flit;
    struct recorder_place place = {GROUP_LINKS, (unsigned)(link - recorder->links) + 1};
    if (!recorder->recording)
        return;
    g_autofree char *args = g_strdup_printf(
        "\"from\":\"(%u,%u)\",\"to\":\"(%u,%u)\",\"txn\":%u,\"last\":%u,\"waited\":%" G_GUINT64_FORMAT, flit->src_x,
        flit->src_y, flit->dst_x, flit->dst_y, flit->txn, flit->last, end - 1 - link->since);
    if (!link->named)
        recorder_json_name_track(&recorder->json, place, link->name);
    link->named = true;
    recorder_json_slice(&recorder->json, place, flit_type_name(flit->type), link->since, end - link->since, args);
}

/* `now` is the cycle whose start is looked at; a flit seen in the last look was on the link in that cycle. */
static void look_at_links(struct recorder *recorder, cycle_t now) {
    for (unsigned i = 0; i < recorder->link_count; i++) {
        struct link_state *link = &recorder->links[i];
        flit_index held = held_by(link);
        if (held == link->held && (held == FLIT_NONE || now == recorder->last + 1))
            continue;
        if (link->held != FLIT_NONE) {
            log_flit(recorder, link, recorder->last + 1);
            write_link(recorder, link, recorder->last + 1);
        }
        link->held = held;
        link->since = now;
        if (held != FLIT_NONE)
            link->flit = *flit_at(&recorder->system->pool, held);
    }
}

static void add_link(struct recorder *recorder, const struct router *router, unsigned port, const flit_index *output,
                     char *name) {
    recorder->links[recorder->link_count++] =
        (struct link_state){.router = router, .port = port, .output = output, .name = name, .held = FLIT_NONE};
}

static void find_links(struct recorder *recorder) {
    static const int step_x[] = {0, 1, 0, -1, 0}, step_y[] = {-1, 0, 1, 0, 0};
    struct system *system = recorder->system;
    const struct mesh *mesh = &system->mesh;
    recorder->links =
        g_new0(struct link_state, (size_t)mesh->count * ROUTER_PORTS + system->endpoint_count + AGENT_PORTS_MAX + 1);
    for (uint32_t i = 0; i < mesh->count && !mesh->flex; i++) {
        const struct router *router = mesh->at[i];
        for (unsigned port = 0; port < ROUTER_PORTS; port++)
            add_link(recorder, router, port, NULL,
                     port == PORT_LOCAL ? g_strdup_printf("(%u,%u)>local", router->x, router->y)
                                        : g_strdup_printf("(%u,%u)>(%u,%u)", router->x, router->y,
                                                          router->x + step_x[port], router->y + step_y[port]));
    }
    for (unsigned i = 0; i < system->endpoint_count; i++)
        add_link(recorder, NULL, 0, &system->endpoints[i].output,
                 g_strdup_printf("%s>mesh", system->endpoints[i].name));
    for (unsigned p = 0; p < system->agent.port_count; p++)
        add_link(recorder, NULL, 0, &system->agent.ports[p].output,
                 g_strdup_printf("%s>mesh", system->agent.ports[p].name));
    add_link(recorder, NULL, 0, &system->agent.dispatch.output, g_strdup("dispatch>mesh"));
}

/* ---- causes and queues ---- */

static void write_cause(struct recorder *recorder, struct component *component, unsigned cause, cycle_t end) {
    struct recorder_place place = {component->group, TRACK_CAUSE};
    cycle_t from = clamp(recorder, component->cause_from), to = clamp(recorder, end);
    component->cause_from = end;
    if (from == to)
        return;
    recorder_json_open(&recorder->json, place, component->causes[cause], from, NULL);
    recorder_json_close(&recorder->json, place, to);
}

/* Every change since the last look becomes slices: first the cause that was in force, then those that came and went. */
static void look_at_causes(struct recorder *recorder, struct component *component) {
    const struct account *account = component->account;
    struct account *seen = &component->seen;
    if (account->since == seen->since && account->cause == seen->cause)
        return;
    unsigned first = seen->cause;
    cycle_t end = component->cause_from;
    for (unsigned k = 0; k < ACCOUNT_CAUSES; k++) {
        unsigned cause = k == 0 ? first : k <= first ? k - 1 : k;
        uint64_t cycles = account->cycles[cause] - seen->cycles[cause];
        end += cycles;
        if (cycles)
            write_cause(recorder, component, cause, end);
    }
    *seen = *account;
}

static void look_at_queues(struct recorder *recorder, struct component *component, cycle_t now) {
    bool changed = false;
    GString *args = NULL;
    for (unsigned q = 0; q < QUEUES_MAX && component->queues[q]; q++) {
        changed |= component->queues[q]->count != component->depths[q];
        component->depths[q] = component->queues[q]->count;
    }
    if (!changed || !within(recorder, now))
        return;
    args = g_string_new(NULL);
    for (unsigned q = 0; q < QUEUES_MAX && component->queues[q]; q++)
        g_string_append_printf(args, "%s\"%s\":%u", q ? "," : "", component->queue_names[q], component->depths[q]);
    recorder_json_counter(&recorder->json, component->group, "queues", now, args->str);
    g_string_free(args, TRUE);
}

static unsigned component_count(const struct recorder *recorder) {
    return recorder->system->endpoint_count + recorder->system->agent.port_count;
}

static void find_components(struct recorder *recorder) {
    struct system *system = recorder->system;
    struct component *component = recorder->components = g_new0(struct component, component_count(recorder));
    for (unsigned i = 0; i < system->endpoint_count; i++, component++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        struct unit_report report;
        endpoint->type->report(endpoint->unit, &report);
        *component = (struct component){.group = GROUP_UNITS + i,
                                        .account = report.account,
                                        .causes = report.causes,
                                        .queues = {&endpoint->inst, &endpoint->recv, &endpoint->completions},
                                        .queue_names = {"instructions", "received", "completions"}};
    }
    for (unsigned p = 0; p < system->agent.port_count; p++, component++) {
        const struct mem_port *port = &system->agent.ports[p];
        *component = (struct component){.group = GROUP_PORTS + p,
                                        .account = &port->account,
                                        .causes = port_cause_names,
                                        .queues = {&port->reads, &port->writes, &port->ready},
                                        .queue_names = {"reads", "writes", "bursts_ready"}};
    }
    for (unsigned i = 0; i < component_count(recorder); i++) {
        component = &recorder->components[i];
        component->seen = *component->account;
        component->cause_from = component->seen.since;
    }
}

/* ---- messages and their answers ---- */

static void expect(struct recorder *recorder, unsigned unit, unsigned type, unsigned txn, struct recorder_place from,
                   cycle_t now) {
    struct pending pending = {
        .unit = unit, .type = type, .txn = txn, .from = from, .sent = now, .reached = CYCLE_NEVER};
    g_array_append_val(recorder->pending, pending);
}

static struct pending *find_pending(struct recorder *recorder, unsigned unit, unsigned type, int txn, bool reached) {
    for (guint i = 0; i < recorder->pending->len; i++) {
        struct pending *pending = &g_array_index(recorder->pending, struct pending, i);
        if (pending->unit == unit && pending->type == type && (txn < 0 || pending->txn == txn) &&
            (reached || pending->reached == CYCLE_NEVER))
            return pending;
    }
    return NULL;
}

/* Both ends of an arrow are written together, so that none is without the other. */
static void answer(struct recorder *recorder, struct pending *pending, struct recorder_place at, const char *name,
                   cycle_t now) {
    uint64_t id = ++recorder->flows;
    recorder_json_flow(&recorder->json, 's', pending->from, name, id, pending->sent);
    if (pending->reached != CYCLE_NEVER)
        recorder_json_flow(&recorder->json, 't', pending->via, name, id, pending->reached);
    recorder_json_flow(&recorder->json, 'f', at, name, id, now);
    g_array_remove_index(recorder->pending, (guint)(pending - &g_array_index(recorder->pending, struct pending, 0)));
}

static void write_message(struct recorder *recorder, struct recorder_place place, const struct flit *flit,
                          cycle_t now) {
    g_autofree char *args = g_strdup_printf("\"from\":\"(%u,%u)\",\"to\":\"(%u,%u)\",\"txn\":%u,\"last\":%u",
                                            flit->src_x, flit->src_y, flit->dst_x, flit->dst_y, flit->txn, flit->last);
    recorder_json_slice(&recorder->json, place, flit_type_name(flit->type), now, 1, args);
}

static unsigned unit_of(const struct recorder *recorder, const struct endpoint *endpoint) {
    return (unsigned)(endpoint - recorder->system->endpoints);
}

static void flit_out(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    struct recorder *recorder = self;
    unsigned unit = unit_of(recorder, endpoint);
    struct recorder_place place = {GROUP_UNITS + unit, TRACK_SENT};
    if (!within(recorder, now))
        return;
    write_message(recorder, place, flit, now);
    if (flit->type == FLIT_MEM_RD_REQ)
        expect(recorder, unit, FLIT_MEM_RD_RESP, flit->txn, place, now);
    else if (flit->type == FLIT_MEM_WR_REQ)
        expect(recorder, unit, FLIT_MEM_WR_ACK, flit->txn, place, now);
}

static void flit_in(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    struct recorder *recorder = self;
    unsigned unit = unit_of(recorder, endpoint);
    struct recorder_place place = {GROUP_UNITS + unit, TRACK_RECEIVED};
    if (!within(recorder, now))
        return;
    write_message(recorder, place, flit, now);
    if (flit->type != FLIT_MEM_RD_RESP && flit->type != FLIT_MEM_WR_ACK)
        return;
    struct pending *pending = find_pending(recorder, unit, flit->type, flit->txn, true);
    if (pending)
        answer(recorder, pending, place, flit->type == FLIT_MEM_RD_RESP ? "read" : "write", now);
}

/* ---- instructions ---- */

static const char *instruction_text(const struct endpoint *endpoint, const struct flit *flit, GString *text) {
    if (endpoint->type == &unit_type_cluster) {
        struct cluster_inst inst;
        cluster_inst_decode(&flit->payload, &inst);
        cluster_inst_print(&inst, text);
        return cluster_op_name(inst.op);
    }
    if (endpoint->type == &unit_type_vector) {
        struct vector_envelope envelope;
        vector_envelope_decode(&flit->payload, &envelope);
        vector_envelope_print(&envelope, text);
        return "vector";
    }
    char hex[WORD_HEX + 1];
    word_to_hex(&flit->payload, hex);
    g_string_append(text, hex);
    return endpoint->type->name;
}

static void taken(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now) {
    struct recorder *recorder = self;
    unsigned unit = unit_of(recorder, endpoint);
    struct recorder_place place = {GROUP_UNITS + unit, TRACK_INSTRUCTION};
    if (!within(recorder, now))
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    const char *name = instruction_text(endpoint, inst, text);
    g_autofree char *args = g_strdup_printf("\"text\":\"%s\",\"txn\":%u,\"last\":%u", text->str, inst->txn, inst->last);
    recorder_json_open(&recorder->json, place, name, now, args);
    recorder->in_instruction[unit] = true;
    struct pending *pending = find_pending(recorder, unit, FLIT_CU_SIGNAL, -1, false);
    if (pending) {
        pending->via = place;
        pending->reached = now;
    }
}

static void retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)fault;
    (void)result;
    struct recorder *recorder = self;
    unsigned unit = unit_of(recorder, endpoint);
    if (!recorder->recording || !recorder->in_instruction[unit])
        return;
    recorder->in_instruction[unit] = false;
    recorder_json_close(&recorder->json, (struct recorder_place){GROUP_UNITS + unit, TRACK_INSTRUCTION},
                        clamp(recorder, now + 1));
}

/* ---- ports and host ---- */

static void port_event(void *self, const struct mem_port *port, const char *what, cycle_t now) {
    struct recorder *recorder = self;
    struct recorder_place burst = {GROUP_PORTS + port->index, TRACK_BURST};
    bool *open = &recorder->in_burst[port->index];
    if (g_str_equal(what, "write response") && *open && recorder->recording) {
        recorder_json_close(&recorder->json, burst, clamp(recorder, now + 1));
        *open = false;
    } else if (!within(recorder, now)) {
        return;
    } else if (g_str_equal(what, "burst issued")) {
        if (*open)
            recorder_json_close(&recorder->json, burst, now);
        recorder_json_open(&recorder->json, burst, "write burst", now, NULL);
        *open = true;
    } else {
        recorder_json_instant(&recorder->json, (struct recorder_place){GROUP_PORTS + port->index, TRACK_EVENT}, what,
                              now);
    }
}

static int unit_at(const struct recorder *recorder, unsigned x, unsigned y) {
    for (unsigned i = 0; i < recorder->system->endpoint_count; i++)
        if (recorder->system->endpoints[i].x == x && recorder->system->endpoints[i].y == y)
            return (int)i;
    return -1;
}

static bool ends_instruction(const struct flit *flit) {
    unsigned code = word_get(&flit->payload, 248, 8);
    return code == SIGNAL_INST_COMPLETE || code == SIGNAL_BATCH_COMPLETE || code == SIGNAL_FAULT;
}

static void dispatch_event(void *self, const char *what, const struct flit *flit, cycle_t now) {
    struct recorder *recorder = self;
    struct recorder_place sent = {GROUP_HOST, TRACK_SENT}, received = {GROUP_HOST, TRACK_RECEIVED};
    if (!within(recorder, now))
        return;
    if (g_str_equal(what, "flit on link")) {
        int unit = unit_at(recorder, flit->dst_x, flit->dst_y);
        write_message(recorder, sent, flit, now);
        if (unit >= 0 && flit->type == FLIT_CU_INST)
            expect(recorder, (unsigned)unit, FLIT_CU_SIGNAL, flit->txn, sent, now);
    } else if (g_str_equal(what, "signal")) {
        int unit = unit_at(recorder, flit->src_x, flit->src_y);
        struct pending *pending = unit >= 0 && ends_instruction(flit)
                                      ? find_pending(recorder, (unsigned)unit, FLIT_CU_SIGNAL, -1, true)
                                      : NULL;
        write_message(recorder, received, flit, now);
        if (pending)
            answer(recorder, pending, received, "instruction", now);
    } else {
        recorder_json_instant(&recorder->json, (struct recorder_place){GROUP_HOST, TRACK_EVENT}, what, now);
    }
}

/* ---- life ---- */

static void name_tracks(struct recorder *recorder) {
    static const char *const titles[] = {
        [TRACK_CAUSE] = "cycles", [TRACK_INSTRUCTION] = "instruction",
        [TRACK_SENT] = "sent",    [TRACK_RECEIVED] = "received",
        [TRACK_EVENT] = "events", [TRACK_BURST] = "write burst",
    };
    static const uint8_t unit[] = {TRACK_CAUSE, TRACK_INSTRUCTION, TRACK_SENT, TRACK_RECEIVED, 0};
    static const uint8_t port[] = {TRACK_CAUSE, TRACK_EVENT, TRACK_BURST, 0};
    static const uint8_t host[] = {TRACK_SENT, TRACK_RECEIVED, TRACK_EVENT, 0};
    const struct system *system = recorder->system;
    recorder_json_name_group(&recorder->json, GROUP_HOST, "dispatch agent");
    recorder_json_name_group(&recorder->json, GROUP_LINKS, "links");
    for (const uint8_t *t = host; *t; t++)
        recorder_json_name_track(&recorder->json, (struct recorder_place){GROUP_HOST, *t}, titles[*t]);
    for (unsigned i = 0; i < component_count(recorder); i++) {
        bool is_port = i >= system->endpoint_count;
        unsigned group = recorder->components[i].group;
        recorder_json_name_group(&recorder->json, group,
                                 is_port ? system->agent.ports[i - system->endpoint_count].name
                                         : system->endpoints[i].name);
        for (const uint8_t *t = is_port ? port : unit; *t; t++)
            recorder_json_name_track(&recorder->json, (struct recorder_place){group, *t}, titles[*t]);
    }
}

/* Hooks that somebody else has set stay his. */
static void set_hooks(struct recorder *recorder, bool on) {
    struct system *system = recorder->system;
    struct endpoint_trace *endpoint = &recorder->endpoint_hooks;
    struct port_trace *port = &recorder->port_hooks;
    struct dispatch_trace *dispatch = &recorder->dispatch_hooks;
    for (unsigned i = 0; i < system->endpoint_count; i++)
        if (system->endpoints[i].trace == (on ? NULL : endpoint))
            system->endpoints[i].trace = on ? endpoint : NULL;
    for (unsigned p = 0; p < system->agent.port_count; p++)
        if (system->agent.ports[p].trace == (on ? NULL : port))
            system->agent.ports[p].trace = on ? port : NULL;
    if (system->agent.dispatch.trace == (on ? NULL : dispatch))
        system->agent.dispatch.trace = on ? dispatch : NULL;
}

static void attach(struct recorder *recorder, struct system *system, cycle_t now) {
    recorder->system = system;
    recorder->attached = true;
    recorder->last = now;
    find_links(recorder);
    find_components(recorder);
    recorder->in_instruction = g_new0(bool, system->endpoint_count + 1);
    recorder->in_burst = g_new0(bool, AGENT_PORTS_MAX);
    if (!recorder->options.json_file)
        return;
    recorder->recording = true;
    name_tracks(recorder);
    set_hooks(recorder, true);
}

/* Ends every slice at `end` and lets go of the machine. */
static void end_slices(struct recorder *recorder, cycle_t end) {
    if (!recorder->recording)
        return;
    for (unsigned i = 0; i < recorder->link_count; i++)
        if (recorder->links[i].held != FLIT_NONE && recorder->links[i].since < end)
            write_link(recorder, &recorder->links[i], MIN(end, recorder->last + 1));
    for (unsigned i = 0; i < component_count(recorder); i++)
        write_cause(recorder, &recorder->components[i], recorder->components[i].seen.cause, end);
    for (unsigned i = 0; i < recorder->system->endpoint_count; i++)
        if (recorder->in_instruction[i])
            recorder_json_close(&recorder->json, (struct recorder_place){GROUP_UNITS + i, TRACK_INSTRUCTION},
                                clamp(recorder, end));
    for (unsigned p = 0; p < recorder->system->agent.port_count; p++)
        if (recorder->in_burst[p])
            recorder_json_close(&recorder->json, (struct recorder_place){GROUP_PORTS + p, TRACK_BURST},
                                clamp(recorder, end));
    recorder->recording = false;
    set_hooks(recorder, false);
}

/* A flit that stands on its link still has not been taken: the log is silent about it. */
static void end_log(struct recorder *recorder) {
    for (unsigned i = 0; i < recorder->link_count; i++)
        if (recorder->links[i].held != FLIT_NONE && held_by(&recorder->links[i]) != recorder->links[i].held)
            log_flit(recorder, &recorder->links[i], recorder->last + 1);
}

static void end_all(struct recorder *recorder, cycle_t end) {
    end_slices(recorder, end);
    end_log(recorder);
    recorder->ended = true;
}

static void look_at_components(struct recorder *recorder, cycle_t now) {
    for (unsigned i = 0; recorder->recording && i < component_count(recorder); i++) {
        look_at_causes(recorder, &recorder->components[i]);
        look_at_queues(recorder, &recorder->components[i], now);
    }
}

static cycle_t look(void *self, struct system *system, cycle_t now) {
    struct recorder *recorder = self;
    if (!recorder->attached)
        attach(recorder, system, now);
    look_at_components(recorder, now);
    if (now >= recorder->options.to) {
        end_all(recorder, recorder->options.to);
        return CYCLE_NEVER;
    }
    look_at_links(recorder, now);
    if (recorder->recording && recorder->json.events >= recorder->options.limit) {
        end_slices(recorder, now);
        recorder->cut = now;
    }
    recorder->last = now;
    recorder->ended = !recorder->recording && (!recorder->flits || recorder->flits_cut != CYCLE_NEVER);
    return recorder->ended ? CYCLE_NEVER : now + 1;
}

static void finish(void *self, struct system *system, cycle_t end) {
    struct recorder *recorder = self;
    (void)system;
    if (!recorder->attached || recorder->ended)
        return;
    look_at_components(recorder, end);
    end_all(recorder, MIN(end, recorder->options.to));
}

static FILE *open_file(const char *name, char *buffer, GError **error) {
    FILE *file = fopen(name, "w");
    if (file)
        setvbuf(file, buffer, _IOFBF, FILE_BUFFER);
    else
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be written: %s", name, g_strerror(errno));
    return file;
}

struct recorder *recorder_new(const struct recorder_options *options, GError **error) {
    struct recorder *recorder = g_new0(struct recorder, 1);
    recorder->options = *options;
    recorder->cut = recorder->flits_cut = CYCLE_NEVER;
    recorder->pending = g_array_new(FALSE, FALSE, sizeof(struct pending));
    recorder->options.json_file = recorder->json_file = g_strdup(options->json_file);
    recorder->options.flit_file = recorder->flit_file = g_strdup(options->flit_file);
    recorder->observer = (struct run_observer){.self = recorder, .next = options->from, .look = look, .finish = finish};
    recorder->endpoint_hooks = (struct endpoint_trace){recorder, flit_in, flit_out, taken, retired};
    recorder->port_hooks = (struct port_trace){.self = recorder, .event = port_event};
    recorder->dispatch_hooks = (struct dispatch_trace){recorder, dispatch_event};
    for (unsigned i = 0; i < G_N_ELEMENTS(recorder->buffers); i++)
        recorder->buffers[i] = g_malloc(FILE_BUFFER);
    FILE *json = recorder->json_file ? open_file(recorder->json_file, recorder->buffers[0], error) : NULL;
    recorder->flits = recorder->flit_file && (json || !recorder->json_file)
                          ? open_file(recorder->flit_file, recorder->buffers[1], error)
                          : NULL;
    if (json)
        recorder_json_begin(&recorder->json, json);
    if ((recorder->json_file && !json) || (recorder->flit_file && !recorder->flits)) {
        recorder_close(recorder, NULL);
        return NULL;
    }
    return recorder;
}

struct run_observer *recorder_observer(struct recorder *recorder) {
    return &recorder->observer;
}

char *recorder_cut(const struct recorder *recorder) {
    GString *text = g_string_new(NULL);
    if (recorder->cut != CYCLE_NEVER)
        g_string_append_printf(text, "the trace ends before cycle %" G_GUINT64_FORMAT, recorder->cut);
    if (recorder->flits_cut != CYCLE_NEVER)
        g_string_append_printf(text, "%sthe log of flits ends before cycle %" G_GUINT64_FORMAT, text->len ? ", " : "",
                               recorder->flits_cut);
    if (text->len)
        g_string_append_printf(text, ": the limit of %" G_GUINT64_FORMAT " was reached (--trace-limit)",
                               recorder->options.limit);
    return g_string_free(text, text->len == 0);
}

static bool close_file(FILE *file, const char *name, GError **error) {
    if (!file)
        return true;
    bool fine = !ferror(file);
    fine = fclose(file) == 0 && fine;
    if (!fine && error && !*error)
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be written whole", name);
    return fine;
}

bool recorder_close(struct recorder *recorder, GError **error) {
    if (recorder->json.file) {
        bool whole = recorder->cut == CYCLE_NEVER;
        g_autofree char *facts = g_strdup_printf("{\"unit\":\"1 us is one cycle\",\"from\":%" G_GUINT64_FORMAT
                                                 ",\"events\":%" G_GUINT64_FORMAT ",\"limit\":%" G_GUINT64_FORMAT
                                                 ",\"complete\":%s,\"cut_at\":%" G_GINT64_FORMAT "}",
                                                 recorder->options.from, recorder->json.events, recorder->options.limit,
                                                 whole ? "true" : "false", whole ? (gint64)-1 : (gint64)recorder->cut);
        recorder_json_end(&recorder->json, facts);
    }
    bool fine = close_file(recorder->json.file, recorder->json_file, error);
    fine = close_file(recorder->flits, recorder->flit_file, error) && fine;
    for (unsigned i = 0; i < recorder->link_count; i++)
        g_free(recorder->links[i].name);
    for (unsigned i = 0; i < G_N_ELEMENTS(recorder->buffers); i++)
        g_free(recorder->buffers[i]);
    g_free(recorder->links);
    g_free(recorder->components);
    g_free(recorder->in_instruction);
    g_free(recorder->in_burst);
    g_free(recorder->json_file);
    g_free(recorder->flit_file);
    g_array_unref(recorder->pending);
    g_free(recorder);
    return fine;
}
