/* Every recorded run of the memory mover, in both attachments, compared in everything that was recorded. The folder of
 * the recording is $FLITSIM_REFERENCE or tests/reference. */
#include "analysis/replay_mover.h"

enum {
    RUNS_EXPECTED = 115, /* a recording cut short must not pass */
    DIFFERENCES_SHOWN = 40,
};

static json_t *load_recording(void) {
    const char *folder = g_getenv("FLITSIM_REFERENCE");
    g_autofree char *path =
        g_build_filename(folder && *folder ? folder : FLITSIM_SOURCE_DIR "/tests/reference", "mover_runs.json", NULL);
    json_error_t error;
    json_t *recording = json_load_file(path, 0, &error);
    if (!recording)
        g_error("%s:%d: %s", path, error.line, error.text);
    return recording;
}

static void every_run_is_exact(void) {
    json_t *recording = load_recording(), *run;
    const json_t *runs = json_object_get(recording, "runs");
    size_t i;
    unsigned shown = 0, exact = 0, rows = 0;
    g_assert_cmpuint(json_array_size(runs), >=, RUNS_EXPECTED);
    json_array_foreach(runs, i, run) {
        struct replay_result result;
        replay_result_init(&result);
        g_autoptr(GError) error = NULL;
        const char *name = json_string_value(json_object_get(run, "name"));
        bool replayed = replay_mover(run, json_object_get(recording, "description"), &result, &error);
        g_autofree char *difference = replay_first_difference(&result);
        if (!replayed || result.rows->len == 0)
            g_test_message("%s: %s", name, error ? error->message : "nothing was compared");
        else if (difference && shown++ < DIFFERENCES_SHOWN)
            g_test_message("%s: %u of %u differ; %s", name, result.differing, result.rows->len, difference);
        exact += replayed && !difference;
        rows += result.rows->len;
        replay_result_clear(&result);
    }
    g_test_message("%u of %zu runs exact, %u quantities compared", exact, json_array_size(runs), rows);
    if (exact != json_array_size(runs))
        g_test_fail_printf("%zu runs differ", json_array_size(runs) - exact);
    json_decref(recording);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mover/recorded/every_run_is_exact", every_run_is_exact);
    return g_test_run();
}
