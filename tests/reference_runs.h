/* Recordings of the reference machine as tests: every entry of a file replayed, every recorded quantity compared. The
 * folder is $FLITSIM_REFERENCE or tests/reference. */
#pragma once

#include "analysis/replay_file.h"

/* One row per entry that differs; true if it is exact. */
static inline bool reference_entry_exact(const struct replay_file *file, unsigned index, unsigned *rows) {
    struct replay_result result;
    g_autoptr(GError) error = NULL;
    replay_result_init(&result);
    g_autofree char *label = replay_file_label(file, index);
    bool replayed = replay_file_run(file, index, &result, &error) && result.rows->len > 0;
    g_autofree char *difference = replayed ? replay_first_difference(&result) : NULL;
    bool exact = replayed && !difference;
    if (!exact)
        g_test_message("%s: %u of %u differ; %.300s", label, result.differing, result.rows->len,
                       difference ? difference
                       : error    ? error->message
                                  : "nothing was compared");
    *rows += result.rows->len;
    replay_result_clear(&result);
    return exact;
}

/* expected: entries there must be, so that a recording cut short does not pass. */
static inline void reference_runs_exact(const char *name, unsigned expected) {
    const char *folder = g_getenv("FLITSIM_REFERENCE");
    g_autofree char *path =
        g_build_filename(folder && *folder ? folder : FLITSIM_SOURCE_DIR "/tests/reference", name, NULL);
    g_autoptr(GError) error = NULL;
    struct replay_file *file = replay_file_open(path, &error);
    g_assert_no_error(error);
    unsigned count = replay_file_count(file), exact = 0, rows = 0;
    g_assert_cmpuint(count, >=, expected);
    for (unsigned i = 0; i < count; i++)
        exact += reference_entry_exact(file, i, &rows);
    g_test_message("%u of %u runs exact, %u quantities compared", exact, count, rows);
    g_assert_cmpuint(exact, ==, count);
    replay_file_close(file);
}
