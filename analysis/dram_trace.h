/* The bursts that a run's memory took, as text: a comment line with the columns, then one line a burst, in order:
 *
 *   cycle R|W address words
 *
 * with the address in hexadecimal bytes and words of 32 bytes. */
#pragma once

#include <glib.h>

#include "memory/path.h"

struct dram_trace {
    struct path_watch watch; /* for run.memory_watch; the trace must stay where it is */
    GString *text;
};

void dram_trace_init(struct dram_trace *trace);
void dram_trace_clear(struct dram_trace *trace);
/* FS_ERROR_IO naming the file. */
bool dram_trace_write(const struct dram_trace *trace, const char *path, GError **error);
