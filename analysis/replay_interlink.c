/* See replay_interlink.h. Numbers are those of the "description" of interlink_runs.json. What is watched goes into a
 * tree of the recorded form, which is then compared as a whole. */
#include "analysis/replay_interlink.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/replay_tree.h"
#include "model/isa/wire.h"
#include "units/line.h"

enum {
    MESHES = 4,
    PORTS = 2,
    COLUMNS = 1,
    ROWS = 2,
    PLACES = 4,
    FILLED_WORDS = 4096,
    MEMORY_BYTES = FILLED_WORDS * WORD_BYTES,
    RESET_LEAD = 40,  /* the reset ends so many cycles before cycle 0; a multiple of 5 keeps the arbitration phase */
    QUIET_READ = 402, /* last event to the first status word read */
    DEADLOCK_EVENT = 220, /* what counts as the last event of a run that never gets quiet */
    READ_PERIOD = 3,
    WORDS_SHOWN = 16,
    LIST_LONG = 100, /* a longer list is kept as: */
    LIST_FIRST = 40,
    LIST_LAST = 4,
    CYCLE_LIMIT = 20000,
};

/* The flits that one place still has to offer. */
struct injector {
    GArray *flits; /* of struct injection */
    guint next;
};

struct injection {
    gint64 earliest;
    struct flit flit;
};

struct recorder;

struct place {
    struct recorder *recorder;
    unsigned mesh, x, y;
    char *name;
    struct link_sink out;
    struct injector injector;
};

struct control_write {
    gint64 earliest;
    uint64_t offset, value;
};

struct watched {
    struct recorder *recorder;
    unsigned mesh;
    struct system *system;
    json_t *tree;
    struct place places[PLACES];
    GArray *writes; /* of struct control_write */
    guint next_write;
    cycle_t write_free; /* first cycle in which the next one may be offered */
    bool busy;
    struct agent_requester mover; /* the machine's own, called from ours */
    struct interlink_trace interlink;
    struct port_trace port;
    struct path_watch path;
    struct word256 *initial;
};

struct recorder {
    const json_t *entry;
    struct machine machine;
    struct line *line;
    struct watched meshes[MESHES];
    gint64 last; /* cycle of the latest event */
};

static gint64 recorded_cycle(cycle_t now) {
    return (gint64)now - RESET_LEAD;
}

/* ---- gathering ---- */

/* A register that shows a value is none of the events after which a run counts as quiet. */
static void append(struct watched *mesh, const char *name, json_t *event) {
    json_t *list = json_object_get(mesh->tree, name);
    if (!list) {
        list = json_array();
        json_object_set_new(mesh->tree, name, list);
    }
    json_array_append_new(list, event);
}

static void note(struct watched *mesh, const char *name, cycle_t now, json_t *event) {
    append(mesh, name, event);
    mesh->recorder->last = MAX(mesh->recorder->last, recorded_cycle(now));
}

static void note_cycle(struct watched *mesh, const char *name, cycle_t now) {
    note(mesh, name, now, json_integer(recorded_cycle(now)));
}

static void note_text(struct watched *mesh, const char *name, cycle_t now, const char *format, uint64_t value) {
    char text[32];
    g_snprintf(text, sizeof text, format, value);
    note(mesh, name, now, json_pack("[I,s]", (json_int_t)recorded_cycle(now), text));
}

static json_t *beat_tree(const struct interlink_event *event, cycle_t at) {
    static const char *const kinds[] = {
        [PACKET_MEM_WR] = "MEM_WR",
        [PACKET_NOC_FLIT] = "NOC_FLIT",
        [PACKET_DOORBELL] = "DOORBELL",
        [PACKET_CREDIT] = "CREDIT",
    };
    const struct interlink_header *header = event->header;
    json_t *tree = json_pack("[I,i]", (json_int_t)recorded_cycle(at), event->last);
    if (!header)
        return tree;
    json_array_append_new(tree, json_string(kinds[header->kind]));
    const struct {
        const char *name;
        unsigned value;
    } fields[] = {{"to", header->to}, {"from", header->from}, {"txn", header->txn}, {"beats", header->beats}};
    for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++)
        json_array_append_new(tree, json_sprintf("%s %u", fields[i].name, fields[i].value));
    json_array_append_new(tree, json_sprintf("field %" PRIx64, header->field));
    return tree;
}

