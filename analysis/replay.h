/* What every replay of a recording gives back: one row per recorded quantity. */
#pragma once

#include <stdbool.h>

#include <glib.h>

struct replay_row {
    char *what;      /* "converged write_beats.timed_hash" */
    char *reference; /* as recorded */
    char *ours;
    bool differs;
    gint64 difference; /* ours - reference where both are numbers, else 0 */
};

struct replay_result {
    GArray *rows; /* of struct replay_row */
    unsigned differing;
};

void replay_result_init(struct replay_result *result);
void replay_result_clear(struct replay_result *result);
void replay_add_number(struct replay_result *result, const char *what, gint64 reference, gint64 ours);
void replay_add_text(struct replay_result *result, const char *what, const char *reference, const char *ours);
/* A sentence on the first row that differs, to be freed; NULL if none does. */
char *replay_first_difference(const struct replay_result *result);
/* The largest difference in per cent of the reference over rows of numbers; 100 for a differing text. */
double replay_worst_percent(const struct replay_result *result);
