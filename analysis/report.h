/* Reports: what a result or a store of a sweep holds, for people. A page is one file that opens without a network;
 * every figure on it comes from the document it is made of. */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

/* The page of a run, from its result document. To be freed. */
char *report_run_page(const json_t *result);

/* The same figures link by link for a terminal: the four shares of every link, which add up to 100 %, and what happened
 * at its receiving input. To be freed. */
char *report_run_text(const json_t *result);

/* One point of a sweep. */
struct report_point {
    gint64 number;
    char *status, *reason;
    json_t *axes;   /* {axis: choice} */
    json_t *result; /* what the store kept, or NULL */
};

/* The page of a sweep. `about` has its "name" and, if given, "question". */
char *report_sweep_page(const json_t *about, const GPtrArray *points);
char *report_sweep_text(const json_t *about, const GPtrArray *points);

/* The points of a store, struct report_point each, freed with the array, and what it says about the sweep. */
GPtrArray *report_points_load(const char *file, json_t **about, GError **error);

/* The page, or with `text` the text, of a folder that holds results.db or result.json, or of such a file. NULL with
 * FS_ERROR_INPUT or FS_ERROR_IO. To be freed. */
char *report_make(const char *name, bool text, GError **error);
