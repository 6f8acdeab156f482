/* The vector core's sequencer; see core.h. Cycles are those of the schedule in compute-units §8.2: f the fetch of an
 * instruction, x its execute cycle, g the last cycle it is held in x.
 *
 * The sequencer sleeps between the cycles in which it decides something. What happens in between without a choice (lane
 * beats, reads and stores of L1) is worked off when the next step comes, in the order of its own cycles. */
#include "units/vector/core.h"

#include <string.h>

#include <glib.h>

#include "model/isa/vector.h"
#include "model/numeric/e8m15_convert.h"
#include "units/vector/address.h"
#include "units/vector/way_out.h"

enum {
    TYPE_CODE = 0x5643,       /* "VC" */
    BUFFERS = 2,              /* published in the capabilities register (§7.1) */
    FETCH_CYCLES = 3,         /* x = f + 3 */
    RUN_TO_EXECUTE = 3,       /* a + 1 -> a + 4 */
    RETIRE_BEHIND = 3,        /* d = h + 3 and e + 3 */
    KERNEL_LONGEST = 1 << 22, /* cycles after which a kernel that only computes counts as one that never ends */
    GATHER_PERIOD = 4,        /* words of a chain come every four cycles */
    REQUEST_CHECK = 5,        /* a walk's length is looked at in g + 5 */
    REQUEST_FIRST = 6,        /* first word put, or read for a drain, in g + 6 */
    DRAIN_READ = 2,           /* a word read in t is put in t + 2 at the earliest */
    IMEM_WORDS_MAX = 8,       /* instruction words that fill a payload (§7.3) */
    FOOTPRINT_CLEAN = 320,    /* words a kernel could touch without the defect measured on a card (§7.10) */
};

struct core;

struct loop {
    bool active;
    uint32_t count; /* 24 bits */
    uint16_t top, end;
};

/* A VLD or VST being worked off. */
struct transfer {
    struct walk walk;
    unsigned done, count; /* L1 words */
    bool full;            /* FP32 */
    cycle_t next;         /* cycle of the next read or store */
    bool held_back;       /* the store in hand has met an incoming word */
    unsigned previous;    /* L1 word of an FP32 store's first half */
};

/* A VFILL or VDRAIN being worked off. */
struct stream {
    struct walk walk;
    unsigned done, count, first; /* words, L1 word of the first */
    cycle_t next;                /* earliest put of the next word */
    uint64_t record;             /* drain to a node: what the descriptor says */
};

struct core {
    const char *name;
    struct hazard_log *hazards;
    bool has_expsum, rtl_defects;
    unsigned words_per_flit; /* instruction words */
    struct vector_trace trace;
    struct account account;
    uint64_t instructions;
    /* The port's instruction. */
    void (*phase)(struct core *core, struct unit_io *io); /* what happens in `next` */
    cycle_t next;
    cycle_t offered; /* a */
    bool running;    /* a kernel: the cycle register counts */
    uint32_t cycles; /* the cycle register when no kernel runs */
    bool faulted;
    uint32_t result;
    unsigned packed_pc, packed_left;
    /* The kernel. */
    uint16_t pc;
    struct loop loop;
    cycle_t executed; /* x */
    uint64_t moves;   /* instruction words executed, in a kernel not older than KERNEL_LONGEST: its progress */
    uint16_t executed_pc;
    struct vector_word words[CHAIN_STAGES];
    struct lane_work work;
    cycle_t clear; /* first cycle in which the registers it names have no writes outstanding */
    struct transfer transfer;
    struct stream stream;
    uint32_t imem[VECTOR_IMEM_WORDS];
    uint64_t imem_set[VECTOR_IMEM_WORDS / 64];
    struct descriptor descriptors[DESCRIPTORS];
    struct lanes lanes;
    struct local_store l1;
    struct way_out out;
};

typedef void phase_fn(struct core *core, struct unit_io *io);

static phase_fn idle, take, retire, retire_kernel, fetch, execute, wait_registers, issue, load_end, store_more, move,
    set_mode, barrier, fill_start, fill_check, fill_put, drain_check, drain_put, halt, hang;

/* The sequencer does `phase` in cycle `at`; the cycles from `now` until then belong to `cause`. */
static void go(struct core *core, phase_fn *phase, cycle_t at, enum vector_cause cause, cycle_t now) {
    core->phase = phase;
    core->next = at;
    account_set(&core->account, cause, now);
}

static void tell(struct core *core, enum vector_event event, cycle_t cycle, unsigned detail) {
    if (core->trace.event)
        core->trace.event(core->trace.self, event, cycle, detail);
}

static void fault(struct core *core, enum vector_fault code, cycle_t found, cycle_t now) {
    core->running = false;
    core->faulted = true;
    core->result = code;
    core->cycles = (uint32_t)(found - core->offered);
    go(core, retire, found + RETIRE_BEHIND, VECTOR_CAUSE_RETIRE, now);
}

/* ---- the port's instructions (§7.3) ---- */

