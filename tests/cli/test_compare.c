/* flitsim compare: configuration, cycles, and the causes that account for the difference. */
#include <jansson.h>
#include <math.h>

#include "program.h"

struct bench {
    char *folder, *a, *b, *sweep;
};

static void set_up(struct bench *bench, gconstpointer data) {
    (void)data;
    bench->folder = g_dir_make_tmp("flitsim-compare-XXXXXX", NULL);
    bench->a = g_build_filename(bench->folder, "a", NULL);
    bench->b = g_build_filename(bench->folder, "b", NULL);
    bench->sweep = g_build_filename(bench->folder, "s.json", NULL);
}

static void tear_down(struct bench *bench, gconstpointer data) {
    (void)data;
    remove_tree(bench->folder);
    g_free(bench->folder);
    g_free(bench->a);
    g_free(bench->b);
    g_free(bench->sweep);
}

static void run_latency(const char *folder, const char *set) {
    assert_ended(RUN("run", "ref2", "gemm:m=64,k=64,n=64", "--set", set, "--out", folder, "-q"), 0);
}

/* The shares of one kind of component are the whole difference, since each of its cycles has one cause. */
static void the_causes_add_up_to_the_difference(struct bench *bench, gconstpointer data) {
    (void)data;
    run_latency(bench->a, "memory.latency=1");
    run_latency(bench->b, "memory.latency=20");
    g_autofree char *text = output_of(RUN("compare", "--json", bench->a, bench->b));
    json_t *root = json_loads(text, 0, NULL), *one;
    double difference = json_number_value(json_object_get(json_object_get(root, "cycles"), "difference"));
    double shares = 0, cycles = 0, last = INFINITY;
    size_t index;
    g_assert_cmpfloat(difference, >, 100);
    json_array_foreach(json_object_get(root, "causes"), index, one) {
        double size = fabs(json_number_value(json_object_get(one, "difference")));
        g_assert_cmpfloat(size, <=, last); /* sorted by share */
        last = size;
        if (!g_str_equal(json_string_value(json_object_get(one, "where")), "cluster"))
            continue;
        shares += json_number_value(json_object_get(one, "share"));
        cycles += json_number_value(json_object_get(one, "difference"));
    }
    g_assert_cmpfloat(fabs(shares - 1), <, 1e-9);
    g_assert_cmpfloat(fabs(cycles - difference), <, 1e-6);
    json_t *changed = json_array_get(json_object_get(root, "configuration"), 0);
    g_assert_cmpstr(json_string_value(json_object_get(changed, "path")), ==, "machine.memory.latency");
    g_assert_cmpint(json_integer_value(json_object_get(changed, "b")), ==, 20);
    g_assert_cmpuint(json_array_size(json_object_get(root, "configuration")), ==, 1);
    json_decref(root);
}

static void the_same_run_has_no_difference(struct bench *bench, gconstpointer data) {
    (void)data;
    run_latency(bench->a, "memory.latency=1");
    g_autofree char *text = output_of(RUN("compare", bench->a, bench->a));
    g_assert_nonnull(strstr(text, ", +0 (+0.00 %)\n\nconfiguration: the same\n"));
    g_assert_nonnull(strstr(text, "where the cycles went: no difference that is recorded\n"));
}

static void sweeps_are_compared_point_by_point(struct bench *bench, gconstpointer data) {
    static const char *const latencies[] = {"1", "9"};
    (void)data;
    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *text =
            g_strdup_printf("{\"schema\": \"flitsim.sweep/1\", \"machine\": {\"map\": [\"xxx nul xxx\", \"mag mat "
                            "nul\", \"xxx nul xxx\"],"
                            " \"memory\": {\"latency\": %s}}, \"workload\": \"gemm:m=32,k=32,n=32\","
                            " \"axes\": {\"memory.write_burst\": [4, 8%s]}}",
                            latencies[i], i ? ", 2" : "");
        g_assert_true(g_file_set_contents(bench->sweep, text, -1, NULL));
        assert_ended(RUN("sweep", bench->sweep, "--out", i ? bench->b : bench->a, "-q"), 0);
    }
    g_autofree char *text = output_of(RUN("compare", bench->a, bench->b));
    g_assert_nonnull(strstr(text, "  machine.memory.latency           1 -> 9\n"));
    g_assert_nonnull(
        strstr(text, "points: 2 compared, 0 the same bit for bit, 0 without a result, 0 only in A, 1 only in B"));
}

static void a_run_is_compared_with_a_recorded_one(struct bench *bench, gconstpointer data) {
    (void)data;
    g_autofree char *file = g_build_filename(bench->folder, "runs.json", NULL),
                    *entry = g_strconcat(file, "#small", NULL);
    g_autofree char *none = g_strconcat(file, "#none", NULL);
    run_latency(bench->a, "memory.latency=1");
    g_assert_true(g_file_set_contents(
        file, "{\"description\": {}, \"runs\": [{\"tag\": \"other\"}, {\"tag\": \"small\", \"run_cycles\": 5}]}", -1,
        NULL));
    g_autofree char *text = output_of(RUN("compare", bench->a, entry));
    g_assert_nonnull(strstr(text, " -> 5, -"));
    g_assert_nonnull(strstr(text, "configuration: not recorded\n"));
    g_autofree char *line =
        g_strconcat(file, ":1:1: (top): has no entry 'none', expected its name, its tag or its place from 0", NULL);
    assert_refused(RUN("compare", bench->a, none), line);
}

static void wrong_sides_are_one_line(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_refused(RUN("compare", "/nowhere.json", "/nowhere.json"),
                   "/nowhere.json:1:1: (file): can't be opened: No such file or directory, expected a readable file");
    assert_refused(RUN("compare", "x"), "flitsim compare: 1 arguments, expected A B");
    g_autofree char *line = g_strconcat(bench->sweep,
                                        ":1:2: schema: is missing, expected a result of flitsim.result/1, or "
                                        "FILE#ENTRY for a recorded run",
                                        NULL);
    g_assert_true(g_file_set_contents(bench->sweep, " {}", -1, NULL));
    assert_refused(RUN("compare", bench->sweep, bench->sweep), line);
}

#define ADD(path, test) g_test_add(path, struct bench, NULL, set_up, test, tear_down)

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    ADD("/compare/causes", the_causes_add_up_to_the_difference);
    ADD("/compare/same", the_same_run_has_no_difference);
    ADD("/compare/sweeps", sweeps_are_compared_point_by_point);
    ADD("/compare/recorded", a_run_is_compared_with_a_recorded_one);
    ADD("/compare/wrong", wrong_sides_are_one_line);
    return g_test_run();
}
