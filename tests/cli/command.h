/* The program as its user types it: run in a folder of its own, with what it printed and what it left behind. */
#pragma once

#include <string.h>

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <jansson.h>

struct command_folder {
    char *path;
};

struct command_result {
    int status; /* of exit; -1 when a signal ended it */
    char *out, *err;
    gint64 microseconds;
};

static inline void folder_open(struct command_folder *folder) {
    folder->path = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    g_assert_nonnull(folder->path);
}

static inline void remove_tree(const char *path) {
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        remove_tree(inside);
    }
    if (dir)
        g_dir_close(dir);
    g_remove(path);
}

static inline void folder_close(struct command_folder *folder) {
    remove_tree(folder->path);
    g_free(folder->path);
}

/* Things in the folder. */
static inline unsigned folder_count(const struct command_folder *folder) {
    unsigned count = 0;
    GDir *dir = g_dir_open(folder->path, 0, NULL);
    while (g_dir_read_name(dir))
        count++;
    g_dir_close(dir);
    return count;
}

static inline void folder_write(const struct command_folder *folder, const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder->path, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static inline void command_clear(struct command_result *result) {
    g_free(result->out);
    g_free(result->err);
}

static inline struct command_result command_run(const struct command_folder *folder, const char *const *arguments) {
    struct command_result result = {.status = -1};
    GError *error = NULL;
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (void *)(g_getenv("FLITSIM") ? g_getenv("FLITSIM") : FLITSIM_BINARY));
    for (size_t i = 0; arguments[i]; i++)
        g_ptr_array_add(argv, (void *)arguments[i]);
    g_ptr_array_add(argv, NULL);
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_set_cwd(launcher, folder->path);
    gint64 began = g_get_monotonic_time();
    g_autoptr(GSubprocess) process = g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, &error);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(process, NULL, NULL, &result.out, &result.err, &error);
    g_assert_no_error(error);
    result.microseconds = g_get_monotonic_time() - began;
    if (g_subprocess_get_if_exited(process))
        result.status = g_subprocess_get_exit_status(process);
    return result;
}

#define TYPED(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The line as typed, words apart by single blanks. */
static inline struct command_result command_line(const struct command_folder *folder, const char *line) {
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    return command_run(folder, (const char *const *)words);
}

/* Ends well and silently on standard error; returns what it printed, parsed. */
static inline json_t *command_json(const struct command_folder *folder, const char *line) {
    json_error_t wrong;
    struct command_result result = command_line(folder, line);
    g_assert_cmpstr(result.err, ==, "");
    g_assert_cmpint(result.status, ==, 0);
    json_t *json = json_loads(result.out, JSON_REJECT_DUPLICATES, &wrong);
    if (!json)
        g_error("%s: no JSON, %s:\n%s", line, wrong.text, result.out);
    command_clear(&result);
    return json;
}

/* The number at "counts.host_writes". */
static inline double json_at(const json_t *root, const char *path) {
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    for (size_t i = 0; keys[i]; i++)
        root = json_object_get(root, keys[i]);
    if (!json_is_number(root))
        g_error("no number at %s", path);
    return json_number_value(root);
}
