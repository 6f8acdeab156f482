/* The axes of a sweep: what choices each has, and which combination has which. Inside of sweep.c. */
#pragma once

#include "analysis/sweep.h"

/* A key set by a choice, and where the sweep file says so. */
struct sweep_assignment {
    char *key; /* "noc.fifo_depth", "workload.m", "machine", "workload", "seed" */
    json_t *value;
    char *place; /* path in the sweep file: axes.noc.fifo_depth[2] */
};

struct sweep_choice {
    json_t *label; /* what the point is called by: the value, or the alternative's name */
    GPtrArray *assignments;
};

struct sweep_axis {
    char *name; /* the key, or a free name when it has alternatives */
    GPtrArray *choices;
    /* A range without steps, for samples only. */
    bool continuous, logarithmic, whole;
    double from, to;
    uint32_t *order; /* SWEEP_SAMPLE: strip of each sample */
};

/* Reads "axes" and "combine". */
bool sweep_read_axes(struct sweep *sweep, GError **error);
void sweep_axis_free(void *axis);
void sweep_assignment_free(void *assignment);

/* Adds the assignments of a combination and its labels. Assignments are owned by the list. */
void sweep_combination(const struct sweep *sweep, uint64_t number, GPtrArray *assignments, json_t *labels);
