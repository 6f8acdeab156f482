/* What the benchmarks share: clocks and medians. */
#pragma once

#include <stdlib.h>
#include <time.h>

enum {
    REPEATS_MAX = 99,
};

static inline double seconds(clockid_t kind) {
    struct timespec time;
    clock_gettime(kind, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Sorts the values. */
static inline double median(double *values, unsigned count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}