static void interlink_event(void *self, const struct interlink_event *event, cycle_t at) {
    struct watched *mesh = self;
    switch (event->kind) {
    case EVENT_BEAT:
        note(mesh, event->link ? "link1 beats" : "link0 beats", at, beat_tree(event, at));
        break;
    case EVENT_TAKEN:
        note_cycle(mesh, "encapsulator takes", at);
        break;
    case EVENT_INJECTED:
        note_cycle(mesh, "injected flit leaves", at);
        break;
    case EVENT_WRITE_ADDRESS:
        note_text(mesh, "inbound write address accepted", at, "%" PRIx64, event->value);
        break;
    case EVENT_WRITE_RESPONSE:
        note_cycle(mesh, "inbound write response", at);
        break;
    case EVENT_DOORBELL:
        note(mesh, "doorbell counted", at,
             json_pack("[I,o,o]", (json_int_t)recorded_cycle(at), json_sprintf("from %u", (unsigned)event->value),
                       json_sprintf("count %u", (unsigned)event->count)));
        break;
    case EVENT_FAULTS:
        append(mesh, "fault register",
               json_pack("[I,o]", (json_int_t)recorded_cycle(at), json_sprintf("%02x", (unsigned)event->value)));
        break;
    }
}

static void port_flit(void *self, const struct mem_port *port, const struct flit *flit, bool in, cycle_t now) {
    char name[16];
    g_snprintf(name, sizeof name, "port%u %s", port->index, in ? "in" : "out");
    note(self, name, now, json_pack("[I,i]", (json_int_t)recorded_cycle(now), flit->type));
}

static void memory_write(void *self, uint64_t address, cycle_t now) {
    note_text(self, "memory write address", now, "%" PRIx64, address);
}

static cycle_t mover_stepped(void *self, cycle_t now) {
    struct watched *mesh = self;
    const struct mem_requester *port = &mesh->system->mover.port;
    if (port->write_accepted)
        note_text(mesh, "mover write address accepted", now, "%" PRIx64, port->write_address);
    if (port->data_accepted)
        note_cycle(mesh, "mover write data accepted", now);
    if (port->response)
        note_cycle(mesh, "mover write response", now);
    return mesh->mover.step(mesh->mover.self, now);
}

/* ---- the places of units: they inject what is listed and take everything ---- */

static bool place_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)self;
    (void)flit;
    (void)now;
    return true;
}

static void place_deliver(void *self, flit_index index, cycle_t now) {
    struct place *place = self;
    struct watched *mesh = &place->recorder->meshes[place->mesh];
    struct flit *flit = flit_at(&mesh->system->pool, index);
    json_t *event =
        json_pack("[I,s,o,o,i,o,i,i]", (json_int_t)recorded_cycle(now), place->name,
                  json_sprintf("%u,%u", flit->dst_x, flit->dst_y), json_sprintf("%u,%u", flit->src_x, flit->src_y),
                  flit->type, json_sprintf("%02x", flit->txn), flit->last, flit->rsvd);
    note(mesh, "endpoint delivered", now, event);
    flit_free(&mesh->system->pool, index);
}

static void inject(struct place *place, cycle_t now) {
    struct injector *injector = &place->injector;
    if (injector->next == injector->flits->len)
        return;
    const struct injection *front = &g_array_index(injector->flits, struct injection, injector->next);
    struct watched *mesh = &place->recorder->meshes[place->mesh];
    if (recorded_cycle(now) < front->earliest || !place->out.accepts(place->out.self, &front->flit, now))
        return;
    flit_index index = flit_new(&mesh->system->pool);
    *flit_at(&mesh->system->pool, index) = front->flit;
    flit_at(&mesh->system->pool, index)->offered = now;
    place->out.deliver(place->out.self, index, now);
    injector->next++;
    note(mesh, "endpoint accepted", now, json_pack("[I,s]", (json_int_t)recorded_cycle(now), place->name));
    line_wake(place->recorder->line, place->mesh, now);
}

