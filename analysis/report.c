/* The page of a run; see report.h. */
#include "analysis/report.h"

#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/result.h"
#include "model/error.h"

/* ---- head ---- */

static void put_tile(GString *out, const char *value, const char *name, bool bad) {
    g_string_append_printf(out, "<div class=\"tile%s\"><b>", bad ? " bad" : "");
    html_text(out, value);
    g_string_append(out, "</b><span>");
    html_text(out, name);
    g_string_append(out, "</span></div>\n");
}

static void put_count_tile(GString *out, int64_t value, const char *name) {
    g_autofree char *text = html_count(value);
    put_tile(out, text, name, false);
}

static void put_speed_tiles(GString *out, const json_t *result) {
    double cycles = report_number(result, "cycles"), clock = report_number(result, "clock_mhz");
    if (clock > 0) {
        g_autofree char *time = g_strdup_printf("%.4g µs", cycles / clock);
        g_autofree char *name = g_strdup_printf("at %g MHz", clock);
        put_tile(out, time, name, false);
    }
    if (json_is_number(json_object_get(result, "gflops"))) {
        g_autofree char *speed = g_strdup_printf("%.1f", report_number(result, "gflops"));
        g_autofree char *share = g_strdup_printf("%.1f %%", 100 * report_number(result, "peak_fraction"));
        put_tile(out, speed, "GFLOP/s", false);
        put_tile(out, share, "of peak", false);
    }
}

static void put_state_tiles(GString *out, const json_t *result) {
    size_t hazards = json_array_size(json_object_get(result, "hazards"));
    bool dead = json_is_object(json_object_get(result, "deadlock"));
    const json_t *model = report_at(result, "numerics.vs_model");
    int64_t mismatches = report_count(model, "mismatches");
    g_autofree char *hazard_text = g_strdup_printf("%zu", hazards);
    g_autofree char *mismatch_text = html_count(mismatches);
    if (model)
        put_tile(out, mismatches ? mismatch_text : "exact",
                 mismatches ? "elements differ from the model" : "bit for bit as the model", mismatches > 0);
    put_tile(out, hazard_text, hazards == 1 ? "kind of hazard" : "kinds of hazards", hazards > 0);
    if (dead)
        put_tile(out, "deadlock", "the run stopped", true);
}

static const struct {
    const char *id, *title, *key; /* shown when the result has the key */
} chapters[] = {
    {"mesh", "Mesh", "routers"},
    {"units", "Where the cycles went", "units"},
    {"ports", "Memory ports", "ports"},
    {"time", "Activity over time", "series"},
    {"latency", "Latency", "latency"},
    {"answer", "Answer", "numerics"},
    {"trouble", "Hazards", "hazards"},
    {"counts", "Counts", "counts"},
    {"plan", "Plan and workload", "workload"},
    {"configuration", "Configuration", "configuration"},
    {"links", "Link by link", "routers"},
};

static bool has_chapter(const json_t *result, const char *key) {
    const json_t *value = json_object_get(result, key);
    return json_is_array(value) || json_object_size(value) > 0;
}

static void put_head(GString *out, const json_t *result, const char *title) {
    g_string_append(out, "<header><h1>");
    html_text(out, title);
    g_string_append(out, "</h1>\n<p class=\"sub\">seed ");
    g_string_append_printf(out, "%" G_GINT64_FORMAT ", flitsim ", report_count(result, "seed"));
    html_text(out, report_string(result, "version"));
    g_string_append(out, "</p>\n<div class=\"tiles\">\n");
    put_count_tile(out, report_count(result, "cycles"), "cycles");
    put_speed_tiles(out, result);
    put_count_tile(out, report_count(result, "flit_hops"), "flit hops");
    put_state_tiles(out, result);
    g_string_append(out, "</div>\n<nav>");
    for (size_t i = 0; i < G_N_ELEMENTS(chapters); i++)
        if (has_chapter(result, chapters[i].key))
            g_string_append_printf(out, "<a href=\"#%s\">%s</a>", chapters[i].id, chapters[i].title);
    g_string_append(out, "</nav></header>\n");
}

/* ---- activity over time ---- */

static const char *const flit_columns[] = {"mesh_flits", "unit_flits", "port_flits", NULL};
static const char *const word_columns[] = {"read_words", "write_words", NULL};
static const char *const work_columns[] = {"compute_issues", NULL};

