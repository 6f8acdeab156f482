/* See report_html.h. */
#include "analysis/report_html.h"

#include <math.h>
#include <string.h>

double report_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

int64_t report_count(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

const char *report_string(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

json_t *report_at(const json_t *object, const char *path) {
    g_auto(GStrv) parts = g_strsplit(path, ".", -1);
    json_t *at = (json_t *)object;
    for (unsigned i = 0; parts[i] && at; i++)
        at = json_object_get(at, parts[i]);
    return at;
}

void html_text(GString *out, const char *text) {
    if (!text)
        return;
    g_autofree char *escaped = g_markup_escape_text(text, -1);
    g_string_append(out, escaped);
}

char *html_count(int64_t value) {
    g_autofree char *digits = g_strdup_printf("%" G_GINT64_FORMAT, value);
    GString *text = g_string_new(NULL);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            g_string_append_c(text, ',');
        g_string_append_c(text, digits[i]);
    }
    return g_string_free(text, FALSE);
}

char *html_value(const json_t *value) {
    if (json_is_integer(value))
        return html_count(json_integer_value(value));
    if (json_is_real(value))
        return g_strdup_printf("%.6g", json_real_value(value));
    if (json_is_boolean(value))
        return g_strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    return g_strdup("–");
}

void html_percent(GString *out, double share) {
    g_string_append_printf(out, "%.1f %%", 100 * share);
}

void html_section(GString *out, const char *id, const char *title, const char *note) {
    g_string_append_printf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
    if (note)
        g_string_append_printf(out, "<p class=\"note\">%s</p>\n", note);
}

void html_section_end(GString *out) {
    g_string_append(out, "</section>\n");
}

void html_table(GString *out, const char *const *heads) {
    g_string_append(out, "<div class=\"scroll\"><table><thead><tr>");
    for (unsigned i = 0; heads[i]; i++) {
        bool number = heads[i][0] == '>';
        g_string_append_printf(out, "<th%s>", number ? " class=\"n\"" : "");
        html_text(out, heads[i] + number);
        g_string_append(out, "</th>");
    }
    g_string_append(out, "</tr></thead><tbody>\n");
}

void html_cell(GString *out, bool number, const char *text) {
    g_string_append(out, number ? "<td class=\"n\">" : "<td>");
    html_text(out, text);
    g_string_append(out, "</td>");
}

void html_cell_count(GString *out, int64_t value) {
    g_autofree char *text = html_count(value);
    html_cell(out, true, text);
}

void html_table_end(GString *out) {
    g_string_append(out, "</tbody></table></div>\n");
}

unsigned heat_bin(double value, double top) {
    if (!(value > 0) || !(top > 0))
        return 0;
    double place = ceil(value / top * (HEAT_BINS - 1));
    return (unsigned)CLAMP(place, 1, HEAT_BINS - 1);
}

double heat_top(double greatest) {
    static const double steps[] = {1, 2, 3, 4, 5, 6, 8, 10};
    if (!(greatest > 0))
        return 1e-3;
    double power = pow(10, floor(log10(greatest)));
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        if (steps[i] * power >= greatest * (1 - 1e-12))
            return steps[i] * power;
    return 10 * power;
}

void heat_legend(GString *out, const char *low, const char *high) {
    g_string_append_printf(out, "<span class=\"scale\">%s ", low);
    for (unsigned bin = 0; bin < HEAT_BINS; bin++)
        g_string_append_printf(out, "<i class=\"s%u\"></i>", bin);
    g_string_append_printf(out, " %s</span>", high);
}

char *html_page(const char *title, const char *body) {
    GString *out = g_string_new("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                                "<link rel=\"icon\" href=\"data:,\">\n<title>");
    html_text(out, title);
    g_string_append_printf(
        out, " – flitsim</title>\n<style>\n%s</style></head>\n<body>\n<main>\n%s</main>\n</body></html>\n",
        report_style, body);
    return g_string_free(out, FALSE);
}
