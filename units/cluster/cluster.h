/* The matmul cluster (compute-units §1–6): sequencer, sweep, resident tile, drain, peer transfer. This header is shared
 * by the files of this folder; to everybody else the cluster is unit_type_cluster.
 *
 * One cycle (cluster_step) first reads the flags of the start of the cycle (struct cluster_flags), then lets each part
 * decide and update. Values are computed when a sub-tile is issued: pacing keeps two commands to one address five
 * cycles apart, so the order of issue is the order of the accumulator; with pacing switched off acc_log restores what
 * the pipeline would have seen. */
#pragma once

#include "memory/walker.h"
#include "model/account.h"
#include "model/isa/cluster.h"
#include "model/isa/tensor.h"
#include "model/numeric/fp22.h"
#include "model/numeric/mxfp7.h"
#include "units/unit.h"

enum {
    BANK_ENTRIES = 256,
    TILE_LANES = 16,
    BURST_WORDS_MAX = 16,
    ACC_LOG = 8,
    REUSE_DEPTH = 4, /* commands at this distance or less see the value before the earlier one (§3.4) */
};

/* Cycles from the issue of a sub-tile (§3.5) and from a direct accumulator command. */
enum {
    ISSUE_TO_COUNT = 4,    /* ADD_EMIT issued in i is in d_out from i+4 */
    ISSUE_TO_COMMAND = 20, /* partial leaves the chain, accumulator command */
    COMMAND_BUSY = 11,     /* accumulator busy y .. y+11 */
};

enum cluster_cause {
    CAUSE_IDLE,       /* no instruction */
    CAUSE_COMPUTE,    /* a sub-tile is issued */
    CAUSE_PACING,     /* idle cycles between issues of a small tile */
    CAUSE_DRAIN_FULL, /* the sweep is held: drain queue at its limit */
    CAUSE_CASCADE,    /* nothing left to issue, results in the chain or accumulator */
    CAUSE_FILL,       /* waiting for operands */
    CAUSE_DRAIN,      /* results on their way out */
    CAUSE_LINK_BUSY,  /* the write port holds a flit the link does not take */
    CAUSE_PEER,       /* a peer stream is open */
    CAUSE_SEQUENCE,   /* an instruction waits for its start condition, starts or retires */
    CLUSTER_CAUSES,
};
extern const char *const cluster_cause_names[CLUSTER_CAUSES];

enum sequencer_state {
    SEQUENCER_IDLE,
    SEQUENCER_ARMED, /* offered in the previous cycle: taken in this one */
    SEQUENCER_FILL,
    SEQUENCER_GEMM,
    SEQUENCER_DRAIN,
    SEQUENCER_CLOSING, /* d - 1 */
    SEQUENCER_RETIRE,  /* d */
};

/* Where results go: rewritten while a DRAIN or an emitting GEMM waits for its start (§3.8). */
struct destination {
    uint64_t addr;
    uint8_t dnode, dst_x, dst_y, dbuf, dflags, dack_x, dack_y, dmesh, dfin;
};

/* A word of the drain queue: pushed in cycle `push`, readable F later. */
struct drain_word {
    cycle_t push;
    uint16_t granule; /* valid once pushed */
    struct word256 data;
};

enum sender_state {
    SENDER_IDLE,
    SENDER_DESCRIPTOR,
    SENDER_DATA,
};

struct burst_bank {
    unsigned count;
    uint16_t first;
    struct word256 words[BURST_WORDS_MAX];
};

/* The open CU_DATA stream (§4.1). */
struct peer_stream {
    bool in_burst;
    uint8_t buf, txn, flags;
    uint32_t offset;
    unsigned left;
    uint16_t src_x, src_y;
    uint8_t ack_x, ack_y;
    bool bad;
    bool open, granted, pending;
    bool have_low;
    struct word256 granule[2];
    uint32_t tile;
};

/* What happened to a tile address lately, for runs without pacing. */
struct acc_entry {
    cycle_t command;
    uint32_t address;
    uint32_t before[TILE_LANES];
};

struct sweep {
    bool running;       /* counters running */
    bool pending;       /* start pulse in the coming cycle */
    cycle_t start;      /* start pulse of the last sweep */
    cycle_t last_issue; /* of the last sweep, valid if issued_any */
    bool issued_any;
    unsigned kb, g, h, wait;
    unsigned gm, gn, nk, pace;
    uint8_t acc, emit, fwd, anchor, aoff, boff, abank, bbank;
    uint64_t emitted; /* ADD_EMIT issues not yet counted in d_out: times in emit_times */
};

