/* A second accelerator as a plug-in: y <- a x + y in FP32, one instruction (workloads §5.7), a word of eight values at
 * a time, one request in flight. Nothing overlaps: read x, read y, compute, write y. A tail of fewer than eight values
 * leaves the rest of its word as it was read. An instruction retires when its last word has been handed to the mesh;
 * its write may still be on the way. */
#include "examples/saxpy/saxpy.h"

#include <glib.h>

#include "model/isa/wire.h"
#include "units/plugin.h"

enum {
    TYPE_CODE = 0x5358, /* "SX" */
    ADDRESS_BITS = 40,
};

enum state {
    STATE_IDLE,
    STATE_ASK_X,
    STATE_WAIT_X,
    STATE_ASK_Y,
    STATE_WAIT_Y,
    STATE_COMPUTE,
    STATE_ASK_WRITE,
    STATE_WRITE,
    STATE_RETIRE,
};

enum cause {
    CAUSE_IDLE,
    CAUSE_OPERANDS,
    CAUSE_COMPUTE,
    CAUSE_WRITE,
    CAUSE_SEQUENCE,
    CAUSES,
};

static const char *const cause_names[CAUSES] = {"idle", "wait_operands", "compute", "write", "sequence"};

static const enum cause cause_of[] = {
    [STATE_IDLE] = CAUSE_IDLE,       [STATE_ASK_X] = CAUSE_OPERANDS,  [STATE_WAIT_X] = CAUSE_OPERANDS,
    [STATE_ASK_Y] = CAUSE_OPERANDS,  [STATE_WAIT_Y] = CAUSE_OPERANDS, [STATE_COMPUTE] = CAUSE_COMPUTE,
    [STATE_ASK_WRITE] = CAUSE_WRITE, [STATE_WRITE] = CAUSE_WRITE,     [STATE_RETIRE] = CAUSE_SEQUENCE,
};

static const char *const waits[] = {
    [STATE_ASK_X] = "the link to take its read of x",
    [STATE_WAIT_X] = "a word of x",
    [STATE_ASK_Y] = "the link to take its read of y",
    [STATE_WAIT_Y] = "a word of y",
    [STATE_COMPUTE] = "its own sum",
    [STATE_ASK_WRITE] = "the link to take its write",
    [STATE_WRITE] = "the link to take its word",
    [STATE_RETIRE] = "its completion",
};

struct saxpy {
    struct unit_context context;
    enum state state;
    struct saxpy_inst inst;
    uint32_t done; /* elements */
    bool fault;
    struct word256 x, y;
    uint64_t instructions, words;
    struct account account;
};

static void *saxpy_create(const struct unit_context *context) {
    struct saxpy *saxpy = g_new0(struct saxpy, 1);
    saxpy->context = *context;
    return saxpy;
}

/* ---- what it sends ---- */

static void send(struct saxpy *saxpy, struct unit_io *io, enum flit_type type, const struct word256 *payload) {
    const struct unit_context *context = &saxpy->context;
    io->send = flit_new(io->pool);
    *flit_at(io->pool, io->send) = (struct flit){.dst_x = (uint16_t)context->port_x,
                                                 .dst_y = (uint16_t)context->port_y,
                                                 .src_x = (uint16_t)context->place->x,
                                                 .src_y = (uint16_t)context->place->y,
                                                 .type = (uint8_t)type,
                                                 .last = type != FLIT_MEM_WR_REQ,
                                                 .payload = *payload};
}

static void ask(struct saxpy *saxpy, struct unit_io *io, enum flit_type type, uint64_t base) {
    struct word256 payload;
    mem_request_pack(&(struct mem_request){.addr = base + saxpy->done * sizeof(float)}, &payload);
    send(saxpy, io, type, &payload);
}

/* ---- what it does ---- */

static bool addressable(uint64_t address, uint32_t n) {
    return address % WORD_BYTES == 0 && (address + (uint64_t)n * sizeof(float)) >> ADDRESS_BITS == 0;
}

static void start(struct saxpy *saxpy, struct unit_io *io) {
    saxpy_decode(&io->inst->payload, &saxpy->inst);
    const struct saxpy_inst *inst = &saxpy->inst;
    io->take = true;
    saxpy->done = 0;
    saxpy->fault = inst->op != SAXPY_OP || !addressable(inst->x, inst->n) || !addressable(inst->y, inst->n);
    saxpy->state = saxpy->fault || inst->n == 0 ? STATE_RETIRE : STATE_ASK_X;
}

static bool receive(struct unit_io *io, struct word256 *word) {
    if (!io->recv)
        return false;
    io->pop = true;
    *word = io->recv->payload;
    return io->recv->type == FLIT_MEM_RD_RESP; /* anything else is dropped */
}

