/* The endpoint L2 adapter; see l2.h. Section numbers are those of noc-and-memory. */
#include "noc/l2.h"

#include <string.h>

enum {
    PIPE = 3, /* register stages of a response, §7.2 */
    CAPS_VERSION = 1,
    CAPS_ID = 0x0002,
    CONTROL_REPLY = 0x02,
    FLAG_CONVERT = 0x10, /* request flags, §2.6 */
    FLAG_STREAM = 0x40,
    REMOTE = 4, /* rsvd bit 2 */
    ENTRY_WORDS_MAX = 4,
    ADDRESS_BITS_OF_MAP = 40,
};

void l2_init(struct l2_adapter *adapter, const struct machine *machine, const struct machine_unit *place,
             struct flit_pool *pool, struct hazard_log *hazards) {
    const struct l2_params *params = &machine->l2;
    *adapter = (struct l2_adapter){.name = place->name,
                                   .x = place->x,
                                   .y = place->y,
                                   .fall_through = machine->noc.fall_through,
                                   .window_bits = params->window_bits,
                                   .outstanding = params->queue - PIPE,
                                   .converts = machine->memory.fetch_transform,
                                   .base = place->kind == UNIT_CLUSTER ? params->cluster_base : params->vector_base,
                                   .enabled = params->enabled,
                                   .pool = pool,
                                   .hazards = hazards,
                                   .lines = g_new0(struct word256, params->lines),
                                   .line_count = params->lines,
                                   .stage = FLIT_NONE,
                                   .reply = FLIT_NONE,
                                   .due = CYCLE_NEVER};
    fifo_init(&adapter->responses, params->queue + machine->noc.fifo_extra);
}

void l2_clear(struct l2_adapter *adapter) {
    fifo_clear(&adapter->responses);
    g_free(adapter->lines);
    *adapter = (struct l2_adapter){0};
}

static void wake(struct l2_adapter *adapter, cycle_t at) {
    if (at < adapter->due) {
        adapter->due = at;
        if (adapter->group_due && at < *adapter->group_due)
            *adapter->group_due = at;
    }
}

/* ---- control (§7.3) ---- */

static bool is_control(const struct flit *flit) {
    unsigned index = word_get(&flit->payload, 240, 8);
    return flit->type == FLIT_CU_CTRL && index >= L2_INDEX_CAPS && index <= L2_INDEX_LAST;
}

static uint64_t control_value(const struct l2_adapter *adapter, unsigned index) {
    switch (index) {
    case L2_INDEX_CAPS:
        return (uint64_t)CAPS_ID << 48 | (uint64_t)CAPS_VERSION << 40 | (uint64_t)adapter->window_bits << 32 |
               (uint32_t)adapter->line_count;
    case L2_INDEX_BASE:
        return adapter->base;
    case L2_INDEX_ENABLE:
        return adapter->enabled;
    case L2_INDEX_COUNTS:
        return adapter->served << 32 | (uint32_t)adapter->forwarded;
    default:
        return 0;
    }
}

static void control_write(struct l2_adapter *adapter, unsigned index, uint64_t value) {
    if (index == L2_INDEX_BASE)
        adapter->base = value & bit_mask(ADDRESS_BITS_OF_MAP);
    else if (index == L2_INDEX_ENABLE)
        adapter->enabled = value & 1;
}

