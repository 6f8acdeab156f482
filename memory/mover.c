/* The memory mover; see mover.h.
 *
 * A step runs its parts in the order address path, issue engine, write engine, return. Each of them reads only what the
 * parts before it leave alone, so every decision rests on the state at the start of the cycle, as §8.10 wants it. */
#include "memory/mover.h"

#include <string.h>

#include "memory/mover_convert.h"
#include "memory/philox.h"

enum {
    OFFSET_MASK = 0x78, /* bits 2:0 of a register offset are ignored, 0x00..0x7F is decoded */
    PAGE_WORDS = 4096 / WORD_BYTES,
    INDEXES_PER_WORD = 8,
    INDEX_BITS = 32,
    GATHER_CYCLES = 3, /* index, multiply, add; latch and run make five */
    /* Cycles after a generate command was taken (§8.10). */
    FIRST_HALF = 1,
    SECOND_HALF = 43,
    GENERATED = 84, /* the second half is there; armed in the next cycle */
    ROW_WORDS_OF_0 = 65536,
    MESH_BIT = 36, /* address map, §1.4 */
    SPECIAL_BIT = 39,
    RESET_WIDTH = 1,
};

static const char where[] = "mover";

/* ---- setting up ---- */

static unsigned power_of_two(unsigned at_least) {
    unsigned size = 1;
    while (size < at_least)
        size *= 2;
    return size;
}

void mover_init(struct mover *mover, const struct machine *machine, unsigned mesh, struct transform_bank *bank,
                struct hazard_log *hazards) {
    const struct mover_params *params = &machine->mover;
    *mover = (struct mover){.rtl_defects = machine->rtl_defects, .mesh = mesh, .bank = bank, .hazards = hazards};
    mover->params = (struct mover_params_run){.fall_through = machine->noc.fall_through,
                                              .max_reads = MIN(params->max_reads, MOVER_READS_RING / 2),
                                              .max_writes = params->max_writes,
                                              .burst_max = params->burst_max,
                                              .fifo_depth = params->fifo_depth,
                                              .command_capacity = params->command_depth + machine->noc.fifo_extra,
                                              .index_words = params->index_words};
    mover->stepped_at = CYCLE_NEVER;
    mover->width = RESET_WIDTH;
    mover->row_words = 1;
    mover->port.return_ready = true;
    walker_reset(&mover->source);
    walker_reset(&mover->destination);
    mover->indexes = g_new0(uint32_t, params->index_words * INDEXES_PER_WORD);
    mover->data_mask = power_of_two(params->fifo_depth + TRANSFORM_WORDS) - 1;
    mover->data = g_new0(struct mover_data, mover->data_mask + 1);
    mover->command_mask = power_of_two(mover->params.command_capacity + 1) - 1;
    mover->commands = g_new0(struct mover_write_command, mover->command_mask + 1);
}

void mover_clear(struct mover *mover) {
    g_free(mover->indexes);
    g_free(mover->data);
    g_free(mover->commands);
    *mover = (struct mover){0};
}

bool mover_busy(const struct mover *mover) {
    return mover->state != ISSUE_IDLE;
}

uint64_t mover_status(const struct mover *mover, unsigned reads, unsigned writes) {
    return mover->moves_done << 40 | (uint64_t)(reads & 0xFFFF) << 24 | (uint64_t)(writes & 0xFFFF) << 8 |
           (uint64_t)mover->fault << 4 | mover_busy(mover);
}

/* ---- registers (§8.8) ---- */

static void report_late_write(struct mover *mover, unsigned offset, uint64_t value, cycle_t now) {
    if (!mover_busy(mover))
        return;
    if (offset == MOVER_REG_COMMAND && value & MOVER_GO)
        hazard_report(mover->hazards, "mover.go_lost", now, where,
                      "GO was written while a move runs: it is ignored, but mode, width and flags of that write are "
                      "taken (noc-and-memory §8.8)");
    else
        hazard_report(mover->hazards, "mover.reconfigured", now, where,
                      "register 0x%02x was written while a move runs: the running move changes (noc-and-memory §8.8)",
                      offset);
}