struct cluster_counts {
    uint16_t fills, gemms, drains;
    uint64_t load, add, emit, add_emit, send, add_peer, forwarded;
    uint64_t compute_cycles, fill_cycles; /* dbg words */
    uint64_t gemm_cycles, drain_cycles, sweep_cycles, held_cycles;
    uint64_t active_cycles;            /* sequencer, cluster or drain not idle */
    cycle_t counted;                   /* cycles before this one are in the counts */
    cycle_t first_active, last_active; /* 0 before the first */
    uint64_t saturated, pacing_cycles, entries_written, responses, response_held;
};

/* Called for the events that reference recordings name, when set. */
struct cluster_trace {
    void *self;
    void (*event)(void *self, const struct unit_context *where, const char *what, uint64_t a, uint64_t b, cycle_t now);
};

struct cluster {
    struct unit_context context;
    const struct cluster_params *params;
    unsigned fall_through, burst_words;
    bool fetch_transform;
    unsigned x, y;
    struct hazard_log *hazards;
    const char *name;
    /* operand store: [side][bank * 256 + number] */
    struct mxfp7_entry *store[2];
    uint8_t *words_seen[2]; /* bit a word: come since the entry was last complete */
    uint64_t *written[2];   /* bit an entry: written since reset */
    struct mxfp7_entry assembly;
    unsigned assembly_entry; /* whose words the register holds, side * 512 + entry */
    unsigned assembly_seen;  /* bit a word; 0 right after it was stored */
    /* accumulator */
    uint32_t (*tile)[TILE_LANES];
    uint64_t *opened;   /* bit a sub-tile: loaded since reset */
    cycle_t busy_until; /* accumulator busy through this cycle */
    struct acc_entry log[ACC_LOG];
    unsigned log_next;
    struct fp22_held *held; /* first block of a pair, double-rate build */
    /* sequencer */
    enum sequencer_state state;
    struct cluster_inst inst;
    uint8_t inst_op;
    cycle_t taken, leave; /* cycle i; last cycle of the state, CYCLE_NEVER while unknown */
    cycle_t started;      /* cycle c: start condition true */
    unsigned completed;   /* entries of the running FILL */
    bool fault;
    /* rendezvous (§10.2), by node byte: FILLs shared with a peer, as leader and as follower, and what it reported */
    uint16_t led[256], followed[256], reported[256];
    bool gathering; /* as leader: the descriptor waits for the peers */
    bool reporting; /* as follower: the report waits for the signal register */
    /* tensor fill (§10.1) */
    struct walker tensors[TENSOR_DESCRIPTORS];
    unsigned tensor_next, tensor_end; /* entries of the running TFILL still to be asked for */
    /* sweep */
    struct sweep sweep;
    cycle_t emit_times[8];
    uint64_t emits_issued, emits_counted;
    /* drain */
    bool issuing;        /* a plain drain issues commands */
    cycle_t drain_pulse; /* start pulse of a DRAIN in the coming cycle, CYCLE_NEVER: none */
    bool barrier;
    bool send_format;
    unsigned batch; /* sub-tiles the running or last emitting sweep hands out */
    unsigned drain_left;
    uint32_t drain_next;
    cycle_t last_decision;
    uint64_t d_pop;
    int64_t d_out;
    uint16_t d_got;
    struct drain_word *ring; /* words on their way to and in the drain queue */
    unsigned ring_words;     /* a power of two */
    uint64_t ring_in, ring_pushed, ring_out;
    struct destination destination;
    struct burst_bank bank[2];
    unsigned collecting;
    enum sender_state sender;
    unsigned sent;
    flit_index write_port; /* output register of the write port */
    flit_index request;    /* fetch descriptor */
    flit_index signal;     /* own signal: DATA_RECEIVED */
    struct peer_stream peer;
    struct account account;
    struct cluster_counts counts;
    struct cluster_trace *trace;
};

/* Flags of the start of a cycle. */
struct cluster_flags {
    cycle_t now;
    bool sweep_busy, cluster_busy, drain_idle, write_port_idle, open, granted;
    int64_t d_out;
};

/* One pair's first block in the double-rate build. */
struct fp22_held {
    int32_t sums[TILE_LANES];
    uint8_t sa[4], sb[4];
};

static inline bool bit_test(const uint64_t *set, unsigned index) {
    return set[index / 64] >> (index % 64) & 1;
}

static inline void bit_set(uint64_t *set, unsigned index) {
    set[index / 64] |= UINT64_C(1) << (index % 64);
}

