/* The sweep file: what points its axes, conditions and derived keys make, and what is said of wrong ones. */
#include <math.h>
#include <string.h>

#include "analysis/campaign.h"
#include "analysis/expression.h"
#include "analysis/json_path.h"
#include "analysis/sweep.h"

#define BASE                                                                                                           \
    "{\"schema\": \"flitsim.sweep/1\", \"machine\": \"mesh_4x4\",\n"                                                   \
    " \"workload\": \"traffic:rate=0.1,cycles=10\",\n"

static void load(struct sweep *sweep, const char *rest) {
    g_autofree char *text = g_strconcat(BASE, rest, "}", NULL);
    struct json_source source;
    GError *error = NULL;
    g_assert_true(json_source_parse(&source, "s.json", text, strlen(text), &error));
    if (!sweep_read(sweep, &source, &error))
        g_error("%s", error->message);
    json_source_clear(&source);
}

/* The points as "a=1,b=2" lines, those left out missing. */
static char *points_of(const char *rest) {
    struct sweep sweep;
    GString *text = g_string_new(NULL);
    load(&sweep, rest);
    for (uint64_t i = 0; i < sweep.count; i++) {
        struct sweep_point point;
        GError *error = NULL;
        enum sweep_verdict verdict = sweep_resolve(&sweep, i, &point, &error);
        if (verdict == SWEEP_POINT_WRONG)
            g_error("%s", error->message);
        if (verdict == SWEEP_POINT_LEFT_OUT)
            continue;
        g_autofree char *line = sweep_point_text(&point);
        g_string_append_printf(text, "%s\n", line);
        sweep_point_clear(&point);
    }
    sweep_clear(&sweep);
    return g_string_free(text, FALSE);
}

static void assert_points(const char *rest, const char *want) {
    g_autofree char *points = points_of(rest);
    g_assert_cmpstr(points, ==, want);
}

static struct sweep_point only_point(struct sweep *sweep, uint64_t number) {
    struct sweep_point point;
    GError *error = NULL;
    if (sweep_resolve(sweep, number, &point, &error) != SWEEP_POINT_TAKEN)
        g_error("%s", error ? error->message : "left out");
    return point;
}

static void a_grid_has_every_choice_with_every_other_the_last_moving_fastest(void) {
    assert_points("\"axes\": {\"noc.fifo_depth\": [2, 8], \"workload.rate\": [0.1, 0.2, 0.3]}",
                  "noc.fifo_depth=2, workload.rate=0.1\nnoc.fifo_depth=2, workload.rate=0.2\n"
                  "noc.fifo_depth=2, workload.rate=0.3\nnoc.fifo_depth=8, workload.rate=0.1\n"
                  "noc.fifo_depth=8, workload.rate=0.2\nnoc.fifo_depth=8, workload.rate=0.3\n");
    assert_points("\"description\": \"no axes: the base alone\"", "\n");
}

static void a_zip_goes_through_all_axes_at_once(void) {
    assert_points("\"combine\": \"zip\", \"axes\": {\"noc.fifo_depth\": [2, 8], \"workload.rate\": [0.1, 0.2]}",
                  "noc.fifo_depth=2, workload.rate=0.1\nnoc.fifo_depth=8, workload.rate=0.2\n");
}

static void ranges_include_both_ends_and_stay_whole(void) {
    assert_points("\"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 2, \"to\": 8, \"step\": 3}}}",
                  "noc.fifo_depth=2\nnoc.fifo_depth=5\nnoc.fifo_depth=8\n");
    assert_points("\"axes\": {\"workload.rate\": {\"range\": {\"from\": 0.1, \"to\": 0.3, \"step\": 0.1}}}",
                  "workload.rate=0.1\nworkload.rate=0.2\nworkload.rate=0.30000000000000004\n");
    assert_points("\"axes\": {\"noc.fifo_depth\": {\"log\": {\"from\": 2, \"to\": 16, \"factor\": 2}}}",
                  "noc.fifo_depth=2\nnoc.fifo_depth=4\nnoc.fifo_depth=8\nnoc.fifo_depth=16\n");
    assert_points("\"axes\": {\"noc.fifo_depth\": {\"log\": {\"from\": 1, \"to\": 4, \"points\": 7}}}",
                  "noc.fifo_depth=1\nnoc.fifo_depth=2\nnoc.fifo_depth=3\nnoc.fifo_depth=4\n");
    assert_points("\"axes\": {\"workload.rate\": {\"log\": {\"from\": 0.01, \"to\": 1.0, \"points\": 3}}}",
                  "workload.rate=0.01\nworkload.rate=0.1\nworkload.rate=1\n");
}

