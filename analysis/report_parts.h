/* The parts of a report page, each appended to the page's body. Every figure comes from the document that is passed. */
#pragma once

#include "analysis/report_html.h"

/* report_svg.c: the mesh, every link coloured by what the reader chooses; figures on hover. */
void report_mesh(GString *out, const json_t *result);

/* One link, with all its counters at both ends. */
struct report_link {
    char name[64];         /* "(1,1)>(1,2)", "(1,1)>cluster0", "cluster0>(1,1)" */
    double x0, y0, x1, y1; /* of the two places */
    int64_t flits, busy, idle;
    int64_t arbitration, lost; /* -1: not known */
    bool has_input;            /* it ends in a router: the figures below are of that input */
    int64_t blocked, hol_blocked, depth;
};

/* Every link of the result: routers' outputs, and what units and ports put into routers (whose four shares are flits,
 * busy and idle: nobody competes for them). Links that lead nowhere are left out. struct report_link each. */
GArray *report_links(const json_t *result);
/* Cycles over which links were counted. */
int64_t report_length(const json_t *result);
/* What stands at a place, or NULL. */
const char *report_name_at(const json_t *result, int64_t x, int64_t y);

/* report_bars.c */
void report_causes(GString *out, const json_t *components, const char *of, int64_t cycles);
/* Bars over labelled bins, given as [[low, high, count], …]. */
void report_histogram(GString *out, const json_t *bins, const char *unit);
void report_latency(GString *out, const json_t *result);

/* report_charts.c: lines and points by gnuplot, which is a program of its own; without it the figures as a table. */
struct report_curve {
    const char *name;
    unsigned count;
    const double *x, *y;
};
struct report_chart {
    const char *title, *x_title, *y_title;
    bool x_log, y_log, points, steps;
    double x_min, x_max; /* both 0: as the data is */
    const struct report_curve *curves;
    unsigned curve_count;
};
void report_chart(GString *out, const struct report_chart *chart);