/* What a write changes one cycle after it. */
static void write_scalar(struct mover *mover, unsigned offset, uint64_t value, cycle_t now) {
    switch (offset) {
    case MOVER_REG_COMMAND:
        mover->command_mode = value & 7;
        mover->width = value >> 3 & 3;
        mover->flags = value >> 8 & 0xFF;
        mover->go = value & MOVER_GO && !mover_busy(mover);
        break;
    case MOVER_REG_HEADER:
        if (value & 1)
            break;
        mover->gather_base = value >> 4 & ADDRESS_MASK;
        mover->xform_id = value >> 47 & 15;
        mover->xform_mode = value >> 55 & 15;
        break;
    case MOVER_REG_INDEX:
        mover->index_base = value & ADDRESS_MASK;
        mover->index_count = value >> ADDRESS_BITS & 0xFFFF;
        break;
    case MOVER_REG_SEED:
        mover->seed = value;
        break;
    case MOVER_REG_IMMEDIATE:
        mover->immediate = (uint32_t)value;
        break;
    case MOVER_REG_PITCH:
        mover->pitch = (uint32_t)value;
        mover->row_words = value >> 32 & 0xFFFF;
        break;
    case MOVER_REG_DIM:
    case MOVER_REG_DIM_AXIS:
    case MOVER_REG_BOUND:
        break;
    default:
        return;
    }
    report_late_write(mover, offset, value, now);
}

/* What a write changes two cycles after it: the walkers. */
static void write_walker(struct mover *mover, unsigned offset, uint64_t value) {
    uint64_t select = offset == MOVER_REG_DIM_AXIS ? mover->held_dim : value;
    struct walker *walker = select & 1 ? &mover->destination : &mover->source;
    switch (offset) {
    case MOVER_REG_HEADER:
        walker->base = value >> 4 & ADDRESS_MASK;
        walker->ndim = value >> 44 & 7;
        break;
    case MOVER_REG_DIM:
        mover->held_dim = value;
        return;
    case MOVER_REG_DIM_AXIS: {
        unsigned dim = select >> 1 & 7;
        if (dim < WALKER_DIMS)
            walker->dims[dim] = (struct walker_dim){.count = (uint16_t)(select >> 4),
                                                    .stride = (uint32_t)(select >> 20),
                                                    .axis = value & 3,
                                                    .step = (int16_t)(value >> 2)};
        break;
    }
    case MOVER_REG_BOUND:
        walker->axes[value >> 1 & 1] =
            (struct walker_axis){.start = (uint16_t)(value >> 2), .extent = (uint16_t)(value >> 18)};
        break;
    default:
        return;
    }
    walker_refresh(walker);
}

/* Brings the registers to their state at the start of cycle now. */
static void apply_writes(struct mover *mover, cycle_t now) {
    for (; mover->scalars_out < mover->pending_in; mover->scalars_out++) {
        unsigned i = mover->scalars_out % MOVER_WRITES_PENDING;
        if (mover->pending[i].cycle >= now)
            break;
        write_scalar(mover, mover->pending[i].offset, mover->pending[i].value, now);
    }
    for (; mover->walkers_out < mover->pending_in; mover->walkers_out++) {
        unsigned i = mover->walkers_out % MOVER_WRITES_PENDING;
        if (mover->pending[i].cycle + 1 >= now)
            break;
        write_walker(mover, mover->pending[i].offset, mover->pending[i].value);
    }
}