static void an_alternative_sets_several_keys_or_a_whole_machine(void) {
    struct sweep sweep;
    load(&sweep,
         "\"axes\": {\"mesh\": {\"alternatives\": {"
         "\"wide\": {\"machine\": {\"bare\": true, \"mesh\": {\"columns\": 6, \"rows\": 2}}, \"noc.fifo_depth\": 4},"
         "\"tall\": {\"machine\": \"mesh_2x6\", \"workload.rate\": 0.2}}}}");
    struct sweep_point wide = only_point(&sweep, 0), tall = only_point(&sweep, 1);
    g_assert_cmpint(json_integer_value(json_find(wide.config, "machine.mesh.columns")), ==, 6);
    g_assert_cmpint(json_integer_value(json_find(wide.config, "machine.noc.fifo_depth")), ==, 4);
    g_assert_cmpfloat(json_number_value(json_find(wide.config, "workload.rate")), ==, 0.1);
    g_assert_cmpint(json_integer_value(json_find(tall.config, "machine.mesh.rows")), ==, 6);
    g_assert_cmpfloat(json_number_value(json_find(tall.config, "workload.rate")), ==, 0.2);
    g_assert_cmpstr(json_string_value(json_object_get(tall.axes, "mesh")), ==, "tall");
    sweep_point_clear(&wide);
    sweep_point_clear(&tall);
    sweep_clear(&sweep);
}

static void conditions_leave_points_out_before_they_are_checked(void) {
    assert_points("\"axes\": {\"cluster.drain_queue\": [8, 64], \"cluster.drain_limit\": [8, 64]},"
                  "\"when\": \"cluster.drain_limit <= cluster.drain_queue\"",
                  "cluster.drain_queue=8, cluster.drain_limit=8\ncluster.drain_queue=64, cluster.drain_limit=8\n"
                  "cluster.drain_queue=64, cluster.drain_limit=64\n");
    assert_points("\"axes\": {\"machine\": [\"mesh_2x2\", \"mesh_3x3\"]},"
                  "\"when\": [\"routers > 4\", \"columns == 3 and not bare == false\", \"workload.rate < 0.5\"]",
                  "machine=mesh_3x3\n");
}

static void derived_keys_follow_from_others_and_defaults(void) {
    struct sweep sweep;
    load(&sweep, "\"axes\": {\"noc.fifo_depth\": [4]},"
                 "\"derive\": {\"noc.link_latency\": \"noc.fifo_depth / 2\","
                 " \"workload.rate\": \"min(0.5, noc.link_latency / 10)\","
                 " \"noc.routing\": \"columns > 2 ? 'yx' : 'xy'\", \"seed\": \"noc.fall_through + 4\"}");
    struct sweep_point point = only_point(&sweep, 0);
    g_assert_cmpint(json_integer_value(json_find(point.config, "machine.noc.link_latency")), ==, 2);
    g_assert_cmpfloat(json_number_value(json_find(point.config, "workload.rate")), ==, 0.2);
    g_assert_cmpstr(json_string_value(json_find(point.config, "machine.noc.routing")), ==, "yx");
    g_assert_cmpint(json_integer_value(json_find(point.config, "seed")), ==, 7);
    sweep_point_clear(&point);
    sweep_clear(&sweep);
}

/* Every strip of every axis once, the same for the same seed, another for another. */
static void a_sample_uses_every_strip_of_every_axis_once(void) {
    enum {
        N = 50
    };
    static const char form[] = "\"combine\": {\"latin_hypercube\": {\"samples\": 50, \"seed\": %d}}, \"axes\": {"
                               "\"workload.rate\": {\"range\": {\"from\": 0.0, \"to\": 1.0}},"
                               "\"noc.fifo_depth\": {\"log\": {\"from\": 2, \"to\": 200}},"
                               "\"noc.link_latency\": [0, 1, 2, 3, 4]}";
    g_autofree char *one = g_strdup_printf(form, 7), *two = g_strdup_printf(form, 8);
    g_autofree char *first = points_of(one), *again = points_of(one), *other = points_of(two);
    struct sweep sweep;
    bool used[N] = {false};
    unsigned latencies[5] = {0};
    g_assert_cmpstr(first, ==, again);
    g_assert_cmpstr(first, !=, other);
    load(&sweep, one);
    for (unsigned i = 0; i < N; i++) {
        struct sweep_point point = only_point(&sweep, i);
        unsigned strip = (unsigned)(json_number_value(json_object_get(point.axes, "workload.rate")) * N);
        json_int_t depth = json_integer_value(json_object_get(point.axes, "noc.fifo_depth"));
        g_assert_cmpuint(strip, <, N);
        g_assert_false(used[strip]);
        used[strip] = true;
        g_assert_true(depth >= 2 && depth <= 200);
        latencies[json_integer_value(json_object_get(point.axes, "noc.link_latency"))]++;
        sweep_point_clear(&point);
    }
    for (unsigned i = 0; i < 5; i++)
        g_assert_cmpuint(latencies[i], ==, N / 5);
    sweep_clear(&sweep);
}

