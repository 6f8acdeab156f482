/* The `quant-place` workload: bytes follow the placements' formulas, every point is a run of its own, and the result
 * document holds the curves as arrays. */
#include <jansson.h>

#include "analysis/result.h"
#include "machine_text.h"
#include "workloads/run.h"

#define PER_PORT "\"memory\": {\"attachment\": \"per_port\", \"latency\": 1}"

enum {
    ENTRIES = 300, /* more than one fill takes */
    FETCHES = 5,
};

static json_t *sweep_result(const char *keys, const char *text) {
    GError *error = NULL;
    struct machine machine;
    struct workload workload;
    struct run run;
    g_autofree char *machine_text = g_strdup_printf("{%s, %s}", keys, MACHINE_MAP);
    assert_machine(&machine, machine_text, NULL);
    workload_load(&workload, text, NULL, &error);
    g_assert_no_error(error);
    run_init(&run, &machine, &workload);
    run.seed = 3;
    workload.type->run(&run, &error);
    g_assert_no_error(error);
    g_assert_false(run.dead);
    g_assert_false(run.answer_wrong);
    json_t *result = result_build(&run, &error);
    g_assert_no_error(error);
    g_assert_cmpint(machine.memory.fetch_transform, ==, strstr(keys, "fetch_transform") != NULL);
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
    return result;
}

static json_int_t at(const json_t *result, const char *key, unsigned fetches) {
    const json_t *series = json_object_get(json_object_get(result, "quant"), key);
    g_assert_true(json_is_array(series));
    return json_integer_value(json_array_get(series, fetches - 1));
}

static double figure(const json_t *result, const char *key) {
    return json_number_value(json_object_get(json_object_get(result, "quant"), key));
}

static void bytes_follow_the_formulas(void) {
    static const char *const machines[] = {"\"memory\": {\"attachment\": \"per_port\", \"latency\": 1}",
                                           "\"memory\": {\"attachment\": \"converged\"}",
                                           "\"memory\": {\"attachment\": \"converged\", \"fetch_transform\": true}"};
    for (unsigned m = 0; m < G_N_ELEMENTS(machines); m++) {
        json_t *result = sweep_result(machines[m], "quant-place:entries=300,fetches=5");
        for (unsigned p = 1; p <= FETCHES; p++) {
            g_assert_cmpint(at(result, "fetches", p), ==, p);
            g_assert_cmpint(at(result, "fetch_bytes", p), ==, ENTRIES * 256 * p);
            g_assert_cmpint(at(result, "mover_bytes", p), ==, ENTRIES * (384 + 128 * p));
            g_assert_cmpint(at(result, "upload_bytes", p), ==, ENTRIES * (128 + 128 * p));
        }
        g_assert_cmpfloat(figure(result, "mover_bytes_equal_at"), ==, 3);
        g_assert_cmpfloat(figure(result, "mover_bytes_less_at"), ==, 4);
        g_assert_cmpfloat(figure(result, "upload_bytes_less_at"), ==, 2);
        g_assert_cmpfloat(figure(result, "mismatches"), ==, 0);
        json_decref(result);
    }
}

/* A fetch costs the same however the entries were converted before, so mover and upload differ by the conversion. */
static void cycles_differ_by_the_conversion(void) {
    json_t *result = sweep_result(PER_PORT, "quant-place:entries=300,fetches=5");
    json_int_t conversion = at(result, "mover_cycles", 1) - at(result, "upload_cycles", 1);
    g_assert_cmpint(conversion, >, ENTRIES * 20);
    for (unsigned p = 2; p <= FETCHES; p++) {
        g_assert_cmpint(at(result, "mover_cycles", p) - at(result, "upload_cycles", p), ==, conversion);
        g_assert_cmpint(at(result, "fetch_cycles", p), >, at(result, "upload_cycles", p));
    }
    unsigned less = (unsigned)figure(result, "mover_cycles_less_at");
    g_assert_cmpint(at(result, "mover_cycles", less), <, at(result, "fetch_cycles", less));
    g_assert_cmpint(at(result, "mover_cycles", less - 1), >=, at(result, "fetch_cycles", less - 1));
    g_assert_cmpint(json_integer_value(json_object_get(result, "cycles")), ==, at(result, "mover_cycles", FETCHES));
    json_decref(result);
}

static void a_crossing_that_is_not_reached_is_null(void) {
    json_t *result = sweep_result("\"memory\": {\"attachment\": \"converged\"}", "quant-place:entries=8,fetches=1");
    g_assert_true(json_is_null(json_object_get(json_object_get(result, "quant"), "mover_bytes_equal_at")));
    json_decref(result);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quant_place/bytes_follow_the_formulas", bytes_follow_the_formulas);
    g_test_add_func("/quant_place/cycles_differ_by_the_conversion", cycles_differ_by_the_conversion);
    g_test_add_func("/quant_place/a_crossing_that_is_not_reached_is_null", a_crossing_that_is_not_reached_is_null);
    return g_test_run();
}
