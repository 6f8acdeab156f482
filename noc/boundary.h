/* A link between two parts of a mesh that different actors step, at the same time if there are threads.
 *
 * The sender writes a flit stamped with its cycle into a ring; the receiver moves what is stamped before its own cycle
 * into the input FIFO before it steps. The receiver publishes how many words it has popped and when last, in one word,
 * so that the sender can count what the FIFO held at the start of the cycle, whichever side is stepped first. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/flit.h"

enum {
    BOUNDARY_POP_BITS = 16, /* pops modulo 2^16; no FIFO holds more words */
    BOUNDARY_LINE = 64,
};

struct boundary_word {
    cycle_t stamp;
    flit_index flit;
    uint32_t destination;
};

struct mesh_part;
struct router;

struct boundary {
    /* Fixed. */
    struct mesh_part *from, *to;
    struct router *router; /* receiving router and input */
    uint8_t input;
    uint16_t peer; /* place of `to` among the parts that `from` sends to */
    uint32_t capacity;
    uint32_t mask; /* of the ring: more words than cycles from a push to the receiver's step */
    struct boundary_word *ring;
    /* Written by the receiver. */
    _Alignas(BOUNDARY_LINE) _Atomic uint64_t popped; /* cycle of the last pop, and pops in the low bits */
    uint32_t absorbed;
    /* Written by the sender. */
    _Alignas(BOUNDARY_LINE) _Atomic uint32_t pushed;
};

#define BOUNDARY_NO_POP (UINT64_MAX << BOUNDARY_POP_BITS)

/* Sender, before its push of the cycle: was the FIFO full at the start of cycle now? */
static inline bool boundary_full(const struct boundary *link, cycle_t now) {
    uint64_t popped = atomic_load_explicit(&link->popped, memory_order_acquire);
    uint32_t held = (uint16_t)(atomic_load_explicit(&link->pushed, memory_order_relaxed) - popped);
    return held + (popped >> BOUNDARY_POP_BITS == now) >= link->capacity; /* cycles stay below 2^48 */
}

static inline void boundary_push(struct boundary *link, flit_index flit, uint32_t destination, cycle_t now) {
    uint32_t number = atomic_load_explicit(&link->pushed, memory_order_relaxed);
    link->ring[number & link->mask] = (struct boundary_word){now, flit, destination};
    atomic_store_explicit(&link->pushed, number + 1, memory_order_release);
}

/* Receiver: the next word stamped before cycle now, or NULL. boundary_next() gives its place back. */
static inline const struct boundary_word *boundary_peek(const struct boundary *link, cycle_t now) {
    if (link->absorbed == atomic_load_explicit(&link->pushed, memory_order_acquire))
        return NULL;
    const struct boundary_word *word = &link->ring[link->absorbed & link->mask];
    return word->stamp < now ? word : NULL;
}

static inline void boundary_next(struct boundary *link) {
    link->absorbed++;
}

/* Receiver: a word left the FIFO in cycle now. */
static inline void boundary_pop(struct boundary *link, cycle_t now) {
    uint64_t popped = atomic_load_explicit(&link->popped, memory_order_relaxed);
    popped = now << BOUNDARY_POP_BITS | (uint16_t)(popped + 1);
    atomic_store_explicit(&link->popped, popped, memory_order_release);
}
