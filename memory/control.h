/* The control-program engine: a list of writes and polls on the dispatch agent's window, without loop or branch, so
 * that the host only writes GO and then looks at a status bit (noc-and-memory §5.8). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/dispatch.h"

enum control_op {
    CONTROL_WRITE = 1,
    CONTROL_POLL = 2,
    CONTROL_DONE = 3,
};

struct control_command {
    uint8_t op;
    uint32_t address;
    uint64_t data; /* value to write, value wanted, or code of DONE */
    uint64_t mask;
};

enum control_state {
    CONTROL_IDLE,
    CONTROL_FETCH,
    CONTROL_WRITE_ADDRESS,
    CONTROL_WRITE_DATA,
    CONTROL_WRITE_RESPONSE,
    CONTROL_READ_ADDRESS,
    CONTROL_READ_VALUE,
    CONTROL_READ_DATA,
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
    bool go_pending;
    cycle_t go_at;
    uint64_t code, polls, value;
    cycle_t poll_address;
    struct control_trace *trace;
};

void control_init(struct control *control, const struct machine *machine, struct dispatch *dispatch);
void control_clear(struct control *control);

/* Host access to the engine's own window (offsets of §5.8), data beat in cycle now. */
void control_write(struct control *control, uint32_t offset, uint64_t value, cycle_t now);
uint64_t control_read(const struct control *control, uint32_t offset);

/* One cycle; before dispatch_step() of the same cycle. */
void control_step(struct control *control, cycle_t now);

/* Next cycle with an action, CYCLE_NEVER when idle. */
static inline cycle_t control_due(const struct control *control) {
    return control->go_pending ? control->go_at : control->state == CONTROL_IDLE ? CYCLE_NEVER : control->at;
}
