/* The trace format; see recorder_json.h. */
#include "analysis/recorder_json.h"

#include <stdlib.h>

#include <jansson.h>

/* A text with its quotes, as JSON. To be freed with free(). */
static char *quoted(const char *text) {
    json_t *value = json_string(text);
    char *dumped = json_dumps(value ? value : json_null(), JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(value);
    return dumped;
}

static void begin_event(struct recorder_json *json, char phase, struct recorder_place place) {
    fprintf(json->file, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", json->events ? ",\n" : "", phase, place.group,
            place.track);
    json->events++;
}

static void put_name(struct recorder_json *json, const char *name) {
    char *text = quoted(name);
    fprintf(json->file, ",\"name\":%s", text);
    free(text);
}

static void put_time(struct recorder_json *json, cycle_t at) {
    fprintf(json->file, ",\"ts\":%" G_GUINT64_FORMAT, at);
}

static void end_event(struct recorder_json *json, const char *args) {
    if (args)
        fprintf(json->file, ",\"args\":{%s}", args);
    fputc('}', json->file);
}

void recorder_json_begin(struct recorder_json *json, FILE *file) {
    *json = (struct recorder_json){.file = file};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
}

void recorder_json_end(struct recorder_json *json, const char *facts) {
    fprintf(json->file, "\n],\"otherData\":%s}\n", facts);
}

static void name_something(struct recorder_json *json, struct recorder_place place, const char *what,
                           const char *name) {
    char *text = quoted(name);
    g_autofree char *args = g_strdup_printf("\"name\":%s", text);
    begin_event(json, 'M', place);
    put_name(json, what);
    end_event(json, args);
    free(text);
}

void recorder_json_name_group(struct recorder_json *json, unsigned group, const char *name) {
    name_something(json, (struct recorder_place){group, 0}, "process_name", name);
}

void recorder_json_name_track(struct recorder_json *json, struct recorder_place place, const char *name) {
    name_something(json, place, "thread_name", name);
}

void recorder_json_open(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t at,
                        const char *args) {
    begin_event(json, 'B', place);
    put_name(json, name);
    put_time(json, at);
    end_event(json, args);
}

void recorder_json_close(struct recorder_json *json, struct recorder_place place, cycle_t at) {
    begin_event(json, 'E', place);
    put_time(json, at);
    end_event(json, NULL);
}

void recorder_json_slice(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t from,
                         cycle_t cycles, const char *args) {
    begin_event(json, 'X', place);
    put_name(json, name);
    put_time(json, from);
    fprintf(json->file, ",\"dur\":%" G_GUINT64_FORMAT, cycles);
    end_event(json, args);
}

void recorder_json_instant(struct recorder_json *json, struct recorder_place place, const char *name, cycle_t at) {
    begin_event(json, 'i', place);
    put_name(json, name);
    put_time(json, at);
    fputs(",\"s\":\"t\"", json->file);
    end_event(json, NULL);
}

void recorder_json_counter(struct recorder_json *json, unsigned group, const char *name, cycle_t at, const char *args) {
    begin_event(json, 'C', (struct recorder_place){group, 0});
    put_name(json, name);
    put_time(json, at);
    end_event(json, args);
}

void recorder_json_flow(struct recorder_json *json, char phase, struct recorder_place place, const char *name,
                        uint64_t id, cycle_t at) {
    begin_event(json, phase, place);
    put_name(json, name);
    put_time(json, at);
    fprintf(json->file, ",\"cat\":\"flow\",\"id\":%" G_GUINT64_FORMAT "%s", id, phase == 'f' ? ",\"bp\":\"e\"" : "");
    end_event(json, NULL);
}