/* ---- the host of a mesh: its list of register writes ---- */

static cycle_t host_step(void *self, cycle_t now) {
    struct watched *mesh = self;
    if (mesh->next_write == mesh->writes->len)
        return CYCLE_NEVER;
    const struct control_write *write = &g_array_index(mesh->writes, struct control_write, mesh->next_write);
    cycle_t data_beat = MAX(mesh->write_free, (cycle_t)(write->earliest + RESET_LEAD)) + 1;
    if (now < data_beat)
        return data_beat;
    dispatch_write(&mesh->system->agent.dispatch, write->offset, write->value, now);
    note(mesh, "control write data beat", now,
         json_pack("[I,o,o]", (json_int_t)recorded_cycle(now), replay_hex(write->offset), replay_hex(write->value)));
    mesh->next_write++;
    mesh->write_free = now + 2; /* the response comes in between */
    return now + 1;
}

/* ---- set-up ---- */

static void describe_mesh(struct machine *mesh) {
    machine_init(mesh);
    mesh->nx = COLUMNS;
    mesh->ny = ROWS;
    mesh->rtl_defects = true;
    mesh->noc.fifo_depth = 32;
    mesh->memory.attachment = MEMORY_CONVERGED;
    mesh->memory.channel_bits = WORD_BITS;
    mesh->memory.latency = 1;
    mesh->memory.size = MEMORY_BYTES;
    mesh->port_count = PORTS;
    mesh->ports = g_new0(struct machine_port, PORTS);
    for (unsigned p = 0; p < PORTS; p++)
        mesh->ports[p] = (struct machine_port){.x = 0, .y = p + 1};
}

static void describe_machine(struct machine *machine) {
    static const unsigned line[MESHES] = {0, 1, 3, 2};
    machine_init(machine);
    machine->name = g_strdup("recorded");
    machine->rtl_defects = true;
    machine->meshes = g_new0(struct machine, MESHES);
    machine->mesh_count = MESHES;
    memcpy(machine->line, line, sizeof line);
    for (unsigned m = 0; m < MESHES; m++)
        describe_mesh(&machine->meshes[m]);
}

static void fill_memory(struct watched *mesh) {
    uint64_t seed = replay_unhex(json_object_get(mesh->recorder->entry, "memory_seed")) + ((uint64_t)mesh->mesh << 32);
    mesh->initial = g_new0(struct word256, FILLED_WORDS);
    for (uint64_t w = 0; w < FILLED_WORDS; w++)
        for (unsigned lane = 0; lane < 4; lane++)
            mesh->initial[w].w[lane] = replay_mix(seed + 4 * w + lane);
    dram_load(&mesh->system->dram, 0, mesh->initial, MEMORY_BYTES);
}

static void watch(struct recorder *recorder, unsigned m) {
    struct watched *mesh = &recorder->meshes[m];
    struct system *system = recorder->line->meshes[m];
    *mesh = (struct watched){.recorder = recorder,
                             .mesh = m,
                             .system = system,
                             .tree = json_object(),
                             .writes = g_array_new(FALSE, FALSE, sizeof(struct control_write)),
                             .mover = system->agent.mover,
                             .interlink = {.self = mesh, .event = interlink_event},
                             .port = {.self = mesh, .flit = port_flit},
                             .path = {.self = mesh, .write_address = memory_write}};
    system->agent.interlink->trace = &mesh->interlink;
    for (unsigned p = 0; p < PORTS; p++)
        system->agent.ports[p].trace = &mesh->port;
    path_watch(system->agent.path, &mesh->path);
    system->agent.mover.self = mesh;
    system->agent.mover.step = mover_stepped;
    system->agent.host = (struct agent_host){.self = mesh, .step = host_step};
    agent_wake(&system->agent, 0);
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &mesh->places[i];
        *place = (struct place){.recorder = recorder, .mesh = m, .x = 1 + i % 2, .y = 1 + i / 2};
        place->name = g_strdup_printf("%u,%u", place->x, place->y);
        place->injector.flits = g_array_new(FALSE, FALSE, sizeof(struct injection));
        struct link_sink sink = {.self = place, .accepts = place_accepts, .deliver = place_deliver};
        place->out = mesh_attach(&system->mesh, place->x, place->y, sink);
    }
    fill_memory(mesh);
}