static void idle(struct core *core, struct unit_io *io) {
    core->next = CYCLE_NEVER;
    if (!io->inst)
        return;
    core->offered = io->now;
    go(core, take, io->now + 1, VECTOR_CAUSE_ENVELOPE, io->now);
}

static void imem_write(struct core *core, unsigned address, uint32_t word) {
    core->imem[address % VECTOR_IMEM_WORDS] = word;
    core->imem_set[address % VECTOR_IMEM_WORDS / 64] |= UINT64_C(1) << address % 64;
}

/* What-if: a flit that announces start address and number of words, then flits of several words each (§7.3). */
static bool take_packed(struct core *core, const struct word256 *payload, const struct vector_envelope *envelope) {
    if (core->packed_left) {
        unsigned words = MIN(core->packed_left, core->words_per_flit);
        for (unsigned i = 0; i < words; i++)
            imem_write(core, core->packed_pc++, (uint32_t)word_get(payload, 32 * i, 32));
        core->packed_left -= words;
        return true;
    }
    if (core->words_per_flit == 1 || envelope->op != VECTOR_IMEM)
        return false;
    core->packed_pc = envelope->pc;
    core->packed_left = envelope->word;
    return true;
}

/* Units share opcode numbers: bits outside the opcode's own fields betray an instruction meant for another kind of unit
 * (compute-units §2.3). It is executed all the same. */
static void note_wrong_kind(struct core *core, const struct word256 *payload, const struct vector_envelope *envelope,
                            cycle_t now) {
    struct word256 own;
    if (vector_envelope_encode(envelope, &own, NULL) && memcmp(&own, payload, sizeof own) == 0)
        return;
    hazard_report(core->hazards, "unit.wrong_kind", now, core->name,
                  "an instruction with opcode %u has bits that no vector core reads and looks meant for another unit; "
                  "it is executed as what its opcode says here",
                  envelope->op);
}

static void start_kernel(struct core *core, unsigned pc, cycle_t now) {
    core->pc = (uint16_t)pc;
    core->loop.active = false;
    core->running = true;
    local_footprint_reset(&core->l1);
    tell(core, VECTOR_EVENT_OFFERED, core->offered, pc);
    if (local_rejected(&core->l1, now)) {
        core->l1.rejected = false;
        fault(core, VECTOR_FAULT_CUDATA, now, now);
    } else {
        go(core, execute, now + RUN_TO_EXECUTE, VECTOR_CAUSE_FETCH, now);
    }
}

static void take(struct core *core, struct unit_io *io) {
    struct vector_envelope envelope;
    vector_envelope_decode(&io->inst->payload, &envelope);
    io->take = true;
    core->faulted = false;
    core->result = 0;
    go(core, retire, io->now + 1, VECTOR_CAUSE_ENVELOPE, io->now);
    if (take_packed(core, &io->inst->payload, &envelope))
        return;
    note_wrong_kind(core, &io->inst->payload, &envelope, io->now);
    if (envelope.op == VECTOR_IMEM)
        imem_write(core, envelope.pc, envelope.word);
    else if (envelope.op == VECTOR_DESC)
        descriptor_write(&core->descriptors[envelope.descriptor], envelope.field, envelope.value);
    else if (envelope.op == VECTOR_RUN)
        start_kernel(core, envelope.pc, io->now);
}

static void note_end_of_kernel(struct core *core, cycle_t now) {
    unsigned words = local_footprint(&core->l1);
    if (words > FOOTPRINT_CLEAN && words < L1_WORDS)
        hazard_report(core->hazards, "vec.l1_footprint_band", now, core->name,
                      "a kernel touches %u L1 words; between %d and %d a card returned wrong words", words,
                      FOOTPRINT_CLEAN + 1, L1_WORDS - 1);
    if (way_out_drains(&core->out))
        hazard_report(
            core->hazards, "vec.halt_before_drain", now, core->name,
            "the kernel retires while the last words of a drain wait to leave; its completion may overtake them");
}

static void retire(struct core *core, struct unit_io *io) {
    io->done = true;
    io->fault = core->faulted;
    io->result = core->result;
    core->instructions++;
    go(core, idle, CYCLE_NEVER, VECTOR_CAUSE_IDLE, io->now + 1);
}

static void retire_kernel(struct core *core, struct unit_io *io) {
    note_end_of_kernel(core, io->now);
    retire(core, io);
}

/* ---- fetch ---- */

/* The fetch test of §7.7: at the loop's end either back to its top or out of it. */
static void loop_test(struct core *core) {
    struct loop *loop = &core->loop;
    if (!loop->active || core->pc != loop->end)
        return;
    if (loop->count > 1) {
        loop->count--;
        core->pc = loop->top;
    } else {
        loop->active = false;
    }
}

static void fetch(struct core *core, struct unit_io *io) {
    if (local_rejected(&core->l1, io->now)) {
        core->l1.rejected = false;
        fault(core, VECTOR_FAULT_CUDATA, io->now, io->now);
        return;
    }
    loop_test(core);
    go(core, execute, io->now + FETCH_CYCLES, VECTOR_CAUSE_FETCH, io->now);
}

