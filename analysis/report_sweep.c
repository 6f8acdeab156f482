/* The page of a sweep: which points there are, how each axis moves the figures, which points no other beats. Where more
 * axes vary than a picture shows, it shows the best over the others and says so. */
#include "analysis/report.h"

#include <math.h>
#include <string.h>

#include "analysis/report_parts.h"

enum {
    TABLE_POINTS_MAX = 5000,
    CURVES_MAX = 8, /* more values of an axis make no readable curves */
    HEAT_SIDE_MAX = 40,
};

/* What a point can be judged by; `path` in its result. A path that ends in [] is the length of a list. */
static const struct metric {
    const char *path, *title;
    bool high; /* more is better */
} metrics[] = {
    {"cycles", "cycles", false},
    {"gflops", "GFLOP/s", true},
    {"peak_fraction", "share of peak", true},
    {"traffic.accepted", "accepted flits a cycle", true},
    {"traffic.latency.mean", "mean latency, cycles", false},
    {"numerics.vs_fp64.rel_p50", "median relative error", false},
    {"units[]", "units", false},
    {"ports[]", "memory ports", false},
    {"routers[]", "routers", false},
};

struct axis {
    const char *name;
    GPtrArray *values; /* texts, ascending where they are numbers, else in order of appearance */
    bool numeric;
};

struct sheet {
    const GPtrArray *points;
    GArray *axes;                                      /* of struct axis, those with two values or more */
    const struct metric *shown[G_N_ELEMENTS(metrics)]; /* that the points have and differ in */
    unsigned shown_count;
};

/* ---- reading points ---- */

static const struct report_point *point_at(const struct sheet *sheet, guint index) {
    return g_ptr_array_index(sheet->points, index);
}

/* The machine's size is no merit. */
static bool is_size(const struct metric *metric) {
    return g_str_has_suffix(metric->path, "[]");
}