/* The fill word of the next cycle: immediate and width as they will stand then. */
static struct word256 fill_word(const struct mover *mover) {
    unsigned width = mover->width;
    uint32_t immediate = mover->immediate;
    for (uint64_t n = mover->scalars_out; n < mover->pending_in; n++) {
        unsigned i = n % MOVER_WRITES_PENDING;
        if (mover->pending[i].offset == MOVER_REG_COMMAND)
            width = mover->pending[i].value >> 3 & 3;
        else if (mover->pending[i].offset == MOVER_REG_IMMEDIATE)
            immediate = (uint32_t)mover->pending[i].value;
    }
    uint64_t lane = width == 0   ? (immediate & 0xFF) * UINT64_C(0x0101010101010101)
                    : width == 1 ? (immediate & 0xFFFF) * UINT64_C(0x0001000100010001)
                                 : immediate * UINT64_C(0x0000000100000001);
    return (struct word256){{lane, lane, lane, lane}};
}

static void offer_data(struct mover *mover) {
    mover->port.data_offered = mover->writing == WRITE_DATA;
    if (!mover->port.data_offered)
        return;
    switch (mover->command.kind) {
    case KIND_FILL:
        mover->port.data = fill_word(mover);
        break;
    case KIND_GENERATED:
        mover->port.data = mover->generated;
        break;
    default:
        mover->port.data = mover->data[mover->data_out & mover->data_mask].word;
        break;
    }
}

void mover_write(struct mover *mover, unsigned offset, uint64_t value, cycle_t now) {
    apply_writes(mover, now);
    unsigned i = mover->pending_in++ % MOVER_WRITES_PENDING;
    mover->pending[i].cycle = now;
    mover->pending[i].offset = offset & OFFSET_MASK;
    mover->pending[i].value = value;
    if (mover->stepped_at == now) /* else this cycle's step will see the write */
        offer_data(mover);
}

/* ---- address path: register, skid, channel ---- */

static void address_step(struct mover *mover) {
    bool takes = mover->register_full && mover->skid_count < MOVER_SKID;
    if (mover->port.read_accepted) {
        mover->skid[0] = mover->skid[1];
        mover->skid_count--;
    }
    if (takes) {
        mover->skid[mover->skid_count++] = mover->address_register;
        mover->register_full = false;
    }
}

static bool may_close_read(const struct mover *mover) {
    return !mover->register_full && mover->bursts_out < mover->params.max_reads;
}

static void close_read(struct mover *mover) {
    struct mover_run *run = &mover->read;
    mover->address_register = (struct mover_burst){.address = run->base, .words = run->words, .entry = run->entry};
    mover->register_full = true;
    mover->out_words[mover->out_tail++ % MOVER_READS_RING] = run->words;
    mover->bursts_out++;
    run->open = false;
}

/* ---- command queue ---- */

static bool command_full(const struct mover *mover) {
    return mover->command_in - mover->command_out >= mover->params.command_capacity;
}

static bool command_readable(const struct mover *mover, cycle_t now) {
    return mover->command_in != mover->command_out &&
           mover->commands[mover->command_out & mover->command_mask].ready <= now;
}

static void close_write(struct mover *mover, cycle_t now) {
    struct mover_run *run = &mover->write;
    mover->commands[mover->command_in++ & mover->command_mask] = (struct mover_write_command){
        .address = run->base, .words = run->words, .kind = run->kind, .ready = now + mover->params.fall_through};
    run->open = false;
}

/* ---- issue engine: elements ---- */

static bool gathers(const struct mover *mover) {
    return mover->command_mode == MOVER_GATHER;
}

static uint64_t gather_source(struct mover *mover, cycle_t now) {
    uint32_t row = mover->row;
    if (row >= MAX(mover->index_count, 1))
        hazard_report(
            mover->hazards, "mover.gather_overrun", now, where,
            "the destination asks for row %u but only %u indexes were given: stale index (noc-and-memory §8.4)", row,
            mover->index_count);
    if (mover->rtl_defects && row >= INDEXES_PER_WORD && row % INDEXES_PER_WORD == 0 && mover->row_word == 0)
        row -= INDEXES_PER_WORD; /* defect gather_row8: the next index word comes one cycle late */
    uint32_t index = mover->indexes[row % (mover->params.index_words * INDEXES_PER_WORD)];
    return (mover->gather_base + index * mover->pitch + (uint64_t)mover->row_word * WORD_BYTES) & ADDRESS_MASK;
}

