/* Replay of vector core recordings; see replay_vector.h. What happens is gathered in the shape of the recording, so
 * that the comparison is a walk over two trees. */
#include "analysis/replay_vector.h"

#include <string.h>

#include "memory/agent.h"
#include "memory/dram.h"
#include "model/error.h"
#include "model/isa/vector.h"
#include "model/isa/wire.h"
#include "noc/endpoint.h"
#include "noc/mesh.h"
#include "units/vector/core.h"

enum {
    CORE_X = 1, /* description, "what": one vector core at node (1,1) */
    CORE_Y = 1,
    PORT_X = 0, /* description, "attachment": one memory port at (0,1), the dispatch agent rides on it */
    PORT_Y = 1,
    LEAD = 16,            /* our cycles before the first flit */
    CYCLE_LIMIT = 300000, /* a run that lasts longer hangs */
    STAGED_FLITS = 512,
    REGISTER_WRITE_PERIOD = 4, /* cycles between two writes of the window */
    VECTOR_DIGITS = 6,
};

#define BENCH_MEMORY (UINT64_C(1) << 40)

/* ---- what is gathered ---- */

struct kernel_run {
    cycle_t offered, retired; /* retired: CYCLE_NEVER while it runs */
    bool fault;
    uint32_t result;
    json_t *trace;
};

struct crossing_event {
    unsigned type;
    cycle_t cycle;
};

struct bench {
    struct machine machine;
    struct machine_unit place;
    struct machine_port port;
    struct flit_pool pool;
    struct hazard_log hazards;
    struct endpoint endpoint;
    struct endpoint_trace endpoint_trace;
    struct dram memory, initial;
    struct word256 initial_l1[L1_WORDS];
    /* System attachments. */
    bool system;
    struct mesh mesh;
    struct agent agent;
    /* Direct attachment: what the bench sends. */
    GArray *instructions; /* struct flit */
    GArray *foreign;      /* struct foreign_flit */
    GArray *responses;    /* struct response */
    unsigned sent, foreign_sent, answered;
    gint64 first_flit, last_flit, latency;
    gint64 period, open, phase; /* period 0: always open */
    cycle_t origin;             /* our cycle of the recording's cycle 0 */
    cycle_t last_response;      /* CYCLE_NEVER before the first */
    uint64_t write_address;
    /* Gathered. */
    GArray *runs;     /* struct kernel_run */
    GArray *out, *in; /* struct crossing_event */
    json_t *node_flits, *ack_flits;
    uint64_t control_reply;
    bool control_came;
};

struct foreign_flit {
    gint64 cycle;
    struct flit flit;
};

struct response {
    cycle_t asked; /* accepted from the unit */
    uint8_t tag;
    struct word256 word;
};

static struct kernel_run *current_run(struct bench *bench) {
    return bench->runs->len ? &g_array_index(bench->runs, struct kernel_run, bench->runs->len - 1) : NULL;
}

static void note_event(void *self, enum vector_event event, cycle_t cycle, unsigned detail) {
    struct bench *bench = self;
    if (event == VECTOR_EVENT_OFFERED) {
        struct kernel_run run = {.offered = cycle, .retired = CYCLE_NEVER, .trace = json_array()};
        g_array_append_val(bench->runs, run);
        return;
    }
    struct kernel_run *run = current_run(bench);
    json_int_t at = (json_int_t)(cycle - run->offered);
    json_t *row = json_array_get(run->trace, json_array_size(run->trace) - 1);
    if (event == VECTOR_EVENT_EXECUTE)
        json_array_append_new(run->trace, json_pack("[i,I,I]", (int)detail, at, at));
    else if (event == VECTOR_EVENT_HELD)
        json_array_set_new(row, 2, json_integer(at));
    else
        json_array_append_new(row, json_integer(at));
}

static void note_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)endpoint;
    struct bench *bench = self;
    struct kernel_run *run = current_run(bench);
    if (!run || run->retired != CYCLE_NEVER)
        return;
    run->retired = now;
    run->fault = fault;
    run->result = result;
}

static void note_in(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    (void)endpoint;
    struct bench *bench = self;
    struct crossing_event event = {flit->type, now};
    g_array_append_val(bench->in, event);
}

