/* Every recorded point of synthetic traffic comes to its order hash, which is equal only if every flit is delivered in
 * the recorded cycle, and to every other recorded column. FLITSIM_REFERENCE names another directory of recordings. */
#include <jansson.h>

#include "analysis/replay_curve.h"

static json_t *load(void) {
    const char *other = g_getenv("FLITSIM_REFERENCE");
    char *path = other ? g_build_filename(other, "mesh_curves.json", NULL)
                       : g_build_filename(FLITSIM_SOURCE_DIR, "tests", "reference", "mesh_curves.json", NULL);
    json_error_t problem;
    json_t *file = json_load_file(path, 0, &problem);
    if (!file)
        g_error("%s: %s", path, problem.text);
    g_free(path);
    return file;
}

static void point_equals_recording(gconstpointer data) {
    const json_t *entry = data;
    struct replay_result result;
    GError *error = NULL;
    replay_result_init(&result);
    replay_curve(entry, NULL, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result.rows->len, >=, json_object_size(entry) - 3); /* all but grid, pattern and offered */
    char *difference = replay_first_difference(&result);
    g_assert_cmpstr(difference, ==, NULL);
    replay_result_clear(&result);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    json_t *file = load(), *points = json_object_get(file, "points"), *entry;
    size_t i;
    g_assert_cmpuint(json_array_size(points), >, 0);
    json_array_foreach(points, i, entry) {
        const json_t *grid = json_object_get(entry, "grid");
        char *name = g_strdup_printf("/mesh_curves/%s/%dx%d/%g", json_string_value(json_object_get(entry, "pattern")),
                                     (int)json_integer_value(json_array_get(grid, 0)),
                                     (int)json_integer_value(json_array_get(grid, 1)),
                                     json_number_value(json_object_get(entry, "offered")));
        g_test_add_data_func(name, entry, point_equals_recording);
        g_free(name);
    }
    int status = g_test_run();
    json_decref(file);
    return status;
}
