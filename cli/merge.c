/* flitsim merge OUT SHARD...: one store from those of several shards. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/store.h"

/* OUT is a folder unless it is named as a store. */
static char *out_file(const char *name) {
    return g_str_has_suffix(name, ".db") ? g_strdup(name) : g_build_filename(name, STORE_FILE, NULL);
}

static bool make_folder(const char *file, GError **error) {
    g_autofree char *folder = g_path_get_dirname(file);
    if (g_mkdir_with_parents(folder, 0777) == 0)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be made: %s", folder, g_strerror(errno));
    return false;
}

static bool check_shards(char **shards, GError **error) {
    for (; *shards; shards++) {
        g_autofree char *file = store_file(*shards);
        struct store *store = store_open(file, STORE_READ, error);
        if (!store)
            return false;
        store_close(store);
    }
    return true;
}

static bool merge(struct store *store, char **shards, GError **error) {
    for (; *shards; shards++) {
        g_autofree char *file = store_file(*shards);
        if (!store_merge(store, file, error))
            return false;
    }
    return true;
}

int command_merge(int argc, char **argv) {
    GError *error = NULL;
    if (!cli_options(&argc, &argv, NULL, "OUT SHARD...",
                     "Puts the results of several shards into one store, OUT/results.db. Refuses shards of different\n"
                     "sweeps, and points that two shards answer differently.",
                     2, G_MAXINT))
        return CLI_AT_FAULT;
    g_autofree char *file = out_file(argv[1]);
    if (!check_shards(argv + 2, &error) || !make_folder(file, &error))
        return cli_fail(error);
    struct store *store = store_open(file, STORE_WRITE, &error);
    bool fine = store && merge(store, argv + 2, &error);
    store_close(store);
    return fine ? CLI_DONE : cli_fail(error);
}
