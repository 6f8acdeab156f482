/* The memory port; see port.h. One step reads like noc-and-memory §15.3: everything is decided from the state at the
 * start of the cycle, then everything is updated. */
#include "memory/port.h"

#include <string.h>

#include "memory/stage.h"
#include "model/isa/tensor.h"
#include "model/numeric/mxfp7.h"

enum {
    FLAG_CONVERT = 0x10, /* request flags, noc-and-memory §2.6 */
    FLAG_COLUMNS = 0x20,
    FLAG_STREAM = 0x40,
    STAGED_CYCLES = 4,     /* request to the cycle before the entry is held, §7.1 */
    STAGED_PERIOD = 6,     /* of words of a plain read */
    CONVERTER_CYCLES = 11, /* last beat taken to earliest move of the entry, §6.6 */
    PAGE_BYTES = 4096,
    STARVED_CYCLES = 8192, /* noc-and-memory §12.1, 23 */
    IDLE_STEPS = 2,        /* in which a port that got quiet still changes: its account, the slot freed last */
};

const char *const port_cause_names[PORT_CAUSES] = {
    [PORT_IDLE] = "idle",           [PORT_FETCH] = "fetch",           [PORT_HOLD] = "hold",
    [PORT_EMIT] = "emit",           [PORT_PLAIN_READ] = "plain_read", [PORT_WRITE] = "write",
    [PORT_LINK_BUSY] = "link_busy", [PORT_LINK_AGENT] = "link_agent",
};

void port_init(struct mem_port *port, const struct machine *machine, unsigned index, struct flit_pool *pool,
               struct hazard_log *hazards) {
    static const char *const names[] = {"port0", "port1", "port2", "port3"};
    const struct memory_params *memory = &machine->memory;
    *port = (struct mem_port){.name = names[index],
                              .x = machine->ports[index].x,
                              .y = machine->ports[index].y,
                              .index = index,
                              .fall_through = machine->noc.fall_through,
                              .limit = memory->queue_depth - memory->queue_margin,
                              .slot_count = memory->write_slots,
                              .slot_words = MAX(SLOT_WORDS, memory->write_burst),
                              .fetch_transform = memory->fetch_transform,
                              .tensor_fill = machine->cluster.tensor_fill,
                              .rtl_defects = machine->rtl_defects,
                              .serial_entries = memory->serial_entries,
                              .dram_size = memory->size,
                              .split_pages = memory->split_pages,
                              .staging = memory->staging,
                              .stage_bytes = (uint64_t)memory->staging_entries * STAGE_ENTRY_WORDS * WORD_BYTES,
                              .pool = pool,
                              .hazards = hazards,
                              .output = FLIT_NONE,
                              .requester.return_ready = true};
    if (memory->staging == STAGING_PER_PORT)
        port->stage = stage_new(memory, 0);
    fifo_init(&port->reads, memory->queue_depth);
    fifo_init(&port->writes, memory->queue_depth);
    fifo_init(&port->ready, memory->write_slots + machine->noc.fifo_extra);
}

void port_set_mesh(struct mem_port *port, unsigned mesh) {
    port->mesh = mesh;
    if (port->stage)
        port->stage->mesh = mesh;
}

void port_clear(struct mem_port *port) {
    fifo_clear(&port->reads);
    fifo_clear(&port->writes);
    fifo_clear(&port->ready);
    stage_free(port->stage);
    *port = (struct mem_port){0};
}

static void trace(struct mem_port *port, const char *what, cycle_t now) {
    if (port->trace && port->trace->event)
        port->trace->event(port->trace->self, port, what, now);
}

/* ---- intake (§6.4) ---- */

bool port_accepts(struct mem_port *port, cycle_t now) {
    bool room = fifo_held(&port->reads, now) < port->limit && fifo_held(&port->writes, now) < port->limit;
    port->counts.refused_in += !room;
    return room;
}

void port_deliver(struct mem_port *port, flit_index index, cycle_t now) {
    unsigned type = flit_at(port->pool, index)->type;
    port->counts.in[type]++;
    port->idle_steps = 0;
    port_trace_flit(port, flit_at(port->pool, index), true, now);
    fifo_push(type == FLIT_MEM_RD_REQ ? &port->reads : &port->writes, index, now + port->fall_through);
}

/* ---- what a request asks for ---- */

static bool special(uint64_t address) {
    return address >> 39 & 1;
}

