/* Writing the Chrome/Perfetto JSON trace format, an event at a time, so that a trace of any length takes no memory.
 * A cycle is written as a microsecond, the format's unit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

#include "model/cycle.h"

struct trace_json {
    FILE *file;
    uint64_t events;
};

/* A track is a thread of a process: `group` numbers the process, `track` the thread within it. */
struct trace_place {
    unsigned group, track;
};

void trace_json_begin(struct trace_json *json, FILE *file);
/* Closes the document; `facts` is a JSON object for "otherData". */
void trace_json_end(struct trace_json *json, const char *facts);

void trace_json_name_group(struct trace_json *json, unsigned group, const char *name);
void trace_json_name_track(struct trace_json *json, struct trace_place place, const char *name);

/* `args` is the inside of a JSON object, or NULL. Names are escaped. */
void trace_json_open(struct trace_json *json, struct trace_place place, const char *name, cycle_t at, const char *args);
void trace_json_close(struct trace_json *json, struct trace_place place, cycle_t at);
void trace_json_slice(struct trace_json *json, struct trace_place place, const char *name, cycle_t from, cycle_t cycles,
                      const char *args);
void trace_json_instant(struct trace_json *json, struct trace_place place, const char *name, cycle_t at);
void trace_json_counter(struct trace_json *json, unsigned group, const char *name, cycle_t at, const char *args);
/* One end of an arrow between two slices: `phase` is 's' where it leaves, 't' on its way, 'f' where it arrives. */
void trace_json_flow(struct trace_json *json, char phase, struct trace_place place, const char *name, uint64_t id,
                     cycle_t at);
