/* The log of hazards, defects and broken contracts of one run. The first of a kind at a place is kept in full, later
 * ones are counted. Ids are those of noc-and-memory §12.1 and compute-units §11 ("cluster.fill_wraps"). */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "model/cycle.h"

struct hazard {
    const char *id; /* a string constant */
    cycle_t cycle;  /* first occurrence */
    char *where;    /* component, e.g. "cluster0" */
    char *what;     /* one sentence: instruction, what was overwritten or lost, the rule it broke */
    uint64_t count;
};

/* Several actors may report at the same time; the log is read when none runs. */
struct hazard_log {
    GMutex lock;
    GPtrArray *hazards; /* of struct hazard, in order of first occurrence */
    bool strict;        /* any hazard ends the run */
    _Atomic bool stop;  /* set when the run has to end */
};

void hazard_log_init(struct hazard_log *log);
void hazard_log_clear(struct hazard_log *log);

/* Reports one occurrence. Text is formatted for the first one only. */
void hazard_report(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* The same for a violation after which the run makes no sense: the run ends. */
void hazard_fatal(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* Orders the log by cycle, place and id, whatever the order in which components were stepped. */
void hazard_log_sort(struct hazard_log *log);
/* Occurrences of an id anywhere. */
uint64_t hazard_count(const struct hazard_log *log, const char *id);
