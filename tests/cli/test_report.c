/* flitsim run --interval and flitsim report as a user meets them: figures agree with the result, errors are one line.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <jansson.h>

#include "program.h"

#define CUBE "gemm:m=64,k=128,n=64"

static char *folder;

static json_t *load(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    json_error_t where;
    json_t *document = json_load_file(path, 0, &where);
    g_assert_nonnull(document);
    return document;
}

static int64_t whole(const json_t *object, const char *key) {
    g_assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void intervals_add_up_to_the_totals(void) {
    json_t *result = load("result.json"), *series = json_object_get(result, "series"), *values, *value;
    const json_t *counts = json_object_get(result, "counts"), *totals = json_object_get(series, "totals");
    const char *column;
    size_t index;
    g_assert_cmpint(whole(series, "interval"), ==, 100);
    json_object_foreach(json_object_get(series, "columns"), column, values) {
        int64_t sum = 0;
        g_assert_cmpuint(json_array_size(values), ==, (size_t)(whole(result, "settled_cycles") + 99) / 100);
        json_array_foreach(values, index, value) sum += json_integer_value(value);
        g_assert_cmpint(sum, ==, whole(totals, column));
    }
    g_assert_cmpint(whole(totals, "read_words") * 32, ==, whole(counts, "dram_read_bytes"));
    g_assert_cmpint(whole(totals, "write_words") * 32, ==, whole(counts, "dram_write_bytes"));
    g_assert_cmpint(whole(totals, "compute_issues"), ==,
                    whole(counts, "acc_load") + whole(counts, "acc_add") + whole(counts, "acc_add_emit"));
    g_assert_cmpint(whole(totals, "mesh_flits") + whole(totals, "unit_flits") + whole(totals, "port_flits"), ==,
                    whole(result, "flit_hops"));
    g_assert_cmpint(whole(totals, "instructions_retired"), ==, whole(counts, "signals"));
    json_decref(result);
}

/* A line of the log of flits: when which link handed a flit over, and for how long it had stood there. */
struct log_line {
    char link[32];
    int64_t cycle, waited;
};

static GArray *load_log(void) {
    GArray *log = g_array_new(FALSE, TRUE, sizeof(struct log_line));
    g_autofree char *file = g_build_filename(folder, "flits.txt", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_auto(GStrv) rows = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; rows[i][0]; i++) {
        struct log_line line = {0};
        long cycle, waited;
        g_assert_cmpint(sscanf(rows[i], "%ld %31s %*s %*s txn %*u last %*u waited %ld", &cycle, line.link, &waited), ==,
                        3);
        line.cycle = cycle;
        line.waited = waited;
        g_array_append_val(log, line);
    }
    return log;
}

static void count_flit(int64_t *counts, const struct log_line *line) {
    if (g_str_has_suffix(line->link, ">local"))
        counts[line->cycle / 100]++;
}

/* Interval by interval, what units got is what the log of flits says they got. */
static void intervals_agree_with_the_log(void) {
    json_t *result = load("result.json"), *columns = json_object_get(json_object_get(result, "series"), "columns");
    const json_t *values = json_object_get(columns, "unit_flits");
    GArray *log = load_log();
    size_t count = json_array_size(values);
    g_autofree int64_t *counts = g_new0(int64_t, count + 1);
    for (guint i = 0; i < log->len; i++)
        count_flit(counts, &g_array_index(log, struct log_line, i));
    for (size_t i = 0; i < count; i++)
        g_assert_cmpint(json_integer_value(json_array_get(values, i)), ==, counts[i]);
    g_array_unref(log);
    json_decref(result);
}

/* The link lay bare before every flit that did not follow the one before it at once. */
static void arbitration_agrees_with_the_log(void) {
    static const char *const links[2][5] = {
        {"(1,1)>(1,0)", "(1,1)>(2,1)", "(1,1)>(1,2)", "(1,1)>(0,1)", "(1,1)>local"},
        {"(1,2)>(1,1)", "(1,2)>(2,2)", "(1,2)>(1,3)", "(1,2)>(0,2)", "(1,2)>local"}};
    json_t *result = load("result.json");
    GArray *log = load_log();
    for (size_t r = 0; r < 2; r++)
        for (size_t p = 0; p < 5; p++) {
            const json_t *router = json_array_get(json_object_get(result, "routers"), r);
            int64_t bare = 0, last = -1;
            for (guint i = 0; i < log->len; i++) {
                const struct log_line *line = &g_array_index(log, struct log_line, i);
                if (!g_str_equal(line->link, links[r][p]))
                    continue;
                bare += last < 0 || line->cycle - line->waited != last + 1;
                last = line->cycle;
            }
            g_assert_cmpint(whole(json_array_get(json_object_get(router, "out"), p), "arbitration"), ==, bare);
        }
    g_array_unref(log);
    json_decref(result);
}