static uint32_t imem_read(struct core *core, unsigned address, cycle_t now) {
    if (!(core->imem_set[address / 64] >> address % 64 & 1))
        hazard_report(core->hazards, "vec.unset_read", now, core->name,
                      "instruction word %u is executed and was never written", address);
    return core->imem[address];
}

/* Takes the next word of an instruction that has several. A loop that ends on it is not closed (§7.7). */
static uint32_t next_word(struct core *core, cycle_t now) {
    if (core->loop.active && core->pc == core->loop.end)
        hazard_report(core->hazards, "vec.loop_missed", now, core->name,
                      "the loop that ends before word %u is not closed: the word belongs to the instruction before it",
                      core->pc);
    uint32_t word = imem_read(core, core->pc, now);
    core->pc = (core->pc + 1) % VECTOR_IMEM_WORDS;
    return word;
}

/* Goes on with `phase` once the lanes are empty. */
static void when_empty(struct core *core, phase_fn *phase, cycle_t now) {
    cycle_t held = MAX(now, core->lanes.empty_from);
    if (held > now)
        tell(core, VECTOR_EVENT_HELD, held, 0);
    go(core, phase, held, VECTOR_CAUSE_PIPE, now);
}

/* ---- ALU instructions and chains (§7.6, §8.3) ---- */

static unsigned mode_stages(enum vector_mode mode) {
    static const uint8_t stages[] = {[VECTOR_FLAT] = 1, [VECTOR_D2] = 2, [VECTOR_D4] = 4, [VECTOR_TREE] = 4};
    return stages[mode];
}

static bool selects(const struct vector_word *word, unsigned selector) {
    return word->sa == selector || word->sb == selector || word->sc == selector;
}

/* Gathers words 1 to D-1; the cycle of the first that selects V, or CYCLE_NEVER. */
static cycle_t gather(struct core *core, unsigned stages, cycle_t now) {
    for (unsigned t = 1; t < stages; t++) {
        cycle_t at = now + GATHER_PERIOD * (cycle_t)t;
        vector_word_decode(next_word(core, at), &core->words[t]);
        lanes_chain_gather(&core->lanes, t, &core->words[t], at);
        if (selects(&core->words[t], VECTOR_SELECT_V))
            return at;
        if (core->words[t].op > VECTOR_RSQRT)
            hazard_report(core->hazards, "vec.chain_not_alu", at, core->name,
                          "a %s inside a chain is executed as an arithmetic word", vector_op_name(core->words[t].op));
    }
    return CYCLE_NEVER;
}

static void execute_alu(struct core *core, cycle_t now) {
    unsigned stages = mode_stages(core->lanes.mode);
    if (selects(&core->words[0], VECTOR_SELECT_C)) {
        fault(core, VECTOR_FAULT_CHAIN, now, now);
        return;
    }
    lanes_chain_open(&core->lanes, now);
    lanes_chain_gather(&core->lanes, 0, &core->words[0], now);
    cycle_t offence = gather(core, stages, now);
    if (offence != CYCLE_NEVER) {
        fault(core, VECTOR_FAULT_VSRC, offence, now);
        return;
    }
    core->work = (struct lane_work){.first = &core->words[0],
                                    .last = &core->words[stages - 1],
                                    .stages = stages,
                                    .tree = core->lanes.mode == VECTOR_TREE};
    cycle_t ready = now + GATHER_PERIOD * (cycle_t)(stages - 1) + 1;
    core->clear = lanes_clear(&core->lanes, &core->work, ready);
    go(core, core->clear > ready ? wait_registers : issue, ready, VECTOR_CAUSE_BEATS, now);
}

static void wait_registers(struct core *core, struct unit_io *io) {
    go(core, core->clear == CYCLE_NEVER ? hang : issue, core->clear, VECTOR_CAUSE_REGISTERS, io->now);
}

static void hang(struct core *core, struct unit_io *io) {
    (void)io;
    core->next = CYCLE_NEVER;
}

static void issue(struct core *core, struct unit_io *io) {
    cycle_t end = lanes_issue(&core->lanes, &core->work, io->now);
    tell(core, VECTOR_EVENT_FIRST_BEAT, io->now, 0);
    tell(core, VECTOR_EVENT_LAST_BEAT, end - 1, 0);
    go(core, fetch, end + 1, VECTOR_CAUSE_BEATS, io->now);
}

/* ---- VRED ---- */

static void execute_reduction(struct core *core, cycle_t now) {
    const struct vector_word *word = &core->words[0];
    if (word->kind >= VECTOR_RED_ANY) {
        lanes_reduce_predicate(&core->lanes, word, now);
        go(core, fetch, now + 1, VECTOR_CAUSE_SCALAR, now);
        return;
    }
    if (core->lanes.vl % LANES) {
        fault(core, VECTOR_FAULT_REDVL, now, now);
        return;
    }
    if (core->lanes.mode != VECTOR_TREE || (word->kind == VECTOR_RED_EXPSUM && !core->has_expsum)) {
        fault(core, VECTOR_FAULT_OPCODE, now, now);
        return;
    }
    cycle_t tail, result;
    uint64_t beats = core->lanes.beat_count;
    lanes_reduce(&core->lanes, word, now + 1, &tail, &result);
    tell(core, VECTOR_EVENT_FIRST_BEAT, now + 1, 0);
    tell(core, VECTOR_EVENT_LAST_BEAT, now + core->lanes.beat_count - beats, 0);
    tell(core, VECTOR_EVENT_TAIL, tail, 0);
    tell(core, VECTOR_EVENT_RESULT, result, 0);
    go(core, fetch, result + 1, VECTOR_CAUSE_REDUCTION, now);
}

