/* The memory mover (noc-and-memory §8 and, for mode 5, §9): a descriptor machine that copies, pads, gathers, fills,
 * generates and converts words of memory. It is commanded through registers only and reads and writes through a
 * requester of its own. §8.10 is the rule set; names here are its names.
 *
 * Order within a cycle: path_step() before mover_step(); mover_write() anywhere. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/path.h"
#include "memory/transform.h"
#include "memory/walker.h"
#include "model/cycle.h"
#include "model/hazard.h"
#include "model/isa/host.h"
#include "model/machine.h"
#include "model/word.h"

/* Register offsets, §8.8. */
enum mover_register {
    MOVER_REG_COMMAND = 0x00,
    MOVER_REG_HEADER = 0x10,
    MOVER_REG_DIM = 0x18,
    MOVER_REG_DIM_AXIS = 0x20,
    MOVER_REG_BOUND = 0x28,
    MOVER_REG_INDEX = 0x30,
    MOVER_REG_SEED = 0x38,
    MOVER_REG_IMMEDIATE = 0x40,
    MOVER_REG_PITCH = 0x50,
};

#define MOVER_GO       (UINT64_C(1) << 16)
#define MOVER_COALESCE (UINT64_C(1) << 11)

enum mover_fault {
    MOVER_FAULT_NONE,
    MOVER_FAULT_INDEX,     /* gather index count too large */
    MOVER_FAULT_RANGE,     /* a transform run is not a whole number of entries */
    MOVER_FAULT_BUS,       /* never raised: the memory path reports no errors */
    MOVER_FAULT_MODE,      /* mode not available */
    MOVER_FAULT_WIDTH,     /* element width 3 */
    MOVER_FAULT_ALIGNMENT, /* a destination address is not a multiple of 32 */
    MOVER_FAULT_BOUND,     /* bound axis in a transform move */
    MOVER_FAULT_OCCUPANT,  /* the transform occupant faulted */
};

enum {
    MOVER_WRITES_PENDING = 4, /* register writes under way: at most two */
    MOVER_SKID = 2,
    MOVER_READS_RING = 64, /* power of two above max_reads and what waits in front of it */
};

enum word_kind {
    KIND_SUPPRESSED, /* nothing is written, open runs break */
    KIND_READ,
    KIND_FILL,
    KIND_GENERATED,
    KIND_NONE, /* a step of a transform entry without a destination word: the write run stays as it is */
};

enum issue_state {
    ISSUE_IDLE,
    ISSUE_FAULTED,
    ISSUE_INDEX_SEND,
    ISSUE_INDEX_WAIT,
    ISSUE_INDEX_END,
    ISSUE_GRANT,
    ISSUE_START,
    ISSUE_GATHER,
    ISSUE_LATCH,
    ISSUE_RUN,
    ISSUE_FLUSH,
    ISSUE_DRAIN,
    ISSUE_DONE,
};

enum write_state {
    WRITE_IDLE,
    WRITE_ARMED,
    WRITE_GENERATING,
    WRITE_DATA,
};

struct mover_element {
    uint64_t source, destination;
    enum word_kind kind;
    bool reads;       /* takes a source word */
    bool keeps_read;  /* takes none, but the read run stays open (transform only) */
    bool opens_entry; /* first step of a transform entry */
    unsigned reserve; /* words of FIFO space it claims */
    uint64_t entry;   /* of a transform */
    bool misaligned;
    bool ends; /* the walk ends with it */
};

/* An open run of consecutive words: of the read or the write side. */
struct mover_run {
    bool open;
    uint64_t base, next;
    unsigned words, room;
    enum word_kind kind;
    uint64_t entry;
};

struct mover_burst {
    uint64_t address;
    unsigned words;
    uint64_t entry; /* transform: the entry it belongs to */
};

struct mover_write_command {
    uint64_t address;
    unsigned words;
    enum word_kind kind;
    cycle_t ready;
};

struct mover_data {
    struct word256 word;
    cycle_t ready;
};

