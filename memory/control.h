/* The control-program engine: a list of writes and polls on the dispatch agent's window, without loop or branch, so
 * that the host only writes GO and then looks at a status bit (noc-and-memory §5.8). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/dispatch.h"
#include "model/isa/host.h"

enum control_state {
    ENGINE_IDLE,
    ENGINE_FETCH,
    ENGINE_WRITE_ADDRESS,
    ENGINE_WRITE_DATA,
    ENGINE_WRITE_RESPONSE,
    ENGINE_READ_ADDRESS,
    ENGINE_READ_VALUE,
    ENGINE_READ_DATA,
};

struct control_trace {
    void *self;
    void (*event)(void *self, const char *what, uint64_t a, uint64_t b, cycle_t now);
};

struct control {
    struct dispatch *dispatch;
    struct control_command *commands;
    unsigned room; /* NCMD */
    unsigned poll_interval;
    enum control_state state;
    cycle_t at; /* cycle of the next action of `state` */
    unsigned index;
    bool busy, done, error;
    bool ended; /* set when it stops; whoever waits for that clears it */
    bool go_pending;
    cycle_t go_at;
    uint64_t code, polls, value;
    cycle_t poll_address;
    struct control_trace *trace;
};

void control_init(struct control *control, const struct machine *machine, struct dispatch *dispatch);
void control_clear(struct control *control);

/* Host access to the engine's own window (enum engine_offset), data beat in cycle now. */
void control_write(struct control *control, uint32_t offset, uint64_t value, cycle_t now);
uint64_t control_read(const struct control *control, uint32_t offset);

/* One cycle; before dispatch_step() of the same cycle. */
void control_step(struct control *control, cycle_t now);

/* Next cycle with an action, CYCLE_NEVER when idle. */
static inline cycle_t control_due(const struct control *control) {
    return control->go_pending ? control->go_at : control->state == ENGINE_IDLE ? CYCLE_NEVER : control->at;
}