static void note_out(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    (void)endpoint;
    struct bench *bench = self;
    struct crossing_event event = {flit->type, now};
    g_array_append_val(bench->out, event);
    bool ack = flit->type == FLIT_CU_SIGNAL && word_get(&flit->payload, 248, 8) == SIGNAL_DATA_RECEIVED;
    char digits[FLIT_HEX + 1];
    if ((ack || flit->type == FLIT_CU_DATA) && flit_to_hex(flit, digits, NULL))
        json_array_append_new(ack ? bench->ack_flits : bench->node_flits, json_string(digits));
}

/* ---- the direct bench ---- */

static gint64 recorded_cycle(const struct bench *bench, cycle_t now) {
    return (gint64)(now - bench->origin);
}

static bool link_open(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    const struct bench *bench = self;
    if (!bench->period)
        return true;
    gint64 at = (recorded_cycle(bench, now) + bench->phase) % bench->period;
    return (at < 0 ? at + bench->period : at) < bench->open;
}

static void link_take(void *self, flit_index index, cycle_t now) {
    struct bench *bench = self;
    const struct flit *flit = flit_at(&bench->pool, index);
    struct response response = {.asked = now, .tag = flit->txn};
    switch (flit->type) {
    case FLIT_MEM_RD_REQ:
        response.word = dram_read(&bench->memory, word_get(&flit->payload, 216, 40), NULL);
        g_array_append_val(bench->responses, response);
        break;
    case FLIT_MEM_WR_REQ:
        bench->write_address = word_get(&flit->payload, 216, 40);
        break;
    case FLIT_MEM_WR_DATA:
        dram_write(&bench->memory, bench->write_address, &flit->payload);
        break;
    case FLIT_CU_CTRL:
        bench->control_reply = word_get(&flit->payload, 176, 64);
        bench->control_came = true;
        break;
    default:
        break;
    }
    flit_free(&bench->pool, index);
}

static void offer(struct bench *bench, const struct flit *flit, cycle_t now) {
    struct link_sink sink = endpoint_sink(&bench->endpoint);
    flit_index index = flit_new(&bench->pool);
    struct flit *copy = flit_at(&bench->pool, index);
    *copy = *flit;
    if (sink.accepts(sink.self, copy, now))
        sink.deliver(sink.self, index, now);
    else
        flit_free(&bench->pool, index);
}

static bool instruction_due(const struct bench *bench, gint64 at) {
    if (bench->sent == bench->instructions->len || at < bench->first_flit)
        return false;
    return bench->sent + 1 < bench->instructions->len || at >= bench->last_flit;
}

static bool response_due(const struct bench *bench, cycle_t now) {
    if (bench->answered == bench->responses->len)
        return false;
    cycle_t asked = g_array_index(bench->responses, struct response, bench->answered).asked;
    return now >= asked + (cycle_t)bench->latency &&
           (bench->last_response == CYCLE_NEVER || now > bench->last_response);
}

/* One flit onto the unit's input: a named cycle first, then the stream, then a response. */
static void feed(struct bench *bench, cycle_t now) {
    gint64 at = recorded_cycle(bench, now);
    if (bench->foreign_sent < bench->foreign->len) {
        const struct foreign_flit *next = &g_array_index(bench->foreign, struct foreign_flit, bench->foreign_sent);
        if (next->cycle <= at) {
            offer(bench, &next->flit, now);
            bench->foreign_sent++;
            return;
        }
    }
    if (instruction_due(bench, at)) {
        offer(bench, &g_array_index(bench->instructions, struct flit, bench->sent++), now);
    } else if (response_due(bench, now)) {
        const struct response *response = &g_array_index(bench->responses, struct response, bench->answered++);
        struct flit flit = {.dst_x = CORE_X,
                            .dst_y = CORE_Y,
                            .src_x = PORT_X,
                            .src_y = PORT_Y,
                            .type = FLIT_MEM_RD_RESP,
                            .txn = response->tag,
                            .last = 1,
                            .payload = response->word};
        bench->last_response = now;
        offer(bench, &flit, now);
    }
}

static bool direct_done(const struct bench *bench) {
    return bench->sent == bench->instructions->len && bench->foreign_sent == bench->foreign->len &&
           bench->answered == bench->responses->len && bench->endpoint.due == CYCLE_NEVER;
}

static void run_direct(struct bench *bench, cycle_t *now) {
    do {
        if (bench->endpoint.due <= *now)
            endpoint_step(&bench->endpoint, *now);
        feed(bench, *now);
        ++*now;
    } while (*now < CYCLE_LIMIT && !direct_done(bench));
}