static const struct series_chart {
    const char *title, *y_title;
    const char *const *columns;
    unsigned count;
} series_charts[] = {
    {"Flits delivered", "flits a cycle", flit_columns, 3},
    {"Memory", "words a cycle", word_columns, 2},
    {"Compute", "blocks a cycle", work_columns, 1},
};

/* Rates over an interval, drawn as steps: a point at its start, and the last one's end. */
static void put_series_chart(GString *out, const json_t *result, const struct series_chart *what) {
    const json_t *series = json_object_get(result, "series");
    double interval = report_number(series, "interval"), end = (double)report_length(result);
    struct report_curve curves[4];
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(g_free);
    for (unsigned c = 0; c < what->count; c++) {
        const json_t *values = json_object_get(json_object_get(series, "columns"), what->columns[c]);
        unsigned count = (unsigned)json_array_size(values);
        double *x = g_new0(double, count + 1), *y = g_new0(double, count + 1);
        g_ptr_array_add(kept, x);
        g_ptr_array_add(kept, y);
        for (unsigned i = 0; i < count; i++) {
            double from = i * interval, to = MIN(from + interval, end);
            x[i] = from;
            y[i] = json_number_value(json_array_get(values, i)) / MAX(to - from, 1);
        }
        x[count] = end;
        y[count] = count ? y[count - 1] : 0;
        curves[c] = (struct report_curve){what->columns[c], count ? count + 1 : 0, x, y};
    }
    struct report_chart chart = {.title = what->title,
                                 .x_title = "cycle",
                                 .y_title = what->y_title,
                                 .steps = true,
                                 .x_max = end,
                                 .curves = curves,
                                 .curve_count = what->count};
    report_chart(out, &chart);
}

static void put_series(GString *out, const json_t *result) {
    g_autofree char *note =
        g_strdup_printf("Means over intervals of %" G_GINT64_FORMAT " cycles; the intervals of each "
                        "column add up to its total.",
                        report_count(json_object_get(result, "series"), "interval"));
    html_section(out, "time", "Activity over time", note);
    for (size_t i = 0; i < G_N_ELEMENTS(series_charts); i++)
        put_series_chart(out, result, &series_charts[i]);
    html_section_end(out);
}

/* ---- answer ---- */

static void put_worst(GString *out, const json_t *grade) {
    static const char *const heads[] = {">row", ">column", ">got", ">wanted", ">relative error", NULL};
    size_t index;
    json_t *element;
    g_string_append(out, "<details><summary>Worst elements</summary>");
    html_table(out, heads);
    json_array_foreach(json_object_get(grade, "worst"), index, element) {
        g_string_append(out, "<tr>");
        html_cell_count(out, report_count(element, "row"));
        html_cell_count(out, report_count(element, "column"));
        g_string_append_printf(
            out, "<td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.4g</td></tr>\n",
            report_number(element, "got"), report_number(element, "want"), report_number(element, "rel"));
    }
    html_table_end(out);
    g_string_append(out, "</details>\n");
}

static void put_grade(GString *out, const json_t *grade, const char *title) {
    g_autofree char *over_1 = html_count(report_count(grade, "over_1pct"));
    g_autofree char *over_10 = html_count(report_count(grade, "over_10pct"));
    g_autofree char *count = html_count(report_count(grade, "count"));
    g_autofree char *saturated = html_count(report_count(grade, "saturated"));
    if (!json_is_object(grade))
        return;
    g_string_append_printf(
        out,
        "<div><h3>%s</h3>\n<p class=\"note\">relative error p50 %.3g, p90 %.3g, p99 %.3g, largest %.3g; "
        "of %s elements %s are over 1 %%, %s over 10 %%, %s saturated</p>\n",
        title, report_number(grade, "rel_p50"), report_number(grade, "rel_p90"), report_number(grade, "rel_p99"),
        report_number(grade, "rel_max"), count, over_1, over_10, saturated);
    report_histogram(out, json_object_get(grade, "histogram"), " relative error");
    put_worst(out, grade);
    g_string_append(out, "</div>\n");
}