/* ---- VLD, VST (§7.8, §8.2) ---- */

static bool dtype_known(unsigned dtype) {
    return dtype == VECTOR_FP16 || dtype == VECTOR_FP32;
}

/* First cycle of the transfer's accesses behind g, and cycles between two of them. */
static void transfer_start(struct core *core, cycle_t first) {
    const struct vector_word *word = &core->words[0];
    bool full = word->dtype == VECTOR_FP32;
    lanes_settle(&core->lanes, first);
    core->transfer = (struct transfer){.walk = walk_start(&core->descriptors[word->ad], word->offset),
                                       .count = lanes_chunks(&core->lanes) * (full ? 2 : 1),
                                       .full = full,
                                       .next = first};
}

static void load_word(struct core *core, const struct word256 *from) {
    const struct transfer *transfer = &core->transfer;
    unsigned chunk = transfer->full ? transfer->done / 2 : transfer->done;
    uint32_t *to = &core->lanes.v[core->words[0].vd][LANES * chunk];
    if (transfer->full) {
        unsigned half = LANES / 2 * (transfer->done % 2);
        for (unsigned lane = 0; lane < LANES / 2; lane++)
            to[half + lane] = e8m15_from_f32((uint32_t)word_get(from, 32 * lane, 32));
    } else {
        for (unsigned lane = 0; lane < LANES; lane++)
            to[lane] = e8m15_from_f16((uint16_t)word_get(from, 16 * lane, 16));
    }
    core->lanes.v_set[core->words[0].vd][chunk] = UINT16_MAX;
}

/* Reads of cycles up to and including now. L1 word k is read in g + 2 + 4k. */
static void load_advance(struct core *core, cycle_t now) {
    enum {
        READ_PERIOD = 4
    };
    struct transfer *transfer = &core->transfer;
    while (transfer->done < transfer->count && transfer->next <= now) {
        unsigned index = local_index(&core->l1, transfer->walk.address, transfer->next);
        struct word256 word = local_read(&core->l1, transfer->next, index);
        load_word(core, &word);
        walk_next(&transfer->walk);
        transfer->done++;
        transfer->next += READ_PERIOD;
    }
}

static void load_start(struct core *core, struct unit_io *io) {
    transfer_start(core, io->now + 2);
    go(core, load_end, io->now + 2 + 4 * (cycle_t)core->transfer.count, VECTOR_CAUSE_LOAD, io->now);
}

static void load_end(struct core *core, struct unit_io *io) {
    load_advance(core, io->now);
    fetch(core, io);
}

static struct word256 store_word(struct core *core) {
    const struct transfer *transfer = &core->transfer;
    unsigned chunk = transfer->full ? transfer->done / 2 : transfer->done;
    const uint32_t *from = &core->lanes.v[core->words[0].vd][LANES * chunk];
    struct word256 word = {{0}};
    if (transfer->full) {
        unsigned half = LANES / 2 * (transfer->done % 2);
        for (unsigned lane = 0; lane < LANES / 2; lane++)
            word_set(&word, 32 * lane, 32, e8m15_to_f32(from[half + lane]));
    } else {
        for (unsigned lane = 0; lane < LANES; lane++)
            word_set(&word, 16 * lane, 16, e8m15_to_f16(from[lane]));
    }
    lanes_check_read(&core->lanes, core->words[0].vd, chunk, UINT16_MAX, transfer->next);
    return word;
}

/* Where the store in hand goes. The published hardware puts the second half of an FP32 chunk over the first, unless it
 * was held back by an incoming word. */
static unsigned store_index(struct core *core) {
    struct transfer *transfer = &core->transfer;
    unsigned index = local_index(&core->l1, transfer->walk.address, transfer->next);
    bool second = transfer->full && transfer->done % 2;
    if (second && core->rtl_defects && !transfer->held_back)
        return transfer->previous;
    transfer->previous = index;
    return index;
}

/* Stores of cycles up to and including now: chunk c in g + 4 + 3c, FP32 both halves in g + 4 + 4c and the next cycle,
 * later by every collision. */
static void store_advance(struct core *core, cycle_t now) {
    struct transfer *transfer = &core->transfer;
    while (transfer->done < transfer->count && transfer->next <= now) {
        if (core->l1.handed == transfer->next) {
            transfer->held_back = true;
            transfer->next++;
            continue;
        }
        struct word256 word = store_word(core);
        local_write(&core->l1, transfer->next + 1, store_index(core), &word);
        walk_next(&transfer->walk);
        transfer->done++;
        transfer->held_back = false;
        transfer->next += transfer->full && transfer->done % 2 ? 1 : 3;
    }
}

