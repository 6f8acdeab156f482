/* One run of a workload on a machine: what happened, for whoever writes it down. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "model/machine.h"
#include "noc/traffic.h"
#include "units/deadlock.h"
#include "units/line.h"
#include "units/system.h"
#include "workloads/grade.h"
#include "workloads/profile.h"
#include "workloads/rounds.h"
#include "workloads/workload.h"

enum run_fact_type {
    FACT_COUNT,
    FACT_NUMBER,
    FACT_TEXT,
    FACT_SERIES,
    FACT_FLAG, /* `count` is 0 or 1 */
};

/* A figure that only this kind of workload has: one more key of the result. */
struct run_fact {
    const char *key; /* "plan.gm" */
    enum run_fact_type type;
    uint64_t count;
    double number;
    char *text;
    uint64_t *series; /* value_count of them: a figure at every step of something swept */
    unsigned value_count;
};

/* Looks on while a run goes: called before the first cycle at or after `next` is stepped, so that all it sees is the
 * state at the end of the cycles before. It changes nothing. The
 * system must be of one group (run_observe sees to that). */
struct run_observer {
    void *self;
    cycle_t next;
    cycle_t (*look)(void *self, struct system *system, cycle_t now); /* returns the new `next` */
    void (*finish)(void *self, struct system *system, cycle_t end);  /* after the last cycle, end - 1 */
};

struct run {
    struct machine *machine;
    const struct workload *workload;
    uint64_t seed;
    bool strict;
    const struct path_watch *memory_watch; /* told of every burst that memory takes, or NULL */
    bool profiled;                         /* asked for: cycles a word of every vector kernel */
    struct profile *profile;               /* of a profiled run, once it is over; else NULL */
    struct system *system;                 /* NULL for workloads without units */
    struct line *line;                     /* of a workload on several meshes, which has no `system`; else NULL */
    struct traffic_result *traffic;        /* of a traffic workload, else NULL */
    /* Time, in cycles from the first GO. */
    cycle_t cycles;         /* to the last completion signal */
    cycle_t host_cycles;    /* to the end of the last control program, as the host's polling sees it */
    cycle_t settled_cycles; /* to the last write acknowledged and everything quiet */
    double wall_seconds;    /* host time of the simulation alone */
    uint64_t host_writes, commands, rounds, instructions, expected_signals;
    uint64_t mover_writes; /* register writes to the mover, not among host_writes */
    GArray *round_cycles;  /* of cycle_t: GO to the engine's end, a round */
    uint64_t macs;         /* multiply-accumulates the problem needs */
    unsigned clusters;     /* that peak throughput counts */
    /* Grades, where there is an answer. */
    bool graded;
    size_t model_mismatches;
    double model_max_abs;
    struct numerics vs_quantised, vs_fp64;
    bool answer_wrong;
    size_t answer_columns;   /* of the graded matrix, 0: a plain row */
    unsigned asked_grouping; /* engine.routers_per_actor, while an observer has it otherwise */
    bool observed;           /* observers had something to look at */
    GPtrArray *observers;    /* of struct run_observer, not owned */
    GArray *facts;           /* of struct run_fact */
    bool dead;
    cycle_t dead_cycle;
    char *dead_reason;
    struct deadlock_report deadlock; /* of a dead run: who waits for what */
};

void run_init(struct run *run, struct machine *machine, const struct workload *workload);
void run_clear(struct run *run);
/* Before the workload runs. The machine is then simulated by one actor, which changes no result. */
void run_observe(struct run *run, struct run_observer *observer);
void run_add_count(struct run *run, const char *key, uint64_t value);
void run_add_number(struct run *run, const char *key, double value);
void run_add_flag(struct run *run, const char *key, bool value);
void run_add_text(struct run *run, const char *key, const char *value);
/* The values are copied. */
void run_add_series(struct run *run, const char *key, const uint64_t *values, unsigned count);

/* Who drives a run from outside: stepped by the agent when due, finished once it will do nothing more. */
struct run_host {
    struct agent_host agent;
    bool finished;
    cycle_t done_cycle; /* of finishing */
};

/* Runs the system until its host has finished and everything is quiet, or until it stops moving (run->dead, with the
 * circle of waits). expected: completion signals after which the run counts as over, 0: when the host has finished. */
void run_drive(struct run *run, struct run_host *host, uint64_t expected);

/* Drives the system through control-program rounds: loads each without time, writes GO, and goes on when the engine is
 * done. */
void run_rounds(struct run *run, const struct round *rounds, unsigned count, uint64_t expected);