static void the_key_is_of_what_is_run_not_of_how_it_is_written(void) {
    struct sweep axis, base, inline_workload, other;
    load(&axis, "\"axes\": {\"noc.fifo_depth\": [32, 8]}");
    load(&base, "\"axes\": {\"machine.noc.fifo_depth\": {\"range\": {\"from\": 8, \"to\": 8, \"step\": 1}}}");
    load(&inline_workload, "\"axes\": {\"workload\": [{\"workload\": \"traffic\", \"cycles\": 10, \"rate\": 0.1}]}");
    load(&other, "\"seed\": 2");
    struct sweep_point a = only_point(&axis, 0), b = only_point(&axis, 1), c = only_point(&base, 0),
                       d = only_point(&inline_workload, 0), e = only_point(&other, 0);
    g_assert_cmpuint(strlen(a.key), ==, 64);
    g_assert_cmpstr(a.key, !=, b.key);
    g_assert_cmpstr(b.key, ==, c.key);
    g_assert_cmpstr(a.key, ==, d.key); /* 32 is the default */
    g_assert_cmpstr(a.key, !=, e.key);
    struct sweep_point *const all[] = {&a, &b, &c, &d, &e};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        sweep_point_clear(all[i]);
    sweep_clear(&axis);
    sweep_clear(&base);
    sweep_clear(&inline_workload);
    sweep_clear(&other);
}

static void equal_points_run_once_and_a_shard_is_every_nth(void) {
    struct sweep sweep;
    struct campaign_plan plan;
    const struct campaign_options options = {.stop = -1};
    GPtrArray *complaints = g_ptr_array_new_with_free_func(g_free);
    load(&sweep, "\"axes\": {\"noc.fifo_depth\": [2, 32, 4], \"x\": {\"alternatives\": {\"a\": {}, \"b\": {}}}},"
                 "\"when\": \"noc.fifo_depth != 4\"");
    g_assert_true(campaign_plan(&sweep, &plan, &options, complaints));
    g_assert_cmpuint(plan.points->len, ==, 2);
    g_assert_cmpuint(plan.repeated, ==, 2);
    g_assert_cmpuint(plan.left_out, ==, 2);
    g_assert_cmpuint(g_array_index(plan.points, struct campaign_point, 1).number, ==, 2);
    campaign_plan_clear(&plan);
    g_ptr_array_unref(complaints);
    sweep_clear(&sweep);
}

/* ---- complaints ---- */

static const struct {
    const char *rest, *message;
} faults[] = {
    {"\"axis\": {}", "s.json:3:1: axis: unknown key, expected perhaps axes"},
    {"\"axes\": [1]", "s.json:3:9: axes: is a list, expected an object {key: values}"},
    {"\"axes\": {\"noc.fifo_depth\": []}", "s.json:3:28: axes.noc.fifo_depth: has 0 values, expected 1..1000000"},
    {"\"axes\": {\"noc.fifo_depth\": 3}", "s.json:3:28: axes.noc.fifo_depth: is a whole number, expected a list, or an "
                                          "object with one of range, log, alternatives"},
    {"\"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 1, \"to\": 4, \"stop\": 1}}}",
     "s.json:3:59: axes.noc.fifo_depth.range.stop: unknown key, expected perhaps step"},
    {"\"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 1, \"to\": 4, \"step\": 0}}}",
     "s.json:3:38: axes.noc.fifo_depth.range: step 0 does not lead from 1 to 4 in less than 1000000 values"},
    {"\"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 1, \"to\": 4}}}",
     "s.json:3:28: axes.noc.fifo_depth: has no step, expected one unless combine is latin_hypercube"},
    {"\"axes\": {\"noc.fifo_depth\": {\"log\": {\"from\": 0, \"to\": 4, \"factor\": 2}}}",
     "s.json:3:36: axes.noc.fifo_depth.log: from 0 to 4, expected 0 < from < to"},
    {"\"axes\": {\"noc.fifo_depth\": {\"log\": {\"from\": 1, \"to\": 4, \"factor\": 1}}}",
     "s.json:3:36: axes.noc.fifo_depth.log: factor 1 does not lead from 1 to 4 in less than 1000000 values, expected "
     "more than 1"},
    {"\"combine\": \"gird\"",
     "s.json:3:12: combine: is neither \"grid\" nor \"zip\" nor {\"latin_hypercube\": {\"samples\": N}}"},
    {"\"combine\": \"zip\", \"axes\": {\"noc.fifo_depth\": [2, 8], \"workload.rate\": [0.1]}",
     "s.json:3:71: axes.workload.rate: has 1 values where noc.fifo_depth has 2, expected as many (combine is zip)"},
    {"\"when\": \"noc.fifo_depth >\"",
     "s.json:3:26: when: found the end, expected a name, a number, a text in quotes or '('"},
    {"\"when\": 3", "s.json:3:9: when: is a whole number, expected an expression in a text"},
    {"\"seed\": -1", "s.json:3:9: seed: is a whole number, expected a whole number from 0"},
};