/* Cycle after the last store if nothing more comes between. */
static cycle_t store_end(const struct transfer *transfer) {
    unsigned left = transfer->count - transfer->done;
    if (left == 0) /* `next` is where a further store would be */
        return transfer->next - 2;
    if (!transfer->full)
        return transfer->next + 3 * (cycle_t)(left - 1) + 1;
    return transfer->next + 4 * (cycle_t)((left - 1) / 2) + (left - 1) % 2 + 1;
}

static void store_start(struct core *core, struct unit_io *io) {
    if (core->words[0].dtype == VECTOR_FP32)
        hazard_report(core->hazards, "defect.vst_fp32", io->now, core->name,
                      "the published hardware stores both halves of an FP32 chunk to one L1 word");
    transfer_start(core, io->now + 4);
    go(core, store_more, store_end(&core->transfer), VECTOR_CAUSE_STORE, io->now);
}

static void store_more(struct core *core, struct unit_io *io) {
    store_advance(core, io->now);
    cycle_t end = store_end(&core->transfer);
    if (end > io->now)
        core->next = end;
    else
        fetch(core, io);
}

static void execute_load(struct core *core, cycle_t now) {
    if (dtype_known(core->words[0].dtype))
        when_empty(core, load_start, now);
    else
        fault(core, VECTOR_FAULT_DTYPE, now, now);
}

static void execute_store(struct core *core, cycle_t now) {
    if (dtype_known(core->words[0].dtype))
        when_empty(core, store_start, now);
    else
        fault(core, VECTOR_FAULT_DTYPE, now, now);
}

/* ---- VCVT, VSHUF, VBCAST ---- */

static void execute_convert(struct core *core, cycle_t now) {
    if (dtype_known(core->words[0].dtype))
        when_empty(core, move, now);
    else
        fault(core, VECTOR_FAULT_DTYPE, now, now);
}

static void execute_move(struct core *core, cycle_t now) {
    when_empty(core, move, now);
}

static void move(struct core *core, struct unit_io *io) {
    const struct vector_word *word = &core->words[0];
    bool to_scalar = word->op == VECTOR_BCAST && word->sa != VECTOR_SELECT_S;
    cycle_t length = to_scalar ? 5 : 2 + 3 * (cycle_t)lanes_chunks(&core->lanes);
    if (word->op == VECTOR_CVT)
        lanes_convert(&core->lanes, word, io->now);
    else if (word->op == VECTOR_SHUF)
        lanes_shuffle(&core->lanes, word, io->now);
    else
        lanes_broadcast(&core->lanes, word, io->now);
    go(core, fetch, io->now + length, VECTOR_CAUSE_MOVE, io->now);
}

/* ---- scalars, length, mode, loop ---- */

static void execute_set_length(struct core *core, cycle_t now) {
    uint32_t length = lanes_scalar(&core->lanes, core->words[0].va, now);
    if (length == 0 || length > VECTOR_LENGTH) {
        fault(core, VECTOR_FAULT_VL, now, now);
        return;
    }
    core->lanes.vl = length;
    go(core, fetch, now + 1, VECTOR_CAUSE_SCALAR, now);
}

static void execute_set_mode(struct core *core, cycle_t now) {
    when_empty(core, set_mode, now);
}

static void set_mode(struct core *core, struct unit_io *io) {
    core->lanes.mode = (enum vector_mode)core->words[0].mode;
    go(core, fetch, io->now + 1, VECTOR_CAUSE_SCALAR, io->now);
}

static void execute_set_immediate(struct core *core, cycle_t now) {
    uint32_t value = next_word(core, now) & 0xFFFFFF;
    if (core->words[0].sa == VECTOR_SELECT_K)
        core->lanes.k[3] = value;
    else
        lanes_set_scalar(&core->lanes, core->words[0].vd, value);
    go(core, fetch, now + 3, VECTOR_CAUSE_SCALAR, now);
}

static void execute_loop(struct core *core, cycle_t now) {
    if (core->loop.active) {
        fault(core, VECTOR_FAULT_LOOP, now, now);
        return;
    }
    unsigned body = core->words[0].vb;
    core->loop = (struct loop){.active = true,
                               .count = lanes_scalar(&core->lanes, core->words[0].va, now),
                               .top = core->pc,
                               .end = (core->pc + body) % VECTOR_IMEM_WORDS};
    if (body == 0 && core->loop.count > 1)
        hazard_report(core->hazards, "vec.loop_missed", now, core->name, "a loop of no words is never closed");
    go(core, fetch, now + 1, VECTOR_CAUSE_SCALAR, now);
}

/* ---- fills and drains (§7.10, §8.6) ---- */

static void execute_barrier(struct core *core, cycle_t now) {
    go(core, barrier, now + 1, VECTOR_CAUSE_FILLING, now);
}

/* True if nothing is outstanding; otherwise the phase comes again when that may have changed. */
static bool settled(struct core *core, cycle_t now) {
    core->next = local_settled(&core->l1);
    return core->next <= now;
}

