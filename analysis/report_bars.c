/* Bars: where the cycles went, and distributions. */
#include "analysis/report_parts.h"

#include <math.h>

/* ---- causes ---- */

enum {
    MANY = 24, /* components; more are drawn as thin bars */
};

/* Colours follow the order in which the result lists the causes, the same for every component of a kind. */
static unsigned colour_of(size_t place) {
    return (unsigned)(place % CAUSE_COLOURS);
}

static void put_cause(GString *out, const char *cause, int64_t count, int64_t cycles, size_t place) {
    g_autofree char *text = html_count(count);
    double share = (double)count / (double)MAX(cycles, 1);
    if (!count)
        return;
    g_string_append_printf(out, "<i class=\"c%u\" style=\"width:%.4f%%\" title=\"", colour_of(place), 100 * share);
    html_text(out, cause);
    g_string_append_printf(out, ": %s cycles, %.2f %%\"></i>", text, 100 * share);
}

static void put_component(GString *out, const json_t *component, int64_t cycles) {
    const char *cause;
    json_t *value;
    size_t place = 0;
    g_string_append(out, "<div class=\"row\"><div class=\"who\">");
    html_text(out, report_string(component, "name"));
    g_string_append_printf(out, " <small>(%d,%d)</small></div><div class=\"bar\">", (int)report_count(component, "x"),
                           (int)report_count(component, "y"));
    json_object_foreach(json_object_get(component, "cycles"), cause, value)
        put_cause(out, cause, json_integer_value(value), cycles, place++);
    g_string_append(out, "</div></div>\n");
}

/* Cycles of a cause over all the components of a kind. */
static int64_t sum_of(const json_t *components, const char *type, const char *cause) {
    size_t index;
    json_t *component;
    int64_t sum = 0;
    json_array_foreach((json_t *)components, index, component) if (g_str_equal(report_string(component, "type"), type))
        sum += report_count(json_object_get(component, "cycles"), cause);
    return sum;
}

static void put_keys(GString *out, const json_t *components, const char *type, const json_t *causes, int64_t cycles,
                     unsigned count) {
    const char *cause;
    json_t *value;
    size_t place = 0;
    g_string_append(out, "<div class=\"keys\">");
    json_object_foreach((json_t *)causes, cause, value) {
        int64_t sum = sum_of(components, type, cause);
        size_t colour = place++;
        if (!sum)
            continue;
        g_string_append_printf(out, "<span><i class=\"c%u\"></i>", colour_of(colour));
        html_text(out, cause);
        g_string_append_c(out, ' ');
        html_percent(out, (double)sum / (double)MAX(cycles * count, 1));
        g_string_append(out, "</span>");
    }
    g_string_append(out, "</div>\n");
}

/* All components of one type, under a legend with its means. */
static void put_type(GString *out, const json_t *components, const char *type, const char *of, int64_t cycles) {
    size_t index;
    json_t *component;
    const json_t *causes = NULL;
    unsigned count = 0;
    g_string_append(out, "<h3>");
    html_text(out, type[0] ? type : of);
    g_string_append_printf(out, "</h3>\n<div%s>\n", json_array_size(components) > MANY ? " class=\"many\"" : "");
    json_array_foreach((json_t *)components, index, component) {
        if (!g_str_equal(report_string(component, "type"), type))
            continue;
        put_component(out, component, cycles);
        causes = json_object_get(component, "cycles");
        count++;
    }
    g_string_append(out, "</div>\n");
    put_keys(out, components, type, causes, cycles, count);
}

void report_causes(GString *out, const json_t *components, const char *of, int64_t cycles) {
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    size_t index;
    json_t *component;
    json_array_foreach((json_t *)components, index,
                       component) if (g_hash_table_add(seen, (void *)report_string(component, "type")))
        put_type(out, components, report_string(component, "type"), of, cycles);
}

/* ---- distributions ---- */