static void a_wrong_file_is_one_line(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
        g_autofree char *text = g_strconcat(BASE, faults[i].rest, "}", NULL);
        struct json_source source;
        struct sweep sweep;
        GError *error = NULL;
        g_assert_true(json_source_parse(&source, "s.json", text, strlen(text), &error));
        g_assert_false(sweep_read(&sweep, &source, &error));
        g_assert_cmpstr(error->message, ==, faults[i].message);
        g_clear_error(&error);
        json_source_clear(&source);
    }
}

static const struct {
    const char *rest, *message;
} point_faults[] = {
    {"\"axes\": {\"noc.fifo_depth\": [8, 0]}",
     "s.json:3:32: axes.noc.fifo_depth[1]: noc.fifo_depth: is 0, expected a whole number 1..65536 flits"},
    {"\"axes\": {\"noc.fifo_dept\": [8]}",
     "s.json:3:28: axes.noc.fifo_dept[0]: noc.fifo_dept: unknown key, expected perhaps noc.fifo_depth"},
    {"\"axes\": {\"workload.rate\": [0.1, \"0.1x\"]}",
     "s.json:3:33: axes.workload.rate[1]: rate: is \"0.1x\", expected a number 0..1 flits/node/cycle"},
    {"\"axes\": {\"machine\": [\"mesh_4x4\", \"mesh_4y4\"]}",
     "s.json:3:34: axes.machine[1]: is no file and none of the shipped machines, expected perhaps mesh_4x4"},
    {"\"axes\": {\"machine\": [{\"bare\": true, \"mesh\": {\"columns\": 0, \"rows\": 2}}]}", "axes.machine[0].mesh"},
    {"\"axes\": {\"workload\": [\"trafic:rate=0.1\"]}", "axes.workload[0]: \"trafic\" is no workload"},
    {"\"derive\": {\"noc.fifo_depth\": \"noc.fifo_extra / 4\"}",
     "s.json:3:30: derive.noc.fifo_depth: is 0.5, expected a whole number 1..65536 flits"},
    {"\"when\": \"noc.fifo_deep > 2\"",
     "s.json:3:10: when: 'noc.fifo_deep' is neither an axis nor a key nor columns, rows, "
     "routers, ports, clusters, vector_cores"},
    {"\"when\": \"noc.fifo_depth > 2000\"", "s.json:1:1: when: leaves out all 1 combinations, expected some to remain"},
};

/* Found when the points are resolved, and said of the place in the sweep that gave the value. */
static void a_wrong_point_is_one_line_at_its_place_in_the_sweep(void) {
    const struct campaign_options options = {.stop = -1};
    for (size_t i = 0; i < G_N_ELEMENTS(point_faults); i++) {
        struct sweep sweep;
        struct campaign_plan plan;
        GPtrArray *complaints = g_ptr_array_new_with_free_func(g_free);
        load(&sweep, point_faults[i].rest);
        g_assert_false(campaign_plan(&sweep, &plan, &options, complaints));
        g_assert_cmpuint(complaints->len, ==, 1);
        const char *said = g_ptr_array_index(complaints, 0);
        if (g_str_has_prefix(point_faults[i].message, "s.json"))
            g_assert_cmpstr(said, ==, point_faults[i].message);
        else if (!g_str_has_prefix(said, "s.json:3:") || !strstr(said, point_faults[i].message))
            g_error("'%s' is not in: %s", point_faults[i].message, said);
        g_ptr_array_unref(complaints);
        sweep_clear(&sweep);
    }
}

