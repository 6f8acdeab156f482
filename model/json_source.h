/* JSON text that remembers where it came from. Jansson gives the values; positions are looked up in the text only when
 * there is something to complain about. Every complaint is one line,
 *
 *     FILE:LINE:COL: PATH: what is wrong, what was expected
 *
 * with domain FS_ERROR. LINE and COL count from 1, COL in characters. PATH is written as in `--set`: noc.fifo_depth,
 * units[2].x; "(file)" stands for the file itself and "(top)" for the outermost value. A value given on the command
 * line has the file name "--set" and the number of its --set as the line. */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

#include "model/error.h"

struct json_source {
    char *file;           /* as the user named it */
    char *text;           /* UTF-8, NUL-terminated */
    gsize length;         /* bytes of text */
    json_t *root;         /* an object */
    GPtrArray *overrides; /* values set from the command line, in order */
    const char *set_name; /* what messages call such a value's place; NULL: "--set" */
    unsigned set_column;  /* characters before the assignment on its line */
};

enum json_place {
    JSON_PLACE_KEY,   /* the key itself: unknown or misplaced */
    JSON_PLACE_VALUE, /* its value: wrong type or out of range */
};

enum {
    JSON_SOURCE_MAX_BYTES = 64 << 20, /* a larger file is refused */
};

/* The whole of a regular file or pipe as valid UTF-8, or NULL with an error in the form above. */
char *json_source_read_text(const char *file, gsize *length, GError **error);

/* Reads and parses; false and an error when the file can't be read, is not UTF-8, not JSON, holds a key twice, or is
 * not an object. On failure nothing is left to clear. */
bool json_source_load(struct json_source *source, const char *file, GError **error);

/* The same for text in memory; `file` is the name used in messages. */
bool json_source_parse(struct json_source *source, const char *file, const char *text, gsize length, GError **error);

/* A copy that may be changed without touching `source`; values set in `source` count as given in the text. */
void json_source_copy(struct json_source *copy, const struct json_source *source);

void json_source_clear(struct json_source *source);

/* Applies PATH=VALUE, the number-th (from 1) of the command line. VALUE is read as JSON; what does not begin like JSON
 * text, list or object and is no JSON is a plain string, so that names need no quotes. `prefix` ("machine") may stand
 * before PATH. Missing objects on the way are made; list items must exist. */
bool json_source_set(struct json_source *source, unsigned number, const char *prefix, const char *assignment,
                     GError **error);

/* Line and column of the key or value at `path`; when it is absent, those of the innermost part of it that exists. */
void json_source_position(const struct json_source *source, enum json_place place, const char *path, unsigned *line,
                          unsigned *column);

/* Sets an FS_ERROR_INPUT at `path`; `skip` characters are added to the column (inside a string). Always false. */
bool json_source_error(const struct json_source *source, GError **error, enum json_place place, const char *path,
                       unsigned skip, const char *format, ...) G_GNUC_PRINTF(6, 7);

/* The same for a place that is already known. */
bool json_source_error_at(GError **error, const char *file, unsigned line, unsigned column, const char *path,
                          const char *format, ...) G_GNUC_PRINTF(6, 7);

/* A file named at `path` of the source: beside the source's own file, or as it is when --set named it. To be freed. */
char *json_source_beside(const struct json_source *source, const char *path, const char *name);

/* "a whole number", "a text", … for messages. */
const char *json_kind(const json_t *value);

/* `path` with one more key or index; "" is the outermost value. */
char *json_path_key(const char *path, const char *key);
char *json_path_index(const char *path, size_t index);

/* The candidate nearest to `word` by edit distance (Damerau, case ignored), or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);
