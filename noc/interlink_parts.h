/* Inside of the interlink: the queues its parts share, and the parts that are stepped in interlink_step(). */
#pragma once

#include "noc/interlink.h"

enum {
    INPUT_LOCAL,
    INPUT_TRANSIT,
    INTERLINK_INPUTS,
};

enum {
    ENCAPS_PER_SOURCE = 64, /* of the what-if: more bursts than a mesh has units behind one agent */
    WIRE_ROOM = 8,          /* mails between the sender's step and the receiver's, beside the pipe stages */
    CREDITS_MAX = 255,      /* in one packet */
    LINK_STORES = 1,        /* link register to FIFO or counter */
};

/* What is decided in one cycle from the state at its start. */
struct interlink_cycle {
    enum interlink_arbiter_state outbound;                   /* at the start */
    int passes[INTERLINK_LINKS][INTERLINK_CLASSES];          /* input whose header passes the merge, -1: none */
    const struct interlink_header *transit[INTERLINK_LINKS]; /* offered by the receive side of a link */
    bool transit_waits, transit_passes;                      /* in either direction */
    bool drops;                                              /* the local header has no way */
    bool chosen;                                             /* by the outbound arbiter */
    enum interlink_source source;                            /* with chosen */
    bool outbound_ended;                                     /* its last beat was taken */
    unsigned freed[INTERLINK_LINKS][INTERLINK_CLASSES];      /* beats taken out of receive FIFOs */
};

static inline void beats_init(struct interlink_beats *beats, unsigned capacity) {
    *beats = (struct interlink_beats){.ring = g_new0(struct interlink_beat, capacity), .capacity = capacity};
}

static inline void beats_push(struct interlink_beats *beats, const struct flit *flit, cycle_t ready) {
    g_assert(beats->count < beats->capacity);
    unsigned tail = (beats->head + beats->count++) % beats->capacity;
    beats->ring[tail] = (struct interlink_beat){.ready = ready, .flit = *flit};
}

static inline bool beats_readable(const struct interlink_beats *beats, cycle_t now) {
    return beats->count && beats->ring[beats->head].ready <= now;
}

static inline const struct flit *beats_pop(struct interlink_beats *beats) {
    const struct flit *flit = &beats->ring[beats->head].flit;
    beats->head = (beats->head + 1) % beats->capacity;
    beats->count--;
    return flit;
}

static inline void headers_push(struct interlink_headers *headers, const struct interlink_header *header,
                                cycle_t ready) {
    g_assert(headers->count < headers->capacity);
    unsigned tail = (headers->head + headers->count++) % headers->capacity;
    headers->ring[tail] = (struct interlink_arrival){.ready = ready, .header = *header};
}

/* The readable head, NULL if there is none. */
static inline const struct interlink_header *headers_head(const struct interlink_headers *headers, cycle_t now) {
    const struct interlink_arrival *arrival = &headers->ring[headers->head];
    return headers->count && arrival->ready <= now ? &arrival->header : NULL;
}

static inline void headers_pop(struct interlink_headers *headers) {
    headers->head = (headers->head + 1) % headers->capacity;
    headers->count--;
}

void interlink_trace_event(const struct interlink *interlink, const struct interlink_event *event, cycle_t at);
void interlink_raise(struct interlink *interlink, unsigned fault, cycle_t now);
/* Link and class by which a packet leaves; -1 if it has no way. */
int interlink_route(const struct interlink *interlink, unsigned to, unsigned *class);

/* Outbound arbiter (§10.6): mover words, packets, doorbells. */
void outbound_decide(struct interlink *interlink, struct interlink_cycle *cycle);
/* The next beat of the packet it is sending. */
struct flit outbound_beat(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now);
void outbound_update(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now);

/* Merges in front of the links, and transit. */
void switch_decide(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now);
void switch_update(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now);

void link_step(struct interlink *interlink, unsigned l, struct interlink_cycle *cycle, cycle_t now);

/* Inbound engine (§10.7). */
void inbound_step(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now);