/* What happens lies in the interval in which it happens: nothing is read before the first request, and what is written
 * last is written at the end. */
static void intervals_are_where_things_happen(void) {
    json_t *result = load("result.json"), *columns = json_object_get(json_object_get(result, "series"), "columns");
    const json_t *reads = json_object_get(columns, "read_words"), *writes = json_object_get(columns, "write_words");
    size_t last = json_array_size(writes) - 1, first_read = 0, first_write = 0;
    while (!json_integer_value(json_array_get(reads, first_read)))
        first_read++;
    while (!json_integer_value(json_array_get(writes, first_write)))
        first_write++;
    g_assert_cmpuint(first_read, <, first_write);
    g_assert_cmpint(json_integer_value(json_array_get(reads, last)), ==, 0);
    json_decref(result);
}

static void an_observed_run_has_the_same_digest(void) {
    json_t *result = load("result.json");
    struct outcome plain = RUN("run", "ref2", CUBE, "--json");
    json_t *other = json_loads(plain.out, 0, NULL);
    g_assert_cmpstr(json_string_value(json_object_get(result, "digest")), ==,
                    json_string_value(json_object_get(other, "digest")));
    outcome_clear(&plain);
    json_decref(result);
    json_decref(other);
}

/* Four shares of every router output are the run, and what waits at an input waits for one of two reasons. */
static void every_cycle_of_a_link_has_a_share(void) {
    json_t *result = load("result.json"), *router, *port;
    int64_t cycles = whole(result, "settled_cycles"), hops = 0;
    size_t r, p;
    json_array_foreach(json_object_get(result, "routers"), r, router) {
        json_array_foreach(json_object_get(router, "out"), p, port) {
            g_assert_cmpint(whole(port, "flits") + whole(port, "busy") + whole(port, "arbitration") +
                                whole(port, "idle"),
                            ==, cycles);
            hops += whole(port, "flits");
        }
    }
    g_assert_cmpint(hops, ==, whole(result, "flit_hops"));
    json_decref(result);
}

static void bins_hold_every_flit(void) {
    json_t *result = load("result.json"), *row, *bin;
    const char *type;
    size_t index;
    json_object_foreach(json_object_get(result, "latency"), type, row) {
        int64_t sum = 0, above = -1;
        json_array_foreach(json_object_get(row, "bins"), index, bin) {
            int64_t low = json_integer_value(json_array_get(bin, 0)), high = json_integer_value(json_array_get(bin, 1));
            g_assert_cmpint(low, >, above);
            g_assert_cmpint(high, >=, low);
            above = high;
            sum += json_integer_value(json_array_get(bin, 2));
        }
        g_assert_cmpint(sum, ==, whole(row, "count"));
        g_assert_cmpint(above, >=, whole(row, "max"));
    }
    json_decref(result);
}

static void the_page_holds_the_figures(void) {
    g_autofree char *file = g_build_filename(folder, "report.html", NULL);
    g_autofree char *page = NULL;
    json_t *result = load("result.json");
    assert_ended(RUN("report", folder), 0);
    g_assert_true(g_file_get_contents(file, &page, NULL, NULL));
    g_autofree char *east = g_strdup_printf(
        "data-link=\"(1,1)&gt;port0\" data-flits=\"%" G_GINT64_FORMAT "\"",
        whole(json_array_get(json_object_get(json_array_get(json_object_get(result, "routers"), 0), "out"), 3),
              "flits"));
    g_assert_nonnull(strstr(page, east));
    g_assert_nonnull(strstr(page, json_string_value(json_object_get(result, "digest"))));
    g_assert_nonnull(strstr(page, "gemm 64 × 128 × 64 on ref2"));
    static const char *const fetching[] = {"http:", "https:", "src=", "@import", "url(h", "<script"};
    for (size_t i = 0; i < G_N_ELEMENTS(fetching); i++)
        g_assert_null(strstr(page, fetching[i]));
    json_decref(result);
}

static void the_page_goes_where_it_is_told(void) {
    g_autofree char *file = g_build_filename(folder, "other.html", NULL);
    g_autofree char *result = g_build_filename(folder, "result.json", NULL);
    assert_ended(RUN("report", result, "--out", file), 0);
    g_assert_true(g_file_test(file, G_FILE_TEST_EXISTS));
    struct outcome printed = RUN("report", folder, "--out", "-");
    g_assert_true(g_str_has_prefix(printed.out, "<!DOCTYPE html>"));
    g_assert_true(g_str_has_suffix(printed.out, "</html>\n"));
    outcome_clear(&printed);
}