static bool read_flits(struct recorder *recorder, GError **error) {
    const json_t *list = json_object_get(recorder->entry, "flits_injected");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_array_get(item, 1));
        const char *digits = json_string_value(json_array_get(item, 3));
        struct watched *mesh = &recorder->meshes[json_integer_value(json_array_get(item, 0)) % MESHES];
        struct injection injection = {.earliest = json_integer_value(json_array_get(item, 2))};
        if (!flit_from_hex(digits ? digits : "", &injection.flit, error))
            return false;
        for (unsigned p = 0; p < PLACES; p++)
            if (g_strcmp0(mesh->places[p].name, name) == 0)
                g_array_append_val(mesh->places[p].injector.flits, injection);
    }
    return true;
}

static void read_writes(struct recorder *recorder) {
    const json_t *list = json_object_get(recorder->entry, "control_writes");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct control_write write = {.earliest = json_integer_value(json_array_get(item, 1)),
                                      .offset = replay_unhex(json_array_get(item, 2)),
                                      .value = replay_unhex(json_array_get(item, 3))};
        g_array_append_val(recorder->meshes[json_integer_value(json_array_get(item, 0)) % MESHES].writes, write);
    }
}

/* ---- the run ---- */

static bool step(struct recorder *recorder, cycle_t now) {
    bool offering = false;
    for (unsigned m = 0; m < MESHES; m++)
        for (unsigned p = 0; p < PLACES; p++) {
            struct place *place = &recorder->meshes[m].places[p];
            inject(place, now);
            offering |= place->injector.next < place->injector.flits->len;
        }
    cycle_t due = line_step(recorder->line, now);
    for (unsigned m = 0; m < MESHES; m++) {
        struct watched *mesh = &recorder->meshes[m];
        bool busy = mover_busy(&mesh->system->mover);
        if (busy != mesh->busy)
            note_text(mesh, "mover busy", now + 1, "%" PRIu64, busy);
        mesh->busy = busy;
    }
    return offering || due != CYCLE_NEVER;
}

/* True while flits stand in a mesh or were never accepted. */
static bool stuck(const struct recorder *recorder) {
    for (unsigned m = 0; m < MESHES; m++)
        if (mesh_held(&recorder->meshes[m].system->mesh))
            return true;
    return false;
}

static void run(struct recorder *recorder) {
    cycle_t now = 0;
    while (step(recorder, now) && now < CYCLE_LIMIT && (gint64)now < recorder->last + RESET_LEAD + QUIET_READ)
        now++;
    if (stuck(recorder))
        recorder->last = DEADLOCK_EVENT;
}

/* ---- result ---- */

/* A long list: its ends, and a hash over the cycles of all. */
static json_t *shortened(json_t *list) {
    size_t count = json_array_size(list);
    if (count <= LIST_LONG)
        return json_incref(list);
    uint64_t hash = 0;
    json_t *first = json_array(), *last = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *event = json_array_get(list, i);
        hash = replay_hash(hash, (uint64_t)json_integer_value(json_is_array(event) ? json_array_get(event, 0) : event));
        if (i < LIST_FIRST)
            json_array_append(first, event);
        if (i >= count - LIST_LAST)
            json_array_append(last, event);
    }
    return json_pack("{s:I,s:o,s:o,s:o}", "count", (json_int_t)count, "cycle_hash", replay_hash_text(hash), "first",
                     first, "last", last);
}

