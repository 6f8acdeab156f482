/* What a machine is asked to do: a kind found by its id, and the parameters of that kind, from a JSON file, a shipped
 * name or the short form ID:KEY=VALUE,KEY=VALUE. Each kind is one file with one table of keys. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "model/json_source.h"
#include "model/keys.h"
#include "model/machine.h"

struct run;
struct workload;

#define WORKLOAD_SCHEMA "flitsim.workload/1"

enum workload_scope {
    WORKLOAD_ON_ONE_MESH,
    WORKLOAD_ON_SEVERAL_MESHES,
};

struct workload_type {
    const char *id;       /* "gemm" */
    const char *sentence; /* what it is, for --help and the reference page */
    const struct config_key *keys;
    size_t key_count;
    size_t params_size;
    enum workload_scope scope;
    /* The key that a short form without '=' sets ("program:FILE"), or NULL. */
    const char *bare_key;
    /* What must hold of the parameters alone; NULL: nothing. */
    bool (*check)(const struct workload *workload, GError **error);
    /* Changes to the machine that the workload's keys ask for; before the machine is built. NULL: none. */
    bool (*adjust)(const struct workload *workload, struct machine *machine, GError **error);
    /* The run: everything that can be asked wrongly is checked before cycle 0. */
    bool (*run)(struct run *run, GError **error);
};

struct workload {
    const struct workload_type *type;
    struct json_source source;
    void *params; /* params_size bytes of the type's own struct */
    char *name;   /* as the user gave it */
};

/* All kinds, NULL-terminated. */
extern const struct workload_type *const workload_types[];

/* Reads a workload: `name` is a file, a shipped name or a short form; sets: NULL or NULL-terminated PATH=VALUE, of
 * which those that begin with "workload." are meant. On failure there is nothing to clear. */
bool workload_load(struct workload *workload, const char *name, char *const *sets, GError **error);
void workload_clear(struct workload *workload);

/* Whether the machine has as many meshes as the workload is for. FS_ERROR_INPUT, without the file's name. */
bool workload_fits(const struct workload *workload, const struct machine *machine, GError **error);

/* All parameters as a JSON object, defaults included. */
json_t *workload_json(const struct workload *workload);

/* An error at one of the workload's keys. Always false. */
bool workload_error(const struct workload *workload, const char *key, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* The file that the text of a key means: as named, beside the workload's own file, or among the sample data. To be
 * freed. */
char *workload_data_file(const struct workload *workload, const char *key, const char *name);

/* The reference page in Markdown, to be freed. */
char *workload_reference(void);