/* The request becomes its own reply. With one pending it is lost, as at the unit's port logic (§4.2). */
static void take_control(struct l2_adapter *adapter, flit_index at, cycle_t now) {
    struct flit *flit = flit_at(adapter->pool, at);
    if (adapter->reply != FLIT_NONE) {
        hazard_report(adapter->hazards, "ctrl.lost", now, adapter->name,
                      "a control request from (%u,%u) to the L2 adapter came while a reply was pending", flit->src_x,
                      flit->src_y);
        flit_free(adapter->pool, at);
        return;
    }
    unsigned index = word_get(&flit->payload, 240, 8);
    if (word_get(&flit->payload, 248, 8) == 1)
        control_write(adapter, index, word_get(&flit->payload, 176, 64));
    uint64_t value = control_value(adapter, index);
    flit->dst_x = flit->src_x;
    flit->dst_y = flit->src_y;
    flit->src_x = (uint16_t)adapter->x;
    flit->src_y = (uint16_t)adapter->y;
    flit->last = 1;
    flit->rsvd = 0;
    flit->offered = now + 1;
    memset(&flit->payload, 0, sizeof flit->payload);
    word_set(&flit->payload, 248, 8, CONTROL_REPLY);
    word_set(&flit->payload, 240, 8, index);
    word_set(&flit->payload, 176, 64, value);
    adapter->reply = at;
    adapter->reply_from = now + 1;
    wake(adapter, now + 1);
}

/* ---- from the router: straight through, behind the adapter's own responses ---- */

static bool mesh_accepts(void *self, const struct flit *flit, cycle_t now) {
    struct l2_adapter *adapter = self;
    if (is_control(flit))
        return true;
    return !fifo_readable(&adapter->responses, now) && adapter->unit.accepts(adapter->unit.self, flit, now);
}

static void mesh_deliver(void *self, flit_index at, cycle_t now) {
    struct l2_adapter *adapter = self;
    if (is_control(flit_at(adapter->pool, at)))
        take_control(adapter, at, now);
    else
        adapter->unit.deliver(adapter->unit.self, at, now);
}

struct link_sink l2_mesh_end(struct l2_adapter *adapter) {
    return (struct link_sink){.self = adapter, .accepts = mesh_accepts, .deliver = mesh_deliver};
}

/* ---- from the unit: one register ---- */

static bool unit_accepts(void *self, const struct flit *flit, cycle_t now) {
    const struct l2_adapter *adapter = self;
    (void)flit, (void)now;
    return adapter->stage == FLIT_NONE; /* stepped before the unit: empty, or emptied in this cycle */
}

static void unit_deliver(void *self, flit_index at, cycle_t now) {
    struct l2_adapter *adapter = self;
    adapter->stage = at;
    wake(adapter, now + 1);
}

struct link_sink l2_unit_end(struct l2_adapter *adapter) {
    return (struct link_sink){.self = adapter, .accepts = unit_accepts, .deliver = unit_deliver};
}

/* ---- claims (§7.2) ---- */

struct l2_request {
    uint64_t address, bytes;
    uint64_t line; /* of its first word, from the base on; when claimed */
    unsigned words, entry_words;
    bool reads, touches, claimed;
};

static unsigned entry_words(const struct flit *flit) {
    unsigned words = word_get(&flit->payload, 158, 8);
    return words && words <= ENTRY_WORDS_MAX ? words : ENTRY_WORDS_MAX;
}

/* Lies as a whole inside the window and below the top line of the store. */
static bool inside(const struct l2_adapter *adapter, const struct l2_request *request) {
    uint64_t end = request->address + request->bytes, lines = (adapter->line_count - 1) * WORD_BYTES;
    return request->address >= adapter->base && end <= adapter->base + (UINT64_C(1) << adapter->window_bits) &&
           end <= adapter->base + lines;
}

