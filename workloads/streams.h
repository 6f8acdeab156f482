/* Instruction streams for any units, in steps, cut into rounds (workloads §3). A step is a set of streams, one a node,
 * that are dispatched together and waited for together; a later step starts when every signal of the earlier one has
 * come. Steps share a round as long as staging, command RAM and credit allow, and a stream longer than a round is cut
 * where the round ends. What has to happen between two rounds is asked for by streams_barrier. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "workloads/rounds.h"
#include "workloads/run.h"

struct streamed {
    struct word256 payload;
    uint16_t signals; /* that it causes: its own completion, and what others send to the agent because of it */
};

/* What one node is sent. */
struct stream {
    struct node node;
    GArray *flits; /* of struct streamed */
};

struct streams {
    struct round_options options;
    GArray *rounds;     /* of struct round */
    struct round round; /* under construction; its lists are the arrays below until it ends */
    GArray *flits, *kicks, *commands;
    struct round_shadow shadow;
    uint8_t txn[256];
    unsigned round_signals;
    /* Totals, of rounds that dispatch. */
    uint64_t instructions, command_count, host_writes, signals, round_count;
    uint64_t mover_writes;
    uint64_t awaited; /* memory words of all barriers so far */
};

/* Limits are those of the machine: staging RAM, command RAM, instruction queue. */
void streams_init(struct streams *streams, const struct machine *machine);
void streams_clear(struct streams *streams);

void stream_init(struct stream *stream, struct node node);
void stream_add(struct stream *stream, const struct word256 *payload, unsigned signals);
void stream_clear(struct stream *stream);

/* One step. FS_ERROR_INPUT when not even one flit fits a round. */
bool streams_step(struct streams *streams, const struct stream *list, unsigned count, GError **error);
/* Moves of the memory mover, in rounds of their own. */
void streams_moves(struct streams *streams, const GArray *moves);
/* What comes after waits until memory has taken the `words` that the steps since the last barrier write, and `act`,
 * unless it is NULL, has been called. */
void streams_barrier(struct streams *streams, uint64_t words, void (*act)(void *self), void *self);

/* Runs everything, and notes in the run what it was made of. */
void streams_run(struct streams *streams, struct run *run);
