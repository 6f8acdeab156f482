/* What a compute unit is: a synchronous machine behind the port logic of noc-and-memory §4.
 *
 * The port logic (noc/endpoint) owns the instruction and receive queues, the output register and the completions. Once
 * a cycle it shows the unit what stands at their heads and takes what the unit decides. Everything the unit is shown is
 * the state at the start of the cycle; everything it decides takes effect at its end. A unit is skipped in cycles in
 * which it asked for nothing and nothing arrived. */
#pragma once

#include <stddef.h>

#include <stdbool.h>
#include <stdint.h>

#include "model/account.h"
#include "model/cycle.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"

struct unit_io {
    cycle_t now;
    struct flit_pool *pool;
    /* Shown to the unit. */
    const struct flit *inst; /* offered instruction: queue readable, none in flight, completion queue not full */
    const struct flit *recv; /* visible head of the receive queue */
    bool send_ready;         /* a flit handed over in this cycle is on the link in the next */
    /* Decided by the unit; cleared before the step. */
    bool take;       /* the unit takes `inst` (cycle i): not in flight before, in flight from i+1 */
    bool pop;        /* the unit has consumed `recv`; the port logic frees it */
    flit_index send; /* FLIT_NONE, or a flit handed over; only if send_ready */
    bool done;       /* retirement pulse (cycle d), never in a cycle with take */
    bool fault;      /* with done: the completion is a FAULT */
    uint32_t result; /* with done: result word */
};

/* What a unit gets to know of its surroundings when it is made. */
struct unit_context {
    const struct machine *machine;
    const struct machine_unit *place;
    struct flit_pool *pool;
    struct hazard_log *hazards;
    unsigned port_x, port_y; /* coordinate of the bound memory port */
};

struct unit_report {
    const char *const *causes; /* names, cause_count of them */
    unsigned cause_count;
    const struct account *account;
    uint64_t instructions; /* retired */
};

struct unit_type {
    const char *name;     /* as in machine_unit.type */
    uint16_t type_code;   /* caps register, noc-and-memory §4.5 */
    uint8_t buffers;      /* published CU_DATA buffers */
    bool drops_write_ack; /* acks are accepted at once and never queued (§4.1) */
    void *(*create)(const struct unit_context *context);
    void (*destroy)(void *unit);
    /* One cycle. Returns the next cycle in which the unit must be stepped if nothing arrives: io->now + 1 while it
     * works, CYCLE_NEVER when only an arriving flit can give it something to do. */
    cycle_t (*step)(void *unit, struct unit_io *io);
    uint64_t (*debug_register)(const void *unit, cycle_t now); /* CU_CTRL index 3 */
    void (*report)(const void *unit, struct unit_report *report);
    /* What the unit waits for, for deadlock reports: a sentence, or NULL when it is idle. */
    char *(*waits_for)(const void *unit, cycle_t now);
    /* Grows whenever the unit gets anything done that no flit shows; waiting in place is none. */
    uint64_t (*progress)(const void *unit);
    /* Feeds all state that a user could observe (memories, counters) to the digest. */
    void (*digest)(const void *unit, void (*feed)(void *to, const void *data, size_t size), void *to);
};

extern const struct unit_type unit_type_cluster;
extern const struct unit_type unit_type_vector;
