/* Running the program under test as its user does. FLITSIM names it. */
#pragma once

#include <gio/gio.h>

struct program_outcome {
    int status; /* of exit; -1 when a signal ended it */
    char *out, *err;
};

static inline void program_outcome_clear(struct program_outcome *outcome) {
    g_free(outcome->out);
    g_free(outcome->err);
}

static inline struct program_outcome program_run(const char *const *arguments) {
    struct program_outcome outcome = {.status = -1};
    GError *error = NULL;
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, (void *)(g_getenv("FLITSIM") ? g_getenv("FLITSIM") : FLITSIM_BINARY));
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

#define PROGRAM(...) program_run((const char *const[]){__VA_ARGS__, NULL})

/* Runs it, wants exit status 0, and throws away what it printed. */
static inline void program_done(const char *const *arguments) {
    struct program_outcome outcome = program_run(arguments);
    if (outcome.status != 0)
        g_test_message("%s", outcome.err);
    g_assert_cmpint(outcome.status, ==, 0);
    program_outcome_clear(&outcome);
}

#define PROGRAM_DONE(...) program_done((const char *const[]){__VA_ARGS__, NULL})

/* Removes a folder of plain files. */
static inline void program_remove(const char *folder) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(folder);
}