static double metric_of(const struct report_point *point, const struct metric *metric) {
    size_t length = strlen(metric->path);
    if (is_size(metric)) {
        g_autofree char *key = g_strndup(metric->path, length - 2);
        size_t count = json_array_size(json_object_get(point->result, key));
        return count ? (double)count : NAN;
    }
    const json_t *value = report_at(point->result, metric->path);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static char *axis_text(const struct report_point *point, const char *axis) {
    const json_t *value = json_object_get(point->axes, axis);
    if (json_is_integer(value))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return g_strdup_printf("%.9g", json_real_value(value));
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *text = g_strdup(dumped ? dumped : "");
    free(dumped);
    return text;
}

/* Place of the point's choice among the axis' values. */
static unsigned place_of(const struct report_point *point, const struct axis *axis) {
    g_autofree char *text = axis_text(point, axis->name);
    guint place = 0;
    g_ptr_array_find_with_equal_func(axis->values, text, g_str_equal, &place);
    return place;
}

static double axis_number(const struct axis *axis, unsigned place) {
    return axis->numeric ? g_ascii_strtod(g_ptr_array_index(axis->values, place), NULL) : place;
}

static int by_value(const void *a, const void *b) {
    double one = g_ascii_strtod(*(char *const *)a, NULL), two = g_ascii_strtod(*(char *const *)b, NULL);
    return (one > two) - (one < two);
}

static void read_axis(struct sheet *sheet, const char *name) {
    struct axis axis = {.name = name, .values = g_ptr_array_new_with_free_func(g_free), .numeric = true};
    for (guint i = 0; i < sheet->points->len; i++) {
        char *text = axis_text(point_at(sheet, i), name);
        axis.numeric &= json_is_number(json_object_get(point_at(sheet, i)->axes, name));
        if (g_ptr_array_find_with_equal_func(axis.values, text, g_str_equal, NULL))
            g_free(text);
        else
            g_ptr_array_add(axis.values, text);
    }
    if (axis.values->len < 2) {
        g_ptr_array_unref(axis.values);
        return;
    }
    if (axis.numeric)
        g_ptr_array_sort(axis.values, by_value);
    g_array_append_val(sheet->axes, axis);
}

static bool varies(const struct sheet *sheet, const struct metric *metric) {
    double first = NAN;
    for (guint i = 0; i < sheet->points->len; i++) {
        double value = metric_of(point_at(sheet, i), metric);
        if (isnan(first))
            first = value;
        else if (!isnan(value) && value != first)
            return true;
    }
    return false;
}

static void axis_clear(void *data) {
    g_ptr_array_unref(((struct axis *)data)->values);
}

static struct sheet sheet_make(const GPtrArray *points) {
    struct sheet sheet = {.points = points, .axes = g_array_new(FALSE, FALSE, sizeof(struct axis))};
    const char *name;
    json_t *value;
    g_array_set_clear_func(sheet.axes, axis_clear);
    if (points->len)
        json_object_foreach(point_at(&sheet, 0)->axes, name, value) read_axis(&sheet, name);
    for (size_t m = 0; m < G_N_ELEMENTS(metrics); m++)
        if (varies(&sheet, &metrics[m]))
            sheet.shown[sheet.shown_count++] = &metrics[m];
    return sheet;
}

static const struct axis *axis_at(const struct sheet *sheet, unsigned index) {
    return &g_array_index(sheet->axes, struct axis, index);
}

/* ---- the best over other axes ---- */

static bool better(const struct metric *metric, double a, double b) {
    return isnan(b) || (metric->high ? a > b : a < b);
}

/* Best value of the metric for every pair of choices, rows by `down` (NULL: one row). To be freed. */
static double *best_grid(const struct sheet *sheet, const struct axis *across, const struct axis *down,
                         const struct metric *metric) {
    unsigned columns = across->values->len, rows = down ? down->values->len : 1;
    double *grid = g_new(double, (size_t)columns *rows);
    for (size_t i = 0; i < (size_t)columns * rows; i++)
        grid[i] = NAN;
    for (guint i = 0; i < sheet->points->len; i++) {
        const struct report_point *point = point_at(sheet, i);
        double value = metric_of(point, metric);
        double *cell = &grid[(down ? place_of(point, down) : 0) * columns + place_of(point, across)];
        if (!isnan(value) && better(metric, value, *cell))
            *cell = value;
    }
    return grid;
}

static char *others_note(const struct sheet *sheet, unsigned used, const struct metric *metric) {
    if (sheet->axes->len <= used)
        return g_strdup("");
    return g_strdup_printf(" (%s over the other %s)", metric->high ? "highest" : "lowest",
                           sheet->axes->len - used == 1 ? "axis" : "axes");
}

/* ---- curves ---- */

/* The axis whose values become curves: the one with fewest, but for `across`. */
static const struct axis *curve_axis(const struct sheet *sheet, const struct axis *across) {
    const struct axis *best = NULL;
    for (guint a = 0; a < sheet->axes->len; a++) {
        const struct axis *axis = axis_at(sheet, a);
        if (axis != across && axis->values->len <= CURVES_MAX && (!best || axis->values->len < best->values->len))
            best = axis;
    }
    return best;
}

static void put_curves(GString *out, const struct sheet *sheet, const struct axis *across,
                       const struct metric *metric) {
    const struct axis *down = curve_axis(sheet, across);
    unsigned columns = across->values->len, rows = down ? down->values->len : 1;
    g_autofree double *grid = best_grid(sheet, across, down, metric);
    g_autofree double *x = g_new(double, (size_t)columns *rows), *y = g_new(double, (size_t)columns *rows);
    g_autofree struct report_curve *curves = g_new0(struct report_curve, rows);
    g_autofree char *note = others_note(sheet, down ? 2 : 1, metric);
    g_autofree char *title = g_strconcat(metric->title, " against ", across->name, note, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned r = 0; r < rows; r++) {
        const char *value = down ? g_ptr_array_index(down->values, r) : "";
        char *name = down ? g_strconcat(down->name, " ", value, NULL) : g_strdup(metric->title);
        g_ptr_array_add(names, name);
        curves[r] = (struct report_curve){.name = name, .x = &x[r * columns], .y = &y[r * columns]};
        for (unsigned c = 0; c < columns; c++) {
            if (isnan(grid[r * columns + c]))
                continue;
            x[r * columns + curves[r].count] = axis_number(across, c);
            y[r * columns + curves[r].count++] = grid[r * columns + c];
        }
    }
    double low = axis_number(across, 0), high = axis_number(across, columns - 1);
    bool log = low > 0 && high >= 16 * low;
    struct report_chart chart = {.title = title,
                                 .x_title = across->name,
                                 .y_title = metric->title,
                                 .x_log = log,
                                 .x_min = log ? low : 0,
                                 .x_max = log ? high : 0,
                                 .curves = curves,
                                 .curve_count = rows};
    report_chart(out, &chart);
}

/* Names on an axis make bars of one row each. */
static void put_choices(GString *out, const struct sheet *sheet, const struct axis *axis, const struct metric *metric) {
    g_autofree double *grid = best_grid(sheet, axis, NULL, metric);
    g_autofree char *note = others_note(sheet, 1, metric);
    double top = 0;
    for (guint i = 0; i < axis->values->len; i++)
        top = isnan(grid[i]) ? top : fmax(top, grid[i]);
    g_string_append(out, "<h3>");
    html_text(out, metric->title);
    g_string_append(out, " by ");
    html_text(out, axis->name);
    g_string_append_printf(out, "%s</h3>\n", note);
    for (guint i = 0; i < axis->values->len; i++) {
        g_string_append(out, "<div class=\"row\"><div class=\"who\">");
        html_text(out, g_ptr_array_index(axis->values, i));
        g_string_append(out, "</div><div class=\"pair\">");
        if (!isnan(grid[i]))
            g_string_append_printf(out, "<i class=\"c1\" style=\"width:%.2f%%\"></i> %.6g",
                                   top > 0 ? 80 * grid[i] / top : 0, grid[i]);
        g_string_append(out, "</div></div>\n");
    }
}

/* ---- heat maps ---- */

static void put_heat(GString *out, const struct sheet *sheet, const struct axis *across, const struct axis *down,
                     const struct metric *metric) {
    unsigned columns = across->values->len, rows = down->values->len;
    g_autofree double *grid = best_grid(sheet, across, down, metric);
    g_autofree char *note = others_note(sheet, 2, metric);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < (size_t)columns * rows; i++) {
        low = isnan(grid[i]) ? low : fmin(low, grid[i]);
        high = isnan(grid[i]) ? high : fmax(high, grid[i]);
    }
    g_string_append(out, "<h3>");
    html_text(out, metric->title);
    g_string_append_printf(out, "%s</h3>\n<div class=\"scroll\"><table><thead><tr><th>", note);
    html_text(out, down->name);
    g_string_append(out, " \\ ");
    html_text(out, across->name);
    g_string_append(out, "</th>");
    for (unsigned c = 0; c < columns; c++) {
        g_string_append(out, "<th class=\"n\">");
        html_text(out, g_ptr_array_index(across->values, c));
        g_string_append(out, "</th>");
    }
    g_string_append(out, "</tr></thead><tbody>\n");
    for (unsigned r = 0; r < rows; r++) {
        g_string_append(out, "<tr><th>");
        html_text(out, g_ptr_array_index(down->values, r));
        g_string_append(out, "</th>");
        for (unsigned c = 0; c < columns; c++) {
            double value = grid[r * columns + c];
            unsigned bin = heat_bin(value - low + (high - low) / HEAT_BINS, high - low + (high - low) / HEAT_BINS);
            if (isnan(value))
                g_string_append(out, "<td class=\"heat\">–</td>");
            else
                g_string_append_printf(out, "<td class=\"heat s%u%s\">%.6g</td>", bin, bin >= 6 ? " dark" : " light",
                                       value);
        }
        g_string_append(out, "</tr>\n");
    }
    html_table_end(out);
}