static void put_answer(GString *out, const json_t *result) {
    const json_t *numerics = json_object_get(result, "numerics"), *model = json_object_get(numerics, "vs_model");
    g_autofree char *mismatches = html_count(report_count(model, "mismatches"));
    html_section(out, "answer", "Answer", NULL);
    g_string_append(out, "<p>Against the machine's own arithmetic: ");
    if (report_count(model, "mismatches"))
        g_string_append_printf(out, "<b>%s elements differ</b>, by at most %.4g.</p>\n", mismatches,
                               report_number(model, "max_abs"));
    else
        g_string_append(out, "bit for bit equal.</p>\n");
    g_string_append(out, "<div class=\"two\">\n");
    put_grade(out, json_object_get(numerics, "vs_quantised"), "Against the quantised operands");
    put_grade(out, json_object_get(numerics, "vs_fp64"), "Against the FP16 operands");
    g_string_append(out, "</div>\n");
    html_section_end(out);
}

/* ---- trouble ---- */

static void put_hazards(GString *out, const json_t *result) {
    static const char *const heads[] = {"hazard", ">first cycle", "where", ">times", "what", NULL};
    size_t index;
    json_t *hazard;
    html_section(out, "trouble", "Hazards", NULL);
    if (!json_array_size(json_object_get(result, "hazards"))) {
        g_string_append(out, "<p>None.</p>\n");
    } else {
        html_table(out, heads);
        json_array_foreach(json_object_get(result, "hazards"), index, hazard) {
            g_string_append(out, "<tr>");
            html_cell(out, false, report_string(hazard, "id"));
            html_cell_count(out, report_count(hazard, "cycle"));
            html_cell(out, false, report_string(hazard, "where"));
            html_cell_count(out, report_count(hazard, "count"));
            html_cell(out, false, report_string(hazard, "what"));
            g_string_append(out, "</tr>\n");
        }
        html_table_end(out);
    }
    html_section_end(out);
}

static void put_deadlock(GString *out, const json_t *result) {
    static const char *const heads[] = {"who", "waits for", "held by", NULL};
    const json_t *deadlock = json_object_get(result, "deadlock");
    g_autofree char *cycle = html_count(report_count(deadlock, "cycle"));
    size_t index;
    json_t *wait;
    html_section(out, "deadlock", "Deadlock", NULL);
    g_string_append_printf(out, "<p>The run stopped in cycle %s: ", cycle);
    html_text(out, report_string(deadlock, "reason"));
    g_string_append(out, ".</p>\n");
    html_table(out, heads);
    json_array_foreach(json_object_get(deadlock, "waits"), index, wait) {
        g_string_append(out, "<tr>");
        html_cell(out, false, report_string(wait, "who"));
        html_cell(out, false, report_string(wait, "for"));
        html_cell(out, false, report_string(wait, "held_by"));
        g_string_append(out, "</tr>\n");
    }
    html_table_end(out);
    html_section_end(out);
}

/* ---- plan, workload, configuration ---- */

/* Keys and values, as many columns as fit. */
static void put_object(GString *out, const json_t *object, const char *title) {
    const char *key;
    json_t *value;
    if (!json_object_size(object))
        return;
    g_string_append_printf(out, "<h3>%s</h3>\n<div class=\"kv\">\n", title);
    json_object_foreach((json_t *)object, key, value) {
        g_autofree char *text = html_value(value);
        g_string_append(out, "<div><span>");
        html_text(out, key);
        g_string_append(out, "</span><b>");
        html_text(out, text);
        g_string_append(out, "</b></div>\n");
    }
    g_string_append(out, "</div>\n");
}

static void put_plan(GString *out, const json_t *result) {
    html_section(out, "plan", "Plan and workload", NULL);
    put_object(out, json_object_get(result, "plan"), "Plan");
    put_object(out, json_object_get(result, "traffic"), "Traffic");
    put_object(out, json_object_get(result, "workload"), "Workload");
    html_section_end(out);
}

static void put_counts(GString *out, const json_t *result) {
    html_section(out, "counts", "Counts", NULL);
    put_object(out, json_object_get(result, "counts"), "Whole run");
    html_section_end(out);
}

static void put_configuration(GString *out, const json_t *result) {
    static const char *const heads[] = {"key", ">value", ">default", "unit", NULL};
    const char *key;
    json_t *row;
    html_section(out, "configuration", "Configuration", "Keys of the machine whose value is not the preset's default.");
    html_table(out, heads);
    json_object_foreach(json_object_get(result, "configuration"), key, row) {
        g_autofree char *value = html_value(json_object_get(row, "value"));
        g_string_append(out, "<tr>");
        html_cell(out, false, key);
        html_cell(out, true, value);
        html_cell(out, true, report_string(row, "default"));
        html_cell(out, false, report_string(row, "unit"));
        g_string_append(out, "</tr>\n");
    }
    html_table_end(out);
    html_section_end(out);
}