/* used + refused + arbitration + idle of every line is 100 %. */
static void the_text_gives_four_shares(void) {
    struct outcome text = RUN("report", folder, "--text");
    const char *table = strstr(text.out, "links, in %");
    unsigned lines = 0;
    g_assert_nonnull(table);
    g_auto(GStrv) rows = g_strsplit(table, "\n", -1);
    for (unsigned i = 2; rows[i] && rows[i][0]; i++, lines++) {
        char name[64];
        double flits, used, refused, arbitration, idle;
        g_assert_cmpint(sscanf(rows[i], "%63s %lf %lf %lf %lf %lf", name, &flits, &used, &refused, &arbitration, &idle),
                        ==, 6);
        g_assert_cmpfloat_with_epsilon(used + refused + arbitration + idle, 100, 0.03);
    }
    g_assert_cmpuint(lines, ==, 10);
    outcome_clear(&text);
}

static void without_gnuplot_there_are_tables(void) {
    g_autofree char *path = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", "/nonexistent", TRUE);
    struct outcome page = RUN("report", folder, "--out", "-");
    g_setenv("PATH", path, TRUE);
    g_assert_cmpint(page.status, ==, 0);
    g_assert_nonnull(strstr(page.out, "gnuplot is not installed"));
    g_assert_nonnull(strstr(page.out, "<td>read_words</td>"));
    outcome_clear(&page);
}

static void errors_are_one_line(void) {
    g_autofree char *bad = g_build_filename(folder, "bad.json", NULL);
    g_autofree char *other = g_build_filename(folder, "other.json", NULL);
    g_autofree char *store = g_build_filename(folder, "bad.db", NULL);
    g_file_set_contents(bad, "{\n  \"cycles\": }", -1, NULL);
    g_file_set_contents(other, "{\"schema\": \"flitsim.result/9\"}", -1, NULL);
    g_file_set_contents(store, "this is no database, however long the text may be, and it is longer than a header", -1,
                        NULL);
    const struct {
        const char *name, *message;
    } rows[] = {{"/nonexistent", "holds neither result.json nor results.db"},
                {bad, ":2:13: (file): "},
                {other, ":1:1: schema: is flitsim.result/9, expected \"flitsim.result/1\""},
                {store, "expected the store of a sweep"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct outcome outcome = RUN("report", rows[i].name);
        g_assert_cmpint(outcome.status, ==, 2);
        g_assert_cmpstr(outcome.out, ==, "");
        g_assert_nonnull(strstr(outcome.err, rows[i].message));
        g_assert_true(strchr(outcome.err, '\n') == outcome.err + strlen(outcome.err) - 1);
        outcome_clear(&outcome);
    }
    struct outcome full = RUN("report", folder, "--out", "/dev/full/page.html");
    g_assert_cmpint(full.status, ==, 2);
    outcome_clear(&full);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    assert_ended(RUN("run", "ref2", CUBE, "--out", folder, "--interval", "100", "--trace-flits", "--quiet"), 0);
    g_test_add_func("/series/intervals_add_up_to_the_totals", intervals_add_up_to_the_totals);
    g_test_add_func("/series/intervals_are_where_things_happen", intervals_are_where_things_happen);
    g_test_add_func("/series/intervals_agree_with_the_log", intervals_agree_with_the_log);
    g_test_add_func("/result/arbitration_agrees_with_the_log", arbitration_agrees_with_the_log);
    g_test_add_func("/series/an_observed_run_has_the_same_digest", an_observed_run_has_the_same_digest);
    g_test_add_func("/result/every_cycle_of_a_link_has_a_share", every_cycle_of_a_link_has_a_share);
    g_test_add_func("/result/bins_hold_every_flit", bins_hold_every_flit);
    g_test_add_func("/report/the_page_holds_the_figures", the_page_holds_the_figures);
    g_test_add_func("/report/the_page_goes_where_it_is_told", the_page_goes_where_it_is_told);
    g_test_add_func("/report/the_text_gives_four_shares", the_text_gives_four_shares);
    g_test_add_func("/report/without_gnuplot_there_are_tables", without_gnuplot_there_are_tables);
    g_test_add_func("/report/errors_are_one_line", errors_are_one_line);
    int status = g_test_run();
    remove_tree(folder);
    g_free(folder);
    return status;
}