static json_t *memory_tree(const struct watched *mesh) {
    uint64_t hash = 0;
    unsigned changed = 0;
    json_t *words = json_object();
    for (uint64_t w = 0; w < FILLED_WORDS; w++) {
        struct word256 word = dram_read(&mesh->system->dram, w * WORD_BYTES, NULL);
        for (unsigned lane = 0; lane < 4; lane++)
            hash = replay_hash(hash, word.w[lane]);
        if (memcmp(&word, &mesh->initial[w], sizeof word) == 0 || ++changed > WORDS_SHOWN)
            continue;
        char digits[WORD_HEX + 1], at[16];
        word_to_hex(&word, digits);
        g_snprintf(at, sizeof at, "%" PRIx64, w * WORD_BYTES);
        json_object_set_new(words, at, json_string(digits));
    }
    json_t *tree = json_pack("{s:o,s:i}", "hash", replay_hash_text(hash), "changed_words", (int)changed);
    if (changed && changed <= WORDS_SHOWN)
        json_object_set(tree, "changed", words);
    json_decref(words);
    return tree;
}

static json_t *mesh_tree(struct watched *mesh) {
    json_t *tree = json_object(), *list;
    const char *name;
    json_object_foreach(mesh->tree, name, list) {
        json_object_set_new(tree, name, shortened(list));
    }
    json_object_set_new(tree, "memory", memory_tree(mesh));
    return tree;
}

/* The words as the recording's reader saw them: three cycles a word, mesh after mesh. */
static json_t *status_tree(struct recorder *recorder) {
    json_t *tree = json_object(), *recorded;
    const char *name;
    cycle_t at = (cycle_t)(recorder->last + RESET_LEAD + QUIET_READ);
    json_object_foreach(json_object_get(recorder->entry, "status_words"), name, recorded) {
        struct interlink *interlink = &recorder->line->interlinks[g_ascii_strtoull(name, NULL, 10) % MESHES];
        json_t *words = json_array();
        for (unsigned i = 0; i < INTERLINK_STATUS_WORDS; i++, at += READ_PERIOD) {
            interlink_begin(interlink, at);
            json_array_append_new(words, replay_hex(interlink_status(interlink, i)));
        }
        json_object_set_new(tree, name, words);
    }
    return tree;
}

static void compare(struct recorder *recorder, struct replay_result *out) {
    const json_t *entry = recorder->entry, *meshes = json_object_get(entry, "mesh");
    json_t *ours = json_object();
    for (unsigned m = 0; m < MESHES; m++) {
        char name[4];
        g_snprintf(name, sizeof name, "%u", m);
        /* a mesh that was not recorded must have stayed idle */
        if (json_object_get(meshes, name) || json_object_size(recorder->meshes[m].tree))
            json_object_set_new(ours, name, mesh_tree(&recorder->meshes[m]));
    }
    replay_compare_tree(out, "mesh", meshes, ours);
    json_decref(ours);
    const json_t *status = json_object_get(entry, "status_words");
    if (status) {
        ours = status_tree(recorder);
        replay_compare_tree(out, "status_words", status, ours);
        json_decref(ours);
    }
    /* the reference's own monitor speaks up where a packet has no way */
    replay_add_number(out, "monitor_messages", json_integer_value(json_object_get(entry, "monitor_messages")),
                      (gint64)line_hazard_count(recorder->line, "il.no_way"));
}

static void recorder_clear(struct recorder *recorder) {
    for (unsigned m = 0; m < MESHES; m++) {
        struct watched *mesh = &recorder->meshes[m];
        if (!mesh->system)
            continue;
        json_decref(mesh->tree);
        g_array_unref(mesh->writes);
        g_free(mesh->initial);
        for (unsigned p = 0; p < PLACES; p++) {
            g_free(mesh->places[p].name);
            g_array_unref(mesh->places[p].injector.flits);
        }
    }
    line_free(recorder->line);
    machine_clear(&recorder->machine);
}

bool replay_interlink(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description;
    struct recorder recorder = {.entry = entry};
    describe_machine(&recorder.machine);
    recorder.line = line_new(&recorder.machine, error);
    bool ok = recorder.line != NULL;
    for (unsigned m = 0; ok && m < MESHES; m++)
        watch(&recorder, m);
    ok = ok && read_flits(&recorder, error);
    if (ok) {
        read_writes(&recorder);
        run(&recorder);
        compare(&recorder, out);
    }
    recorder_clear(&recorder);
    return ok;
}
