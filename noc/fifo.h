/* Stamped FIFO: the synchronous first-word-fall-through queue of noc-and-memory §0.3.
 *
 * A word written in cycle w can be read from w+F on, one word leaves per cycle, and `full` is the number of words at
 * the start of the cycle. Writer and reader may be stepped in any order within a cycle: the reader ignores words that
 * are not ready yet, the writer adds a pop of the same cycle back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "model/cycle.h"
#include "model/flit.h"

struct fifo_entry {
    cycle_t ready; /* first cycle in which the word can be the visible head */
    flit_index flit;
    uint32_t tag; /* free for the owner; router inputs keep destination and output port here */
};

struct fifo {
    struct fifo_entry *ring;
    uint32_t capacity;
    uint32_t head, count;
    cycle_t last_pop; /* CYCLE_NEVER before the first */
    uint32_t peak;
};

static inline void fifo_init(struct fifo *fifo, uint32_t capacity) {
    *fifo = (struct fifo){.ring = g_new0(struct fifo_entry, capacity), .capacity = capacity, .last_pop = CYCLE_NEVER};
}

static inline void fifo_clear(struct fifo *fifo) {
    g_free(fifo->ring);
    *fifo = (struct fifo){0};
}

/* Words stored at the start of cycle now, seen by the writer before its own push of that cycle. */
static inline uint32_t fifo_held(const struct fifo *fifo, cycle_t now) {
    return fifo->count + (fifo->last_pop == now);
}

static inline bool fifo_full(const struct fifo *fifo, cycle_t now) {
    return fifo_held(fifo, now) >= fifo->capacity;
}

/* Appends a word accepted in cycle now. The caller has tested fifo_full. A pop of the same cycle may leave the ring one
 * short of what the writer was promised, never the other way round. */
static inline struct fifo_entry *fifo_push(struct fifo *fifo, flit_index flit, cycle_t ready) {
    uint32_t tail = fifo->head + fifo->count;
    if (tail >= fifo->capacity)
        tail -= fifo->capacity;
    struct fifo_entry *entry = &fifo->ring[tail];
    entry->ready = ready;
    entry->flit = flit;
    if (++fifo->count > fifo->peak)
        fifo->peak = fifo->count;
    return entry;
}

static inline bool fifo_readable(const struct fifo *fifo, cycle_t now) {
    return fifo->count && fifo->ring[fifo->head].ready <= now;
}

static inline struct fifo_entry *fifo_head(const struct fifo *fifo) {
    return &fifo->ring[fifo->head];
}

static inline void fifo_pop(struct fifo *fifo, cycle_t now) {
    fifo->last_pop = now;
    if (--fifo->count == 0)
        fifo->head = 0; /* keeps a lightly used ring in its first cache line */
    else if (++fifo->head == fifo->capacity)
        fifo->head = 0;
}