/* Reads a CU_CTRL register through the port, as a host would. */
static uint64_t read_register(struct bench *bench, unsigned index, cycle_t *now) {
    struct flit flit = {
        .dst_x = CORE_X, .dst_y = CORE_Y, .src_x = PORT_X, .src_y = PORT_Y, .type = FLIT_CU_CTRL, .last = 1};
    word_set(&flit.payload, 240, 8, index);
    bench->control_came = false;
    offer(bench, &flit, *now);
    while (!bench->control_came)
        run_direct(bench, now);
    return bench->control_reply;
}

/* ---- the system bench ---- */

static void kick(struct bench *bench, cycle_t now) {
    static const struct {
        uint32_t offset;
        uint64_t value;
    } writes[] = {{AGENT_PROG_CRED, 0xFFFF}, {AGENT_PROG_BASE, 0}, {AGENT_PROG_DST, CORE_Y << 4 | CORE_X}};
    unsigned which = (unsigned)(now / REGISTER_WRITE_PERIOD);
    if (now % REGISTER_WRITE_PERIOD || which == 0 || which > G_N_ELEMENTS(writes) + 2)
        return;
    if (which <= G_N_ELEMENTS(writes))
        dispatch_write(&bench->agent.dispatch, writes[which - 1].offset, writes[which - 1].value, now);
    else if (which == G_N_ELEMENTS(writes) + 1)
        dispatch_write(&bench->agent.dispatch, AGENT_PROG_LEN, bench->instructions->len, now);
    else
        dispatch_write(&bench->agent.dispatch, AGENT_PROG_KICK, 1, now);
}

static bool system_done(const struct bench *bench) {
    return bench->endpoint.retired == bench->instructions->len && bench->endpoint.due == CYCLE_NEVER &&
           endpoint_quiet(&bench->endpoint) && agent_quiet(&bench->agent) && mesh_held(&bench->mesh) == 0;
}

static void run_system(struct bench *bench, cycle_t *now) {
    for (unsigned i = 0; i < bench->instructions->len; i++) {
        const struct flit *flit = &g_array_index(bench->instructions, struct flit, i);
        dispatch_stage(&bench->agent.dispatch, i, &flit->payload, flit->type, flit->txn, flit->last);
    }
    do {
        kick(bench, *now);
        agent_begin(&bench->agent, *now);
        mesh_step(&bench->mesh, *now);
        if (bench->endpoint.due <= *now)
            endpoint_step(&bench->endpoint, *now);
        agent_step(&bench->agent, *now);
        ++*now;
    } while (*now < CYCLE_LIMIT && !system_done(bench));
    if (bench->runs->len)
        bench->origin = g_array_index(bench->runs, struct kernel_run, 0).offered;
}

/* ---- reading the recording ---- */

static bool bad(GError **error, const char *what, const char *token) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "a vector run's %s cannot be read: \"%s\"", what, token);
    return false;
}

static void add_instruction(struct bench *bench, const struct vector_envelope *envelope) {
    struct flit flit = {.dst_x = CORE_X,
                        .dst_y = CORE_Y,
                        .src_x = PORT_X,
                        .src_y = PORT_Y,
                        .type = FLIT_CU_INST,
                        .txn = (uint8_t)(bench->instructions->len + 1)};
    vector_envelope_encode(envelope, &flit.payload, NULL);
    g_array_append_val(bench->instructions, flit);
}

static bool read_token(struct bench *bench, const char *token, GError **error) {
    g_auto(GStrv) part = g_strsplit(token, " ", -1);
    unsigned parts = g_strv_length(part);
    if (strcmp(part[0], "D") == 0 && parts == 4) {
        add_instruction(bench, &(struct vector_envelope){.op = VECTOR_DESC,
                                                         .descriptor = (uint8_t)g_ascii_strtoull(part[1], NULL, 10),
                                                         .field = (uint8_t)g_ascii_strtoull(part[2], NULL, 10),
                                                         .value = g_ascii_strtoull(part[3], NULL, 16)});
    } else if (strcmp(part[0], "I") == 0 && parts > 2) {
        unsigned pc = (unsigned)g_ascii_strtoull(part[1], NULL, 16);
        for (unsigned i = 2; i < parts; i++)
            add_instruction(bench, &(struct vector_envelope){.op = VECTOR_IMEM,
                                                             .pc = (uint16_t)((pc + i - 2) % VECTOR_IMEM_WORDS),
                                                             .word = (uint32_t)g_ascii_strtoull(part[i], NULL, 16)});
    } else if (strcmp(part[0], "R") == 0 && parts == 2) {
        add_instruction(
            bench, &(struct vector_envelope){.op = VECTOR_RUN, .pc = (uint16_t)g_ascii_strtoull(part[1], NULL, 16)});
    } else if (strcmp(part[0], "P") == 0 && parts == 3) {
        struct foreign_flit foreign = {.cycle = g_ascii_strtoll(part[1], NULL, 10)};
        if (!flit_from_hex(part[2], &foreign.flit, error))
            return false;
        g_array_append_val(bench->foreign, foreign);
    } else {
        return bad(error, "stream", token);
    }
    return true;
}

