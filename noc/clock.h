/* Simulated time. One simulated second is one cycle; an actor is stepped in the cycles in which it has work.
 *
 * What actors exchange within a cycle must be stamped with a later cycle, so they may be stepped in any order, or at
 * the same time by several threads. With run-ahead an actor goes on without returning to SimGrid while its next due
 * cycle is before every other actor's; without it, SimGrid's clock visits every due cycle. Neither changes a result. */
#pragma once

#include <stdbool.h>

#include "model/cycle.h"
#include "model/machine.h"

struct clock;
struct clock_actor;

/* Does all work that is due in cycle now and returns the next cycle in which the actor is due, later than now;
 * CYCLE_NEVER when only a wake can give it work. */
typedef cycle_t (*clock_step)(void *self, cycle_t now);

enum clock_end {
    CLOCK_IDLE,    /* nothing is due any more */
    CLOCK_LIMIT,   /* the limit was reached with work left */
    CLOCK_STOPPED, /* an actor asked for the end */
};

/* Loads and starts SimGrid, once a process. The first clock does so; called before, the time it takes does not fall
 * into a measurement. */
void clock_start_engine(void);

struct clock *clock_new(const struct engine_params *engine);
void clock_free(struct clock *clock);

/* An actor that is first due in cycle 0. All actors are added before clock_run. */
struct clock_actor *clock_add(struct clock *clock, const char *name, clock_step step, void *self);

/* Makes an actor due in cycle `at` at the latest. Called from a step of an earlier cycle, its own or another's. */
void clock_wake(struct clock_actor *actor, cycle_t at);

/* Runs the cycles 0..limit, once a clock. */
enum clock_end clock_run(struct clock *clock, cycle_t limit);

/* Called from a step of cycle now: the run ends with this cycle, which all actors still complete. */
void clock_stop(struct clock *clock, cycle_t now);

/* After the run: the limit if it was reached, else the last cycle in which an actor was stepped. */
cycle_t clock_now(const struct clock *clock);
