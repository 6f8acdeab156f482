/* Every recorded program of the vector core, in the attachment it was recorded with, compared in everything that was
 * recorded. The folder of the recording is $FLITSIM_REFERENCE or tests/reference; $FLITSIM_ONLY names one run. */
#include "analysis/replay_vector.h"

#include <string.h>

enum {
    RUNS_EXPECTED = 110, /* a recording cut short must not pass */
    DIFFERENCES_SHOWN = 120,
};

static json_t *load_recording(void) {
    const char *folder = g_getenv("FLITSIM_REFERENCE");
    g_autofree char *path =
        g_build_filename(folder && *folder ? folder : FLITSIM_SOURCE_DIR "/tests/reference", "vector_runs.json", NULL);
    json_error_t error;
    json_t *recording = json_load_file(path, 0, &error);
    if (!recording)
        g_error("%s:%d: %s", path, error.line, error.text);
    return recording;
}

/* The runs whose attachment is "direct", or the others. */
static void runs_are_exact(gconstpointer direct) {
    json_t *recording = load_recording(), *run;
    const json_t *runs = json_object_get(recording, "runs");
    const char *only = g_getenv("FLITSIM_ONLY");
    size_t i;
    unsigned shown = 0, exact = 0, rows = 0, count = 0;
    g_assert_cmpuint(json_array_size(runs), >=, RUNS_EXPECTED);
    json_array_foreach(runs, i, run) {
        const char *name = json_string_value(json_object_get(run, "name"));
        bool is_direct = strcmp(json_string_value(json_object_get(run, "attachment")), "direct") == 0;
        if (is_direct != (direct != NULL) || (only && strcmp(only, name) != 0))
            continue;
        struct replay_result result;
        replay_result_init(&result);
        g_autoptr(GError) error = NULL;
        bool replayed = replay_vector(run, json_object_get(recording, "description"), &result, &error);
        g_autofree char *difference = replay_first_difference(&result);
        if (!replayed || result.rows->len == 0)
            g_test_message("%s: %s", name, error ? error->message : "nothing was compared");
        else if (difference && shown++ < DIFFERENCES_SHOWN)
            g_test_message("%s: %u of %u differ; %s", name, result.differing, result.rows->len, difference);
        exact += replayed && result.rows->len && !difference;
        rows += result.rows->len;
        count++;
        replay_result_clear(&result);
    }
    g_test_message("%u of %u runs exact, %u quantities compared", exact, count, rows);
    if (exact != count)
        g_test_fail_printf("%u runs differ", count - exact);
    json_decref(recording);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/vector/recorded/direct_runs_are_exact", "direct", runs_are_exact);
    g_test_add_data_func("/vector/recorded/system_runs_are_exact", NULL, runs_are_exact);
    return g_test_run();
}