enum {
    HIST_WIDTH = 460,
    HIST_HEIGHT = 120,
    HIST_FOOT = 18,
    HIST_BARS_MAX = 200,
    HIST_LABELS = 7,
};

static char *edge_text(const json_t *edge) {
    if (json_is_integer(edge))
        return html_count(json_integer_value(edge));
    return json_is_number(edge) ? g_strdup_printf("%.2g", json_number_value(edge)) : g_strdup("∞");
}

/* Empty bins at both ends are not drawn. */
static void find_used(const json_t *bins, size_t *first, size_t *end, int64_t *most) {
    size_t index;
    json_t *bin;
    *first = *end = 0;
    *most = 0;
    json_array_foreach((json_t *)bins, index, bin) {
        int64_t count = json_integer_value(json_array_get(bin, 2));
        if (!count)
            continue;
        if (!*most)
            *first = index;
        *end = index + 1;
        *most = MAX(*most, count);
    }
}

static void put_bar(GString *out, const json_t *bin, double x, double width, double height, const char *unit) {
    g_autofree char *low = edge_text(json_array_get(bin, 0)), *high = edge_text(json_array_get(bin, 1));
    g_autofree char *count = html_count(json_integer_value(json_array_get(bin, 2)));
    g_string_append_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>", x,
                           HIST_HEIGHT - height, MAX(width - 1, 0.5), height);
    if (g_str_equal(low, high))
        g_string_append_printf(out, "%s", low);
    else
        g_string_append_printf(out, "%s to %s", low, high);
    html_text(out, unit);
    g_string_append_printf(out, ": %s</title></rect>", count);
}

void report_histogram(GString *out, const json_t *bins, const char *unit) {
    size_t first, end;
    int64_t most;
    find_used(bins, &first, &end, &most);
    if (end - first < 2) /* nothing, or all the same: the figures say it */
        return;
    size_t count = end - first, every = count / HIST_LABELS + 1;
    double width = MIN(HIST_WIDTH / (double)count, 60);
    g_string_append_printf(
        out, "<div class=\"hist\"><svg viewBox=\"0 0 %d %d\"><line x1=\"0\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
        HIST_WIDTH, HIST_HEIGHT + HIST_FOOT, HIST_HEIGHT, HIST_WIDTH, HIST_HEIGHT);
    for (size_t i = first; i < end; i++) {
        const json_t *bin = json_array_get(bins, i);
        double x = (double)(i - first) * width;
        double share = (double)json_integer_value(json_array_get(bin, 2)) / (double)most;
        put_bar(out, bin, x, width, share > 0 ? MAX(share * (HIST_HEIGHT - 4), 1) : 0, unit);
        if ((i - first) % every)
            continue;
        g_autofree char *label = edge_text(json_array_get(bin, 0));
        g_string_append_printf(out, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x, HIST_HEIGHT + 14, label);
    }
    g_string_append(out, "</svg></div>\n");
}

void report_latency(GString *out, const json_t *result) {
    static const char *const percentiles[] = {"p50", "p90", "p99", "max"};
    const char *type;
    json_t *row;
    g_string_append(out, "<div class=\"two\">\n");
    json_object_foreach(json_object_get(result, "latency"), type, row) {
        g_autofree char *count = html_count(report_count(row, "count"));
        g_autofree char *name = g_ascii_strup(type, -1);
        g_string_append(out, "<div class=\"hist\"><h3>");
        html_text(out, name);
        g_string_append_printf(out, "</h3><p>%s flits, mean %.1f", count, report_number(row, "mean"));
        for (size_t i = 0; i < G_N_ELEMENTS(percentiles); i++) {
            g_autofree char *value = html_count(report_count(row, percentiles[i]));
            g_string_append_printf(out, ", %s %s", percentiles[i], value);
        }
        g_string_append(out, "</p>\n");
        report_histogram(out, json_object_get(row, "bins"), " cycles");
        g_string_append(out, "</div>\n");
    }
    g_string_append(out, "</div>\n");
}