static void gather_advance(struct mover *mover) {
    if (++mover->row_word == (mover->row_words ? mover->row_words : ROW_WORDS_OF_0)) {
        mover->row_word = 0;
        mover->row++;
    }
}

static enum word_kind kind_of(const struct mover *mover) {
    switch (mover->command_mode) {
    case MOVER_FILL:
        return KIND_FILL;
    case MOVER_GENERATE:
        return KIND_GENERATED;
    case MOVER_GATHER:
        return KIND_READ;
    default:
        return walker_valid(&mover->source) ? KIND_READ : KIND_FILL;
    }
}

static void check_source(struct mover *mover, uint64_t source, cycle_t now) {
    if (source % WORD_BYTES && !gathers(mover))
        hazard_report(mover->hazards, "mover.src_misaligned", now, where,
                      "source address 0x%010" PRIx64 " is not a multiple of 32: the low five bits are ignored "
                      "(noc-and-memory §8.2)",
                      source);
    if ((source >> MESH_BIT & 3) != mover->mesh && !(source >> SPECIAL_BIT & 1))
        hazard_report(mover->hazards, "mem.foreign_mesh", now, where,
                      "source address 0x%010" PRIx64 " names another mesh than %u: local memory is read "
                      "(noc-and-memory §8.9)",
                      source, mover->mesh);
}

/* The element the walkers stand on; then they go on. */
static void latch(struct mover *mover, cycle_t now) {
    struct mover_element *element = &mover->element;
    if (mover->convert.active) {
        *element = convert_latch(mover);
    } else {
        uint64_t destination = walker_address(&mover->destination);
        bool valid = walker_valid(&mover->destination), last = walker_at_last(&mover->destination);
        bool misaligned = valid && destination % WORD_BYTES;
        enum word_kind kind = valid && !misaligned ? kind_of(mover) : KIND_SUPPRESSED;
        bool reads = kind == KIND_READ;
        uint64_t source = gathers(mover) ? gather_source(mover, now) : walker_address(&mover->source);
        *element = (struct mover_element){.source = source,
                                          .destination = destination,
                                          .kind = kind,
                                          .reads = reads,
                                          .reserve = reads,
                                          .misaligned = misaligned,
                                          .ends = last || misaligned};
        walker_advance(&mover->destination);
        walker_advance(&mover->source);
        gather_advance(mover);
    }
    if (element->reads)
        check_source(mover, element->source, now);
}

/* ---- issue engine: runs (§8.6, "Processing" in §8.10) ---- */

static unsigned burst_cap(const struct mover *mover) {
    unsigned v = mover->flags >> 5 & 7;
    return v ? MIN(1u << (v - 1), mover->params.burst_max) : mover->params.burst_max;
}

static bool coalesces(const struct mover *mover) {
    return mover->flags & 1 << 3;
}

/* Words that may follow the first one of a run at the address. */
static unsigned run_room(const struct mover *mover, uint64_t address) {
    unsigned page = PAGE_WORDS - 1 - address / WORD_BYTES % PAGE_WORDS;
    return MIN(page, burst_cap(mover) - 1);
}

static void run_open(struct mover *mover, struct mover_run *run, uint64_t address, enum word_kind kind) {
    *run = (struct mover_run){.open = true,
                              .base = address,
                              .next = (address + WORD_BYTES) & ADDRESS_MASK,
                              .words = 1,
                              .room = run_room(mover, address),
                              .kind = kind,
                              .entry = mover->element.entry};
}

static void run_extend(struct mover_run *run) {
    run->words++;
    run->room--;
    run->next = (run->next + WORD_BYTES) & ADDRESS_MASK;
}

