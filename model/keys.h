/* The machine's parameters, each once: path, type, default, range, unit and a sentence on what it models. Parser,
 * ranges,
 * `--set`, `describe`, the JSON schema and the reference page are all made from this table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

#include "model/json_source.h"
#include "model/machine.h"

enum key_type {
    KEY_UINT,   /* unsigned */
    KEY_UINT64, /* uint64_t */
    KEY_DOUBLE,
    KEY_BOOL,
    KEY_ENUM,   /* int, named by key.names */
    KEY_STRING, /* char *, NULL when unset */
};

struct config_key {
    const char *path; /* as in JSON and --set: "noc.fifo_depth" */
    enum key_type type;
    size_t offset;            /* in the struct that the table describes */
    const char *const *names; /* KEY_ENUM: NULL-terminated, in the order of the enum; KEY_UINT: NULL, or words that may
                                 stand for max + 1, max + 2, … */
    double defaults[PRESETS]; /* number, 0/1, or place in names */
    double min, max;          /* both allowed; texts: bytes */
    const char *unit;         /* "" when it has none */
    const char *sentence;
};

extern const struct config_key machine_keys[];
extern const size_t machine_key_count;

/* The schema a machine file may name; a file that names another one is refused. */
#define MACHINE_SCHEMA "flitsim.machine/1"

const struct config_key *key_find(const char *path);

/* Puts the preset's defaults in place; texts that were there are freed. */
void keys_defaults(struct machine *machine, enum machine_preset preset);
/* Puts the parameters of another machine in place, texts included. */
void keys_copy(struct machine *machine, const struct machine *from);
/* Frees the texts. */
void keys_clear(struct machine *machine);

/* Reads every parameter of the file: "preset" first, the others over it. Refuses keys that don't exist, wrong types and
 * values out of range. Keys that say where things stand (map, units, …) are left to map.h. */
bool keys_parse(const struct json_source *source, struct machine *machine, GError **error);

/* One value of any such table into its object; `path` is how messages call it. A text that was there is freed. */
bool key_read(const struct json_source *source, const struct config_key *key, const char *path, const json_t *value,
              void *object, GError **error);
/* "a whole number 1..65536 (flits)", "one of …": for messages and pages. To be freed. */
char *key_expected_text(const struct config_key *key);
/* The row's first default. The object's texts are NULL or owned. */
void key_set_default(const struct config_key *key, void *object);

/* What must hold between parameters, checked when all are known; both values stand in the message. */
bool keys_check(const struct json_source *source, const struct machine *machine, GError **error);

/* The value as it would stand in JSON, to be freed. */
char *key_text(const struct config_key *key, const struct machine *machine);
/* The same as JSON, or NULL for a text that is unset. */
json_t *key_json(const struct config_key *key, const void *object);
char *key_default_text(const struct config_key *key, enum machine_preset preset);
bool key_is_default(const struct config_key *key, const struct machine *machine);

/* JSON schema (draft 2020-12) of a machine file, and the reference page in Markdown. To be freed. */
char *config_schema(void);
char *config_reference(void);
