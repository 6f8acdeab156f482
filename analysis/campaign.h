/* Running a sweep: every point is resolved and checked, then those whose results are not there yet are run, each in a
 * process of its own, and stored as they end. What is in the store does not depend on how many run at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "analysis/store.h"
#include "analysis/sweep.h"

enum {
    CAMPAIGN_KEY_BYTES = SWEEP_KEY_CHARACTERS / 2,
    CAMPAIGN_MAX_COMPLAINTS = 20,
};

/* A point by its number among the combinations. */
struct campaign_point {
    uint8_t key[CAMPAIGN_KEY_BYTES];
    uint64_t number;
};

/* All points of a sweep, in order of their numbers; of those that come to the same, the first. */
struct campaign_plan {
    GArray *points; /* of struct campaign_point */
    uint64_t left_out, repeated;
    char digest[SWEEP_KEY_CHARACTERS + 1]; /* over all keys: which sweep it is */
};

struct campaign_progress {
    uint64_t points; /* of this shard */
    uint64_t known;  /* there before */
    uint64_t done;   /* run and stored since, failed ones included */
    uint64_t failed; /* in the store, whenever run */
    uint64_t running;
    double elapsed_s;
    bool stopped; /* before the end */
};

struct campaign_options {
    const char *program;               /* what runs a point: PROGRAM run MACHINE WORKLOAD … --json */
    int (*run)(int argc, char **argv); /* what a point's process does instead, given the words after PROGRAM; or NULL.
                                          Starting the program anew would cost most of a cheap point's time */
    unsigned jobs;
    unsigned shard, shards; /* 1..shards; of the plan's points every shards-th belongs to it */
    double time_limit_s;    /* of a point; 0: none */
    bool retry;             /* run failed points again */
    int stop;               /* readable when the campaign is to stop; -1: never */
    const GArray *known;    /* campaign_read_keys: points that need not be run either; or NULL */
    void (*report)(void *data, const struct campaign_progress *progress); /* at changes, and twice a second; or NULL */
    void *data;
};

/* Resolves and checks every point. Complaints, one line each and each once, are added to `complaints`; false when there
 * is any, or when `stop` became readable. `report` may be NULL. */
bool campaign_plan(struct sweep *sweep, struct campaign_plan *plan, const struct campaign_options *options,
                   GPtrArray *complaints);
void campaign_plan_clear(struct campaign_plan *plan);

/* Opens DIR/results.db, made when it is not there, for this sweep alone; a second program that tries is refused. */
struct store *campaign_open(const char *folder, const struct sweep *sweep, const struct campaign_plan *plan, int *lock,
                            GError **error);

/* What is there of the shard and what is to do, before anything runs. */
bool campaign_stock(const struct campaign_plan *plan, struct store *store, const struct campaign_options *options,
                    struct campaign_progress *progress, GError **error);

/* A list of points in a file, one key a line: those of the plan whose results the store has (with options->retry: that
 * are ok). Sorted when read. */
bool campaign_write_keys(const struct campaign_plan *plan, struct store *store, const struct campaign_options *options,
                         const char *file, GError **error);
GArray *campaign_read_keys(const char *file, GError **error);

/* Runs what is missing. False and an error when it can't go on; points that fail are no error. */
bool campaign_run(struct sweep *sweep, const struct campaign_plan *plan, struct store *store,
                  const struct campaign_options *options, struct campaign_progress *progress, GError **error);
