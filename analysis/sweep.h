/* A sweep file: a machine, a workload, and axes over any of their keys. docs/sweeps.md describes the format. This reads
 * the file and resolves a point at a time, so that a sweep of a million points takes no more memory than one of ten;
 * who runs the points is campaign.h. Complaints are those of json_source.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>
#include <jansson.h>

#include "model/json_source.h"

#define SWEEP_SCHEMA "flitsim.sweep/1"

enum {
    SWEEP_MAX_POINTS = 100000000, /* combinations; beyond it is a slip of the pen */
    SWEEP_KEY_CHARACTERS = 64,    /* SHA-256 in hexadecimal */
};

struct sweep_axis;

enum sweep_combination {
    SWEEP_GRID,   /* every choice of every axis with every other; the last axis moves fastest */
    SWEEP_ZIP,    /* the first choices, then the second ones, … */
    SWEEP_SAMPLE, /* Latin hypercube: each axis cut into as many strips as there are samples, each used once */
};

struct sweep {
    struct json_source source;
    char *name;      /* the file's when it gives none */
    char *question;  /* or NULL */
    GPtrArray *axes; /* of struct sweep_axis */
    enum sweep_combination combination;
    uint64_t count; /* combinations; conditions may leave some out */
    uint64_t sample_seed;
    uint64_t seed;
    GPtrArray *conditions, *derived; /* of struct sweep_rule */
    GHashTable *machines;            /* const char *name or path of an inline one -> struct json_source */
    char **keep;                     /* keys of the result that are stored, NULL: all */
};

/* One point, ready to run. */
struct sweep_point {
    uint64_t number;                    /* of the combination, from 0 */
    char key[SWEEP_KEY_CHARACTERS + 1]; /* SHA-256 of configuration and program version */
    json_t *axes;                       /* {axis: choice} */
    json_t *config;                     /* {"machine": every key, "workload": every key, "seed": n} */
    char *workload;                     /* what `flitsim run` is given: a file or short form, … */
    char **sets;                        /* … and the keys over it, NULL-terminated PATH=VALUE */
};

enum sweep_verdict {
    SWEEP_POINT_TAKEN,
    SWEEP_POINT_LEFT_OUT, /* by a condition */
    SWEEP_POINT_WRONG,    /* the error says why */
};

/* Reads and checks all but the points. On failure there is nothing to clear. */
bool sweep_load(struct sweep *sweep, const char *name, GError **error);
bool sweep_read(struct sweep *sweep, const struct json_source *source, GError **error);
void sweep_clear(struct sweep *sweep);

/* The number-th combination, wholly checked. A point that was taken must be cleared. */
enum sweep_verdict sweep_resolve(struct sweep *sweep, uint64_t number, struct sweep_point *point, GError **error);
void sweep_point_clear(struct sweep_point *point);

/* "noc.fifo_depth=8, mesh=wide", to be freed. */
char *sweep_point_text(const struct sweep_point *point);

/* What a store keeps of the sweep file: name, question, axes with their paths, answer. */
json_t *sweep_about(const struct sweep *sweep);
