/* A trace of a run for a trace viewer, and a text log of flits. docs/trace.md says what stands in them. The recorder
 * looks at the machine before every cycle of its window and listens to the trace hooks of units, ports and dispatch
 * agent; a run without a recorder has none of them set. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "workloads/run.h"

enum {
    TRACE_LIMIT_DEFAULT = 1000000, /* some 120 MB */
};

struct trace_options {
    const char *json_file, *flit_file; /* NULL: not wanted */
    cycle_t from, to;                  /* the window: from <= cycle < to */
    uint64_t limit;                    /* events of the trace, lines of the log */
};

struct trace;

/* Opens the files. NULL and FS_ERROR_IO when one can't be made. */
struct trace *trace_new(const struct trace_options *options, GError **error);

/* To be added to run->observers before the run. */
struct run_observer *trace_observer(struct trace *trace);

/* A sentence on what was cut off, or NULL when all of the window is there. To be freed. */
char *trace_cut(const struct trace *trace);

/* Closes the files and frees; false when not everything could be written. */
bool trace_close(struct trace *trace, GError **error);
