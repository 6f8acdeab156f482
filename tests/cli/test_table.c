/* flitsim table: columns, filters, order, Pareto front, and the three forms, over a store made for the purpose. */
#include <jansson.h>
#include <unistd.h>

#include "analysis/store.h"
#include "program.h"

static const struct {
    int depth;
    const char *mesh, *status;
    int cycles;
    double gflops;
} rows[] = {
    {2, "wide", "ok", 500, 10.5},   {4, "wide", "ok", 300, 12.25}, {8, "a, \"b\"\nc", "ok", 300, 11.0},
    {16, "tall", "timeout", -1, 0}, {32, "tall", "ok", 200, 9.0},
};

static void put_row(struct store *store, unsigned i) {
    GError *error = NULL;
    g_autofree char *key = g_strdup_printf("%064u", i);
    json_t *axes = json_pack("{s:i, s:s}", "noc.fifo_depth", rows[i].depth, "mesh", rows[i].mesh);
    json_t *config =
        json_pack("{s:{s:s, s:{s:i, s:i}}, s:{s:s, s:f}, s:i}", "machine", "name", "m", "noc", "fifo_depth",
                  rows[i].depth, "link_latency", 3, "workload", "workload", "gemm", "rate", 0.1, "seed", 1);
    json_t *result = json_pack("{s:i, s:f, s:[{s:s, s:{s:i}}]}", "cycles", rows[i].cycles, "gflops", rows[i].gflops,
                               "units", "name", "cluster0", "cycles", "compute", rows[i].cycles / 2);
    char *texts[] = {json_dumps(axes, JSON_COMPACT), json_dumps(config, JSON_COMPACT),
                     json_dumps(result, JSON_COMPACT)};
    const bool ok = g_str_equal(rows[i].status, "ok");
    const struct store_row row = {.point = key,
                                  .number = i,
                                  .status = rows[i].status,
                                  .digest = ok ? "d" : NULL,
                                  .reason = ok ? NULL : "longer than 5 s",
                                  .cycles = rows[i].cycles,
                                  .axes = texts[0],
                                  .config = texts[1],
                                  .result = ok ? texts[2] : NULL,
                                  .wall_s = 0.25,
                                  .version = "1"};
    g_assert_true(store_put(store, &row, &error));
    for (unsigned t = 0; t < 3; t++)
        free(texts[t]);
    json_decref(axes);
    json_decref(config);
    json_decref(result);
}

struct bench {
    char *folder;
};

