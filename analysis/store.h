/* Results of a sweep in SQLite: a row a point, keyed by what was run. docs/results-db.md describes the tables for those
 * who query them. A row is written whole or not at all; what is written stays when the program is killed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define STORE_FILE "results.db"

struct store;

enum store_mode {
    STORE_READ,
    STORE_WRITE, /* made when it is not there */
};

/* Texts of a row that are not there are NULL. */
struct store_row {
    const char *point;  /* SHA-256 of configuration and program version */
    int64_t number;     /* of the combination; -1: not in the present sweep */
    const char *status; /* "ok", or one of docs/results-db.md */
    const char *reason, *digest;
    int64_t cycles;                     /* -1: none */
    const char *axes, *config, *result; /* JSON */
    double wall_s;
    const char *version;
};

enum store_presence {
    STORE_ABSENT,
    STORE_OK,
    STORE_FAILED,
};

/* `name` is the file, or a folder that holds results.db. To be freed. */
char *store_file(const char *name);

struct store *store_open(const char *file, enum store_mode mode, GError **error);
/* NULL is allowed. */
void store_close(struct store *store);

/* Several writes that hold together. */
bool store_begin(struct store *store, GError **error);
bool store_commit(struct store *store, GError **error);

bool store_put(struct store *store, const struct store_row *row, GError **error);
bool store_find(struct store *store, const char *point, enum store_presence *presence, GError **error);

/* Which rows belong to the present sweep, and as which combination. Forget first, then number each. */
bool store_forget_numbers(struct store *store, GError **error);
bool store_set_number(struct store *store, const char *point, int64_t number, GError **error);

/* Facts about the whole: "sweep", "plan", "version". */
bool store_set_fact(struct store *store, const char *name, const char *value, GError **error);
char *store_fact(struct store *store, const char *name); /* NULL: none; to be freed */

/* Every row of the present sweep by number, then with `all` those that belong to an earlier one. Ends early when
 * `visit` gives false. */
bool store_each(struct store *store, bool all, bool (*visit)(void *data, const struct store_row *row), void *data,
                GError **error);

/* Takes over the rows of another store; refuses when a point was answered differently there, or when it holds another
 * sweep. */
bool store_merge(struct store *store, const char *file, GError **error);

/* SHA-256 over what is in the rows of the present sweep but for the time they took. To be freed. */
char *store_rows_digest(struct store *store, GError **error);
