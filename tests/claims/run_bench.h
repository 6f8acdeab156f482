/* A workload on a machine, run as the command line does it but in the test's own process, with the machine it ran on
 * still there to be looked into. */
#pragma once

#include "machine_text.h"
#include "units/cluster/cluster.h"
#include "workloads/run.h"

struct finished_run {
    struct machine machine;
    struct workload workload;
    struct run run;
};

/* machine: a file or shipped name; sets: NULL-terminated or NULL. It must come to an end with the right answer. */
static inline void run_on_bench(struct finished_run *finished, const char *machine, const char *workload,
                                char *const *sets, uint64_t seed) {
    GError *error = NULL;
    config_load_machine(&finished->machine, machine, sets, &error);
    g_assert_no_error(error);
    workload_load(&finished->workload, workload, sets, &error);
    g_assert_no_error(error);
    run_init(&finished->run, &finished->machine, &finished->workload);
    finished->run.seed = seed;
    const struct workload_type *type = finished->workload.type;
    if (type->adjust)
        type->adjust(&finished->workload, &finished->machine, &error);
    g_assert_no_error(error);
    type->run(&finished->run, &error);
    g_assert_no_error(error);
    g_assert_false(finished->run.dead);
    g_assert_cmpuint(finished->run.model_mismatches, ==, 0);
}

static inline void finished_clear(struct finished_run *finished) {
    run_clear(&finished->run);
    workload_clear(&finished->workload);
    machine_clear(&finished->machine);
}

#define SETS(...) ((char *[]){__VA_ARGS__, NULL})

/* Flits of a type over all units: in from the mesh, or out to it. */
static inline uint64_t finished_flits(const struct finished_run *finished, enum flit_type type, bool out) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < finished->run.system->endpoint_count; i++) {
        const struct endpoint_counts *counts = &finished->run.system->endpoints[i].counts;
        sum += out ? counts->out[type] : counts->in[type];
    }
    return sum;
}

static inline struct cluster_counts finished_counts(const struct finished_run *finished, unsigned unit) {
    const struct cluster *cluster = finished->run.system->endpoints[unit].unit;
    return cluster_counts_at(cluster, finished->run.settled_cycles);
}
