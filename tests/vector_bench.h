/* One vector core behind its port, no mesh: tests give it kernels as text and look at cycles, state and hazards. A read
 * is answered `latency` cycles after it left, one response a cycle; writes take effect at once. */
#pragma once

#include <string.h>

#include "memory/dram.h"
#include "model/isa/text.h"
#include "model/isa/vector.h"
#include "model/numeric/e8m15_convert.h"
#include "model/numeric/fp16.h"
#include "noc/endpoint.h"
#include "units/vector/core.h"

enum {
    VB_ROWS = 4096,
    VB_LIMIT = 400000, /* cycles after which a kernel counts as hung */
};

struct vb_row {
    unsigned pc;
    cycle_t x, g, first, last, tail, result; /* relative to the RUN's offer; 0: none */
};

struct vb_run {
    cycle_t offered, retired; /* retired 0: never */
    bool fault;
    uint32_t result;
};

struct vb_response {
    cycle_t due;
    struct flit flit;
};

struct vector_bench {
    struct machine machine;
    struct machine_unit place;
    struct machine_port port;
    struct flit_pool pool;
    struct hazard_log hazards;
    struct endpoint endpoint;
    struct endpoint_trace endpoint_trace;
    struct dram memory;
    GArray *queue;     /* struct flit, to be offered one a cycle */
    GArray *responses; /* struct vb_response */
    GArray *sent;      /* struct flit, everything the core sent; offered holds the cycle */
    unsigned queued, answered;
    cycle_t now, latency;
    bool link_closed;
    uint64_t write_address;
    struct vb_run run; /* the last one */
    bool running;
    struct vb_row rows[VB_ROWS];
    unsigned row_count;
    struct vector_state state; /* after vb_go */
};

static inline void vb_event(void *self, enum vector_event event, cycle_t cycle, unsigned detail) {
    struct vector_bench *b = self;
    if (event == VECTOR_EVENT_OFFERED) {
        b->run = (struct vb_run){.offered = cycle};
        b->running = true;
        b->row_count = 0;
        return;
    }
    cycle_t at = cycle - b->run.offered;
    if (event == VECTOR_EVENT_EXECUTE) {
        g_assert_cmpuint(b->row_count, <, VB_ROWS);
        b->rows[b->row_count++] = (struct vb_row){.pc = detail, .x = at, .g = at};
        return;
    }
    struct vb_row *row = &b->rows[b->row_count - 1];
    cycle_t *places[] = {[VECTOR_EVENT_HELD] = &row->g,
                         [VECTOR_EVENT_FIRST_BEAT] = &row->first,
                         [VECTOR_EVENT_LAST_BEAT] = &row->last,
                         [VECTOR_EVENT_TAIL] = &row->tail,
                         [VECTOR_EVENT_RESULT] = &row->result};
    *places[event] = at;
}

static inline void vb_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault, uint32_t result) {
    (void)endpoint;
    struct vector_bench *b = self;
    if (!b->running)
        return;
    b->running = false;
    b->run.retired = now;
    b->run.fault = fault;
    b->run.result = result;
}

static inline bool vb_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    (void)now;
    return !((struct vector_bench *)self)->link_closed;
}

static inline void vb_deliver(void *self, flit_index index, cycle_t now) {
    struct vector_bench *b = self;
    struct flit flit = *flit_at(&b->pool, index);
    flit_free(&b->pool, index);
    flit.offered = now;
    g_array_append_val(b->sent, flit);
    uint64_t address = word_get(&flit.payload, 216, 40);
    if (flit.type == FLIT_MEM_RD_REQ) {
        struct vb_response response = {
            .due = now + b->latency,
            .flit = {
                .type = FLIT_MEM_RD_RESP, .txn = flit.txn, .last = 1, .payload = dram_read(&b->memory, address, NULL)}};
        g_array_append_val(b->responses, response);
    } else if (flit.type == FLIT_MEM_WR_REQ) {
        b->write_address = address;
    } else if (flit.type == FLIT_MEM_WR_DATA) {
        dram_write(&b->memory, b->write_address, &flit.payload);
    }
}