static bool read_stream(struct bench *bench, const json_t *entry, GError **error) {
    const json_t *stream = json_object_get(entry, "stream");
    json_t *token;
    size_t i;
    json_array_foreach(stream, i, token) if (!read_token(bench, json_string_value(token), error)) return false;
    if (bench->instructions->len == 0)
        return bad(error, "stream", "no instruction");
    g_array_index(bench->instructions, struct flit, bench->instructions->len - 1).last = 1;
    return true;
}

/* Consecutive words from a hex address on. */
static bool read_image(const json_t *image, GError **error,
                       void (*put)(struct bench *bench, uint64_t at, const struct word256 *word), struct bench *bench,
                       unsigned stride) {
    const char *address;
    json_t *words, *text;
    size_t i;
    json_object_foreach((json_t *)image, address, words) {
        uint64_t at = g_ascii_strtoull(address, NULL, 16);
        json_array_foreach(words, i, text) {
            struct word256 word;
            if (!word_from_hex(json_string_value(text), &word, error))
                return false;
            put(bench, at + i * stride, &word);
        }
    }
    return true;
}

static void put_memory(struct bench *bench, uint64_t at, const struct word256 *word) {
    dram_write(&bench->memory, at, word);
    dram_write(&bench->initial, at, word);
}

static void put_l1(struct bench *bench, uint64_t at, const struct word256 *word) {
    vector_poke(bench->endpoint.unit, (unsigned)at, word);
    bench->initial_l1[at] = *word;
}

/* ---- setting up ---- */

static struct machine bench_machine(const json_t *entry, bool defects) {
    const char *attachment = json_string_value(json_object_get(entry, "attachment"));
    bool converged = strcmp(attachment, "converged") == 0;
    return (struct machine){
        .nx = 1,
        .ny = 1,
        .rtl_defects = defects,
        .noc = {.fifo_depth = 32,
                .fall_through = 3,
                .fifo_extra = 2,
                .holding_slots = 1,
                .link_width = 1,
                .link_period = 1,
                .virtual_channels = 1},
        .endpoint = {.inst_depth = 512, .recv_depth = 512, .completion_depth = 16},
        .agent = {.staging_flits = STAGED_FLITS, .commands = 128, .tx_depth = 16, .rx_depth = 16},
        .memory = {.attachment = converged ? MEMORY_CONVERGED : MEMORY_PER_PORT,
                   .latency = 1,
                   .channel_bits = WORD_BITS,
                   .size = BENCH_MEMORY,
                   .crossing = 8,
                   .queue_depth = 64,
                   .queue_margin = 4,
                   .write_slots = 16,
                   .write_burst = 8,
                   .reads_in_flight = 1,
                   .address_queue = 16,
                   .write_queue = 64,
                   .read_queue = 64,
                   .response_queue = 16},
        .vector =
            {.l1_depth = L1_WORDS, .alu_depth = 15, .imem_words_per_flit = 1, .has_expsum = true, .ack_rejected = true},
    };
}

static void bench_attach(struct bench *bench) {
    struct endpoint *endpoint = &bench->endpoint;
    if (bench->system) {
        mesh_init(&bench->mesh, &bench->machine, &bench->pool, &bench->hazards);
        agent_init(&bench->agent, &bench->machine, &bench->mesh, &bench->memory, &bench->pool, &bench->hazards, NULL);
        endpoint->out = mesh_attach(&bench->mesh, CORE_X, CORE_Y, endpoint_sink(endpoint));
    } else {
        endpoint->out = (struct link_sink){.self = bench, .accepts = link_open, .deliver = link_take};
    }
}

