/* The vector core's way out: request register Q, send register S, and behind them the port's output register
 * (compute-units §8.6). One fill or drain word at a time stands in Q; the sender turns it into flits in S. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "units/unit.h"
#include "units/vector/local.h"

enum request_kind {
    REQUEST_FILL,
    REQUEST_WRITE,
    REQUEST_NODE,
};

/* What stands in Q. */
struct request {
    enum request_kind kind;
    bool announce; /* first word to a node: the descriptor goes before it */
    bool last;
    uint8_t tag; /* REQUEST_FILL */
    uint8_t txn, rsvd, buffer, flags, ack, length;
    uint8_t dst_x, dst_y;
    uint16_t granule;
    uint64_t address;
    struct word256 word;
};

struct way_out {
    unsigned x, y, port_x, port_y;
    struct request queued;
    bool full, announced;
    cycle_t full_from, taken; /* taken: CYCLE_NEVER while the word still waits */
    flit_index send;          /* S */
    enum flit_type send_type;
    bool half; /* the data of a write waits to follow its request */
    struct word256 half_word;
    uint64_t read_requests, write_words;
};

void way_out_init(struct way_out *out, const struct unit_context *context);

/* Q can be filled in cycle now. */
static inline bool way_out_free(const struct way_out *out, cycle_t now) {
    return !out->full || (out->taken != CYCLE_NEVER && now >= out->taken + 2);
}
/* Puts a word into Q in cycle now. */
void way_out_put(struct way_out *out, const struct request *request, cycle_t now);
/* One cycle: S to the port, the next flit into S. */
void way_out_step(struct way_out *out, struct local_store *l1, struct unit_io *io);
/* True while there is anything to send. */
bool way_out_busy(const struct way_out *out, const struct local_store *l1);
/* True while a word of a drain has not left for the port. */
bool way_out_drains(const struct way_out *out);