/* The machine of §7 as shipped; a test may change b->machine before vb_open. */
static inline void vb_init(struct vector_bench *b) {
    *b = (struct vector_bench){.machine = {.nx = 1,
                                           .ny = 1,
                                           .noc = {.fall_through = 3, .fifo_extra = 2},
                                           .endpoint = {.inst_depth = 512, .recv_depth = 512, .completion_depth = 16},
                                           .vector = {.l1_depth = L1_WORDS,
                                                      .alu_depth = 15,
                                                      .imem_words_per_flit = 1,
                                                      .has_expsum = true,
                                                      .ack_rejected = true}},
                               .place = {.kind = UNIT_VECTOR, .name = (char *)"vector0", .x = 1, .y = 1},
                               .port = {.x = 0, .y = 1},
                               .latency = 12,
                               .now = 4};
}

static inline void vb_open(struct vector_bench *b) {
    b->machine.units = &b->place;
    b->machine.unit_count = 1;
    b->machine.ports = &b->port;
    b->machine.port_count = 1;
    flit_pool_init(&b->pool);
    hazard_log_init(&b->hazards);
    dram_init(&b->memory, UINT64_C(1) << 30);
    endpoint_init(&b->endpoint, &b->machine, &b->place, &unit_type_vector, &b->pool, &b->hazards);
    b->endpoint_trace = (struct endpoint_trace){.self = b, .retired = vb_retired};
    b->endpoint.trace = &b->endpoint_trace;
    b->endpoint.out = (struct link_sink){.self = b, .accepts = vb_accepts, .deliver = vb_deliver};
    vector_set_trace(b->endpoint.unit, &(struct vector_trace){.self = b, .event = vb_event});
    b->queue = g_array_new(FALSE, FALSE, sizeof(struct flit));
    b->responses = g_array_new(FALSE, FALSE, sizeof(struct vb_response));
    b->sent = g_array_new(FALSE, FALSE, sizeof(struct flit));
}

static inline struct vector_bench *vb_new(void) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    vb_open(b);
    return b;
}

static inline void vb_free(struct vector_bench *b) {
    endpoint_clear(&b->endpoint);
    flit_pool_clear(&b->pool);
    hazard_log_clear(&b->hazards);
    dram_clear(&b->memory);
    g_array_unref(b->queue);
    g_array_unref(b->responses);
    g_array_unref(b->sent);
    g_free(b);
}

/* ---- what goes in ---- */

static inline void vb_flit(struct vector_bench *b, const struct flit *flit) {
    g_array_append_val(b->queue, *flit);
}

static inline void vb_payload(struct vector_bench *b, const struct word256 *payload) {
    vb_flit(b, &(struct flit){.src_y = 1, .type = FLIT_CU_INST, .payload = *payload});
}

static inline void vb_envelope(struct vector_bench *b, const struct vector_envelope *envelope) {
    struct word256 payload;
    g_assert_true(vector_envelope_encode(envelope, &payload, NULL));
    vb_payload(b, &payload);
}

/* Words of a kernel body in the assembler's form; free with g_array_unref. */
static inline GArray *vb_assemble(const char *text) {
    g_autofree char *source = g_strconcat(".kernel test\n", text, "\n.end\n", NULL);
    GError *error = NULL;
    struct asm_program *program = asm_program_parse(source, "test", &error);
    g_assert_no_error(error);
    const struct asm_kernel *kernel = &asm_program_item(program, 0)->kernel;
    GArray *words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_vals(words, kernel->words, kernel->count);
    asm_program_free(program);
    return words;
}

static inline void vb_words(struct vector_bench *b, unsigned pc, const uint32_t *words, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        vb_envelope(b, &(struct vector_envelope){.op = VECTOR_IMEM, .pc = (uint16_t)(pc + i), .word = words[i]});
}

static inline void vb_kernel(struct vector_bench *b, const char *text) {
    GArray *words = vb_assemble(text);
    vb_words(b, 0, (const uint32_t *)words->data, words->len);
    g_array_unref(words);
}