static void barrier(struct core *core, struct unit_io *io) {
    if (settled(core, io->now))
        go(core, fetch, io->now + 1, VECTOR_CAUSE_FILLING, io->now);
}

static struct stream stream_start(struct core *core) {
    const struct vector_word *word = &core->words[0];
    const struct descriptor *descriptor = &core->descriptors[word->ad];
    struct walk walk = walk_start(descriptor, 0);
    return (struct stream){
        .walk = walk, .count = descriptor_elements(descriptor), .first = word->l1, .record = walk.address};
}

static void execute_fill(struct core *core, cycle_t now) {
    core->stream = stream_start(core);
    go(core, fill_start, now, VECTOR_CAUSE_FILLING, now);
}

static void fill_start(struct core *core, struct unit_io *io) {
    if (!settled(core, io->now))
        return;
    if (io->now > core->executed)
        tell(core, VECTOR_EVENT_HELD, io->now, 0);
    go(core, fill_check, io->now + REQUEST_CHECK, VECTOR_CAUSE_REQUESTS, io->now);
}

/* The walk is at most 256 words, or the kernel ends here. */
static bool length_fits(struct core *core, cycle_t now) {
    if (core->stream.count <= WALK_LONGEST)
        return true;
    fault(core, VECTOR_FAULT_LEN, now, now);
    return false;
}

static void fill_check(struct core *core, struct unit_io *io) {
    if (length_fits(core, io->now))
        go(core, fill_put, io->now + REQUEST_FIRST - REQUEST_CHECK, VECTOR_CAUSE_REQUESTS, io->now);
}

/* The word of the stream that is next, as an L1 word. */
static unsigned stream_index(struct core *core, cycle_t now) {
    return local_index(&core->l1, core->stream.first + core->stream.done, now);
}

static void fill_put(struct core *core, struct unit_io *io) {
    struct stream *stream = &core->stream;
    if (!way_out_free(&core->out, io->now)) {
        go(core, fill_put, io->now + 1, VECTOR_CAUSE_LINK, io->now);
        return;
    }
    unsigned index = stream_index(core, io->now);
    struct request request = {.kind = REQUEST_FILL, .address = stream->walk.address, .tag = (uint8_t)index};
    local_expect(&core->l1, index);
    way_out_put(&core->out, &request, io->now);
    walk_next(&stream->walk);
    if (++stream->done == stream->count)
        go(core, fetch, io->now + 2, VECTOR_CAUSE_REQUESTS, io->now);
    else
        go(core, fill_put, io->now + 3, VECTOR_CAUSE_REQUESTS, io->now);
}

static void execute_drain(struct core *core, cycle_t now) {
    core->stream = stream_start(core);
    go(core, drain_check, now + REQUEST_CHECK, VECTOR_CAUSE_DRAINING, now);
}

static void drain_check(struct core *core, struct unit_io *io) {
    if (length_fits(core, io->now))
        go(core, drain_put, io->now + REQUEST_FIRST - REQUEST_CHECK + DRAIN_READ, VECTOR_CAUSE_DRAINING, io->now);
}

/* A burst's fields, from the record that the descriptor's first address is (§7.10). */
static struct request node_request(const struct core *core) {
    const struct vector_word *word = &core->words[0];
    uint64_t record = core->stream.record;
    unsigned far_node = record >> 26 & 0xFF;
    return (struct request){.kind = REQUEST_NODE,
                            .announce = core->stream.done == 0,
                            .last = core->stream.done + 1 == core->stream.count,
                            .dst_x = word->dst_x,
                            .dst_y = word->dst_y,
                            .buffer = word->buf,
                            .flags = word->ack,
                            .ack = (uint8_t)(record >> 16),
                            .granule = (uint16_t)record,
                            .length = (uint8_t)(core->stream.count - 1),
                            .txn = (uint8_t)far_node,
                            .rsvd = far_node ? (uint8_t)(FLIT_RSVD_REMOTE | (record >> 24 & 3)) : 0};
}

static void drain_put(struct core *core, struct unit_io *io) {
    struct stream *stream = &core->stream;
    if (!way_out_free(&core->out, io->now)) {
        go(core, drain_put, io->now + 1, VECTOR_CAUSE_LINK, io->now);
        return;
    }
    struct request request = {.kind = REQUEST_WRITE, .address = stream->walk.address};
    if (core->words[0].to_node)
        request = node_request(core);
    request.word = local_read(&core->l1, io->now - DRAIN_READ, stream_index(core, io->now));
    way_out_put(&core->out, &request, io->now);
    walk_next(&stream->walk);
    if (++stream->done == stream->count)
        go(core, fetch, io->now + 2, VECTOR_CAUSE_DRAINING, io->now);
    else
        go(core, drain_put, io->now + 3, VECTOR_CAUSE_DRAINING, io->now);
}

/* ---- VHALT ---- */

static void execute_halt(struct core *core, cycle_t now) {
    cycle_t from = MAX(now + 1, core->lanes.empty_from);
    go(core, halt, from, from > now + 1 ? VECTOR_CAUSE_PIPE : VECTOR_CAUSE_RETIRE, now);
}