static void bench_init(struct bench *bench, const json_t *entry, bool defects) {
    *bench = (struct bench){.machine = bench_machine(entry, defects),
                            .place = {.kind = UNIT_VECTOR, .name = (char *)"vector0", .x = CORE_X, .y = CORE_Y},
                            .port = {.x = PORT_X, .y = PORT_Y},
                            .last_response = CYCLE_NEVER};
    bench->machine.units = &bench->place;
    bench->machine.unit_count = 1;
    bench->machine.ports = &bench->port;
    bench->machine.port_count = 1;
    bench->system = strcmp(json_string_value(json_object_get(entry, "attachment")), "direct") != 0;
    flit_pool_init(&bench->pool);
    hazard_log_init(&bench->hazards);
    dram_init(&bench->memory, BENCH_MEMORY);
    dram_init(&bench->initial, BENCH_MEMORY);
    endpoint_init(&bench->endpoint, &bench->machine, &bench->place, &unit_type_vector, &bench->pool, &bench->hazards);
    bench->endpoint_trace =
        (struct endpoint_trace){.self = bench, .flit_in = note_in, .flit_out = note_out, .retired = note_retired};
    bench->endpoint.trace = &bench->endpoint_trace;
    vector_set_trace(bench->endpoint.unit, &(struct vector_trace){.self = bench, .event = note_event});
    bench_attach(bench);
    bench->instructions = g_array_new(FALSE, FALSE, sizeof(struct flit));
    bench->foreign = g_array_new(FALSE, FALSE, sizeof(struct foreign_flit));
    bench->responses = g_array_new(FALSE, FALSE, sizeof(struct response));
    bench->runs = g_array_new(FALSE, FALSE, sizeof(struct kernel_run));
    bench->out = g_array_new(FALSE, FALSE, sizeof(struct crossing_event));
    bench->in = g_array_new(FALSE, FALSE, sizeof(struct crossing_event));
    bench->node_flits = json_array();
    bench->ack_flits = json_array();
}

static void bench_clear(struct bench *bench) {
    endpoint_clear(&bench->endpoint);
    if (bench->system) {
        agent_clear(&bench->agent);
        mesh_clear(&bench->mesh);
    }
    dram_clear(&bench->memory);
    dram_clear(&bench->initial);
    flit_pool_clear(&bench->pool);
    hazard_log_clear(&bench->hazards);
    for (guint i = 0; i < bench->runs->len; i++)
        json_decref(g_array_index(bench->runs, struct kernel_run, i).trace);
    GArray *arrays[] = {bench->instructions, bench->foreign, bench->responses, bench->runs, bench->out, bench->in};
    for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    json_decref(bench->node_flits);
    json_decref(bench->ack_flits);
}