static struct l2_request request_of(const struct l2_adapter *adapter, const struct flit *flit) {
    unsigned flags = word_get(&flit->payload, 200, 8), count = word_get(&flit->payload, 192, 8);
    struct l2_request request = {.address = word_get(&flit->payload, 216, 40) & ~(uint64_t)(WORD_BYTES - 1),
                                 .reads = flit->type == FLIT_MEM_RD_REQ,
                                 .words = (unsigned)word_get(&flit->payload, 208, 8) + 1};
    bool possible = adapter->enabled && !(flit->rsvd & REMOTE);
    if (request.reads && flags & FLAG_STREAM) {
        request.entry_words = entry_words(flit);
        request.words = MAX(count, 1) * request.entry_words;
        possible &= count != 0 && word_get(&flit->payload, 166, 2) == 0;
    }
    if (request.reads && adapter->converts && flags & FLAG_CONVERT)
        possible = false;
    request.bytes = (uint64_t)request.words * WORD_BYTES;
    request.line = (request.address - adapter->base) / WORD_BYTES;
    request.touches = request.address < adapter->base + (UINT64_C(1) << adapter->window_bits) &&
                      request.address + request.bytes > adapter->base;
    request.claimed = possible && inside(adapter, &request);
    return request;
}

/* Counts and reports a request that concerns the window and passes all the same. */
static void note_forwarded(struct l2_adapter *adapter, const struct l2_request *request, cycle_t now) {
    if (!adapter->enabled || !request->touches)
        return;
    adapter->forwarded++;
    if (!inside(adapter, request))
        hazard_report(adapter->hazards, "l2.straddle", now, adapter->name,
                      "a %s of %u words at 0x%" G_GINT64_MODIFIER
                      "x does not lie in the L2 window as a whole and goes to DRAM",
                      request->reads ? "read" : "write", request->words, request->address);
}

static struct flit *new_response(struct l2_adapter *adapter, enum flit_type type, uint8_t tag, uint16_t from_x,
                                 uint16_t from_y, cycle_t now) {
    flit_index at = flit_new(adapter->pool);
    struct flit *flit = flit_at(adapter->pool, at);
    cycle_t ready = now + PIPE + adapter->fall_through;
    *flit = (struct flit){.dst_x = (uint16_t)adapter->x,
                          .dst_y = (uint16_t)adapter->y,
                          .src_x = from_x,
                          .src_y = from_y,
                          .type = type,
                          .txn = tag,
                          .offered = ready,
                          .last = 1};
    fifo_push(&adapter->responses, at, ready);
    return flit;
}

/* The next word of the run enters the pipe. */
static void issue_word(struct l2_adapter *adapter, cycle_t now) {
    struct l2_run *run = &adapter->run;
    struct flit *flit = new_response(adapter, FLIT_MEM_RD_RESP, run->tag, run->from_x, run->from_y, now);
    flit->payload = adapter->lines[run->line++];
    flit->note = run->note;
    flit->rsvd = (uint8_t)run->word;
    run->words_left--;
    flit->last = run->entry_words ? run->word + 1 == run->entry_words : run->words_left == 0;
    if (run->entry_words && ++run->word == run->entry_words) {
        run->word = 0;
        run->tag++;
    }
    adapter->served++;
}

static void start_run(struct l2_adapter *adapter, const struct flit *flit, const struct l2_request *request) {
    adapter->run = (struct l2_run){.line = request->line,
                                   .words_left = request->words,
                                   .entry_words = request->entry_words,
                                   .tag = flit->txn,
                                   .from_x = flit->dst_x,
                                   .from_y = flit->dst_y,
                                   .note = flit->note};
}

static void start_write(struct l2_adapter *adapter, const struct flit *flit, const struct l2_request *request) {
    adapter->write = (struct l2_write){.line = request->line,
                                       .words_left = request->words,
                                       .tag = flit->txn,
                                       .from_x = flit->dst_x,
                                       .from_y = flit->dst_y};
}

static void drop_stage(struct l2_adapter *adapter) {
    flit_free(adapter->pool, adapter->stage);
    adapter->stage = FLIT_NONE;
}

/* One run and one write at a time: while another of the kind is open, the unit's link stands. */
static void claim(struct l2_adapter *adapter, const struct flit *flit, const struct l2_request *request) {
    if (request->reads ? adapter->run.words_left : adapter->write.words_left)
        return;
    if (request->reads)
        start_run(adapter, flit, request);
    else
        start_write(adapter, flit, request);
    drop_stage(adapter);
}