/* Takes the latched element unless it has to wait; true if it was taken. */
static bool process(struct mover *mover, cycle_t now) {
    struct mover_element *e = &mover->element;
    struct mover_run *read = &mover->read, *write = &mover->write;
    bool writes = e->kind != KIND_SUPPRESSED && e->kind != KIND_NONE;
    bool extends_read = read->open && e->reads && !e->opens_entry && e->source == read->next && read->room;
    bool extends_write = write->open && coalesces(mover) && e->kind == write->kind &&
                         (e->kind == KIND_READ || e->kind == KIND_FILL) && e->destination == write->next && write->room;
    bool closes_read = read->open && !extends_read && !e->keeps_read;
    bool closes_write = write->open && !extends_write && e->kind != KIND_NONE;
    bool stalls = (closes_read && !may_close_read(mover)) || (closes_write && command_full(mover)) ||
                  (e->reserve && mover->reserved + e->reserve > mover->params.fifo_depth);
    if (stalls) {
        if (closes_write && command_full(mover) && read->open && may_close_read(mover) && mover->starved)
            close_read(mover); /* or both engines would wait for each other */
        return false;
    }
    if (closes_read)
        close_read(mover);
    if (closes_write)
        close_write(mover, now);
    if (extends_read)
        run_extend(read);
    else if (e->reads)
        run_open(mover, read, e->source, e->kind);
    if (extends_write)
        run_extend(write);
    else if (writes)
        run_open(mover, write, e->destination, e->kind);
    mover->reserved += e->reserve;
    if (mover->convert.active && writes)
        mover->convert.words_walked++;
    if (e->misaligned)
        mover->fault = MOVER_FAULT_ALIGNMENT;
    return true;
}

/* ---- issue engine: states ---- */

static enum mover_fault go_fault(const struct mover *mover) {
    if (mover->width == 3)
        return MOVER_FAULT_WIDTH;
    switch (mover->command_mode) {
    case MOVER_COPY:
    case MOVER_GENERATE:
    case MOVER_FILL:
        return MOVER_FAULT_NONE;
    case MOVER_GATHER:
        return mover->index_count > mover->params.index_words * INDEXES_PER_WORD ? MOVER_FAULT_INDEX : MOVER_FAULT_NONE;
    case MOVER_TRANSPOSE:
        return MOVER_FAULT_MODE;
    case MOVER_TRANSFORM:
        return mover->rtl_defects ? MOVER_FAULT_NONE : convert_check(mover);
    default:
        return mover->rtl_defects ? MOVER_FAULT_NONE : MOVER_FAULT_MODE; /* published: 5 to 7 run as a copy */
    }
}

static void send_index_address(struct mover *mover) {
    mover->address_register = (struct mover_burst){.address = mover->index_address, .words = 1};
    mover->register_full = true;
    mover->index_address = (mover->index_address + WORD_BYTES) & ADDRESS_MASK;
    mover->state = ISSUE_INDEX_SEND;
}

static void accept_go(struct mover *mover) {
    mover->fault = go_fault(mover);
    if (mover->fault) {
        mover->state = ISSUE_FAULTED;
    } else if (gathers(mover)) {
        mover->index_address = mover->index_base;
        mover->index_loaded = 0;
        mover->index_wanted = MAX((mover->index_count + INDEXES_PER_WORD - 1) / INDEXES_PER_WORD, 1);
        send_index_address(mover);
    } else if (mover->command_mode == MOVER_TRANSFORM && !mover->rtl_defects) {
        convert_begin(mover);
    } else {
        mover->state = ISSUE_START;
    }
}

static void take_index_word(struct mover *mover) {
    uint32_t *to = &mover->indexes[mover->index_loaded * INDEXES_PER_WORD];
    for (unsigned i = 0; i < INDEXES_PER_WORD; i++)
        to[i] = (uint32_t)word_get(&mover->port.word, INDEX_BITS * i, INDEX_BITS);
    if (++mover->index_loaded < mover->index_wanted)
        send_index_address(mover);
    else
        mover->state = ISSUE_INDEX_END;
}

