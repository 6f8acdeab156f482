/* What holds a stopped machine up: who waits for what, who holds it, and the circle that closes, if one does
 * (noc-and-memory §12.2). A run is called stopped when nothing but polls has happened for engine.standstill_cycles
 * beyond the largest latency; whoever drives the machine asks once a step. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "units/system.h"

/* Cycles without progress after which a machine counts as stopped. */
cycle_t standstill_limit(const struct machine *machine);
/* True once nothing but polling has happened for that long. */
bool system_standstill(const struct system *system, cycle_t now);

struct deadlock_wait {
    char *who;     /* "cluster0 (1,1), receive queue" */
    char *what;    /* what it waits for: "its own drain to finish" */
    char *held_by; /* another `who`, or NULL: nobody will ever give it */
    cycle_t since;
    bool in_cycle;
};

struct deadlock_report {
    const char *id;    /* of the hazard list: the diagnosis; NULL if none fits */
    GPtrArray *waits;  /* of struct deadlock_wait: the circle first, in order, then the others */
    unsigned circle;   /* how many of them form the circle, 0: none closes */
    GPtrArray *queues; /* full queues, one sentence each */
};

/* Looks at a system that has stopped in cycle `now`, last progress in `since`, and files its diagnosis among the
 * hazards. */
void deadlock_report_init(struct deadlock_report *report, struct system *system, cycle_t since, cycle_t now);
void deadlock_report_clear(struct deadlock_report *report);
/* The report as text, a line a wait; shortened to what a reader can take in when many wait. To be freed. */
char *deadlock_report_text(const struct deadlock_report *report);