static void set_up(struct bench *bench, gconstpointer data) {
    GError *error = NULL;
    (void)data;
    bench->folder = g_dir_make_tmp("flitsim-table-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(bench->folder, STORE_FILE, NULL);
    struct store *store = store_open(file, STORE_WRITE, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        put_row(store, i);
    store_set_fact(store, "sweep",
                   "{\"axes\": [\"noc.fifo_depth\", \"mesh\"], \"answer\": [\"gflops\"], \"question\": \"?\"}", &error);
    store_close(store);
}

static void tear_down(struct bench *bench, gconstpointer data) {
    (void)data;
    remove_tree(bench->folder);
    g_free(bench->folder);
}

/* ---- a reader of RFC 4180 that takes nothing else ---- */

static GPtrArray *read_csv(const char *text) {
    GPtrArray *records = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    while (*text) {
        GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);
        for (bool more = true; more;) {
            GString *field = g_string_new(NULL);
            if (*text == '"') {
                for (text++; !(text[0] == '"' && text[1] != '"'); text++) {
                    g_assert_true(*text);
                    text += text[0] == '"';
                    g_string_append_c(field, *text);
                }
                text++;
            } else {
                for (; !strchr(",\r\n\"", *text); text++)
                    g_string_append_c(field, *text);
            }
            g_ptr_array_add(fields, g_string_free(field, FALSE));
            more = *text == ',';
            text += more;
        }
        g_assert_true(text[0] == '\r' && text[1] == '\n'); /* every record, the last too */
        text += 2;
        g_ptr_array_add(records, fields);
    }
    return records;
}

static const char *field(const GPtrArray *records, guint record, guint at) {
    return g_ptr_array_index((GPtrArray *)g_ptr_array_index(records, record), at);
}

static void csv_is_read_back_as_it_was(struct bench *bench, gconstpointer data) {
    (void)data;
    g_autofree char *csv = output_of(RUN("table", bench->folder, "--format", "csv", "--columns",
                                         "noc.fifo_depth,mesh,cycles,gflops,reason,units[0].cycles.compute"));
    GPtrArray *records = read_csv(csv);
    g_assert_cmpuint(records->len, ==, 1 + G_N_ELEMENTS(rows));
    static const char *const header[] = {"noc.fifo_depth [flits]", "mesh",   "cycles [cycles]",
                                         "gflops [GFLOP/s]",       "reason", "units[0].cycles.compute [cycles]"};
    for (guint i = 0; i < records->len; i++)
        g_assert_cmpuint(((GPtrArray *)g_ptr_array_index(records, i))->len, ==, G_N_ELEMENTS(header));
    for (guint i = 0; i < G_N_ELEMENTS(header); i++)
        g_assert_cmpstr(field(records, 0, i), ==, header[i]);
    g_assert_cmpstr(field(records, 3, 1), ==, rows[2].mesh);
    g_assert_cmpstr(field(records, 2, 3), ==, "12.25");
    g_assert_cmpstr(field(records, 4, 2), ==, "");
    g_assert_cmpstr(field(records, 4, 4), ==, "longer than 5 s");
    g_assert_cmpstr(field(records, 1, 5), ==, "250");
    g_ptr_array_unref(records);
}

/* The depths of the rows that come out, in their order. */
static void assert_depths(struct outcome outcome, const char *want) {
    g_autofree char *csv = output_of(outcome);
    GPtrArray *records = read_csv(csv);
    GString *depths = g_string_new(NULL);
    for (guint i = 1; i < records->len; i++)
        g_string_append_printf(depths, "%s ", field(records, i, 0));
    g_assert_cmpstr(depths->str, ==, want);
    g_string_free(depths, TRUE);
    g_ptr_array_unref(records);
}

#define DEPTHS(...) RUN("table", bench->folder, "-f", "csv", "-c", "noc.fifo_depth", __VA_ARGS__)

static void rows_are_chosen_and_ordered(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_depths(DEPTHS("--where", "cycles < 400"), "4 8 32 ");
    assert_depths(DEPTHS("--where", "status != 'ok' or mesh == 'wide' and noc.fifo_depth > 2"), "4 16 ");
    assert_depths(DEPTHS("--where", "machine.noc.link_latency == 3 and workload.rate == 0.1 and axes.mesh == 'tall'"),
                  "16 32 ");
    assert_depths(DEPTHS("--sort", "cycles"), "32 4 8 2 16 ");
    assert_depths(DEPTHS("--sort", "result.gflops:desc"), "4 8 2 32 16 ");
    assert_depths(DEPTHS("--sort", "cycles", "--best", "2"), "32 4 ");
    assert_depths(DEPTHS("--best", "1"), "32 ");
    assert_depths(DEPTHS("--pareto", "cycles:min,gflops:max"), "4 32 ");
    assert_depths(DEPTHS("--pareto", "cycles:min,gflops:max,noc.fifo_depth:min"), "2 4 32 ");
    assert_depths(DEPTHS("--where", "units[0].cycles.compute > 200"), "2 ");
}

static void json_has_every_column_of_every_row(struct bench *bench, gconstpointer data) {
    (void)data;
    g_autofree char *text = output_of(RUN("table", bench->folder, "--format", "json"));
    json_t *root = json_loads(text, 0, NULL), *list = json_object_get(root, "rows");
    g_assert_cmpstr(json_string_value(json_object_get(root, "schema")), ==, "flitsim.table/1");
    g_assert_cmpuint(json_array_size(list), ==, G_N_ELEMENTS(rows));
    g_assert_cmpuint(json_array_size(json_object_get(root, "columns")), ==, 3);
    g_assert_cmpfloat(json_real_value(json_object_get(json_array_get(list, 1), "gflops")), ==, 12.25);
    g_assert_true(json_is_null(json_object_get(json_array_get(list, 3), "gflops")));
    json_decref(root);
}

static void text_stands_in_columns(struct bench *bench, gconstpointer data) {
    (void)data;
    g_autofree char *text = output_of(RUN("table", bench->folder, "--where", "mesh == 'wide'"));
    g_assert_cmpstr(text, ==,
                    "noc.fifo_depth [flits]  mesh  gflops [GFLOP/s]\n"
                    "                     2  wide              10.5\n"
                    "                     4  wide             12.25\n");
}

static void a_read_only_folder_is_enough(struct bench *bench, gconstpointer data) {
    (void)data;
    g_chmod(bench->folder, 0555);
    assert_depths(DEPTHS("--best", "1"), "32 ");
    g_chmod(bench->folder, 0755);
}

static void wrong_options_are_one_line(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_refused(
        RUN("table", bench->folder, "-c", "gflop"),
        "flitsim table: path 'gflop': is in no row, expected a column of the store, an axis, a key of machine, "
        "workload or result");
    assert_refused(RUN("table", bench->folder, "--where", "cycles <"),
                   "--where:1:9: cycles <: found the end, expected a name, a number, a text in quotes or '('");
    assert_refused(RUN("table", bench->folder, "--where", "mesh > 3"),
                   "--where:1:6: mesh > 3: a text has no size, expected numbers");
    assert_refused(RUN("table", bench->folder, "--sort", "cycles:down"),
                   "flitsim table: --sort 'cycles:down': expected PATH, PATH:asc or PATH:desc");
    assert_refused(RUN("table", bench->folder, "--pareto", "cycles:min"),
                   "flitsim table: --pareto 'cycles:min': expected 2 to 8 metrics");
    assert_refused(RUN("table", bench->folder, "--pareto", "cycles,gflops:max"),
                   "flitsim table: --pareto 'cycles,gflops:max': expected PATH:min,PATH:max");
    assert_refused(RUN("table", bench->folder, "--format", "xml"),
                   "flitsim table: --format is 'xml', expected text, csv or json");
    assert_refused(RUN("table", bench->folder, "--columns", "cycles,,"),
                   "flitsim table: --columns 'cycles,,': has an empty path, expected PATH,PATH");
    assert_refused(RUN("table", "/nowhere"), "/nowhere:1:1: (file): is no file, expected results of a sweep");
}

#define ADD(path, test) g_test_add(path, struct bench, NULL, set_up, test, tear_down)

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    ADD("/table/csv", csv_is_read_back_as_it_was);
    ADD("/table/rows", rows_are_chosen_and_ordered);
    ADD("/table/json", json_has_every_column_of_every_row);
    ADD("/table/text", text_stands_in_columns);
    ADD("/table/read_only", a_read_only_folder_is_enough);
    ADD("/table/wrong", wrong_options_are_one_line);
    return g_test_run();
}