static void halt(struct core *core, struct unit_io *io) {
    if (!settled(core, io->now)) {
        account_set(&core->account, VECTOR_CAUSE_FILLING, io->now);
        return;
    }
    core->running = false;
    core->cycles = (uint32_t)(io->now - core->offered);
    core->result = core->cycles;
    go(core, retire_kernel, io->now + RETIRE_BEHIND, VECTOR_CAUSE_RETIRE, io->now);
}

/* ---- execute ---- */

static void (*const execute_op[VECTOR_OPS])(struct core *core, cycle_t now) = {
    [VECTOR_MOV] = execute_alu,          [VECTOR_NEG] = execute_alu,          [VECTOR_ABS] = execute_alu,
    [VECTOR_ADD] = execute_alu,          [VECTOR_SUB] = execute_alu,          [VECTOR_MUL] = execute_alu,
    [VECTOR_FMA] = execute_alu,          [VECTOR_FNMA] = execute_alu,         [VECTOR_MAX] = execute_alu,
    [VECTOR_MIN] = execute_alu,          [VECTOR_SEL] = execute_alu,          [VECTOR_CMPLT] = execute_alu,
    [VECTOR_CMPGT] = execute_alu,        [VECTOR_CMPEQ] = execute_alu,        [VECTOR_EXP2] = execute_alu,
    [VECTOR_LOG2] = execute_alu,         [VECTOR_INV] = execute_alu,          [VECTOR_RSQRT] = execute_alu,
    [VECTOR_CVT] = execute_convert,      [VECTOR_RED] = execute_reduction,    [VECTOR_LD] = execute_load,
    [VECTOR_ST] = execute_store,         [VECTOR_BCAST] = execute_move,       [VECTOR_SHUF] = execute_move,
    [VECTOR_SETVL] = execute_set_length, [VECTOR_SETMODE] = execute_set_mode, [VECTOR_SETI] = execute_set_immediate,
    [VECTOR_LOOP] = execute_loop,        [VECTOR_BAR] = execute_barrier,      [VECTOR_FILL] = execute_fill,
    [VECTOR_DRAIN] = execute_drain,      [VECTOR_HALT] = execute_halt,
};

static void execute(struct core *core, struct unit_io *io) {
    core->executed = io->now;
    core->executed_pc = core->pc;
    core->moves += io->now - core->offered < KERNEL_LONGEST;
    tell(core, VECTOR_EVENT_EXECUTE, io->now, core->pc);
    vector_word_decode(imem_read(core, core->pc, io->now), &core->words[0]);
    core->pc = (core->pc + 1) % VECTOR_IMEM_WORDS;
    execute_op[core->words[0].op](core, io->now);
}

/* ---- the unit ---- */

/* Reads and stores that lie behind, before anything that arrives now can change what they meet. */
static void catch_up(struct core *core, cycle_t now) {
    if (core->phase == load_end)
        load_advance(core, now);
    else if (core->phase == store_more)
        store_advance(core, now);
}

static bool waits_for_fill(const struct core *core) {
    return core->phase == barrier || core->phase == fill_start || core->phase == halt;
}

static cycle_t step(void *unit, struct unit_io *io) {
    struct core *core = unit;
    bool pop = io->recv && local_accepts(&core->l1, io->now);
    catch_up(core, io->now);
    way_out_step(&core->out, &core->l1, io);
    if (core->phase == idle)
        core->next = io->now;
    while (core->next <= io->now)
        core->phase(core, io);
    if (pop) {
        local_receive(&core->l1, io->recv, io->now);
        io->pop = true;
        if (waits_for_fill(core) && core->next == CYCLE_NEVER)
            core->next = local_settled(&core->l1);
    }
    return way_out_busy(&core->out, &core->l1) ? io->now + 1 : core->next;
}

static void *create(const struct unit_context *context) {
    const struct vector_params *params = &context->machine->vector;
    struct core *core = g_new0(struct core, 1);
    bool defects = context->machine->rtl_defects;
    core->name = context->place->name;
    core->hazards = context->hazards;
    core->has_expsum = params->has_expsum;
    core->rtl_defects = defects;
    core->words_per_flit = CLAMP(params->imem_words_per_flit, 1, IMEM_WORDS_MAX);
    core->phase = idle;
    core->next = CYCLE_NEVER;
    for (unsigned d = 0; d < DESCRIPTORS; d++)
        descriptor_reset(&core->descriptors[d]);
    lanes_init(&core->lanes, params, defects, core->name, core->hazards);
    local_init(&core->l1, params->l1_depth, core->name, core->hazards, params->ack_rejected, params->poison);
    way_out_init(&core->out, context);
    return core;
}

static void destroy(void *unit) {
    struct core *core = unit;
    local_clear(&core->l1);
    g_free(core);
}

static uint64_t debug_register(const void *unit, cycle_t now) {
    const struct core *core = unit;
    if (!core->running)
        return core->cycles;
    return (uint32_t)(now - core->offered - 1);
}