/* ---- the expression language ---- */

static bool look_up(void *data, const char *name, struct value *value, char **wrong) {
    (void)data;
    if (g_str_equal(name, "a.b[0]"))
        *value = (struct value){.kind = VALUE_NUMBER, .number = 6};
    else if (g_str_equal(name, "word"))
        *value = (struct value){.kind = VALUE_TEXT, .text = "xy"};
    else if (g_str_equal(name, "nothing"))
        *value = (struct value){.kind = VALUE_NONE};
    else
        *wrong = g_strdup("no such name");
    return !*wrong;
}

static const struct {
    const char *text;
    double value;
} expressions[] = {
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"2 ^ 3 ^ 2", 512},
    {"-2 ^ 2", -4},
    {"7 % 4 - 10 / 4", 0.5},
    {"a.b[0] / 4", 1.5},
    {"1 < 2 and not 2 < 1", 1},
    {"1 == 2 or word == 'xy'", 1},
    {"word != \"xy\" || false", 0},
    {"!(1 >= 2) && true", 1},
    {"max(2, floor(7.9)) + ceil(0.1) + log2(8) + sqrt(16) + abs(-1) + round(0.5) + min(1, 2)", 18},
    {"2 > 1 ? 10 : unknown", 10},
    {"false and unknown > 1", 0},
    {"nothing < 5 or nothing >= 5", 0},
    {"1 - 1 - 1", -1},
};

static void expressions_have_the_usual_meaning(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(expressions); i++) {
        struct expression_fault fault = {0};
        struct value value;
        struct expression *expression = expression_parse(expressions[i].text, &fault);
        if (!expression || !expression_evaluate(expression, look_up, NULL, &value, &fault))
            g_error("%s: %s", expressions[i].text, fault.wrong);
        if (value.number != expressions[i].value)
            g_error("%s is %g, expected %g", expressions[i].text, value.number, expressions[i].value);
        expression_free(expression);
    }
}

static const struct {
    const char *text;
    unsigned column;
} broken[] = {
    {"", 1},       {"1 +", 4},   {"(1", 3},      {"1 2", 3},      {"0.1x", 1},  {"'a", 1},    {"min(1)", 6},
    {"sin(1)", 1}, {"1 ? 2", 6}, {"unknown", 1}, {"word + 1", 6}, {"1 / 0", 3}, {"-word", 1}, {"sqrt(-1)", 1},
};

static void a_broken_expression_is_refused_at_its_place(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
        struct expression_fault fault = {0};
        struct value value;
        struct expression *expression = expression_parse(broken[i].text, &fault);
        if (expression && expression_evaluate(expression, look_up, NULL, &value, &fault))
            g_error("'%s' was taken", broken[i].text);
        if (fault.column != broken[i].column)
            g_error("'%s': column %u, expected %u (%s)", broken[i].text, fault.column, broken[i].column, fault.wrong);
        g_free(fault.wrong);
        expression_free(expression);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sweep/grid", a_grid_has_every_choice_with_every_other_the_last_moving_fastest);
    g_test_add_func("/sweep/zip", a_zip_goes_through_all_axes_at_once);
    g_test_add_func("/sweep/ranges", ranges_include_both_ends_and_stay_whole);
    g_test_add_func("/sweep/alternatives", an_alternative_sets_several_keys_or_a_whole_machine);
    g_test_add_func("/sweep/conditions", conditions_leave_points_out_before_they_are_checked);
    g_test_add_func("/sweep/derived", derived_keys_follow_from_others_and_defaults);
    g_test_add_func("/sweep/sample", a_sample_uses_every_strip_of_every_axis_once);
    g_test_add_func("/sweep/key", the_key_is_of_what_is_run_not_of_how_it_is_written);
    g_test_add_func("/sweep/plan", equal_points_run_once_and_a_shard_is_every_nth);
    g_test_add_func("/sweep/faults", a_wrong_file_is_one_line);
    g_test_add_func("/sweep/point_faults", a_wrong_point_is_one_line_at_its_place_in_the_sweep);
    g_test_add_func("/sweep/expressions", expressions_have_the_usual_meaning);
    g_test_add_func("/sweep/broken_expressions", a_broken_expression_is_refused_at_its_place);
    return g_test_run();
}