static void compute(struct saxpy *saxpy) {
    float x[SAXPY_LANES], y[SAXPY_LANES];
    uint32_t count = MIN(saxpy->inst.n - saxpy->done, (uint32_t)SAXPY_LANES);
    memcpy(x, &saxpy->x, sizeof x);
    memcpy(y, &saxpy->y, sizeof y);
    for (uint32_t i = 0; i < count; i++)
        y[i] = saxpy->inst.a * x[i] + y[i];
    memcpy(&saxpy->y, y, sizeof y);
}

static void retire(struct saxpy *saxpy, struct unit_io *io) {
    io->done = true;
    io->fault = saxpy->fault;
    io->result = saxpy->done;
    saxpy->instructions++;
}

/* The state after this cycle. */
static enum state advance(struct saxpy *saxpy, struct unit_io *io) {
    switch (saxpy->state) {
    case STATE_ASK_X:
    case STATE_ASK_Y:
        if (!io->send_ready)
            return saxpy->state;
        ask(saxpy, io, FLIT_MEM_RD_REQ, saxpy->state == STATE_ASK_X ? saxpy->inst.x : saxpy->inst.y);
        return saxpy->state + 1;
    case STATE_WAIT_X:
    case STATE_WAIT_Y:
        return saxpy->state + receive(io, saxpy->state == STATE_WAIT_X ? &saxpy->x : &saxpy->y);
    case STATE_COMPUTE:
        compute(saxpy);
        return STATE_ASK_WRITE;
    case STATE_ASK_WRITE:
        if (!io->send_ready)
            return saxpy->state;
        ask(saxpy, io, FLIT_MEM_WR_REQ, saxpy->inst.y);
        return STATE_WRITE;
    case STATE_WRITE:
        if (!io->send_ready)
            return saxpy->state;
        send(saxpy, io, FLIT_MEM_WR_DATA, &saxpy->y);
        saxpy->words++;
        saxpy->done = MIN(saxpy->done + SAXPY_LANES, saxpy->inst.n);
        return saxpy->done == saxpy->inst.n ? STATE_RETIRE : STATE_ASK_X;
    case STATE_RETIRE:
        retire(saxpy, io);
        return STATE_IDLE;
    default:
        return STATE_IDLE;
    }
}

static cycle_t saxpy_step(void *self, struct unit_io *io) {
    struct saxpy *saxpy = self;
    bool was_idle = saxpy->state == STATE_IDLE;
    if (!was_idle)
        saxpy->state = advance(saxpy, io);
    else if (io->inst)
        start(saxpy, io);
    else if (io->recv)
        io->pop = true;
    account_set(&saxpy->account, cause_of[saxpy->state], io->now + 1);
    bool asleep = saxpy->state == STATE_WAIT_X || saxpy->state == STATE_WAIT_Y;
    bool waits_for_flit = (asleep || saxpy->state == STATE_IDLE) && !io->pop && !io->done;
    return waits_for_flit && !io->recv ? CYCLE_NEVER : io->now + 1;
}

/* ---- what it shows ---- */

static uint64_t saxpy_debug(const void *self, cycle_t now) {
    const struct saxpy *saxpy = self;
    (void)now;
    return saxpy->words << 32 | saxpy->done;
}

static void saxpy_report(const void *self, struct unit_report *report) {
    const struct saxpy *saxpy = self;
    *report = (struct unit_report){
        .causes = cause_names, .cause_count = CAUSES, .account = &saxpy->account, .instructions = saxpy->instructions};
}

static char *saxpy_waits_for(const void *self, cycle_t now) {
    const struct saxpy *saxpy = self;
    (void)now;
    return saxpy->state == STATE_IDLE ? NULL : g_strdup(waits[saxpy->state]);
}

static uint64_t saxpy_progress(const void *self) {
    const struct saxpy *saxpy = self;
    return saxpy->words + saxpy->instructions;
}

static void saxpy_digest(const void *self, void (*feed)(void *to, const void *data, size_t size), void *to) {
    const struct saxpy *saxpy = self;
    const uint64_t seen[] = {saxpy->state, saxpy->done, saxpy->words, saxpy->instructions};
    feed(to, seen, sizeof seen);
    feed(to, &saxpy->y, sizeof saxpy->y);
}

static const struct unit_type saxpy_type = {
    .name = "saxpy",
    .type_code = TYPE_CODE,
    .drops_write_ack = true,
    .create = saxpy_create,
    .destroy = g_free,
    .step = saxpy_step,
    .debug_register = saxpy_debug,
    .report = saxpy_report,
    .waits_for = saxpy_waits_for,
    .progress = saxpy_progress,
    .digest = saxpy_digest,
};

bool flitsim_plugin_register(struct plugin_set *set, unsigned version);

bool flitsim_plugin_register(struct plugin_set *set, unsigned version) {
    return version == PLUGIN_VERSION && plugin_add_unit_type(set, &saxpy_type);
}
