/* A table out of a store: columns by path, rows chosen, sorted, and written as text, CSV or JSON. A path means,
 * whichever comes first: a column of the store (cycles, status, …), an axis of the sweep, a key of the machine or the
 * workload (noc.fifo_depth, workload.m), a key of the result (traffic.latency.mean). axes., machine., workload. and
 * result. in front say which. */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

#include "analysis/store.h"

struct table_options {
    const char *columns; /* "PATH,PATH"; NULL: the axes and the sweep's answer */
    const char *where;   /* an expression, or NULL */
    const char *sort;    /* "PATH", "PATH:desc", or NULL: by number */
    const char *pareto;  /* "PATH:min,PATH:max", or NULL */
    unsigned best;       /* first rows only; 0: all */
    bool all;            /* also rows that belong to no point of the present sweep */
};

struct table_column {
    char *path;
    const char *unit; /* "" when it has none, or none is known */
};

struct table {
    GArray *columns; /* of struct table_column */
    GPtrArray *rows; /* of struct table_row */
};

/* On failure there is nothing to clear. */
bool table_read(struct table *table, struct store *store, const struct table_options *options, GError **error);
void table_clear(struct table *table);

unsigned table_row_count(const struct table *table);
/* NULL when the row has no such value. */
const json_t *table_cell(const struct table *table, unsigned row, unsigned column);

/* To be freed. */
char *table_text(const struct table *table);
char *table_csv(const struct table *table); /* RFC 4180 */
char *table_json(const struct table *table);