static gint64 number(const json_t *object, const char *key, gint64 otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool bench_read(struct bench *bench, const json_t *entry, GError **error) {
    const json_t *initial = json_object_get(entry, "initial"), *pattern = json_object_get(entry, "link_open");
    bench->first_flit = number(entry, "first_flit", 0);
    bench->last_flit = number(entry, "run_flit", bench->first_flit);
    bench->latency = number(entry, "response_latency", 0);
    bench->period = number(pattern, "period", 0);
    bench->open = number(pattern, "open", 0);
    bench->phase = number(pattern, "phase", 0);
    bench->origin = (cycle_t)(LEAD - bench->first_flit);
    return read_stream(bench, entry, error) &&
           read_image(json_object_get(initial, "memory"), error, put_memory, bench, WORD_BYTES) &&
           read_image(json_object_get(initial, "l1"), error, put_l1, bench, 1);
}

/* ---- the shape of the recording ---- */

static void set_word(json_t *object, uint64_t at, const struct word256 *word) {
    char key[24], digits[WORD_HEX + 1];
    g_snprintf(key, sizeof key, "%" G_GINT64_MODIFIER "x", at);
    word_to_hex(word, digits);
    json_object_set_new(object, key, json_string(digits));
}

static json_t *runs_tree(struct bench *bench) {
    json_t *list = json_array();
    cycle_t origin = bench->runs->len ? g_array_index(bench->runs, struct kernel_run, 0).offered : 0;
    for (guint i = 0; i < bench->runs->len; i++) {
        const struct kernel_run *run = &g_array_index(bench->runs, struct kernel_run, i);
        json_t *tree = json_pack("{s:I,s:O}", "offered", (json_int_t)(run->offered - origin), "trace", run->trace);
        if (run->retired == CYCLE_NEVER) {
            json_object_set_new(tree, "retire", json_null());
            json_object_set_new(tree, "hang", json_true());
        } else {
            json_object_set_new(tree, "retire", json_integer((json_int_t)(run->retired - run->offered)));
            json_object_set_new(tree, run->fault ? "fault" : "cycles", json_integer(run->result));
        }
        json_array_append_new(list, tree);
    }
    return list;
}

/* Cycles by type; of the output those from cycle 0 on, of the input the types the recording has. */
static json_t *link_tree(const struct bench *bench, const GArray *events, bool out) {
    json_t *tree = json_object();
    for (guint i = 0; i < events->len; i++) {
        const struct crossing_event *event = &g_array_index(events, struct crossing_event, i);
        gint64 at = recorded_cycle(bench, event->cycle);
        bool wanted = event->type == FLIT_MEM_RD_RESP || event->type == FLIT_MEM_WR_ACK || event->type == FLIT_CU_DATA;
        if (out ? at < 0 || event->type == FLIT_CU_CTRL : !wanted)
            continue;
        char key[4];
        g_snprintf(key, sizeof key, "%u", event->type);
        if (!json_object_get(tree, key))
            json_object_set_new(tree, key, json_array());
        json_array_append_new(json_object_get(tree, key), json_integer(at));
    }
    return tree;
}

static json_t *memory_tree(struct bench *bench) {
    json_t *tree = json_object();
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, bench->memory.pages);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const struct dram_page *page = value;
        for (unsigned i = 0; i < DRAM_PAGE_WORDS; i++) {
            uint64_t at = (*(const gint64 *)key * DRAM_PAGE_WORDS + i) * WORD_BYTES;
            struct word256 before = dram_read(&bench->initial, at, NULL);
            if (page->written[i / 64] >> i % 64 & 1 && memcmp(&before, &page->words[i], sizeof before) != 0)
                set_word(tree, at, &page->words[i]);
        }
    }
    return tree;
}

static json_t *vector_tree(const struct vector_state *state) {
    json_t *tree = json_object();
    for (unsigned r = 0; r < VECTOR_REGISTERS; r++) {
        char key[4], digits[VECTOR_LENGTH * VECTOR_DIGITS + 1];
        uint32_t any = 0;
        for (unsigned e = 0; e < VECTOR_LENGTH; e++) {
            g_snprintf(digits + e * VECTOR_DIGITS, VECTOR_DIGITS + 1, "%06x", state->v[r][e]);
            any |= state->v[r][e];
        }
        g_snprintf(key, sizeof key, "%u", r);
        if (any)
            json_object_set_new(tree, key, json_string(digits));
    }
    return tree;
}

static json_t *hex24(uint32_t value) {
    char digits[8];
    g_snprintf(digits, sizeof digits, "%06x", value);
    return json_string(digits);
}

static json_t *final_tree(struct bench *bench, const struct vector_state *state) {
    json_t *l1 = json_object(), *scalar = json_object(), *predicate = json_object();
    char key[4], digits[36];
    for (unsigned i = 0; i < state->l1_words; i++)
        if (memcmp(&state->l1[i], &bench->initial_l1[i], sizeof state->l1[i]) != 0)
            set_word(l1, i, &state->l1[i]);
    for (unsigned r = 0; r < SCALAR_REGISTERS; r++) {
        g_snprintf(key, sizeof key, "%u", r);
        if (state->s[r])
            json_object_set_new(scalar, key, hex24(state->s[r]));
    }
    for (unsigned p = 0; p < PREDICATES; p++) {
        g_snprintf(key, sizeof key, "%u", p);
        g_snprintf(digits, sizeof digits, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", state->p[p][1],
                   state->p[p][0]);
        if (state->p[p][0] | state->p[p][1])
            json_object_set_new(predicate, key, json_string(digits));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:i}", "l1", l1, "memory", memory_tree(bench), "vector",
                     vector_tree(state), "scalar", scalar, "predicate", predicate, "k3", hex24(state->k[3]), "vl",
                     (int)state->vl, "vmode", (int)state->mode);
}

/* Where a hung kernel's recording was stopped is not recorded, so neither is comparable: its cycle register, busy
 * cycles. */
