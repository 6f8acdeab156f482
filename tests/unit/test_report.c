/* Report pages as text: names are escaped, and every figure in the mesh picture is a counter of the result. */
#include <string.h>

#include <glib.h>
#include <jansson.h>

#include "analysis/report.h"
#include "analysis/report_parts.h"
#include "workloads/grade.h"

static const char nasty[] = "<script>alert('&\"x')</script>";

/* A router at (1,1) that feeds one at (2,1), a unit with a nasty name at the first, a port west of it. */
static json_t *sample(void) {
    json_t *in = json_pack("{s:i,s:i,s:i,s:i}", "flits", 41, "blocked", 9, "hol_blocked", 3, "max_depth", 5);
    json_t *none = json_pack("{s:i,s:i,s:i,s:i}", "flits", 0, "busy", 0, "arbitration", 0, "idle", 100);
    json_t *east = json_pack("{s:i,s:i,s:i,s:i,s:i}", "flits", 37, "busy", 11, "arbitration", 6, "idle", 46, "lost", 5);
    json_t *left = json_pack("{s:i,s:i,s:[OOOOO],s:[OOOOO]}", "x", 1, "y", 1, "in", in, in, in, in, in, "out", none,
                             east, none, none, none);
    json_t *right = json_pack("{s:i,s:i,s:[OOOOO],s:[OOOOO]}", "x", 2, "y", 1, "in", in, in, in, in, in, "out", none,
                              none, none, none, none);
    json_t *unit = json_pack("{s:s,s:s,s:i,s:i,s:{s:i,s:i}}", "name", nasty, "type", nasty, "x", 1, "y", 1, "cycles",
                             "idle", 30, nasty, 70);
    json_t *port = json_pack("{s:s,s:i,s:i,s:{s:i}}", "name", "port0", "x", 0, "y", 1, "cycles", "idle", 100);
    json_t *result =
        json_pack("{s:s,s:s,s:s,s:{s:s,s:s},s:i,s:i,s:[oo],s:[o],s:[o],s:[{s:s,s:s,s:s,s:i,s:i}]}", "schema",
                  "flitsim.result/1", "machine", nasty, "version", nasty, "workload", "workload", nasty, nasty, nasty,
                  "cycles", 100, "settled_cycles", 100, "routers", left, right, "units", unit, "ports", port, "hazards",
                  "id", nasty, "where", nasty, "what", nasty, "cycle", 3, "count", 2);
    json_decref(in);
    json_decref(none);
    json_decref(east);
    g_assert_nonnull(result);
    return result;
}

static void names_are_escaped(void) {
    json_t *result = sample();
    g_autofree char *page = report_run_page(result);
    g_assert_null(strstr(page, "<script"));
    g_assert_null(strstr(page, nasty));
    g_assert_nonnull(strstr(page, "&lt;script&gt;alert(&apos;&amp;&quot;x&apos;)&lt;/script&gt;"));
    json_decref(result);
}

static void a_page_of_any_object_is_made(void) {
    json_t *empty = json_object(),
           *odd = json_pack("{s:s,s:i,s:[n,i],s:{s:n}}", "units", "no list", "ports", 3, "routers", 7, "latency", "x");
    g_autofree char *page = report_run_page(empty), *odd_page = report_run_page(odd);
    g_autofree char *text = report_run_text(odd);
    g_assert_true(g_str_has_prefix(page, "<!DOCTYPE html>"));
    g_assert_true(g_str_has_suffix(odd_page, "</html>\n"));
    g_assert_nonnull(text);
    json_decref(empty);
    json_decref(odd);
}

static void the_picture_shows_the_counters(void) {
    json_t *result = sample();
    g_autofree char *page = report_run_page(result);
    const char *link = strstr(page, "data-link=\"(1,1)&gt;(2,1)\"");
    g_assert_nonnull(link);
    g_autofree char *path = g_strndup(link, (gsize)(strstr(link, "</path>") - link));
    static const char *const wanted[] = {"data-flits=\"37\"",
                                         "data-busy=\"11\"",
                                         "used 37 cycles (37.00 %)",
                                         "refused by the receiver 11 cycles (11.00 %)",
                                         "in arbitration 6 cycles (6.00 %)",
                                         "idle 46 cycles (46.00 %)",
                                         "blocked 9 cycles",
                                         "go first: 5 flit-cycles",
                                         "could have gone 3 cycles",
                                         "deepest queue 5 flits"};
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
        if (!strstr(path, wanted[i]))
            g_error("\"%s\" is not in %s", wanted[i], path);
    g_assert_nonnull(strstr(page, "width:70.0000%"));
    json_decref(result);
}

static void the_shares_of_a_link_add_up(void) {
    json_t *result = sample();
    GArray *links = report_links(result);
    unsigned routed = 0;
    for (guint i = 0; i < links->len; i++) {
        const struct report_link *link = &g_array_index(links, struct report_link, i);
        g_assert_cmpint(link->flits + link->busy + MAX(link->arbitration, 0) + link->idle, ==, 100);
        routed += g_str_equal(link->name, "(1,1)>(2,1)");
    }
    g_assert_cmpuint(routed, ==, 1);
    g_array_unref(links);
    json_decref(result);
}