static void start_walk(struct mover *mover) {
    walker_start(&mover->source);
    walker_start(&mover->destination);
    mover->row = mover->row_word = 0;
    mover->gather_wait = GATHER_CYCLES;
    mover->state = gathers(mover) ? ISSUE_GATHER : ISSUE_LATCH;
}

static void run_step(struct mover *mover, cycle_t now) {
    if (!process(mover, now))
        return;
    if (mover->element.ends) {
        mover->state = ISSUE_FLUSH;
    } else if (gathers(mover)) {
        mover->gather_wait = GATHER_CYCLES;
        mover->state = ISSUE_GATHER;
    } else {
        latch(mover, now);
    }
}

static void flush_step(struct mover *mover, cycle_t now) {
    if (mover->read.open) {
        if (may_close_read(mover))
            close_read(mover);
    } else if (mover->write.open) {
        if (!command_full(mover))
            close_write(mover, now);
    } else {
        mover->state = ISSUE_DRAIN;
    }
}

static void drain_step(struct mover *mover, cycle_t now) {
    if (mover->writing != WRITE_IDLE || command_readable(mover, now) || mover->unanswered || mover->bursts_out ||
        mover->reserved || mover->present)
        return;
    if (mover->command_in != mover->command_out)
        hazard_report(mover->hazards, "mover.idle_before_write", now, where,
                      "the move reports done before its words are written: its only command was pushed at its very end "
                      "(noc-and-memory §8.6, exception)");
    mover->state = ISSUE_DONE;
}

/* Returns whether the word returned in this cycle was an index word. */
static bool issue_step(struct mover *mover, cycle_t now) {
    switch (mover->state) {
    case ISSUE_IDLE:
        if (mover->go)
            accept_go(mover);
        break;
    case ISSUE_FAULTED:
        mover->state = ISSUE_IDLE;
        break;
    case ISSUE_INDEX_SEND:
        if (!mover->register_full)
            mover->state = ISSUE_INDEX_WAIT;
        break;
    case ISSUE_INDEX_WAIT:
        if (!mover->port.word_returned)
            break;
        take_index_word(mover);
        return true;
    case ISSUE_INDEX_END:
        mover->state = ISSUE_START;
        break;
    case ISSUE_GRANT:
        convert_begin(mover);
        break;
    case ISSUE_START:
        start_walk(mover);
        break;
    case ISSUE_GATHER:
        if (--mover->gather_wait == 0)
            mover->state = ISSUE_LATCH;
        break;
    case ISSUE_LATCH:
        latch(mover, now);
        mover->state = ISSUE_RUN;
        break;
    case ISSUE_RUN:
        run_step(mover, now);
        break;
    case ISSUE_FLUSH:
        flush_step(mover, now);
        break;
    case ISSUE_DRAIN:
        drain_step(mover, now);
        break;
    case ISSUE_DONE:
        mover->moves_done += mover->fault == MOVER_FAULT_NONE;
        convert_end(mover);
        mover->state = ISSUE_IDLE;
        break;
    }
    return false;
}

/* ---- write engine ---- */

static void offer_burst(struct mover *mover) {
    mover->writing = WRITE_DATA;
    mover->words_left = mover->command.words;
    mover->port.write_offered = true;
    mover->port.write_address = mover->command.address;
    mover->port.write_words = mover->command.words;
    mover->unanswered++;
    if (mover->convert.active && mover->command.kind == KIND_READ)
        mover->convert.words_committed += mover->command.words;
}

static void generate_step(struct mover *mover, cycle_t now) {
    cycle_t since = now - mover->taken_at;
    if (since == FIRST_HALF || since == SECOND_HALF)
        philox_half(&mover->generated, since == SECOND_HALF, mover->seed, mover->command.address);
    if (since == GENERATED)
        mover->writing = WRITE_ARMED;
}

