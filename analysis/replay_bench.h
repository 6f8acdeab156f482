/* The bench that peer and control recordings share: four clusters on a 2 x 2 mesh, two memory ports, memory filled from
 * a seed, and a host that does the recorded writes in their cycles. Whoever replays adds what it watches. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "analysis/replay.h"
#include "units/cluster/cluster.h"
#include "units/system.h"

enum {
    BENCH_UNITS = 4,
    BENCH_BACKDATE = 1000, /* our cycle of the recorded cycle 0: a multiple of 5, so the arbitration phase is that of
                              the record, and later than any host write comes before it */
};

struct bench_read {
    gint64 cycle;
    uint64_t address, value;
};

struct replay_bench {
    const json_t *entry;
    struct machine machine;
    struct system *system;
    struct word256 *initial; /* memory at the start */
    const json_t *writes;    /* [cycle of the data beat, address, value] in rising order, or NULL */
    size_t next_write;
    GArray *reads; /* of struct bench_read, in rising order; values are filled in */
    unsigned next_read;
};

/* Builds the machine of the entry, fills memory, stages the flits. */
bool bench_open(struct replay_bench *bench, const json_t *entry, GError **error);
void bench_close(struct replay_bench *bench);
/* Runs to standstill, or through recorded cycle `until` when that is not negative. False when it does not end. */
bool bench_run(struct replay_bench *bench, gint64 until, GError **error);

/* Recorded cycle of one of ours. */
static inline gint64 bench_cycle(cycle_t now) {
    return (gint64)now - BENCH_BACKDATE;
}

static inline struct cluster *bench_cluster(const struct replay_bench *bench, unsigned unit) {
    return bench->system->endpoints[unit].unit;
}

/* The recorded form of final_memory over the entry's range. */
json_t *bench_memory_tree(const struct replay_bench *bench);
/* "x,y" of a unit, to be freed. */
char *bench_place(unsigned x, unsigned y);