static json_t *counters_tree(struct bench *bench, const struct vector_state *state, bool hung, bool port_busy,
                             cycle_t *now) {
    json_t *tree = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "retired", (json_int_t)bench->endpoint.retired, "lane_beats",
                             (json_int_t)state->beats, "tree_tails", (json_int_t)state->tails, "l1_writes",
                             (json_int_t)state->l1_writes, "read_requests", (json_int_t)state->read_requests,
                             "write_words", (json_int_t)state->write_words);
    if (!hung)
        json_object_set_new(tree, "last_cycles",
                            json_integer((json_int_t)unit_type_vector.debug_register(bench->endpoint.unit, *now)));
    if (port_busy && !bench->system)
        json_object_set_new(tree, "port_busy", json_integer(read_register(bench, 2, now) & 0xFFFFFFFF));
    return tree;
}

/* Ids of compute-units §11 that `touches` lists. */
static json_t *touches_tree(struct bench *bench) {
    static const char *const listed[] = {"defect.any_all_pr", "defect.chain_overlap", "defect.expsum_pm",
                                         "defect.vcvt_fp16",  "defect.vst_fp32",      "vec.alu_in_tree",
                                         "vec.pend_overflow"};
    json_t *tree = json_array();
    for (unsigned i = 0; i < G_N_ELEMENTS(listed); i++)
        if (hazard_count(&bench->hazards, listed[i]))
            json_array_append_new(tree, json_string(listed[i]));
    return tree;
}

static json_t *bench_tree(struct bench *bench, const json_t *entry, cycle_t now) {
    struct vector_state *state = g_new(struct vector_state, 1);
    vector_snapshot(bench->endpoint.unit, state);
    const struct kernel_run *last = current_run(bench);
    bool hung = last && last->retired == CYCLE_NEVER;
    bool busy = json_object_get(json_object_get(entry, "counters"), "port_busy") != NULL;
    json_t *tree = json_pack("{s:o,s:o,s:o,s:o}", "runs", runs_tree(bench), "final", final_tree(bench, state),
                             "counters", counters_tree(bench, state, hung, busy, &now), "touches", touches_tree(bench));
    json_object_set_new(tree, "link_out", link_tree(bench, bench->out, true));
    json_object_set_new(tree, "link_in", link_tree(bench, bench->in, false));
    json_object_set(tree, "node_flits", bench->node_flits);
    json_object_set(tree, "ack_flits", bench->ack_flits);
    g_free(state);
    return tree;
}

/* ---- comparison ---- */

static void compare_leaf(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    if (json_is_integer(reference) && json_is_integer(ours)) {
        replay_add_number(out, what, json_integer_value(reference), json_integer_value(ours));
        return;
    }
    char *a = reference ? json_dumps(reference, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *b = ours ? json_dumps(ours, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    replay_add_text(out, what, a ? a : "nothing", b ? b : "nothing");
    free(a);
    free(b);
}

static void compare(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours);

static void compare_lists(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    size_t count = MAX(json_array_size(reference), json_array_size(ours));
    for (size_t i = 0; i < count; i++) {
        g_autofree char *path = g_strdup_printf("%s[%zu]", what, i);
        compare(out, path, json_array_get(reference, i), json_array_get(ours, i));
    }
}

static void compare_objects(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)reference, key, value) {
        g_autofree char *path = g_strconcat(what, ".", key, NULL);
        compare(out, path, value, json_object_get(ours, key));
    }
    json_object_foreach((json_t *)ours, key, value) {
        g_autofree char *path = g_strconcat(what, ".", key, NULL);
        if (!json_object_get(reference, key))
            compare(out, path, NULL, value);
    }
}

/* A vector register, element by element, if both sides have it. */
static bool compare_elements(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    const char *a = json_string_value(reference), *b = json_string_value(ours);
    if (!a || !b || strlen(a) != VECTOR_LENGTH * VECTOR_DIGITS || strlen(a) != strlen(b))
        return false;
    for (unsigned e = 0; e < VECTOR_LENGTH; e++) {
        char want[VECTOR_DIGITS + 1] = "", have[VECTOR_DIGITS + 1] = "";
        g_autofree char *path = g_strdup_printf("%s[%u]", what, e);
        memcpy(want, a + e * VECTOR_DIGITS, VECTOR_DIGITS);
        memcpy(have, b + e * VECTOR_DIGITS, VECTOR_DIGITS);
        replay_add_text(out, path, want, have);
    }
    return true;
}

