/* The dispatch agent: register window, staging RAM, dispatcher with its one credit counter, status mirror of all nodes
 * and raw-flit mailbox (noc-and-memory §5.2–5.7). It has no place of its own: the memory agent hands it the flits of
 * its ports and carries what it sends. It lives beside the agent because both are decided in the same cycle. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/flit.h"
#include "model/hazard.h"
#include "model/isa/host.h"
#include "model/machine.h"
#include "noc/fifo.h"

enum {
    DISPATCH_NODES = 256,
    STAGED_WORDS = STAGE_FLIT_WORDS,
};

/* Node mirror: one signal's content and how many have come. */
struct node_status {
    uint8_t code;
    uint32_t arg;
    uint16_t count;
    bool seen;
};

/* A write on its way from the data beat to the register: takes effect at the end of the next cycle. */
struct window_write {
    bool pending;
    uint32_t offset;
    uint64_t value;
    cycle_t at; /* cycle in which it acts: data beat + 1 */
};

/* Events in the order they happen within a run; set by whoever records. */
struct dispatch_trace {
    void *self;
    void (*event)(void *self, const char *what, const struct flit *flit, cycle_t now);
};

/* The registers behind AUX_CFG, AUX_STAT and AUX_STATW: mover and interlink. */
struct dispatch_auxiliary {
    void *self;
    void (*write)(void *self, uint32_t offset, uint64_t value, cycle_t now); /* at the data beat + 1 */
    uint64_t (*status)(void *self);
    uint64_t (*status_word)(void *self, unsigned index);
};

struct dispatch {
    struct flit_pool *pool;
    struct hazard_log *hazards;
    unsigned x, y; /* port 0's coordinate */
    unsigned fall_through;
    unsigned nx, ny;
    unsigned seeded_limit; /* smallest instruction-queue depth behind the mesh */
    /* plain registers */
    uint64_t control, irq_status, irq_enable;
    uint16_t length, base;
    uint8_t destination;
    struct window_write write;
    /* dispatcher */
    uint64_t *staging;
    uint8_t *staging_notes; /* enum flit_note of every slot, for reports */
    unsigned staging_flits;
    bool running;
    unsigned left;       /* flits whose last word is not yet read */
    uint32_t read_index; /* staging word */
    unsigned word_index;
    unsigned read_slot; /* of `complete` */
    uint64_t assembling[STAGED_WORDS], complete[STAGED_WORDS];
    bool push_next; /* `complete` is pushed in the next cycle */
    uint16_t credit;
    struct fifo transmit;
    flit_index output; /* toward the mesh */
    /* completions */
    struct node_status nodes[DISPATCH_NODES];
    uint16_t signals_done;
    flit_index arrived; /* taken from a port in this cycle */
    /* mailbox */
    struct fifo mailbox;
    uint32_t mailbox_room;
    bool mailbox_overflow;
    uint64_t mailbox_words[STAGED_WORDS]; /* TX_FLIT */
    struct dispatch_auxiliary auxiliary;
    struct dispatch_trace *trace;
    /* statistics */
    uint64_t pushed, signals, completions, lost_credits;
    uint64_t credit_stall_cycles, seeded_total;
    cycle_t last_kick_request, last_signal;
    bool expect_last;
};

void dispatch_init(struct dispatch *dispatch, const struct machine *machine, struct flit_pool *pool,
                   struct hazard_log *hazards);
void dispatch_clear(struct dispatch *dispatch);

/* The value a read returns whose address is taken in cycle now - 1, i.e. the register's value in cycle now (§5.3).
 * Call before dispatch_step(now). */
uint64_t dispatch_read(struct dispatch *dispatch, uint32_t offset, cycle_t now);

/* A write with its data beat in cycle now. Call before dispatch_step(now). */
void dispatch_write(struct dispatch *dispatch, uint32_t offset, uint64_t value, cycle_t now);

/* Puts a flit into a staging slot without time: set-up only. */
void dispatch_stage(struct dispatch *dispatch, unsigned slot, const struct word256 *payload, unsigned type,
                    unsigned txn, unsigned last);

/* Keeps for reports which kind of unit the instruction in a slot was written for (enum flit_note). */
void dispatch_note(struct dispatch *dispatch, unsigned slot, unsigned note);

/* May a non-memory flit be taken in this cycle? Signals always; others while the mailbox has room, else they are
 * dropped. */
void dispatch_take(struct dispatch *dispatch, flit_index flit, cycle_t now);

/* One cycle; output_taken: the mesh took the output register in this cycle. Returns true while it has work of its own.
 */
bool dispatch_step(struct dispatch *dispatch, cycle_t now, bool output_taken);
