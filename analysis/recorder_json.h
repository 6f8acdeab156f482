/* Writing the Chrome/Perfetto JSON trace format, an event at a time, so that a trace of any length takes no memory.
 * A cycle is written as a microsecond, the format's unit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

#include "model/cycle.h"

struct recorder_json {
    FILE *file;
    uint64_t events;
};

/* A track is a thread of a process: `group` numbers the process, `track` the thread within it. */
struct recorder_place {
    unsigned group, track;
};

void recorder_json_begin(struct recorder_json *json, FILE *file);
/* Closes the document; `facts` is a JSON object for "otherData". */
void recorder_json_end(struct recorder_json *json, const char *facts);

void recorder_json_name_group(struct recorder_json *json, unsigned group, const char *name);
void recorder_json_name_track(struct recorder_json *json, struct recorder_place place, const char *name);

/* `args` is the inside of a JSON object, or NULL. Names are escaped. */
void recorder_json_open(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t at,
                        const char *args);
void recorder_json_close(struct recorder_json *json, struct recorder_place place, cycle_t at);
void recorder_json_slice(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t from,
                         cycle_t cycles, const char *args);
void recorder_json_instant(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t at);
void recorder_json_counter(struct recorder_json *json, unsigned group, const char *name, cycle_t at, const char *args);
/* One end of an arrow between two slices: `phase` is 's' where it leaves, 't' on its way, 'f' where it arrives. */
void recorder_json_flow(struct recorder_json *json, char phase, struct recorder_place place, const char *name,
                        uint64_t id, cycle_t at);