static void colours_follow_the_value(void) {
    g_assert_cmpuint(heat_bin(0, 1), ==, 0);
    g_assert_cmpuint(heat_bin(1e-9, 1), ==, 1);
    g_assert_cmpuint(heat_bin(1, 1), ==, HEAT_BINS - 1);
    g_assert_cmpuint(heat_bin(5, 1), ==, HEAT_BINS - 1);
    g_assert_cmpfloat_with_epsilon(heat_top(0.17), 0.2, 1e-12);
    g_assert_cmpfloat_with_epsilon(heat_top(0.2), 0.2, 1e-12);
    g_assert_cmpfloat_with_epsilon(heat_top(71), 80, 1e-9);
}

/* Every element with a relative error is in one bin, and the worst come first. */
static void errors_are_binned(void) {
    const double want[] = {1, 1, 1, 2, 0, 0, -4, 1};
    const uint16_t got[] = {0x3c00, 0x3c01, 0x4000, 0x4000,
                            0x0000, 0x3c00, 0xc500, 0x7bff}; /* 1 1.00098 2 2 0 1 -5 65504 */
    struct numerics numerics;
    size_t sum = 0;
    grade_against(want, got, G_N_ELEMENTS(want), &numerics);
    for (unsigned bin = 0; bin < GRADE_BINS; bin++)
        sum += numerics.bins[bin];
    g_assert_cmpuint(sum, ==, 7);
    g_assert_cmpuint(numerics.undefined, ==, 1);
    g_assert_cmpuint(numerics.bins[0], ==, 3);
    g_assert_cmpuint(numerics.bins[GRADE_BINS - 1], ==, 1);
    g_assert_cmpuint(numerics.worst_count, ==, 7);
    g_assert_cmpuint(numerics.worst[0].index, ==, 7);
    g_assert_cmpuint(numerics.worst[1].index, ==, 2);
    g_assert_cmpuint(numerics.worst[2].index, ==, 6);
    g_assert_cmpfloat(numerics.worst[2].rel, ==, 0.25);
}

static void add_point(GPtrArray *points, struct report_point *store, int size, int burst, double speed, int units) {
    json_t *list = json_array();
    for (int i = 0; i < units; i++)
        json_array_append_new(list, json_object());
    *store = (struct report_point){.number = (gint64)points->len, .status = (char *)"ok"};
    store->axes = json_pack("{s:i,s:i}", nasty, size, "burst", burst);
    store->result = json_pack("{s:i,s:f,s:o}", "cycles", 1000 - (int)speed, "gflops", speed, "units", list);
    g_ptr_array_add(points, store);
}

static void a_sweep_has_its_front(void) {
    struct report_point store[4];
    GPtrArray *points = g_ptr_array_new();
    json_t *about = json_pack("{s:s,s:s}", "name", nasty, "question", nasty);
    add_point(points, &store[0], 1, 1, 100.5, 1);
    add_point(points, &store[1], 1, 2, 150.25, 1);
    add_point(points, &store[2], 2, 1, 140.125, 2);
    add_point(points, &store[3], 2, 2, 290.75, 2);
    g_autofree char *page = report_sweep_page(about, points), *text = report_sweep_text(about, points);
    g_assert_null(strstr(page, "<script"));
    char *front = strstr(page, "id=\"front\""), *table = strstr(page, "id=\"table\"");
    g_assert_true(front && table && front < table);
    g_autofree char *part = g_strndup(strstr(front, ">point<"), (gsize)(table - strstr(front, ">point<")));
    g_assert_nonnull(strstr(part, "150.25"));
    g_assert_nonnull(strstr(part, "290.75"));
    g_assert_null(strstr(part, "100.5"));
    g_assert_null(strstr(part, "140.125"));
    g_assert_nonnull(strstr(text, "best cycles                       710  at"));
    for (size_t i = 0; i < G_N_ELEMENTS(store); i++) {
        json_decref(store[i].axes);
        json_decref(store[i].result);
    }
    g_ptr_array_unref(points);
    json_decref(about);
}

static void a_sweep_without_points_has_a_page(void) {
    GPtrArray *points = g_ptr_array_new();
    json_t *about = json_object();
    g_autofree char *page = report_sweep_page(about, points), *text = report_sweep_text(about, points);
    g_assert_nonnull(strstr(page, "<b>0</b><span>points"));
    g_assert_nonnull(text);
    g_ptr_array_unref(points);
    json_decref(about);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/names_are_escaped", names_are_escaped);
    g_test_add_func("/report/a_page_of_any_object_is_made", a_page_of_any_object_is_made);
    g_test_add_func("/report/the_picture_shows_the_counters", the_picture_shows_the_counters);
    g_test_add_func("/report/the_shares_of_a_link_add_up", the_shares_of_a_link_add_up);
    g_test_add_func("/report/colours_follow_the_value", colours_follow_the_value);
    g_test_add_func("/report/errors_are_binned", errors_are_binned);
    g_test_add_func("/report/a_sweep_has_its_front", a_sweep_has_its_front);
    g_test_add_func("/report/a_sweep_without_points_has_a_page", a_sweep_without_points_has_a_page);
    return g_test_run();
}