static void put_heats(GString *out, const struct sheet *sheet) {
    html_section(out, "heat", "Two axes at a time", "A stronger colour is a larger figure.");
    for (guint a = 0; a < sheet->axes->len; a++)
        for (guint b = a + 1; b < sheet->axes->len; b++) {
            const struct axis *one = axis_at(sheet, a), *two = axis_at(sheet, b);
            bool wide = one->values->len >= two->values->len;
            if (MAX(one->values->len, two->values->len) > HEAT_SIDE_MAX)
                continue;
            put_heat(out, sheet, wide ? one : two, wide ? two : one, sheet->shown[0]);
        }
    html_section_end(out);
}

/* ---- Pareto front ---- */

/* What pulls against what; the first pair of which the points have both. */
static const char *const rivals[][2] = {
    {"gflops", "units[]"},
    {"gflops", "routers[]"},
    {"gflops", "ports[]"},
    {"traffic.accepted", "traffic.latency.mean"},
    {"cycles", "units[]"},
    {"cycles", "routers[]"},
    {"cycles", "numerics.vs_fp64.rel_p50"},
    {"gflops", "peak_fraction"},
};

static const struct metric *shown_metric(const struct sheet *sheet, const char *path) {
    for (unsigned m = 0; m < sheet->shown_count; m++)
        if (g_str_equal(sheet->shown[m]->path, path))
            return sheet->shown[m];
    return NULL;
}

static bool find_rivals(const struct sheet *sheet, const struct metric *pair[2]) {
    for (size_t r = 0; r < G_N_ELEMENTS(rivals); r++) {
        pair[0] = shown_metric(sheet, rivals[r][0]);
        pair[1] = shown_metric(sheet, rivals[r][1]);
        if (pair[0] && pair[1])
            return true;
    }
    return false;
}