/* Entries of a bank of a side; an L1 of fewer than 256 is one short bank. */
static inline unsigned bank_entries(const struct cluster *cluster, unsigned side) {
    unsigned size = side ? cluster->params->l1_b : cluster->params->l1_a;
    return size < BANK_ENTRIES ? size : BANK_ENTRIES;
}

static inline bool sweep_busy(const struct cluster *cluster, cycle_t now) {
    const struct sweep *sweep = &cluster->sweep;
    return sweep->running || (sweep->issued_any && now <= sweep->last_issue + ISSUE_TO_COMMAND);
}

static inline void cluster_event(struct cluster *cluster, const char *what, uint64_t a, uint64_t b, cycle_t now) {
    if (cluster->trace)
        cluster->trace->event(cluster->trace->self, &cluster->context, what, a, b, now);
}

/* Counters with the cycles before `end` in them, whether or not the cluster was awake. */
struct cluster_counts cluster_counts_at(const struct cluster *cluster, cycle_t end);

/* operands.c: words into the operand store (§3.2, §3.3) */
bool operand_place(struct cluster *cluster, unsigned side, unsigned entry, unsigned word, const struct word256 *data,
                   cycle_t now);
/* sweep.c (§3.4) */
void sweep_prepare(struct cluster *cluster, cycle_t now);
/* One cycle; returns the cause it gives the cycle, CAUSE_IDLE if the counters do not run. */
enum cluster_cause sweep_step(struct cluster *cluster, const struct cluster_flags *flags);
/* First cycle, from `now` on, in which the running sweep still reads an entry; false if it does not any more. */
bool sweep_will_read(const struct cluster *cluster, unsigned side, unsigned entry, unsigned *g, unsigned *h);
/* Forwards the sweep's last K block instead of adding it (§10.3). */
static inline bool forwards(const struct cluster *cluster, const struct cluster_inst *inst) {
    return cluster->params->forward && inst->fwd;
}

/* The bank an instruction names: one bit, two with cluster.third_bank. */
static inline unsigned bank_of(const struct cluster *cluster, unsigned bank) {
    return bank & (cluster->params->third_bank ? 3 : 1);
}

/* rendezvous.c (§10.2) */
void rendezvous_begin(struct cluster *cluster);
void rendezvous_step(struct cluster *cluster);
/* True if the signal was a report of a follower. */
bool rendezvous_report(struct cluster *cluster, const struct flit *flit);
void sequencer_request(struct cluster *cluster);
/* tensor.c (§10.1) */
void tensor_describe(struct cluster *cluster, const struct word256 *payload);
void tensor_step(struct cluster *cluster);
/* accumulator.c: commands (§5) */
void acc_block(struct cluster *cluster, uint32_t address, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
               bool load, cycle_t command);
void acc_peer(struct cluster *cluster, uint32_t address, const struct word256 granules[2], cycle_t command);
void acc_emit(struct cluster *cluster, uint32_t address, struct word256 *out, cycle_t command);
/* FWD: the block alone, the tile neither read nor written. */
void acc_forward(struct cluster *cluster, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                 struct word256 granules[2]);
void acc_send(struct cluster *cluster, uint32_t address, struct word256 granules[2], cycle_t command);
/* drain.c (§3.7, §3.8) */
void drain_queue_push(struct cluster *cluster, const struct word256 *data, cycle_t push);
void drain_reset(struct cluster *cluster);
/* Reports a node destination that reads the words in another format than they have (§4.3). */
void drain_check_format(struct cluster *cluster, bool fused, cycle_t now);
void drain_latch(struct cluster *cluster, cycle_t now);
void drain_issue_step(struct cluster *cluster, const struct cluster_flags *flags);
void collector_step(struct cluster *cluster, const struct cluster_flags *flags, bool taken);
static inline bool drain_idle(const struct cluster *cluster) {
    return !cluster->issuing && cluster->d_out == 0 && !cluster->barrier;
}

static inline bool write_port_idle(const struct cluster *cluster) {
    return !cluster->bank[cluster->collecting].count && cluster->sender == SENDER_IDLE &&
           cluster->write_port == FLIT_NONE;
}
/* peer.c (§4) */
void peer_pop(struct cluster *cluster, const struct flit *flit, cycle_t now);
void peer_step(struct cluster *cluster, const struct cluster_flags *flags, bool was_in_burst);
/* sequencer.c (§3.1) */
void sequencer_step(struct cluster *cluster, const struct cluster_flags *flags, struct unit_io *io);
