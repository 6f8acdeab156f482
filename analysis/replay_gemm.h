/* Replays a recorded GEMM run (runs.json): builds the recorded machine, plans the recorded schedule, drives it as the
 * recorded host did, and compares every counter and the answer. The run by itself is open to who records other things
 * of it. */
#pragma once

#include <jansson.h>

#include "analysis/replay.h"
#include "model/numeric/mxfp7.h"
#include "units/system.h"
#include "workloads/planner.h"
#include "workloads/rounds.h"
#include "workloads/tensor.h"

enum {
    GEMM_FIRST_KICK = 1000, /* our cycle of the first kick request: a multiple of 5, so that the arbitration phase is
                               that of the record */
};

/* The recorded host: kicks in order, each after the dispatcher was seen idle. */
struct gemm_host {
    struct dispatch *dispatch;
    const struct round *round;
    unsigned next;   /* kick to make next */
    cycle_t kick_at; /* its kick request, CYCLE_NEVER while sampling */
    cycle_t sample_at;
};

struct gemm_replay {
    const json_t *entry;
    struct machine machine;
    struct gemm_plan *plan;
    struct round_list *rounds;
    struct system *system;
    struct gemm_host host;
    struct tensor *a, *b;
    struct mxfp7_entry *entries_a, *entries_b;
    size_t count_a, count_b;
};

/* Who looks on: called at the start of every cycle, to `tail` cycles beyond the last completion. */
struct gemm_watch {
    void *self;
    void (*cycle)(void *self, cycle_t now);
    cycle_t tail;
};

/* The machine of the entry with its program staged and its operands in memory. Close it even when this fails. */
bool gemm_replay_open(struct gemm_replay *replay, const json_t *entry, GError **error);
void gemm_replay_close(struct gemm_replay *replay);
/* Runs to the last completion signal; watch may be NULL. Returns the cycles from the first kick to it, 0 if it never
 * comes. */
cycle_t gemm_replay_run(struct gemm_replay *replay, const struct gemm_watch *watch);

/* One element of the file's "runs". False and an error if it cannot be read; a run that differs is a differing row. */
bool replay_gemm(const json_t *entry, struct replay_result *out, GError **error);