/* ---- links ---- */

static void put_share(GString *out, int64_t count, int64_t cycles) {
    if (count < 0) {
        html_cell(out, true, "–");
        return;
    }
    g_string_append_printf(out, "<td class=\"n\">%.2f</td>", 100 * (double)count / (double)MAX(cycles, 1));
}

static void put_links(GString *out, const json_t *result) {
    static const char *const heads[] = {"link",
                                        ">flits",
                                        ">used %",
                                        ">refused %",
                                        ">arbitration %",
                                        ">idle %",
                                        ">lost arbitration",
                                        ">blocked at input",
                                        ">head of line",
                                        ">deepest queue",
                                        NULL};
    GArray *links = report_links(result);
    int64_t cycles = report_length(result);
    html_section(
        out, "links", "Link by link",
        "Every cycle of a link is one of four: a flit went over it; its receiver refused the flit; it lay bare while a "
        "flit was being granted to it; nobody wanted it. Lost arbitration is "
        "flit-cycles at the sender; what follows are cycles at the receiving router's input.");
    g_string_append_printf(out, "<details%s><summary>%u links</summary>\n", links->len <= 40 ? " open" : "",
                           links->len);
    html_table(out, heads);
    for (guint i = 0; i < links->len; i++) {
        const struct report_link *link = &g_array_index(links, struct report_link, i);
        const int64_t shares[] = {link->flits, link->busy, link->arbitration, link->idle};
        const int64_t counts[] = {link->lost, link->blocked, link->hol_blocked, link->depth};
        g_string_append(out, "<tr>");
        html_cell(out, false, link->name);
        html_cell_count(out, link->flits);
        for (size_t s = 0; s < G_N_ELEMENTS(shares); s++)
            put_share(out, shares[s], cycles);
        for (size_t c = 0; c < G_N_ELEMENTS(counts); c++)
            if (counts[c] < 0 || (c > 0 && !link->has_input))
                html_cell(out, true, "");
            else
                html_cell_count(out, counts[c]);
        g_string_append(out, "</tr>\n");
    }
    html_table_end(out);
    g_string_append(out, "</details>\n");
    html_section_end(out);
    g_array_unref(links);
}

/* ---- the page ---- */

static char *run_title(const json_t *result) {
    const json_t *workload = json_object_get(result, "workload"), *plan = json_object_get(result, "plan");
    GString *title = g_string_new(report_string(workload, "workload"));
    if (report_count(plan, "m"))
        g_string_append_printf(title, " %" G_GINT64_FORMAT " × %" G_GINT64_FORMAT " × %" G_GINT64_FORMAT,
                               report_count(plan, "m"), report_count(plan, "k"), report_count(plan, "n"));
    g_string_append_printf(title, " on %s", report_string(result, "machine"));
    return g_string_free(title, FALSE);
}

static void put_pictures(GString *out, const json_t *result) {
    int64_t cycles = report_count(result, "cycles");
    if (has_chapter(result, "routers")) {
        html_section(out, "mesh", "Mesh", "Hover over a link, unit, port or router for its exact figures.");
        report_mesh(out, result);
        html_section_end(out);
    }
    if (has_chapter(result, "units")) {
        html_section(out, "units", "Where the cycles went",
                     "Every cycle of a unit has one cause; a bar is the whole run.");
        report_causes(out, json_object_get(result, "units"), "unit", cycles);
        html_section_end(out);
    }
    if (has_chapter(result, "ports")) {
        html_section(out, "ports", "Memory ports", NULL);
        report_causes(out, json_object_get(result, "ports"), "memory port", cycles);
        html_section_end(out);
    }
    if (has_chapter(result, "series"))
        put_series(out, result);
    if (has_chapter(result, "latency")) {
        html_section(
            out, "latency", "Latency",
            "From a flit's first cycle on a link to its acceptance by the receiver, by message type, in cycles.");
        report_latency(out, result);
        html_section_end(out);
    }
}

char *report_run_page(const json_t *result) {
    static const struct {
        const char *key;
        void (*put)(GString *out, const json_t *result);
    } parts[] = {{"numerics", put_answer}, {"deadlock", put_deadlock}, {"hazards", put_hazards},
                 {"counts", put_counts},   {"workload", put_plan},     {"configuration", put_configuration},
                 {"routers", put_links}};
    GString *out = g_string_new(NULL);
    g_autofree char *title = run_title(result);
    put_head(out, result, title);
    put_pictures(out, result);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (has_chapter(result, parts[i].key))
            parts[i].put(out, result);
    g_string_append(out, "<footer>digest <code>");
    html_text(out, report_string(result, "digest"));
    g_string_append(out, "</code></footer>\n");
    g_autofree char *body = g_string_free(out, FALSE);
    return html_page(title, body);
}