/* A staging store that is built serves aperture 0 of this mesh. */
static bool is_staged(const struct mem_port *port, uint64_t address) {
    return port->staging != STAGING_OFF && special(address) && (address >> 36 & 3) == port->mesh &&
           (address >> 32 & 15) == 0;
}

static bool unserved(const struct mem_port *port, uint64_t address) {
    return port->staging != STAGING_OFF && special(address) && !is_staged(port, address);
}

static void report_unserved(struct mem_port *port, const struct flit *flit, uint64_t address, const char *what,
                            cycle_t now) {
    hazard_report(port->hazards, "mem.unserved_aperture", now, port->name,
                  "%s of (%u,%u) at 0x%" G_GINT64_MODIFIER "x names an aperture that nothing serves; it is never %s",
                  what, flit->src_x, flit->src_y, address, flit->type == FLIT_MEM_RD_REQ ? "answered" : "acknowledged");
}

static void check_aperture(struct mem_port *port, uint64_t address, uint64_t bytes, const char *what, cycle_t now) {
    if (port->staging == STAGING_OFF)
        hazard_report(port->hazards, "mem.aperture_alias", now, port->name,
                      "%s at 0x%" G_GINT64_MODIFIER "x names an aperture that is not built and reaches DRAM", what,
                      address);
    else if ((address & bit_mask(32)) + bytes > port->stage_bytes)
        hazard_report(port->hazards, "stage.alias", now, port->name,
                      "%s at 0x%" G_GINT64_MODIFIER "x lies beyond the staging store and wraps", what, address);
}