static void compare(struct replay_result *out, const char *what, const json_t *reference, const json_t *ours) {
    if (json_is_object(reference) || json_is_object(ours))
        compare_objects(out, what, reference, ours);
    else if (json_is_array(reference) || json_is_array(ours))
        compare_lists(out, what, reference, ours);
    else if (!compare_elements(out, what, reference, ours))
        compare_leaf(out, what, reference, ours);
}

/* The recorded parts; `touches` and the two lists of flits are left out where they are empty. */
static void compare_run(struct replay_result *out, const char *prefix, const json_t *entry, const json_t *final,
                        const json_t *ours) {
    static const char *const parts[] = {"runs",       "link_out",  "link_in", "counters",
                                        "node_flits", "ack_flits", "touches"};
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *path = g_strconcat(prefix, parts[i], NULL);
        compare(out, path, json_object_get(entry, parts[i]), json_object_get(ours, parts[i]));
    }
    g_autofree char *path = g_strconcat(prefix, "final", NULL);
    compare(out, path, final, json_object_get(ours, "final"));
}

/* ---- the intended final state ---- */

/* Register values a recording leaves out: zero, which everything starts with. */
static bool never_changed(const char *digits) {
    return strspn(digits, "0") == strlen(digits) || strcmp(digits, "same as initial") == 0;
}

/* The recorded final state with the entries of intended_final in their places; entries a final state leaves out because
 * they are zero, or as they were at the start, are left out here too. */
static json_t *intended_tree(const struct bench *bench, const json_t *entry) {
    json_t *tree = json_deep_copy(json_object_get(entry, "final"));
    const char *part, *key;
    json_t *group, *value;
    json_object_foreach(json_object_get(entry, "intended_final"), part, group) {
        if (!json_is_object(group)) {
            json_object_set(tree, part, group);
            continue;
        }
        json_t *to = json_object_get(tree, part);
        json_object_foreach(group, key, value) {
            char before[WORD_HEX + 1] = "";
            if (strcmp(part, "l1") == 0)
                word_to_hex(&bench->initial_l1[g_ascii_strtoull(key, NULL, 16)], before);
            bool silent =
                *before ? strcmp(before, json_string_value(value)) == 0 : never_changed(json_string_value(value));
            if (silent && strcmp(part, "memory") != 0)
                json_object_del(to, key);
            else
                json_object_set(to, key, value);
        }
    }
    return tree;
}

/* The counters that cannot be compared (see counters_tree) are taken out of the recording. */
static json_t *comparable_entry(const json_t *entry) {
    json_t *copy = json_copy((json_t *)entry), *runs = json_object_get(entry, "runs");
    if (json_is_true(json_object_get(json_array_get(runs, json_array_size(runs) - 1), "hang"))) {
        json_t *counters = json_copy(json_object_get(entry, "counters"));
        json_object_del(counters, "last_cycles");
        json_object_set_new(copy, "counters", counters);
    }
    return copy;
}

static bool replay_once(const json_t *entry, bool defects, struct replay_result *out, GError **error) {
    struct bench *bench = g_new(struct bench, 1);
    cycle_t now = 0;
    bench_init(bench, entry, defects);
    bool good = bench_read(bench, entry, error);
    if (good) {
        if (bench->system)
            run_system(bench, &now);
        else
            run_direct(bench, &now);
        json_t *ours = bench_tree(bench, entry, now);
        json_t *final = defects ? json_incref(json_object_get(entry, "final")) : intended_tree(bench, entry);
        compare_run(out, defects ? "" : "intended ", entry, final, ours);
        json_decref(final);
        json_decref(ours);
    }
    bench_clear(bench);
    g_free(bench);
    return good;
}

bool replay_vector(const json_t *entry, const json_t *description, struct replay_result *out, GError **error) {
    (void)description;
    if (!json_is_array(json_object_get(entry, "stream")) || !json_is_string(json_object_get(entry, "attachment")) ||
        !json_is_array(json_object_get(entry, "runs")) || !json_is_object(json_object_get(entry, "final")))
        return bad(error, "entry", "stream, attachment, runs and final are needed");
    json_t *comparable = comparable_entry(entry);
    bool good = replay_once(comparable, true, out, error);
    if (good && json_object_get(entry, "touches"))
        good = replay_once(comparable, false, out, error);
    json_decref(comparable);
    return good;
}
