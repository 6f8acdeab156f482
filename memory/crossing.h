/* Clock-crossing queue with both clocks equal, in the exact form of noc-and-memory §0.3: a store followed by a
 * two-place output stage. It holds indices into the owner's ring of words and keeps nothing but times.
 *
 * A word written in w moves to the stage in the first cycle m >= w + X - 2 in which the stage holds fewer than two
 * words or its head is being popped, one a cycle, and can be the visible head from m + 2. The writer sees the room X -
 * 2 cycles after the move. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"

enum {
    CROSSING_RING = 256, /* power of two above any configured depth + 2 */
};

struct crossing {
    unsigned delay; /* X */
    unsigned depth; /* D, at most CROSSING_RING - 2 */
    uint64_t written, moved, popped, freed;
    cycle_t written_at[CROSSING_RING];
    cycle_t moved_at[CROSSING_RING];
};

static inline void crossing_init(struct crossing *queue, unsigned delay, unsigned depth) {
    *queue = (struct crossing){.delay = delay, .depth = depth};
}

/* Place of the word with running number n in a ring of CROSSING_RING words. */
static inline unsigned crossing_place(uint64_t n) {
    return n % CROSSING_RING;
}

/* Ask before this cycle's own push. */
static inline bool crossing_full(struct crossing *queue, cycle_t now) {
    while (queue->freed < queue->moved && queue->moved_at[crossing_place(queue->freed)] + (queue->delay - 3) < now)
        queue->freed++;
    return queue->written - queue->freed >= queue->depth - 1;
}

/* Returns the place of the pushed word in the owner's ring. */
static inline unsigned crossing_push(struct crossing *queue, cycle_t now) {
    unsigned place = crossing_place(queue->written++);
    queue->written_at[place] = now;
    return place;
}

static inline bool crossing_readable(const struct crossing *queue, cycle_t now) {
    return queue->popped < queue->moved && queue->moved_at[crossing_place(queue->popped)] + 2 <= now;
}

/* Place of the head; only while readable. */
static inline unsigned crossing_head(const struct crossing *queue) {
    return crossing_place(queue->popped);
}

/* Ends the reader's cycle: pops the head if it was taken and moves a word to the stage. Call once in every cycle in
 * which the queue holds anything. A word pushed in this cycle is too young to move, so the order of the two ends is
 * free. */
static inline void crossing_advance(struct crossing *queue, cycle_t now, bool taken) {
    bool room = queue->moved - queue->popped < 2 || taken;
    if (room && queue->moved < queue->written &&
        queue->written_at[crossing_place(queue->moved)] + (queue->delay - 2) <= now)
        queue->moved_at[crossing_place(queue->moved++)] = now;
    if (taken)
        queue->popped++;
}

static inline bool crossing_empty(const struct crossing *queue) {
    return queue->popped == queue->written;
}
