/* Flits: the 288-bit unit of transfer, 32 header bits and 256 payload bits (noc-and-memory §2).
 *
 * In the simulator a flit is a struct in a pool and travels as a 32-bit index, so a hop moves four bytes. Coordinates
 * are kept wider than the four header bits, because bare meshes may be larger than the hardware can address; whoever
 * encodes a flit to its 288 bits checks that they fit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/error.h"
#include "model/word.h"

/* Type codes of noc-and-memory §2.2. */
enum flit_type {
    FLIT_MEM_RD_REQ = 0x0,
    FLIT_MEM_WR_REQ = 0x1,
    FLIT_MEM_RD_RESP = 0x2,
    FLIT_MEM_WR_ACK = 0x3,
    FLIT_MEM_WR_DATA = 0x4,
    FLIT_CU_INST = 0x5,
    FLIT_CU_SIGNAL = 0x6,
    FLIT_CU_CTRL = 0x7,
    FLIT_CU_DATA = 0x8,
    FLIT_ERROR = 0xF,
    FLIT_TYPES = 16,
};

/* Signal codes of noc-and-memory §2.7. */
enum signal_code {
    SIGNAL_INST_COMPLETE = 0x00,
    SIGNAL_BATCH_COMPLETE = 0x01,
    SIGNAL_BARRIER_REACHED = 0x02,
    SIGNAL_DATA_RECEIVED = 0x03,
    SIGNAL_FAULT = 0x04,
};

/* Notes are for reports only. A read request of a FILL, and its responses, carry where the FILL puts them; an
 * instruction the kind of unit it was written for. */
enum flit_note {
    NOTE_NONE = 0,
    NOTE_FILL = 1, /* + side + 2 * bank */
    NOTE_FOR_CLUSTER = 1,
    NOTE_FOR_VECTOR = 2,
};

/* Bit 2 of rsvd: the flit leaves the mesh over the interlink (noc-and-memory §2.5). */
enum {
    FLIT_RSVD_REMOTE = 4,
};

struct flit {
    uint16_t dst_x, dst_y;
    uint16_t src_x, src_y;
    uint8_t type; /* enum flit_type, 4 bits */
    uint8_t txn;
    uint8_t last; /* 0 or 1 */
    uint8_t rsvd; /* 3 bits */
    uint8_t note; /* enum flit_note: what the simulator knows and the wire does not carry; 0 nothing */
    uint32_t next_free;
    cycle_t offered; /* first cycle on its first link: start of network latency */
    struct word256 payload;
};

typedef uint32_t flit_index;

#define FLIT_NONE UINT32_MAX

/* The chunks all pools of one machine share: a table of fixed size, so that flit_at needs no lock while it fills. */
struct flit_store;

/* Free flits of one actor. An index stays valid, in every pool of the store, until the flit is freed; a flit may be
 * taken from one pool and given back to another. Free flits move between pools in whole batches. */
struct flit_pool {
    struct flit **chunks; /* the store's table */
    struct flit_store *store;
    bool owner; /* clearing it frees every flit of the store */
    flit_index free_head;
    uint32_t free_count;
    flit_index spare; /* a whole batch, or FLIT_NONE */
    uint64_t live;    /* taken less given back, modulo 2^64; summed over the pools of a store: flits in use */
};

enum {
    FLIT_CHUNK_BITS = 12,
    FLIT_BATCH = 64,
};

void flit_pool_init(struct flit_pool *pool);
/* A further pool, for another actor, of the flits of `first`, which outlives it. */
void flit_pool_init_shared(struct flit_pool *pool, const struct flit_pool *first);
void flit_pool_clear(struct flit_pool *pool);
/* Gets free flits from the spare batch, the store or a new chunk; called by flit_new when none is left. */
void flit_pool_refill(struct flit_pool *pool);
/* Sets a full batch aside, and an older one back to the store; called by flit_free. */
void flit_pool_spill(struct flit_pool *pool);

static inline struct flit *flit_at(const struct flit_pool *pool, flit_index index) {
    return &pool->chunks[index >> FLIT_CHUNK_BITS][index & ((1u << FLIT_CHUNK_BITS) - 1)];
}

/* A flit with undefined content; the caller sets every field but next_free. */
static inline flit_index flit_new(struct flit_pool *pool) {
    if (pool->free_head == FLIT_NONE)
        flit_pool_refill(pool);
    flit_index index = pool->free_head;
    pool->free_head = flit_at(pool, index)->next_free;
    pool->free_count--;
    pool->live++;
    return index;
}

static inline void flit_free(struct flit_pool *pool, flit_index index) {
    struct flit *flit = flit_at(pool, index);
    flit->next_free = pool->free_head;
    pool->free_head = index;
    pool->live--;
    if (++pool->free_count == FLIT_BATCH)
        flit_pool_spill(pool);
}

/* Node index byte {y, x} of noc-and-memory §1.1. */
static inline uint8_t node_byte(unsigned x, unsigned y) {
    return (uint8_t)(y << 4 | x);
}