/* A word of the claimed write; the last one is acknowledged through the responses' pipe. True if it acknowledged. */
static bool take_word(struct l2_adapter *adapter, bool room, cycle_t now) {
    struct l2_write *write = &adapter->write;
    bool ends = write->words_left == 1;
    if (ends && !room)
        return false;
    adapter->lines[write->line++] = flit_at(adapter->pool, adapter->stage)->payload;
    adapter->taken++;
    write->words_left--;
    drop_stage(adapter);
    if (ends)
        new_response(adapter, FLIT_MEM_WR_ACK, write->tag, write->from_x, write->from_y, now);
    return ends;
}

/* The staged flit: claimed, or offered to the router unless a reply has the link. True if it put an acknowledgement
 * into the pipe. */
static bool stage_step(struct l2_adapter *adapter, bool room, bool link_free, cycle_t now) {
    if (adapter->stage == FLIT_NONE)
        return false;
    struct flit *flit = flit_at(adapter->pool, adapter->stage);
    if (flit->type == FLIT_MEM_WR_DATA && adapter->write.words_left)
        return take_word(adapter, room, now);
    struct l2_request request = {0};
    if (flit->type == FLIT_MEM_RD_REQ || flit->type == FLIT_MEM_WR_REQ)
        request = request_of(adapter, flit);
    if (request.claimed) {
        claim(adapter, flit, &request);
        return false;
    }
    if (!link_free || !adapter->mesh.accepts(adapter->mesh.self, flit, now))
        return false;
    if (request.words)
        note_forwarded(adapter, &request, now);
    adapter->mesh.deliver(adapter->mesh.self, adapter->stage, now);
    adapter->stage = FLIT_NONE;
    return false;
}

/* ---- one cycle ---- */

/* Hands the reply to the router; true if it had the link. */
static bool reply_step(struct l2_adapter *adapter, cycle_t now) {
    if (adapter->reply == FLIT_NONE || adapter->reply_from > now)
        return false;
    if (adapter->mesh.accepts(adapter->mesh.self, flit_at(adapter->pool, adapter->reply), now)) {
        adapter->mesh.deliver(adapter->mesh.self, adapter->reply, now);
        adapter->reply = FLIT_NONE;
    }
    return true;
}

static void response_step(struct l2_adapter *adapter, cycle_t now) {
    if (!fifo_readable(&adapter->responses, now))
        return;
    flit_index at = fifo_head(&adapter->responses)->flit;
    if (!adapter->unit.accepts(adapter->unit.self, flit_at(adapter->pool, at), now))
        return;
    fifo_pop(&adapter->responses, now);
    adapter->unit.deliver(adapter->unit.self, at, now);
}

static cycle_t next_due(const struct l2_adapter *adapter, cycle_t now) {
    if (adapter->stage != FLIT_NONE || adapter->reply != FLIT_NONE || adapter->run.words_left)
        return now + 1;
    return adapter->responses.count ? MAX(fifo_head(&adapter->responses)->ready, now + 1) : CYCLE_NEVER;
}

void l2_step(struct l2_adapter *adapter, cycle_t now) {
    bool room = fifo_held(&adapter->responses, now) < adapter->outstanding;
    response_step(adapter, now);
    bool replied = reply_step(adapter, now);
    bool acknowledged = stage_step(adapter, room, !replied, now);
    if (adapter->run.words_left && room && !acknowledged)
        issue_word(adapter, now);
    adapter->due = next_due(adapter, now);
}

bool l2_quiet(const struct l2_adapter *adapter) {
    return !l2_held(adapter) && !adapter->run.words_left && !adapter->write.words_left;
}

unsigned l2_held(const struct l2_adapter *adapter) {
    return adapter->responses.count + (adapter->stage != FLIT_NONE) + (adapter->reply != FLIT_NONE);
}
