/* docs/accuracy.md is current: its summary has a line for each recording, with the recording's checksum and number of
 * entries, all of them exact. That they are is the business of the tests that replay them. */
#include <string.h>

#include "accuracy_page.h"
#include "analysis/replay_file.h"

static void check_recording(const char *page, const char *path) {
    g_autoptr(GError) error = NULL;
    struct replay_file *file = replay_file_open(path, &error);
    g_assert_no_error(error);
    unsigned entries = replay_file_count(file);
    g_autofree char *line = accuracy_page_summary(path, replay_file_kind(file), entries, entries, &error);
    g_assert_no_error(error);
    if (!strstr(page, line))
        g_error("docs/accuracy.md has no line \"%s\": write it again (target docs-accuracy)", line);
    replay_file_close(file);
}

static void test_summary_is_current(void) {
    g_autoptr(GError) error = NULL;
    g_autofree char *page = NULL;
    g_file_get_contents(FLITSIM_SOURCE_DIR "/docs/accuracy.md", &page, NULL, &error);
    g_assert_no_error(error);
    GDir *folder = g_dir_open(FLITSIM_SOURCE_DIR "/tests/reference", 0, &error);
    g_assert_no_error(error);
    unsigned recordings = 0;
    for (const char *name; (name = g_dir_read_name(folder)); recordings++) {
        g_autofree char *path = g_build_filename(FLITSIM_SOURCE_DIR "/tests/reference", name, NULL);
        check_recording(page, path);
    }
    g_dir_close(folder);
    g_assert_cmpuint(recordings, >=, 8);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/accuracy_page/summary_is_current", test_summary_is_current);
    return g_test_run();
}