static const char *const cause_names[VECTOR_CAUSES] = {
    [VECTOR_CAUSE_IDLE] = "idle",         [VECTOR_CAUSE_ENVELOPE] = "envelope",
    [VECTOR_CAUSE_FETCH] = "fetch",       [VECTOR_CAUSE_SCALAR] = "scalar",
    [VECTOR_CAUSE_BEATS] = "beats",       [VECTOR_CAUSE_REGISTERS] = "registers",
    [VECTOR_CAUSE_PIPE] = "pipe",         [VECTOR_CAUSE_REDUCTION] = "reduction",
    [VECTOR_CAUSE_LOAD] = "load",         [VECTOR_CAUSE_STORE] = "store",
    [VECTOR_CAUSE_MOVE] = "move",         [VECTOR_CAUSE_REQUESTS] = "requests",
    [VECTOR_CAUSE_DRAINING] = "draining", [VECTOR_CAUSE_LINK] = "link",
    [VECTOR_CAUSE_FILLING] = "fill",      [VECTOR_CAUSE_RETIRE] = "retire",
};

static void report(const void *unit, struct unit_report *report) {
    const struct core *core = unit;
    *report = (struct unit_report){.causes = cause_names,
                                   .cause_count = VECTOR_CAUSES,
                                   .account = &core->account,
                                   .instructions = core->instructions};
}

static uint64_t progress(const void *unit) {
    return ((const struct core *)unit)->moves;
}

/* The sequencer's state in words, by the cause its cycles go to. */
static const char *const waits[VECTOR_CAUSES] = {
    [VECTOR_CAUSE_REGISTERS] = "outstanding writes of a register it names",
    [VECTOR_CAUSE_PIPE] = "empty lanes",
    [VECTOR_CAUSE_LINK] = "its request register, which the link does not empty",
    [VECTOR_CAUSE_FILLING] = "responses to a fill",
};

static char *waits_for(const void *unit, cycle_t now) {
    (void)now;
    const struct core *core = unit;
    if (core->phase == idle) {
        if (way_out_busy(&core->out, &core->l1))
            return g_strdup("idle, with flits that the link does not take");
        return core->l1.burst.open
                   ? g_strdup_printf("idle, with %u flits of a burst from (%u,%u) missing", core->l1.burst.left,
                                     core->l1.burst.source_x, core->l1.burst.source_y)
                   : NULL;
    }
    const char *what = waits[core->account.cause];
    if (core->phase == hang)
        what = "outstanding writes that never come, left by an ALU instruction in TREE mode";
    return g_strdup_printf("the %s at word %u waits for %s", vector_op_name(core->words[0].op), core->executed_pc,
                           what ? what : "nothing: it executes");
}

void vector_set_trace(void *unit, const struct vector_trace *trace) {
    struct core *core = unit;
    core->trace = *trace;
}

void vector_poke(void *unit, unsigned index, const struct word256 *word) {
    struct core *core = unit;
    core->l1.words[index] = *word;
    core->l1.set[index / 64] |= UINT64_C(1) << index % 64;
}

void vector_snapshot(const void *unit, struct vector_state *state) {
    const struct core *core = unit;
    struct lanes *lanes = g_memdup2(&core->lanes, sizeof core->lanes);
    struct hazard_log unheard; /* what the copy reports, the core will report itself */
    hazard_log_init(&unheard);
    lanes->hazards = &unheard;
    lanes_settle(lanes, CYCLE_NEVER);
    *state = (struct vector_state){.vl = lanes->vl,
                                   .mode = lanes->mode,
                                   .l1_words = core->l1.depth,
                                   .beats = lanes->beat_count,
                                   .tails = lanes->tail_count,
                                   .l1_writes = core->l1.writes,
                                   .read_requests = core->out.read_requests,
                                   .write_words = core->out.write_words};
    memcpy(state->v, lanes->v, sizeof state->v);
    memcpy(state->s, lanes->s, sizeof state->s);
    memcpy(state->p, lanes->p, sizeof state->p);
    memcpy(state->k, lanes->k, sizeof state->k);
    for (unsigned i = 0; i < core->l1.depth; i++)
        state->l1[i] = local_peek(&core->l1, CYCLE_NEVER, i);
    hazard_log_clear(&unheard);
    g_free(lanes);
}

static void digest(const void *unit, void (*feed)(void *to, const void *data, size_t size), void *to) {
    const struct core *core = unit;
    struct vector_state *state = g_new0(struct vector_state, 1);
    vector_snapshot(unit, state);
    feed(to, state, sizeof *state);
    feed(to, core->imem, sizeof core->imem);
    feed(to, core->descriptors, sizeof core->descriptors);
    feed(to, &core->instructions, sizeof core->instructions);
    g_free(state);
}

const struct unit_type unit_type_vector = {
    .name = "vector",
    .type_code = TYPE_CODE,
    .buffers = BUFFERS,
    .drops_write_ack = false,
    .create = create,
    .destroy = destroy,
    .step = step,
    .debug_register = debug_register,
    .report = report,
    .waits_for = waits_for,
    .progress = progress,
    .digest = digest,
};
