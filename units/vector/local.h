/* The vector core's L1: 512 words that VLD and VST, fills, drains and peers share without interlock (compute-units
 * §7.10, §8.2, §8.6).
 *
 * A word is written in a cycle and seen by every read of that cycle or later. The core works ahead of the clock and
 * catches up when something arrives, so the store keeps the last few writes apart and can answer for a cycle a little
 * in the past. The receiving side of the core (fill responses by tag, peer bursts by count) lives here as well, because
 * all it does is write L1. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/word.h"

enum {
    L1_WORDS = 512,   /* what an L1 address can name (§7.8) */
    LOCAL_LATE = 8,   /* writes kept apart: a power of two */
    LOCAL_WINDOW = 4, /* cycles a write is kept apart at least */
    FILL_TAGS = 256,
};

struct local_write {
    cycle_t cycle;
    uint16_t index;
    struct word256 word;
};

/* The one open CU_DATA burst. */
struct peer_burst {
    bool open, drop, acknowledge;
    uint8_t buffer;
    uint16_t pointer, left;
    uint16_t source_x, source_y;
    uint16_t ack_x, ack_y;
};

struct local_store {
    struct word256 *words;
    unsigned depth;
    const char *name;
    struct hazard_log *hazards;
    bool ack_rejected;
    struct local_write late[LOCAL_LATE]; /* ring of the youngest writes, in order of cycle */
    unsigned late_head, late_count;
    uint64_t set[L1_WORDS / 64];     /* ever written */
    uint64_t awaited[L1_WORDS / 64]; /* requested by a fill, not written yet */
    uint64_t touched[L1_WORDS / 64]; /* named by the running kernel */
    uint8_t tag_high[FILL_TAGS];     /* bit 8 of the word a tag stands for */
    unsigned outstanding;            /* fill words put whose response has not been popped */
    cycle_t settled_from;            /* with nothing outstanding: the first cycle that is seen */
    cycle_t handed;                  /* last cycle in which an incoming word was handed to L1 */
    struct peer_burst burst;
    bool rejected; /* F_CUDATA waits to be reported, seen from rejected_from on */
    cycle_t rejected_from;
    bool ack_waits; /* DATA_RECEIVED waits to be sent, from ack_from on */
    cycle_t ack_from;
    uint16_t ack_x, ack_y;
    uint8_t ack_buffer;
    uint64_t writes;
};

void local_init(struct local_store *l1, unsigned depth, const char *name, struct hazard_log *hazards, bool ack_rejected,
                bool poison);
void local_clear(struct local_store *l1);

/* A write seen by reads of `cycle` and later. Writes come in order of their cycles, one a cycle. */
void local_write(struct local_store *l1, cycle_t cycle, unsigned index, const struct word256 *word);
/* The word as a read in `cycle` sees it; nothing before the youngest write less LOCAL_WINDOW can be asked for. */
struct word256 local_peek(const struct local_store *l1, cycle_t cycle, unsigned index);
/* The same for a program's read: reports words nobody wrote, words still awaited and words a peer is sending. */
struct word256 local_read(struct local_store *l1, cycle_t cycle, unsigned index);
/* The L1 word an address names; reports vec.l1_wraps when it lies outside. */
unsigned local_index(struct local_store *l1, uint64_t address, cycle_t now);

/* A fill word has been put: its response is expected under the low eight bits of its index. */
void local_expect(struct local_store *l1, unsigned index);
/* First cycle, now or later, in which nothing is seen to be outstanding; CYCLE_NEVER while responses are missing. */
cycle_t local_settled(const struct local_store *l1);

/* True if the head of the receive queue can be popped: not while an acknowledgement waits. */
static inline bool local_accepts(const struct local_store *l1, cycle_t now) {
    return !(l1->ack_waits && l1->ack_from <= now);
}
/* Takes a flit popped in cycle now. */
void local_receive(struct local_store *l1, const struct flit *flit, cycle_t now);
/* True once a rejected or spliced burst is seen in cycle now; the caller reports it and clears `rejected`. */
static inline bool local_rejected(const struct local_store *l1, cycle_t now) {
    return l1->rejected && l1->rejected_from <= now;
}

/* Words the running kernel has touched, and the start of another. */
unsigned local_footprint(const struct local_store *l1);
void local_footprint_reset(struct local_store *l1);
