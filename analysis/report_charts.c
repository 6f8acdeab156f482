/* Curves and points, drawn by gnuplot as SVG and put into the page with the page's own colours. gnuplot is started with
 * a script on its standard input and answers on its standard output; no file is written. */
#include "analysis/report_parts.h"

#include <math.h>
#include <string.h>

#include <gio/gio.h>

enum {
    CHART_WIDTH = 860,
    CHART_HEIGHT = 270,
    TABLE_ROWS_MAX = 400,
};

/* ---- the script ---- */

/* A gnuplot string in double quotes; the characters of its own markup are set with `noenhanced`. */
static void put_string(GString *out, const char *text) {
    g_string_append_c(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *c == '\n' ? ' ' : *c);
    }
    g_string_append_c(out, '"');
}

static void put_number(GString *out, double value) {
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_formatd(buffer, sizeof buffer, "%.9g", value));
}

static void put_head(GString *script, const struct report_chart *chart) {
    g_string_append_printf(script,
                           "set terminal svg size %d,%d noenhanced font 'sans-serif,13' linewidth 1.5\n"
                           "set encoding utf8\nset border 3\nset tics nomirror out\nset grid ytics lw 0.4\n"
                           "set key outside top left horizontal\nset style fill solid 0.3 noborder\n",
                           CHART_WIDTH, CHART_HEIGHT);
    for (unsigned i = 0; i < CAUSE_COLOURS; i++) /* placeholders that become the page's colours */
        g_string_append_printf(script, "set linetype %u lc rgb '#0100%02x' pt 7 ps %s\n", i + 1, i + 1,
                               chart->points ? "1" : "0.5");
    g_string_append(script, "set xlabel ");
    put_string(script, chart->x_title);
    g_string_append(script, "\nset ylabel ");
    put_string(script, chart->y_title);
    g_string_append_printf(script, "\n%s%s", chart->x_log ? "set logscale x\n" : "",
                           chart->y_log ? "set logscale y\n" : "");
    if (chart->x_min < chart->x_max) {
        g_string_append(script, "set xrange [");
        put_number(script, chart->x_min);
        g_string_append_c(script, ':');
        put_number(script, chart->x_max);
        g_string_append(script, "]\n");
    }
    if (!chart->y_log)
        g_string_append(script, "set yrange [0:*]\n");
}

static char *make_script(const struct report_chart *chart) {
    GString *script = g_string_new(NULL);
    const char *style = chart->points ? "points" : chart->steps ? "steps" : "linespoints";
    put_head(script, chart);
    for (unsigned c = 0; c < chart->curve_count; c++) {
        const struct report_curve *curve = &chart->curves[c];
        g_string_append_printf(script, "$d%u << EOD\n", c);
        for (unsigned i = 0; i < curve->count; i++) {
            put_number(script, curve->x[i]);
            g_string_append_c(script, ' ');
            put_number(script, curve->y[i]);
            g_string_append_c(script, '\n');
        }
        g_string_append(script, "EOD\n");
    }
    g_string_append(script, "plot ");
    for (unsigned c = 0; c < chart->curve_count; c++) {
        g_string_append_printf(script, "%s$d%u using 1:2 with %s lt %u title ", c ? ", " : "", c, style,
                               c % (CAUSE_COLOURS - 1) + 1);
        put_string(script, chart->curves[c].name);
    }
    g_string_append_c(script, '\n');
    return g_string_free(script, FALSE);
}

/* ---- running it ---- */

/* What gnuplot answers, or NULL when there is none or it fails. */
static char *run_gnuplot(const char *script) {
    g_autofree char *program = g_find_program_in_path("gnuplot");
    char *answer = NULL;
    if (!program)
        return NULL;
    g_autoptr(GSubprocess) process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                                          G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                                      NULL, program, "-d", NULL);
    if (!process || !g_subprocess_communicate_utf8(process, script, NULL, &answer, NULL, NULL) ||
        !g_subprocess_get_successful(process) || !strstr(answer, "</svg>"))
        g_clear_pointer(&answer, g_free);
    return answer;
}

static void replace(GString *text, const char *from, const char *to) {
    g_string_replace(text, from, to, 0);
}

/* Drops what stands before the <svg>, lets it fill its place, and gives it the page's colours. */
static char *adapt(const char *answer) {
    const char *from = strstr(answer, "<svg"), *body = from ? strchr(from, '>') : NULL;
    if (!body)
        return NULL;
    GString *text = g_string_new(NULL);
    g_string_printf(text, "<svg viewBox=\"0 0 %d %d\" role=\"img\">%s", CHART_WIDTH, CHART_HEIGHT, body + 1);
    for (unsigned i = 1; i <= CAUSE_COLOURS; i++) {
        g_autofree char *placeholder = g_strdup_printf("rgb(  1,   0, %3u)", i);
        g_autofree char *colour = g_strdup_printf("var(--c%u)", i % CAUSE_COLOURS);
        replace(text, placeholder, colour);
    }
    replace(text, "<title>Gnuplot</title>\n", "");
    replace(text, "<desc>Produced by GNUPLOT", "<desc>drawn by gnuplot");
    replace(text, "stroke=\"black\"", "stroke=\"currentColor\"");
    replace(text, "\"black\"", "\"currentColor\"");
    replace(text, "'black'", "'currentColor'");
    replace(text, "rgb(  0,   0,   0)", "currentColor");
    replace(text, "stroke='gray'", "stroke='var(--line)'");
    return g_string_free(text, FALSE);
}

/* ---- the figures themselves ---- */

static void put_table(GString *out, const struct report_chart *chart) {
    g_autofree char *x_head = g_strconcat(">", chart->x_title, NULL), *y_head = g_strconcat(">", chart->y_title, NULL);
    const char *const heads[] = {"", x_head, y_head, NULL};
    unsigned rows = 0;
    html_table(out, heads);
    for (unsigned c = 0; c < chart->curve_count; c++)
        for (unsigned i = 0; i < chart->curves[c].count && rows < TABLE_ROWS_MAX; i++, rows++) {
            g_string_append(out, "<tr>");
            html_cell(out, false, chart->curves[c].name);
            g_string_append_printf(out, "<td class=\"n\">%.10g</td><td class=\"n\">%.10g</td></tr>\n",
                                   chart->curves[c].x[i], chart->curves[c].y[i]);
        }
    html_table_end(out);
    if (rows == TABLE_ROWS_MAX)
        g_string_append_printf(out, "<p class=\"note\">The first %d rows; all are in the result file.</p>\n",
                               TABLE_ROWS_MAX);
}

void report_chart(GString *out, const struct report_chart *chart) {
    g_autofree char *script = make_script(chart);
    g_autofree char *answer = run_gnuplot(script);
    g_autofree char *picture = answer ? adapt(answer) : NULL;
    if (chart->title) {
        g_string_append(out, "<h3>");
        html_text(out, chart->title);
        g_string_append(out, "</h3>\n");
    }
    if (picture)
        g_string_append_printf(out, "<div class=\"chart\">%s</div>\n<details><summary>Figures</summary>\n", picture);
    else
        g_string_append(out, "<p class=\"note\">gnuplot is not installed, so these are the figures as a table.</p>\n");
    put_table(out, chart);
    if (picture)
        g_string_append(out, "</details>\n");
}