static void hand_over(struct mover *mover) {
    mover->words_left--;
    mover->words_written++;
    if (mover->command.kind != KIND_READ)
        return;
    mover->data_out++;
    mover->present--;
    mover->reserved--;
    mover->convert.words_written++;
}

static void write_step(struct mover *mover, cycle_t now) {
    bool handed = mover->port.data_accepted, handed_read = handed && mover->command.kind == KIND_READ;
    bool last = handed && mover->words_left == 1;
    bool may_offer = mover->unanswered < mover->params.max_writes, idle = mover->writing == WRITE_IDLE;
    bool readable = command_readable(mover, now);
    const struct mover_write_command *head = &mover->commands[mover->command_out & mover->command_mask];
    const struct mover_write_command *command = mover->writing == WRITE_ARMED ? &mover->command : head;
    bool data_readable =
        mover->data_in != mover->data_out && mover->data[mover->data_out & mover->data_mask].ready <= now;
    bool ready = command->kind != KIND_READ || (data_readable && mover->present >= command->words + handed_read);
    mover->starved = !ready && (mover->writing == WRITE_ARMED || (idle && readable));
    unsigned answered = mover->port.response;

    if (handed)
        hand_over(mover);
    if (mover->port.write_accepted)
        mover->port.write_offered = false;
    if (idle || last) {
        mover->writing = WRITE_IDLE;
        if (readable && may_offer) {
            mover->command = *head;
            mover->command_out++;
            mover->taken_at = now;
            mover->writing = mover->command.kind == KIND_GENERATED ? WRITE_GENERATING : WRITE_ARMED;
            if (ready && mover->writing == WRITE_ARMED)
                offer_burst(mover);
        }
    } else if (mover->writing == WRITE_ARMED) {
        if (ready && may_offer)
            offer_burst(mover);
    } else if (mover->writing == WRITE_GENERATING) {
        generate_step(mover, now);
    }
    mover->unanswered -= answered;
}

/* ---- returned words ---- */

void mover_push_data(struct mover *mover, const struct word256 *word, cycle_t now) {
    mover->data[mover->data_in++ & mover->data_mask] =
        (struct mover_data){.word = *word, .ready = now + mover->params.fall_through};
    mover->present++;
}

static void return_step(struct mover *mover, cycle_t now) {
    mover->words_read++;
    if (++mover->burst_returned == mover->out_words[mover->out_head % MOVER_READS_RING]) {
        mover->burst_returned = 0;
        mover->out_head++;
        mover->bursts_out--;
    }
    if (mover->convert.active)
        convert_beat(mover, now);
    else
        mover_push_data(mover, &mover->port.word, now);
}

static void offer_reads(struct mover *mover) {
    mover->port.read_offered = mover->skid_count && (!mover->convert.active || convert_may_offer(mover));
    mover->port.read_address = mover->skid[0].address;
    mover->port.read_words = mover->skid[0].words;
    mover->port.return_ready = !mover->convert.active || convert_return_ready(mover);
    if (mover->convert.active && mover->port.read_offered)
        mover->convert.offered = mover->skid[0].entry + 1;
}

cycle_t mover_step(struct mover *mover, cycle_t now) {
    apply_writes(mover, now);
    mover->stepped_at = now;
    mover->busy_cycles += mover_busy(mover);
    mover->read_bursts += mover->port.read_accepted;
    mover->write_bursts += mover->port.write_accepted;
    address_step(mover);
    if (mover->convert.active)
        convert_watch(mover, now);
    bool index_word = issue_step(mover, now);
    mover->go = false;
    write_step(mover, now);
    if (mover->convert.active)
        convert_step(mover, now);
    if (mover->port.word_returned && !index_word)
        return_step(mover, now);
    offer_reads(mover);
    offer_data(mover);
    bool active = mover_busy(mover) || mover->writing != WRITE_IDLE || mover->command_in != mover->command_out ||
                  mover->unanswered || mover->scalars_out < mover->pending_in;
    return active ? now + 1 : CYCLE_NEVER;
}