/* At least as good in both, better in one. */
static bool beats(const struct report_point *a, const struct report_point *b, const struct metric *const pair[2]) {
    bool ahead = false;
    for (unsigned m = 0; m < 2; m++) {
        double x = metric_of(a, pair[m]), y = metric_of(b, pair[m]);
        if (isnan(x) || (x != y && !better(pair[m], x, y)))
            return false;
        ahead |= x != y;
    }
    return ahead;
}

static bool beaten(const struct sheet *sheet, const struct report_point *point, const struct metric *const pair[2]) {
    for (guint i = 0; i < sheet->points->len; i++)
        if (beats(point_at(sheet, i), point, pair))
            return true;
    return false;
}

static void put_point(GString *out, const struct sheet *sheet, const struct report_point *point);
static void put_point_heads(GString *out, const struct sheet *sheet);

static void put_front(GString *out, const struct sheet *sheet, const struct metric *const pair[2]) {
    guint count = sheet->points->len, sizes[2] = {0};
    g_autofree double *x = g_new(double, 2 * (size_t)count + 1), *y = g_new(double, 2 * (size_t)count + 1);
    g_autofree bool *front = g_new0(bool, count + 1);
    for (guint i = 0; i < count; i++) {
        double value_x = metric_of(point_at(sheet, i), pair[1]), value_y = metric_of(point_at(sheet, i), pair[0]);
        if (isnan(value_x) || isnan(value_y))
            continue;
        front[i] = !beaten(sheet, point_at(sheet, i), pair);
        guint at = front[i] * count + sizes[front[i]]++;
        x[at] = value_x;
        y[at] = value_y;
    }
    const struct report_curve curves[] = {{"beaten by another", sizes[0], x, y},
                                          {"front", sizes[1], x + count, y + count}};
    const struct report_chart chart = {
        .x_title = pair[1]->title, .y_title = pair[0]->title, .points = true, .curves = curves, .curve_count = 2};
    html_section(out, "front", "Pareto front", "Points that no other point beats in both figures.");
    report_chart(out, &chart);
    put_point_heads(out, sheet);
    for (guint i = 0; i < count; i++)
        if (front[i])
            put_point(out, sheet, point_at(sheet, i));
    html_table_end(out);
    html_section_end(out);
}

/* ---- the table ---- */

static void put_point_heads(GString *out, const struct sheet *sheet) {
    g_autoptr(GPtrArray) heads = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(heads, g_strdup(">point"));
    for (guint a = 0; a < sheet->axes->len; a++)
        g_ptr_array_add(heads, g_strconcat(axis_at(sheet, a)->numeric ? ">" : "", axis_at(sheet, a)->name, NULL));
    for (unsigned m = 0; m < sheet->shown_count; m++)
        g_ptr_array_add(heads, g_strconcat(">", sheet->shown[m]->title, NULL));
    g_ptr_array_add(heads, g_strdup("status"));
    g_ptr_array_add(heads, NULL);
    html_table(out, (const char *const *)heads->pdata);
}

static void put_point(GString *out, const struct sheet *sheet, const struct report_point *point) {
    g_string_append_printf(out, "<tr><td class=\"n\">%" G_GINT64_FORMAT "</td>", point->number);
    for (guint a = 0; a < sheet->axes->len; a++) {
        g_autofree char *text = axis_text(point, axis_at(sheet, a)->name);
        html_cell(out, axis_at(sheet, a)->numeric, text);
    }
    for (unsigned m = 0; m < sheet->shown_count; m++) {
        double value = metric_of(point, sheet->shown[m]);
        g_autofree char *text = isnan(value)            ? g_strdup("–")
                                : value == floor(value) ? html_count((int64_t)value)
                                                        : g_strdup_printf("%.6g", value);
        html_cell(out, true, text);
    }
    g_string_append(out, "<td>");
    html_text(out, point->status);
    if (point->reason) {
        g_string_append(out, ": ");
        html_text(out, point->reason);
    }
    g_string_append(out, "</td></tr>\n");
}

static void put_table(GString *out, const struct sheet *sheet) {
    guint shown = MIN(sheet->points->len, (guint)TABLE_POINTS_MAX);
    g_autofree char *note =
        shown < sheet->points->len
            ? g_strdup_printf("The first %u of %u points; all are in results.db.", shown, sheet->points->len)
            : NULL;
    html_section(out, "table", "Points", note);
    put_point_heads(out, sheet);
    for (guint i = 0; i < shown; i++)
        put_point(out, sheet, point_at(sheet, i));
    html_table_end(out);
    html_section_end(out);
}