/* Mode 5: where the run stands. Entries are counted from 0. */
struct mover_convert {
    bool active, aborted, cut;
    unsigned id, mode, in_beats, out_words, steps;
    unsigned step;            /* of the entry being walked */
    uint64_t entries, walked; /* in the move; walked completely */
    uint64_t offered, started, received, finished;
    unsigned beats;           /* received of the entry inside the bank */
    uint64_t words_walked;    /* destination words */
    uint64_t words_emitted;   /* into the data FIFO */
    uint64_t words_committed; /* in write bursts that were offered */
    uint64_t words_written;   /* handed to memory */
    struct word256 result[TRANSFORM_WORDS];
    unsigned result_next, result_count;
};

struct mover_params_run {
    unsigned fall_through, max_reads, max_writes, burst_max, fifo_depth, command_capacity, index_words;
};

struct mover {
    struct mem_requester port;
    struct mover_params_run params;
    bool rtl_defects;
    unsigned mesh; /* which mesh this is, for the report of foreign sources */
    struct transform_bank *bank;
    struct hazard_log *hazards;
    /* Registers. */
    unsigned command_mode, width, flags;
    uint32_t immediate;
    uint64_t seed;
    uint64_t index_base;
    unsigned index_count;
    uint32_t pitch;
    unsigned row_words; /* 0 acts as 65,536 */
    uint64_t gather_base;
    unsigned xform_id, xform_mode;
    uint64_t held_dim; /* last content of register 0x18 */
    struct walker source, destination;
    bool go; /* the pulse of the current cycle */
    struct {
        cycle_t cycle;
        unsigned offset;
        uint64_t value;
    } pending[MOVER_WRITES_PENDING];
    uint64_t pending_in, scalars_out, walkers_out;
    cycle_t stepped_at; /* last cycle stepped */
    /* Issue engine. */
    enum issue_state state;
    struct mover_element element;
    struct mover_run read, write;
    unsigned gather_wait;
    uint32_t row, row_word; /* gather: place of the element the walkers stand on */
    uint32_t *indexes;
    unsigned index_loaded, index_wanted; /* words */
    uint64_t index_address;
    bool starved; /* of the previous cycle */
    struct mover_convert convert;
    /* Address path: register, skid, bursts out. */
    bool register_full;
    struct mover_burst address_register, skid[MOVER_SKID];
    unsigned skid_count, bursts_out;
    unsigned out_words[MOVER_READS_RING]; /* length of every burst out, in order */
    uint64_t out_head, out_tail;
    unsigned burst_returned; /* words of the oldest */
    unsigned reserved, present;
    /* Data FIFO and command queue. */
    struct mover_data *data;
    unsigned data_mask;
    uint64_t data_in, data_out;
    struct mover_write_command *commands;
    unsigned command_mask;
    uint64_t command_in, command_out;
    /* Write engine. */
    enum write_state writing;
    struct mover_write_command command;
    unsigned words_left, unanswered;
    cycle_t taken_at;
    struct word256 generated;
    /* Results. */
    enum mover_fault fault;
    uint64_t moves_done;
    /* Statistics of the whole run. */
    uint64_t busy_cycles, words_read, words_written;
    uint64_t read_bursts, write_bursts; /* addresses that memory accepted, index reads included */
};

/* bank: the agent's transform bank; it and the log stay the caller's. mesh: number of this mesh, 0..3. */
void mover_init(struct mover *mover, const struct machine *machine, unsigned mesh, struct transform_bank *bank,
                struct hazard_log *hazards);
void mover_clear(struct mover *mover);
/* A register write at the configuration port in cycle now (window data beat + 1). The mover must be stepped from
 * now + 1 on. At most one a cycle. */
void mover_write(struct mover *mover, unsigned offset, uint64_t value, cycle_t now);
/* One cycle. Returns the next cycle it must be stepped, CYCLE_NEVER when only a register write gives it work. */
cycle_t mover_step(struct mover *mover, cycle_t now);
/* High in the next cycle to be stepped. */
bool mover_busy(const struct mover *mover);
/* The AUX_STAT word; the two counters are those of the agent's memory ports. */
uint64_t mover_status(const struct mover *mover, unsigned reads, unsigned writes);