/* A count in its column; nothing where there is none. */
static void put_column(GString *text, int64_t count) {
    if (count < 0)
        g_string_append_printf(text, " %10s", "-");
    else
        g_string_append_printf(text, " %10" G_GINT64_FORMAT, count);
}

static void put_text_share(GString *text, int64_t count, double cycles) {
    if (count < 0)
        g_string_append_printf(text, " %7s", "-");
    else
        g_string_append_printf(text, " %7.2f", 100 * (double)count / cycles);
}

static void put_text_link(GString *text, const struct report_link *link, double cycles) {
    const int64_t shares[] = {link->flits, link->busy, link->arbitration, link->idle};
    const int64_t counts[] = {link->blocked, link->hol_blocked, link->depth};
    g_string_append_printf(text, "  %-24s", link->name);
    put_column(text, link->flits);
    for (size_t s = 0; s < G_N_ELEMENTS(shares); s++)
        put_text_share(text, shares[s], cycles);
    put_column(text, link->lost);
    for (size_t c = 0; c < G_N_ELEMENTS(counts); c++)
        put_column(text, link->has_input ? counts[c] : -1);
    g_string_append_c(text, '\n');
}

char *report_run_text(const json_t *result) {
    GArray *links = report_links(result);
    double cycles = (double)MAX(report_length(result), 1);
    g_autofree char *summary = result_summary(result);
    GString *text = g_string_new(summary);
    if (links->len)
        g_string_append_printf(text,
                               "\nlinks, in %% of %.0f cycles; flit-cycles that lost arbitration for it; cycles at the "
                               "receiving router's input\n  %-24s %10s %7s %7s %7s %7s %10s %10s %10s %10s\n",
                               cycles, "link", "flits", "used", "refused", "arbitr.", "idle", "lost arb.", "blocked",
                               "head line", "depth");
    for (guint i = 0; i < links->len; i++)
        put_text_link(text, &g_array_index(links, struct report_link, i), cycles);
    g_array_unref(links);
    return g_string_free(text, FALSE);
}

/* ---- finding it ---- */

static json_t *load_result(const char *file, GError **error) {
    json_error_t where;
    json_t *result = json_load_file(file, 0, &where);
    const char *schema = json_string_value(json_object_get(result, "schema"));
    if (!result) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:%d:%d: (file): %s, expected a result document", file,
                    MAX(where.line, 1), MAX(where.column, 1), where.text);
    } else if (g_strcmp0(schema, RESULT_SCHEMA) != 0) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: schema: is %s, expected \"%s\"", file,
                    schema ? schema : "not given", RESULT_SCHEMA);
        g_clear_pointer(&result, json_decref);
    }
    return result;
}

static char *make_of_run(const char *file, bool text, GError **error) {
    json_t *result = load_result(file, error);
    if (!result)
        return NULL;
    char *made = text ? report_run_text(result) : report_run_page(result);
    json_decref(result);
    return made;
}

static char *make_of_sweep(const char *file, bool text, GError **error) {
    json_t *about = NULL;
    GPtrArray *points = report_points_load(file, &about, error);
    char *made = NULL;
    if (points) {
        made = text ? report_sweep_text(about, points) : report_sweep_page(about, points);
        g_ptr_array_unref(points);
    }
    json_decref(about);
    return made;
}

char *report_make(const char *name, bool text, GError **error) {
    g_autofree char *store = g_build_filename(name, "results.db", NULL);
    g_autofree char *run = g_build_filename(name, "result.json", NULL);
    if (g_file_test(store, G_FILE_TEST_EXISTS))
        return make_of_sweep(store, text, error);
    if (g_file_test(run, G_FILE_TEST_EXISTS))
        return make_of_run(run, text, error);
    if (g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return (g_str_has_suffix(name, ".db") ? make_of_sweep : make_of_run)(name, text, error);
    g_set_error(error, FS_ERROR, FS_ERROR_IO,
                "%s:1:1: (file): holds neither result.json nor results.db, expected the folder of a run or a sweep",
                name);
    return NULL;
}