/* ---- the page ---- */

static guint count_status(const struct sheet *sheet, bool ok) {
    guint count = 0;
    for (guint i = 0; i < sheet->points->len; i++)
        count += (g_strcmp0(point_at(sheet, i)->status, "ok") == 0) == ok;
    return count;
}

static const struct report_point *best_point(const struct sheet *sheet, const struct metric *metric) {
    const struct report_point *best = NULL;
    for (guint i = 0; i < sheet->points->len; i++) {
        const struct report_point *point = point_at(sheet, i);
        double value = metric_of(point, metric);
        if (!isnan(value) && (!best || better(metric, value, metric_of(best, metric))))
            best = point;
    }
    return best;
}

/* "noc.fifo_depth 8, mesh wide". To be freed. */
static char *choices_of(const struct sheet *sheet, const struct report_point *point) {
    GString *text = g_string_new(NULL);
    for (guint a = 0; a < sheet->axes->len; a++) {
        g_autofree char *choice = axis_text(point, axis_at(sheet, a)->name);
        g_string_append_printf(text, "%s%s %s", a ? ", " : "", axis_at(sheet, a)->name, choice);
    }
    return g_string_free(text, FALSE);
}

static void put_head(GString *out, const struct sheet *sheet, const json_t *about, const char *title) {
    guint failed = count_status(sheet, false);
    g_string_append(out, "<header><h1>");
    html_text(out, title);
    g_string_append(out, "</h1>\n<p class=\"sub\">");
    html_text(out, report_string(about, "question"));
    g_string_append_printf(out,
                           "</p>\n<div class=\"tiles\"><div class=\"tile\"><b>%u</b><span>points</span></div>"
                           "<div class=\"tile%s\"><b>%u</b><span>not ok</span></div>",
                           sheet->points->len, failed ? " bad" : "", failed);
    for (unsigned m = 0; m < MIN(sheet->shown_count, 2u); m++) {
        const struct report_point *best = best_point(sheet, sheet->shown[m]);
        g_autofree char *choices = choices_of(sheet, best);
        g_string_append_printf(out, "<div class=\"tile\"><b>%.6g</b><span>best %s: ", metric_of(best, sheet->shown[m]),
                               sheet->shown[m]->title);
        html_text(out, choices);
        g_string_append(out, "</span></div>");
    }
    g_string_append(out, "</div></header>\n");
}

static void put_axes(GString *out, const struct sheet *sheet) {
    html_section(out, "axes", "Axis by axis", NULL);
    for (unsigned m = 0; m < MIN(sheet->shown_count, 2u); m++)
        for (guint a = 0; a < sheet->axes->len; a++)
            (axis_at(sheet, a)->numeric ? put_curves : put_choices)(out, sheet, axis_at(sheet, a), sheet->shown[m]);
    html_section_end(out);
}

char *report_sweep_page(const json_t *about, const GPtrArray *points) {
    struct sheet sheet = sheet_make(points);
    GString *out = g_string_new(NULL);
    const char *name = report_string(about, "name");
    g_autofree char *title = g_strconcat("Sweep ", name, NULL);
    const struct metric *pair[2];
    put_head(out, &sheet, about, title);
    if (sheet.axes->len && sheet.shown_count)
        put_axes(out, &sheet);
    if (sheet.axes->len >= 2 && sheet.shown_count)
        put_heats(out, &sheet);
    if (find_rivals(&sheet, pair))
        put_front(out, &sheet, pair);
    put_table(out, &sheet);
    g_array_unref(sheet.axes);
    g_autofree char *body = g_string_free(out, FALSE);
    return html_page(title, body);
}

char *report_sweep_text(const json_t *about, const GPtrArray *points) {
    struct sheet sheet = sheet_make(points);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %u points, %u not ok\n", report_string(about, "name"), points->len,
                           count_status(&sheet, false));
    for (unsigned m = 0; m < sheet.shown_count; m++) {
        if (is_size(sheet.shown[m]))
            continue;
        const struct report_point *best = best_point(&sheet, sheet.shown[m]);
        g_autofree char *choices = choices_of(&sheet, best);
        g_string_append_printf(text, "  best %-28s %.6g  at %s\n", sheet.shown[m]->title,
                               metric_of(best, sheet.shown[m]), choices);
    }
    g_array_unref(sheet.axes);
    return g_string_free(text, FALSE);
}
