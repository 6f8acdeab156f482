/* The trace format; see trace_json.h. */
#include "analysis/trace_json.h"

#include <stdlib.h>

#include <jansson.h>

/* A text with its quotes, as JSON. To be freed with free(). */
static char *quoted(const char *text) {
    json_t *value = json_string(text);
    char *dumped = json_dumps(value ? value : json_null(), JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(value);
    return dumped;
}

static void begin_event(struct trace_json *json, char phase, struct trace_place place) {
    fprintf(json->file, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", json->events ? ",\n" : "", phase, place.group,
            place.track);
    json->events++;
}

static void put_name(struct trace_json *json, const char *name) {
    char *text = quoted(name);
    fprintf(json->file, ",\"name\":%s", text);
    free(text);
}

static void put_time(struct trace_json *json, cycle_t at) {
    fprintf(json->file, ",\"ts\":%" G_GUINT64_FORMAT, at);
}

static void end_event(struct trace_json *json, const char *args) {
    if (args)
        fprintf(json->file, ",\"args\":{%s}", args);
    fputc('}', json->file);
}

void trace_json_begin(struct trace_json *json, FILE *file) {
    *json = (struct trace_json){.file = file};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
}

void trace_json_end(struct trace_json *json, const char *facts) {
    fprintf(json->file, "\n],\"otherData\":%s}\n", facts);
}

static void name_something(struct trace_json *json, struct trace_place place, const char *what, const char *name) {
    char *text = quoted(name);
    g_autofree char *args = g_strdup_printf("\"name\":%s", text);
    begin_event(json, 'M', place);
    put_name(json, what);
    end_event(json, args);
    free(text);
}

void trace_json_name_group(struct trace_json *json, unsigned group, const char *name) {
    name_something(json, (struct trace_place){group, 0}, "process_name", name);
}

void trace_json_name_track(struct trace_json *json, struct trace_place place, const char *name) {
    name_something(json, place, "thread_name", name);
}

void trace_json_open(struct trace_json *json, struct trace_place place, const char *name, cycle_t at,
                     const char *args) {
    begin_event(json, 'B', place);
    put_name(json, name);
    put_time(json, at);
    end_event(json, args);
}

void trace_json_close(struct trace_json *json, struct trace_place place, cycle_t at) {
    begin_event(json, 'E', place);
    put_time(json, at);
    end_event(json, NULL);
}

void trace_json_slice(struct trace_json *json, struct trace_place place, const char *name, cycle_t from, cycle_t cycles,
                      const char *args) {
    begin_event(json, 'X', place);
    put_name(json, name);
    put_time(json, from);
    fprintf(json->file, ",\"dur\":%" G_GUINT64_FORMAT, cycles);
    end_event(json, args);
}

void trace_json_instant(struct trace_json *json, struct trace_place place, const char *name, cycle_t at) {
    begin_event(json, 'i', place);
    put_name(json, name);
    put_time(json, at);
    fputs(",\"s\":\"t\"", json->file);
    end_event(json, NULL);
}

void trace_json_counter(struct trace_json *json, unsigned group, const char *name, cycle_t at, const char *args) {
    begin_event(json, 'C', (struct trace_place){group, 0});
    put_name(json, name);
    put_time(json, at);
    end_event(json, args);
}

void trace_json_flow(struct trace_json *json, char phase, struct trace_place place, const char *name, uint64_t id,
                     cycle_t at) {
    begin_event(json, phase, place);
    put_name(json, name);
    put_time(json, at);
    fprintf(json->file, ",\"cat\":\"flow\",\"id\":%" G_GUINT64_FORMAT "%s", id, phase == 'f' ? ",\"bp\":\"e\"" : "");
    end_event(json, NULL);
}
