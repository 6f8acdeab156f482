/* Figures of a finished run by key. */
#pragma once

#include "claims/run_bench.h"

static inline const struct run_fact *fact_of(const struct finished_run *finished, const char *key) {
    for (guint i = 0; i < finished->run.facts->len; i++) {
        const struct run_fact *fact = &g_array_index(finished->run.facts, struct run_fact, i);
        if (g_str_equal(fact->key, key))
            return fact;
    }
    g_error("the run has no figure %s", key);
}

static inline uint64_t count_of(const struct finished_run *finished, const char *key) {
    return fact_of(finished, key)->count;
}