/* Base and dimension 0 of a descriptor. */
static inline void vb_desc(struct vector_bench *b, unsigned ad, uint64_t base, int stride, unsigned bound) {
    uint64_t value;
    g_assert_true(vector_dimension_encode(stride, (uint16_t)bound, &value, NULL));
    vb_envelope(b, &(struct vector_envelope){.op = VECTOR_DESC, .descriptor = (uint8_t)ad, .value = base});
    vb_envelope(b, &(struct vector_envelope){.op = VECTOR_DESC, .descriptor = (uint8_t)ad, .field = 1, .value = value});
}

static inline void vb_start(struct vector_bench *b, unsigned pc) {
    vb_envelope(b, &(struct vector_envelope){.op = VECTOR_RUN, .pc = (uint16_t)pc});
}

/* ---- running ---- */

static inline void vb_cycle(struct vector_bench *b) {
    struct link_sink sink = endpoint_sink(&b->endpoint);
    if (b->endpoint.due <= b->now)
        endpoint_step(&b->endpoint, b->now);
    const struct flit *next = NULL;
    bool response = false;
    if (b->queued < b->queue->len) {
        next = &g_array_index(b->queue, struct flit, b->queued);
    } else if (b->answered < b->responses->len &&
               g_array_index(b->responses, struct vb_response, b->answered).due <= b->now) {
        next = &g_array_index(b->responses, struct vb_response, b->answered).flit;
        response = true;
    }
    if (next && sink.accepts(sink.self, next, b->now)) {
        flit_index index = flit_new(&b->pool);
        *flit_at(&b->pool, index) = *next;
        sink.deliver(sink.self, index, b->now);
        b->answered += response;
        b->queued += !response;
    }
    b->now++;
}

static inline bool vb_quiet(const struct vector_bench *b) {
    return b->queued == b->queue->len && b->answered == b->responses->len && b->endpoint.due == CYCLE_NEVER;
}

/* Runs until nothing moves any more, and looks at the state. */
static inline void vb_go(struct vector_bench *b) {
    cycle_t limit = b->now + VB_LIMIT;
    do
        vb_cycle(b);
    while (b->now < limit && !vb_quiet(b));
    vector_snapshot(b->endpoint.unit, &b->state);
}

/* A kernel from its first word to the end of everything it started. */
static inline void vb_run_text(struct vector_bench *b, const char *text) {
    vb_kernel(b, text);
    vb_start(b, 0);
    vb_go(b);
}

/* ---- what came out ---- */

static inline const struct vb_row *vb_row_of(const struct vector_bench *b, unsigned pc) {
    for (unsigned i = 0; i < b->row_count; i++)
        if (b->rows[i].pc == pc)
            return &b->rows[i];
    g_error("no instruction at word %u was executed", pc);
}

static inline unsigned vb_sent_count(const struct vector_bench *b, unsigned type) {
    unsigned count = 0;
    for (unsigned i = 0; i < b->sent->len; i++)
        count += g_array_index(b->sent, struct flit, i).type == type;
    return count;
}

static inline const struct flit *vb_sent(const struct vector_bench *b, unsigned type, unsigned number) {
    for (unsigned i = 0; i < b->sent->len; i++)
        if (g_array_index(b->sent, struct flit, i).type == type && number-- == 0)
            return &g_array_index(b->sent, struct flit, i);
    g_error("fewer flits of type %u were sent", type);
}

/* FP16 words of L1: sixteen values each. */
static inline void vb_poke_halves(struct vector_bench *b, unsigned index, const uint16_t *halves, unsigned count) {
    for (unsigned w = 0; w * LANES < count; w++) {
        struct word256 word = {{0}};
        for (unsigned lane = 0; lane < LANES && w * LANES + lane < count; lane++)
            word_set(&word, 16 * lane, 16, halves[w * LANES + lane]);
        vector_poke(b->endpoint.unit, index + w, &word);
    }
}

static inline uint16_t vb_half(const struct word256 *word, unsigned lane) {
    return (uint16_t)word_get(word, 16 * lane, 16);
}

static inline double vb_value(uint32_t e8m15) {
    return e8m15_to_double(e8m15);
}