static void check_request(struct mem_port *port, uint64_t address, uint64_t bytes, const char *what, cycle_t now) {
    if (address % WORD_BYTES)
        hazard_report(port->hazards, "mem.misaligned", now, port->name,
                      "%s at 0x%" G_GINT64_MODIFIER "x is not a multiple of 32 bytes; the low five bits are ignored",
                      what, address);
    if (address % PAGE_BYTES + bytes > PAGE_BYTES)
        hazard_report(port->hazards, "mem.page_cross", now, port->name,
                      "%s of %" G_GINT64_MODIFIER "u bytes at 0x%" G_GINT64_MODIFIER "x crosses a 4 KB page%s", what,
                      bytes, address, port->split_pages ? " and is split there" : "");
    if (special(address))
        check_aperture(port, address, bytes, what, now);
    else if ((address >> 36 & 3) != port->mesh)
        hazard_report(port->hazards, "mem.foreign_mesh", now, port->name,
                      "%s at 0x%" G_GINT64_MODIFIER "x names another mesh and is served from local DRAM", what,
                      address);
    else if ((address & bit_mask(36)) >= port->dram_size)
        hazard_report(port->hazards, "mem.beyond_dram", now, port->name,
                      "%s at 0x%" G_GINT64_MODIFIER "x lies beyond the DRAM and wraps", what, address);
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

/* Writes accepted by any port and not acknowledged yet, against words that are about to be read or written here. */
static void check_writes(struct mem_port *port, uint64_t address, uint64_t bytes, bool reads, cycle_t now) {
    for (unsigned p = 0; p < port->port_count; p++) {
        const struct mem_port *other = &port->ports[p];
        if (!other->slots_used || (other == port && !reads))
            continue;
        for (unsigned s = 0; s < other->slot_count; s++) {
            const struct write_slot *slot = &other->slots[s];
            if (slot->state == SLOT_FREE ||
                !overlap(address, bytes, slot->address, (uint64_t)slot->expected * WORD_BYTES))
                continue;
            hazard_report(port->hazards, other == port ? "mem.raw_hazard" : "mem.race", now, port->name,
                          "0x%" G_GINT64_MODIFIER "x is %s while a write of (%u,%u) to it at %s is not acknowledged",
                          address, reads ? "read" : "written", slot->src_x, slot->src_y, other->name);
        }
    }
}

/* Entry runs in progress at other ports, against words that are about to be written here. */
static void check_runs(struct mem_port *port, uint64_t address, uint64_t bytes, cycle_t now) {
    for (unsigned p = 0; p < port->port_count; p++) {
        const struct mem_port *other = &port->ports[p];
        uint64_t left = (uint64_t)(other->run.unoffered + 1) * other->run.beats * WORD_BYTES;
        if (other != port && other->fetch != FETCH_IDLE && overlap(address, bytes, other->run.address, left))
            hazard_report(port->hazards, "mem.race", now, port->name,
                          "0x%" G_GINT64_MODIFIER "x is written while %s reads it", address, other->name);
    }
}

static void check_known(struct mem_port *port, uint64_t address, unsigned words, cycle_t now) {
    for (unsigned w = 0; port->dram && w < words; w++) {
        uint64_t at = address + (uint64_t)w * WORD_BYTES;
        if (!dram_known(port->dram, at)) {
            hazard_report(port->hazards, "mem.uninitialised", now, port->name,
                          "the word at 0x%" G_GINT64_MODIFIER "x is read and was never written", at);
            return;
        }
    }
}

/* Words of a burst that can be asked for at once. */
static unsigned piece(const struct mem_port *port, uint64_t address, unsigned words) {
    unsigned room = (unsigned)((PAGE_BYTES - address % PAGE_BYTES + WORD_BYTES - 1) / WORD_BYTES);
    return port->split_pages ? MIN(words, room) : words;
}

static void offer_read_piece(struct mem_port *port, uint64_t address, unsigned words) {
    struct mem_requester *requester = &port->requester;
    requester->read_offered = true;
    requester->read_address = address;
    requester->read_words = piece(port, address, words);
    port->read_rest = words - requester->read_words;
}

static void offer_write_piece(struct mem_port *port, uint64_t address, unsigned words) {
    struct mem_requester *requester = &port->requester;
    requester->write_offered = true;
    requester->write_address = address;
    requester->write_words = piece(port, address, words);
    port->write_rest = words - requester->write_words;
    port->responses_due++;
}

/* What was offered has been accepted: the rest of a split burst is next. */
static void follow_offers(struct mem_port *port, cycle_t now) {
    struct mem_requester *requester = &port->requester;
    if (requester->read_accepted) {
        requester->read_offered = false;
        trace(port, "read address", now);
        if (port->read_rest)
            offer_read_piece(port, requester->read_address + (uint64_t)requester->read_words * WORD_BYTES,
                             port->read_rest);
    }
    if (requester->write_accepted) {
        requester->write_offered = false;
        trace(port, "write address", now);
        if (port->write_rest)
            offer_write_piece(port, requester->write_address + (uint64_t)requester->write_words * WORD_BYTES,
                              port->write_rest);
    }
}

static void offer_read(struct mem_port *port, uint64_t address, unsigned words, cycle_t now) {
    check_writes(port, address, (uint64_t)words * WORD_BYTES, true, now);
    check_known(port, address, words, now);
    offer_read_piece(port, address & ~(uint64_t)(WORD_BYTES - 1), words);
    port->counts.reads_issued++;
}

/* Asks for the entry: of memory from the coming cycle on, of the port's own store in it. */
static void offer_entry(struct mem_port *port, cycle_t now) {
    struct entry_run *run = &port->run;
    check_request(port, run->address, (uint64_t)run->beats * WORD_BYTES, "an entry read", now);
    run->unoffered--;
    if (!run->staged) {
        offer_read(port, run->address, run->beats, now);
        return;
    }
    if (run->address % ((uint64_t)run->words * WORD_BYTES))
        hazard_report(port->hazards, "stage.misaligned", now, port->name,
                      "the staged entry of %u words at 0x%" G_GINT64_MODIFIER
                      "x is not a multiple of its size; the line that contains it is read",
                      run->words, run->address);
    port->counts.reads_issued++;
    port->staged_at = now + 1 + STAGED_CYCLES;
}

static const struct word256 *staged_word(const struct mem_port *port, uint64_t address) {
    return &port->stage->words[(address & bit_mask(32)) / WORD_BYTES % port->stage->count];
}

/* The store hands over the line that holds the entry. */
static void take_staged(struct mem_port *port, cycle_t now) {
    struct entry_run *run = &port->run;
    uint64_t size = (uint64_t)run->words * WORD_BYTES, base = run->address / size * size;
    for (unsigned w = 0; w < run->words; w++)
        port->entry[w] = *staged_word(port, base + w * (uint64_t)WORD_BYTES);
    port->stage->reads_served += run->words;
    port->fetch = FETCH_HOLD;
    port->hold_ready = now + 1;
}

/* ---- what-if: an entry of four lanes from four places (compute-units §10.1) ---- */

enum {
    LANE_BEATS = 2 /* memory words of a lane of 32 FP16 values */
};

static void offer_lane(struct mem_port *port, unsigned lane, cycle_t now) {
    const struct entry_run *run = &port->run;
    if (!(run->exist >> lane & 1))
        return;
    check_request(port, run->lanes[lane], LANE_BEATS * WORD_BYTES, "a lane of a tensor", now);
    offer_read(port, run->lanes[lane], LANE_BEATS, now);
}

static void take_gather(struct mem_port *port, const struct flit *flit, cycle_t now) {
    struct entry_run run = {.unmoved = 1,
                            .words = ENTRY_WORDS,
                            .beats = ENTRY_SOURCE_WORDS,
                            .convert = true,
                            .columns = word_get(&flit->payload, 200, 8) & FLAG_COLUMNS,
                            .gather = true,
                            .tag = flit->txn,
                            .note = flit->note,
                            .receivers = 1,
                            .x[0] = flit->src_x,
                            .y[0] = flit->src_y};
    for (unsigned lane = 0; lane < TENSOR_LANES; lane++)
        run.exist |= tensor_lane(&flit->payload, lane, &run.lanes[lane]) << lane;
    port->run = run;
    port->fetch = FETCH_BEATS;
    port->converter_start = true;
    port->beats_taken = 0;
    port->counts.requests++;
    offer_lane(port, 0, now);
}

/* The fetch stands in a lane that does not exist: its beats come from nowhere. */
static bool zero_beat(const struct mem_port *port) {
    return port->run.gather && port->fetch == FETCH_BEATS && !port->converter_start &&
           !(port->run.exist >> port->beats_taken / LANE_BEATS & 1);
}

/* Takes a streaming request: its run starts with the address of entry 0. */
static void take_run(struct mem_port *port, const struct flit *flit, unsigned flags, cycle_t now) {
    const struct word256 *payload = &flit->payload;
    unsigned words = word_get(payload, 158, 8), count = word_get(payload, 192, 8);
    struct entry_run run = {.address = word_get(payload, 216, 40),
                            .unoffered = count ? count : 1,
                            .words = words && words <= ENTRY_WORDS ? words : ENTRY_WORDS,
                            .convert = port->fetch_transform && (flags & FLAG_CONVERT),
                            .columns = flags & FLAG_COLUMNS,
                            .tag = flit->txn,
                            .note = flit->note,
                            .receivers = 1 + word_get(payload, 166, 2),
                            .x[0] = flit->src_x,
                            .y[0] = flit->src_y};
    run.unmoved = run.unoffered;
    run.staged = port->stage && is_staged(port, run.address);
    if (run.convert)
        run.words = ENTRY_WORDS;
    run.beats = run.convert ? ENTRY_SOURCE_WORDS : run.words;
    for (unsigned peer = 1; peer < run.receivers; peer++) {
        unsigned node = word_get(payload, 168 + 8 * (peer - 1), 8);
        run.x[peer] = node & 15;
        run.y[peer] = node >> 4;
    }
    if (run.tag + run.unmoved - 1 > 255)
        hazard_report(port->hazards, "rd.tag_wrap", now, port->name,
                      "a run of %u entries from tag %u wraps: two entries share a tag", run.unmoved, run.tag);
    port->run = run;
    port->fetch = FETCH_BEATS;
    port->converter_start = run.convert;
    port->beats_taken = 0;
    port->counts.requests++;
    offer_entry(port, now);
}

/* ---- write slots (§6.8) ---- */

static int free_slot(const struct mem_port *port, cycle_t now) {
    for (unsigned s = 0; s < port->slot_count; s++)
        if (port->slots[s].state == SLOT_FREE && port->slots[s].free_from <= now)
            return (int)s;
    return -1;
}

static int open_slot(const struct mem_port *port, const struct flit *flit, cycle_t now) {
    for (unsigned s = 0; s < port->slot_count; s++) {
        const struct write_slot *slot = &port->slots[s];
        if (slot->state == SLOT_OPEN && slot->match_from <= now && slot->src_x == flit->src_x &&
            slot->src_y == flit->src_y)
            return (int)s;
    }
    return -1;
}

static void slot_open(struct mem_port *port, unsigned s, const struct flit *flit, cycle_t now) {
    unsigned len = word_get(&flit->payload, 208, 8);
    uint64_t address = word_get(&flit->payload, 216, 40);
    if (open_slot(port, flit, now) >= 0)
        hazard_report(port->hazards, "wr.two_open", now, port->name,
                      "(%u,%u) opens a second write while its first is incomplete; data goes to the lower slot",
                      flit->src_x, flit->src_y);
    if (len + 1 > port->slot_words)
        hazard_report(port->hazards, "wr.len", now, port->name,
                      "(%u,%u) announces a write of %u words, more than a slot's %u", flit->src_x, flit->src_y, len + 1,
                      port->slot_words);
    if (unserved(port, address))
        report_unserved(port, flit, address, "a write", now);
    else
        check_request(port, address, (len + 1) * (uint64_t)WORD_BYTES, "a write", now);
    check_writes(port, address, (len + 1) * (uint64_t)WORD_BYTES, false, now);
    check_runs(port, address, (len + 1) * (uint64_t)WORD_BYTES, now);
    port->slots_used++;
    port->slots[s] = (struct write_slot){.state = SLOT_OPEN,
                                         .match_from = now + 1,
                                         .src_x = flit->src_x,
                                         .src_y = flit->src_y,
                                         .tag = flit->txn,
                                         .address = address,
                                         .expected = (len & 15) + 1};
}

static void slot_store(struct mem_port *port, unsigned s, const struct flit *flit, cycle_t now) {
    struct write_slot *slot = &port->slots[s];
    slot->words[slot->received++ % port->slot_words] = flit->payload;
    bool complete = slot->received == slot->expected;
    if (flit->last != complete)
        hazard_report(port->hazards, "wr.last_mismatch", now, port->name,
                      "`last` of a write word from (%u,%u) disagrees with the announced length", flit->src_x,
                      flit->src_y);
    if (complete) {
        slot->state = SLOT_READY;
        slot->ready_since = now;
        fifo_push(&port->ready, FLIT_NONE, now + port->fall_through)->tag = s;
    }
}

/* Head of the write queue: opens a slot or stores a word; a head that finds no place stays and blocks. */
static void write_queue_step(struct mem_port *port, cycle_t now) {
    bool none_free = free_slot(port, now) < 0;
    port->counts.no_slot_cycles += none_free;
    if (!fifo_readable(&port->writes, now))
        return;
    flit_index index = fifo_head(&port->writes)->flit;
    const struct flit *flit = flit_at(port->pool, index);
    if (flit->type == FLIT_MEM_WR_REQ) {
        if (none_free) {
            port->counts.blocked_open++;
            return;
        }
        slot_open(port, (unsigned)free_slot(port, now), flit, now);
        trace(port, "slot opened", now);
    } else {
        int s = open_slot(port, flit, now);
        if (s < 0) {
            hazard_report(port->hazards, "wr.orphan_data", now, port->name,
                          "a write word from (%u,%u) belongs to no open write and wedges the queue", flit->src_x,
                          flit->src_y);
            return;
        }
        slot_store(port, (unsigned)s, flit, now);
    }
    flit_free(port->pool, index);
    fifo_pop(&port->writes, now);
}

/* ---- the output register ---- */

static void load(struct mem_port *port, const struct flit *content, cycle_t now) {
    port->output = flit_new(port->pool);
    struct flit *flit = flit_at(port->pool, port->output);
    *flit = *content;
    flit->src_x = port->x;
    flit->src_y = port->y;
    flit->offered = now + 1;
}

static void emit_word(struct mem_port *port, cycle_t now) {
    const struct entry_run *run = &port->emit_run;
    unsigned word = port->emit_word, receiver = port->emit_receiver;
    load(port,
         &(struct flit){.dst_x = run->x[receiver],
                        .dst_y = run->y[receiver],
                        .type = FLIT_MEM_RD_RESP,
                        .txn = run->tag,
                        .rsvd = word,
                        .note = run->note,
                        .last = word == run->words - 1,
                        .payload = port->emit[word]},
         now);
    if (++port->emit_word < run->words)
        return;
    port->emit_word = 0;
    if (++port->emit_receiver == run->receivers)
        port->emit_full = false;
}

static void load_ack(struct mem_port *port, cycle_t now) {
    struct write_slot *slot = &port->slots[port->slot];
    load(port,
         &(struct flit){
             .dst_x = slot->src_x, .dst_y = slot->src_y, .type = FLIT_MEM_WR_ACK, .txn = slot->tag, .last = 1},
         now);
    slot->state = SLOT_FREE;
    port->slots_used--;
    slot->free_from = now + 2;
    port->writer = WRITER_IDLE;
    port->response_latched = false;
}

/* The next word of a staged plain read goes to where words of memory arrive. */
static void fetch_staged_word(struct mem_port *port, cycle_t now) {
    port->skid[(port->skid_head + port->skid_held++) % 2] = *staged_word(port, port->plain_address);
    port->plain_address += WORD_BYTES;
    port->plain_unfetched--;
    port->staged_at = now + STAGED_PERIOD;
    port->stage->reads_served++;
}

static void load_plain(struct mem_port *port, cycle_t now) {
    bool last = --port->plain_left == 0;
    load(port,
         &(struct flit){.dst_x = port->plain_x,
                        .dst_y = port->plain_y,
                        .type = FLIT_MEM_RD_RESP,
                        .txn = port->plain_tag,
                        .last = last,
                        .payload = port->skid[port->skid_head]},
         now);
    if (last)
        port->writer = WRITER_IDLE;
}

/* Hands the output register to the mesh; true if it can be loaded in this cycle. */
static bool output_step(struct mem_port *port, cycle_t now, bool link_taken) {
    if (port->output == FLIT_NONE)
        return true;
    const struct flit *flit = flit_at(port->pool, port->output);
    if (link_taken)
        return false;
    if (!port->out.accepts(port->out.self, flit, now)) {
        port->counts.refused_out++;
        return false;
    }
    port->counts.out[flit->type]++;
    port_trace_flit(port, flit, false, now);
    port->out.deliver(port->out.self, port->output, now);
    port->output = FLIT_NONE;
    return true;
}

/* ---- fetch, hold ---- */

/* Offers the address of the entry after the one in hold, if the run has one. */
static void next_entry(struct mem_port *port, cycle_t now) {
    struct entry_run *run = &port->run;
    if (!run->unoffered)
        return;
    run->address += (uint64_t)run->beats * WORD_BYTES;
    offer_entry(port, now);
}

static void take_beat(struct mem_port *port, const struct word256 *word, cycle_t now) {
    struct entry_run *run = &port->run;
    port->entry[port->beats_taken++] = *word;
    if (run->gather && port->beats_taken < run->beats && port->beats_taken % LANE_BEATS == 0)
        offer_lane(port, port->beats_taken / LANE_BEATS, now);
    if (port->beats_taken < run->beats)
        return;
    port->beats_taken = 0;
    port->fetch = FETCH_HOLD;
    port->hold_ready = now + (run->convert ? CONVERTER_CYCLES : 1);
    if (!port->serial_entries)
        next_entry(port, now);
}

static void convert(const struct word256 beats[ENTRY_SOURCE_WORDS], bool columns, struct word256 words[ENTRY_WORDS]) {
    uint16_t lanes[4][32];
    for (unsigned n = 0; n < 128; n++)
        lanes[n / 32][n % 32] = word_get(&beats[n / 16], 16 * (n % 16), 16);
    struct mxfp7_entry entry;
    mxfp7_quantise(lanes, &entry);
    mxfp7_pack(&entry, columns ? MXFP7_COLUMNS : MXFP7_ROWS, words);
}

/* Moves the finished entry to the emit buffer; fetching goes on while entries are left. */
static void move_entry(struct mem_port *port, cycle_t now) {
    struct entry_run *run = &port->run;
    if (run->convert)
        convert(port->entry, run->columns, port->emit);
    else
        memcpy(port->emit, port->entry, sizeof port->emit);
    port->emit_run = *run;
    port->emit_full = true;
    port->emit_word = port->emit_receiver = 0;
    port->counts.entries++;
    run->tag++;
    port->fetch = --run->unmoved ? FETCH_BEATS : FETCH_IDLE;
    if (run->staged)
        next_entry(port, now);
    port->converter_start = run->convert && run->unmoved;
}

/* ---- writes and plain reads ---- */

static void take_plain(struct mem_port *port, const struct flit *flit, cycle_t now) {
    uint64_t address = word_get(&flit->payload, 216, 40);
    port->writer = WRITER_READ;
    port->plain_left = 1 + word_get(&flit->payload, 208, 8);
    port->plain_x = flit->src_x;
    port->plain_y = flit->src_y;
    port->plain_tag = flit->txn;
    check_request(port, address, (uint64_t)port->plain_left * WORD_BYTES, "a plain read", now);
    port->plain_staged = port->stage && is_staged(port, address);
    if (port->plain_staged) {
        port->plain_address = address;
        port->plain_unfetched = port->plain_left;
        port->staged_at = now + 2 + STAGED_CYCLES;
        port->counts.reads_issued++;
        return;
    }
    offer_read(port, address, port->plain_left, now);
}

static void issue_write(struct mem_port *port, cycle_t now) {
    struct write_slot *slot = &port->slots[port->slot = fifo_head(&port->ready)->tag];
    fifo_pop(&port->ready, now);
    if (now - slot->ready_since >= STARVED_CYCLES)
        hazard_report(port->hazards, "wr.starved", now, port->name,
                      "a write of (%u,%u) was complete for %u cycles before it was issued", slot->src_x, slot->src_y,
                      (unsigned)(now - slot->ready_since));
    slot->state = SLOT_ISSUED;
    port->words_offered = port->words_accepted = 0;
    if (unserved(port, slot->address)) { /* freed without traffic and without an acknowledgement */
        slot->state = SLOT_FREE;
        slot->free_from = now + 2;
        port->slots_used--;
        return;
    }
    port->writer = WRITER_WRITE;
    port->counts.writes_issued++;
    port->write_staged = port->stage && is_staged(port, slot->address);
    port->staged_at_write = now + 2;
    if (port->write_staged)
        return;
    port->responses_due = 0;
    offer_write_piece(port, slot->address & ~(uint64_t)(WORD_BYTES - 1), slot->expected);
    trace(port, "burst issued", now);
}

/* A word a cycle into the port's own store, which then has answered. */
static void store_staged(struct mem_port *port, struct write_slot *slot, cycle_t now) {
    if (now < port->staged_at_write)
        return;
    uint64_t at = slot->address + port->words_accepted * (uint64_t)WORD_BYTES;
    port->stage->words[(at & bit_mask(32)) / WORD_BYTES % port->stage->count] =
        slot->words[port->words_accepted % SLOT_WORDS];
    port->stage->writes_served++;
    if (++port->words_accepted == slot->expected) {
        port->writer = WRITER_WAIT;
        port->response_latched = true;
    }
}

/* Offers the next word, or waits for the response after the last. */
static void write_step(struct mem_port *port, cycle_t now) {
    struct write_slot *slot = &port->slots[port->slot];
    if (port->write_staged) {
        store_staged(port, slot, now);
        return;
    }
    struct mem_requester *requester = &port->requester;
    if (requester->data_accepted) {
        port->counts.write_words++;
        if (++port->words_accepted == slot->expected) {
            requester->data_offered = false;
            port->writer = WRITER_WAIT;
            return;
        }
    }
    requester->data_offered = true;
    requester->data = slot->words[port->words_accepted % port->slot_words];
}

/* ---- one cycle ---- */

static void count_cycle(struct mem_port *port, cycle_t now, bool free, bool link_taken) {
    struct port_counts *counts = &port->counts;
    counts->fetch_cycles += port->fetch == FETCH_BEATS;
    counts->hold_cycles += port->fetch == FETCH_HOLD;
    counts->emit_cycles += port->emit_full;
    counts->write_cycles += port->writer == WRITER_WRITE || port->writer == WRITER_WAIT;
    enum port_cause cause = !free && link_taken           ? PORT_LINK_AGENT
                            : !free                       ? PORT_LINK_BUSY
                            : port->emit_full             ? PORT_EMIT
                            : port->fetch == FETCH_BEATS  ? PORT_FETCH
                            : port->fetch == FETCH_HOLD   ? PORT_HOLD
                            : port->writer == WRITER_READ ? PORT_PLAIN_READ
                            : port->writer != WRITER_IDLE ? PORT_WRITE
                                                          : PORT_IDLE;
    account_set(&port->account, cause, now);
}

/* Takes the head of the read queue if it can be served; true if it was a plain read. */
static bool read_queue_step(struct mem_port *port, cycle_t now) {
    if (!fifo_readable(&port->reads, now) || port->fetch != FETCH_IDLE || port->emit_full ||
        port->writer == WRITER_READ)
        return false;
    flit_index index = fifo_head(&port->reads)->flit;
    const struct flit *flit = flit_at(port->pool, index);
    unsigned flags = word_get(&flit->payload, 200, 8);
    bool gather = port->tensor_fill && (flags & REQUEST_GATHER);
    bool stream = (flags & FLAG_STREAM) || gather || (port->fetch_transform && (flags & FLAG_CONVERT));
    if (!stream && port->writer != WRITER_IDLE)
        return false;
    trace(port, "request taken", now);
    uint64_t address = word_get(&flit->payload, 216, 40);
    if (unserved(port, address)) {
        report_unserved(port, flit, address, "a read", now);
        flit_free(port->pool, index);
        fifo_pop(&port->reads, now);
        return false;
    }
    if (gather)
        take_gather(port, flit, now);
    else if (stream)
        take_run(port, flit, flags, now);
    else
        take_plain(port, flit, now);
    flit_free(port->pool, index);
    fifo_pop(&port->reads, now);
    return !stream;
}

void port_step(struct mem_port *port, cycle_t now, bool link_taken) {
    struct mem_requester *requester = &port->requester;
    bool free = output_step(port, now, link_taken);
    count_cycle(port, now, free, link_taken);
    bool held = port->skid_held > 0;
    bool emit = port->emit_full && free;
    bool response = requester->response && port->responses_due == 1 && !port->write_rest;
    bool answered = response || port->response_latched;
    bool ack = port->writer == WRITER_WAIT && answered && free && !emit;
    bool zero = zero_beat(port), beat = held && !zero && port->fetch == FETCH_BEATS && !port->converter_start;
    bool plain = held && port->writer == WRITER_READ && port->fetch == FETCH_IDLE && free && !emit;
    bool move = port->fetch == FETCH_HOLD && now >= port->hold_ready && !port->emit_full;
    bool idle = port->writer == WRITER_IDLE, writing = port->writer == WRITER_WRITE;

    follow_offers(port, now);
    port->responses_due -= requester->response;
    if (response) {
        port->response_latched = true;
        trace(port, "write response", now);
    }
    port->converter_start = false;
    bool staged = port->fetch == FETCH_BEATS && port->run.staged && now == port->staged_at;
    bool staged_word =
        port->writer == WRITER_READ && port->plain_staged && port->plain_unfetched && now >= port->staged_at;
    bool plain_taken = read_queue_step(port, now);
    if (beat || zero)
        take_beat(port, zero ? &(struct word256){{0}} : &port->skid[port->skid_head], now);
    if (staged)
        take_staged(port, now);
    if (staged_word && port->skid_held < 2)
        fetch_staged_word(port, now);
    if (emit) {
        emit_word(port, now);
        if (port->serial_entries && !port->emit_full)
            next_entry(port, now);
    }
    if (move)
        move_entry(port, now);
    if (plain)
        load_plain(port, now);
    if (ack)
        load_ack(port, now);
    if (writing)
        write_step(port, now);
    if (idle && !plain_taken && fifo_readable(&port->ready, now))
        issue_write(port, now);
    write_queue_step(port, now);

    if (beat || plain) {
        port->skid_head ^= 1;
        port->skid_held--;
    }
    if (requester->word_returned) {
        port->skid[(port->skid_head + port->skid_held++) % 2] = requester->word;
        port->counts.read_words++;
    }
    requester->return_ready = port->skid_held < 2;
    port->idle_steps = port_quiet(port) ? port->idle_steps + 1 : 0;
}

bool port_quiet(const struct mem_port *port) {
    return !port->reads.count && !port->writes.count && !port->ready.count && port->fetch == FETCH_IDLE &&
           !port->emit_full && port->writer == WRITER_IDLE && port->output == FLIT_NONE && !port->skid_held &&
           !port->slots_used;
}

bool port_sleeps(const struct mem_port *port) {
    return port->idle_steps > IDLE_STEPS;
}

char *port_waits_for(const struct mem_port *port) {
    if (port->output != FLIT_NONE) {
        const struct flit *flit = flit_at(port->pool, port->output);
        return g_strdup_printf("the mesh to take a flit for (%u,%u)", flit->dst_x, flit->dst_y);
    }
    if (port->writes.count) {
        const struct flit *flit = flit_at(port->pool, fifo_head(&port->writes)->flit);
        if (flit->type == FLIT_MEM_WR_REQ)
            return g_strdup_printf("a free write slot for (%u,%u)", flit->src_x, flit->src_y);
        return g_strdup_printf("an open write of (%u,%u) for its data word", flit->src_x, flit->src_y);
    }
    for (unsigned s = 0; s < port->slot_count; s++)
        if (port->slots[s].state == SLOT_OPEN)
            return g_strdup_printf("%u more words of a write of (%u,%u)",
                                   port->slots[s].expected - port->slots[s].received, port->slots[s].src_x,
                                   port->slots[s].src_y);
    return port_quiet(port) ? NULL : g_strdup("memory");
}
