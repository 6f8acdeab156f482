/* A trace of a run for a trace viewer, and a text log of flits. docs/trace.md says what stands in them. The recorder
 * looks at the machine before every cycle of its window and listens to the trace hooks of units, ports and dispatch
 * agent; a run without a recorder has none of them set. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "workloads/run.h"

enum {
    RECORDER_LIMIT = 1000000, /* some 120 MB */
};

struct recorder_options {
    const char *json_file, *flit_file; /* NULL: not wanted */
    cycle_t from, to;                  /* the window: from <= cycle < to */
    uint64_t limit;                    /* events of the recorder, lines of the log */
};

struct recorder;

/* Opens the files. NULL and FS_ERROR_IO when one can't be made. */
struct recorder *recorder_new(const struct recorder_options *options, GError **error);

/* To be added to run->observers before the run. */
struct run_observer *recorder_observer(struct recorder *recorder);

/* A sentence on what was cut off, or NULL when all of the window is there. To be freed. */
char *recorder_cut(const struct recorder *recorder);

/* Closes the files and frees; false when not everything could be written. */
bool recorder_close(struct recorder *recorder, GError **error);
