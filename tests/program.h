/* The program as its user meets it, for tests of commands: run it, and look at what it said and how it ended. */
#pragma once

#include <string.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

struct outcome {
    int status; /* of exit; -1 when a signal ended it */
    char *out, *err;
};

static inline void outcome_clear(struct outcome *outcome) {
    g_free(outcome->out);
    g_free(outcome->err);
}

static inline const char *program(void) {
    return g_getenv("FLITSIM") ? g_getenv("FLITSIM") : FLITSIM_BINARY;
}

static inline struct outcome run_program(const char *const *arguments) {
    struct outcome outcome = {.status = -1};
    GError *error = NULL;
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, (void *)program());
    for (size_t i = 0; arguments[i]; i++)
        g_ptr_array_add(argv, (void *)arguments[i]);
    g_ptr_array_add(argv, NULL);
    GSubprocess *process = g_subprocess_newv((const char *const *)argv->pdata,
                                             G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(process, NULL, NULL, &outcome.out, &outcome.err, &error);
    g_assert_no_error(error);
    if (g_subprocess_get_if_exited(process))
        outcome.status = g_subprocess_get_exit_status(process);
    g_object_unref(process);
    g_ptr_array_unref(argv);
    return outcome;
}

#define RUN(...) run_program((const char *const[]){__VA_ARGS__, NULL})

/* The whole outcome at once, so that a failure shows all of it. */
static inline void assert_ended(struct outcome outcome, int status) {
    if (outcome.status != status)
        g_error("status %d, expected %d\n%s\n%s", outcome.status, status, outcome.out, outcome.err);
    outcome_clear(&outcome);
}

/* Status 2, nothing on standard output, exactly this line on standard error. */
static inline void assert_refused(struct outcome outcome, const char *line) {
    g_autofree char *want = g_strconcat(line, "\n", NULL);
    g_assert_cmpstr(outcome.err, ==, want);
    g_assert_cmpstr(outcome.out, ==, "");
    g_assert_cmpint(outcome.status, ==, 2);
    outcome_clear(&outcome);
}

/* Standard output of a command that must succeed, to be freed. */
static inline char *output_of(struct outcome outcome) {
    char *out = g_steal_pointer(&outcome.out);
    if (outcome.status != 0)
        g_error("status %d: %s", outcome.status, outcome.err);
    outcome_clear(&outcome);
    return out;
}

static inline void remove_tree(const char *path) {
    GDir *folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder && (name = g_dir_read_name(folder))) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    g_clear_pointer(&folder, g_dir_close);
    g_remove(path);
}
