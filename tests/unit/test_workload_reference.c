/* The page of workloads is the one that the tables of keys give. */
#include <string.h>

#include <glib.h>

#include "workloads/workload.h"

static void page_is_current(void) {
    g_autofree char *path = g_build_filename(FLITSIM_SOURCE_DIR, "docs", "workloads.md", NULL);
    g_autofree char *written = NULL, *made = workload_reference();
    g_assert_true(g_file_get_contents(path, &written, NULL, NULL));
    if (strcmp(written, made) != 0)
        g_error("docs/workloads.md is stale: build the target `docs`");
}

static void defaults_lie_in_range(void) {
    for (size_t i = 0; workload_types[i]; i++)
        for (size_t k = 0; k < workload_types[i]->key_count; k++) {
            const struct config_key *key = &workload_types[i]->keys[k];
            if (key->type != KEY_UINT && key->type != KEY_DOUBLE)
                continue;
            g_assert_cmpfloat(key->defaults[0], >=, key->min);
            g_assert_cmpfloat(key->defaults[0], <=, key->max);
        }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/workloads/page_is_current", page_is_current);
    g_test_add_func("/workloads/defaults_lie_in_range", defaults_lie_in_range);
    return g_test_run();
}
