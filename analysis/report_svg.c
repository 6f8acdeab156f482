/* The mesh as a picture. A tile is a router with its unit at the lower right; memory ports stand outside. Every
 * direction of a link is an arrow. The page's radio buttons choose which of its figures colours it, by style rules
 * alone. */
#include "analysis/report_parts.h"

#include <math.h>

enum {
    PITCH_X = 176,
    PITCH_Y = 116,
    MARGIN = 14,
    ROUTER = 17, /* half its side */
    UNIT_X = 34, /* of the unit's upper left corner from the router's centre */
    UNIT_Y = 28,
    UNIT_WIDTH = 104,
    UNIT_HEIGHT = 42,
    PORT_WIDTH = 96,
    PORT_HEIGHT = 44,
    LANE = 5, /* of a direction from the middle of its link */
};

static const double largest_scale = 1.4; /* of a small mesh on a wide page */

/* What colours the links. */
static const struct overlay {
    char mark;
    const char *title, *sentence;
} overlays[] = {
    {'l', "Load", "cycles in which a flit went over the link"},
    {'r', "Refused", "cycles in which a flit stood on the link and its receiver refused it"},
    {'b', "Blocked", "cycles in which the flit at the receiving router's input could not go on"},
    {'a', "Lost arbitration", "flit-cycles in which a flit that wanted the link saw it granted to another"},
    {'h', "Head of line", "of the blocked cycles: a flit behind wanted an output that stayed free"},
};

static int64_t overlay_value(const struct report_link *link, char mark) {
    switch (mark) {
    case 'l':
        return link->flits;
    case 'r':
        return link->busy;
    case 'b':
        return link->blocked;
    case 'a':
        return MAX(link->lost, 0);
    default:
        return link->hol_blocked;
    }
}

struct view {
    double min_x, min_y, max_x, max_y;  /* places */
    int64_t cycles, nx, ny;             /* routers at (1..nx, 1..ny) */
    double top[G_N_ELEMENTS(overlays)]; /* of each scale, a share */
};

static double px(const struct view *view, double x) {
    return MARGIN + PORT_WIDTH / 2.0 + (x - view->min_x) * PITCH_X;
}

static double py(const struct view *view, double y) {
    return MARGIN + PORT_HEIGHT / 2.0 + (y - view->min_y) * PITCH_Y;
}

static void widen(struct view *view, double x, double y) {
    view->min_x = MIN(view->min_x, x);
    view->max_x = MAX(view->max_x, x);
    view->min_y = MIN(view->min_y, y);
    view->max_y = MAX(view->max_y, y);
}

static struct view make_view(const json_t *result, const GArray *links) {
    struct view view = {.min_x = 1e9, .min_y = 1e9, .max_x = -1e9, .max_y = -1e9, .cycles = report_length(result)};
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(result, "routers"), index, item) {
        view.nx = MAX(view.nx, report_count(item, "x"));
        view.ny = MAX(view.ny, report_count(item, "y"));
    }
    const char *const lists[] = {"routers", "units", "ports"};
    for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
        json_array_foreach(json_object_get(result, lists[l]), index, item)
            widen(&view, report_number(item, "x"), report_number(item, "y"));
    for (guint i = 0; i < links->len; i++) {
        const struct report_link *link = &g_array_index(links, struct report_link, i);
        widen(&view, link->x0, link->y0);
        widen(&view, link->x1, link->y1);
    }
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++) {
        int64_t most = 0;
        for (guint i = 0; i < links->len; i++)
            most = MAX(most, overlay_value(&g_array_index(links, struct report_link, i), overlays[o].mark));
        view.top[o] = MIN(1, heat_top((double)most / (double)MAX(view.cycles, 1)));
    }
    return view;
}

/* ---- arrows ---- */

/* An arrow from one point to another, six wide with a head. */
static void arrow(GString *out, double x0, double y0, double x1, double y1) {
    double length = hypot(x1 - x0, y1 - y0), ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    double head = MIN(9, length / 2), bx = x1 - ux * head, by = y1 - uy * head;
    const double half = 2.5, wide = 4.5;
    g_string_append_printf(out, "M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ",
                           x0 - uy * half, y0 + ux * half, bx - uy * half, by + ux * half, bx - uy * wide,
                           by + ux * wide, x1, y1, bx + uy * wide, by - ux * wide, bx + uy * half, by - ux * half,
                           x0 + uy * half, y0 - ux * half);
}

/* Between a router and its own unit: from corner to corner. */
static void local_arrow(GString *out, const struct view *view, const struct report_link *link, bool leaves) {
    double x = px(view, link->x0) + ROUTER, y = py(view, link->y0) + ROUTER;
    double to_x = px(view, link->x0) + UNIT_X + 8, to_y = py(view, link->y0) + UNIT_Y + 6;
    if (leaves)
        arrow(out, x + 1, y - 6, to_x + 2, to_y - 6);
    else
        arrow(out, to_x - 8, to_y + 2, x - 8, y + 2);
}

static bool is_router(const struct view *view, double x, double y) {
    return x >= 1 && y >= 1 && x <= (double)view->nx && y <= (double)view->ny;
}

/* From the middle of a place to where its links begin. */
static double reach(const struct view *view, double x, double y, bool along_x) {
    if (is_router(view, x, y))
        return ROUTER;
    return along_x ? PORT_WIDTH / 2.0 : PORT_HEIGHT / 2.0;
}

/* Between two places of the grid, on the right-hand lane. */
static void grid_arrow(GString *out, const struct view *view, const struct report_link *link) {
    double dx = link->x1 - link->x0, dy = link->y1 - link->y0;
    double from = reach(view, link->x0, link->y0, dx != 0) + 1, to = reach(view, link->x1, link->y1, dx != 0) + 2;
    double x0 = px(view, link->x0) + dx * from - dy * LANE, y0 = py(view, link->y0) + dy * from + dx * LANE;
    double x1 = px(view, link->x1) - dx * to - dy * LANE, y1 = py(view, link->y1) - dy * to + dx * LANE;
    arrow(out, x0, y0, x1, y1);
}

static void put_figure(GString *out, const char *name, int64_t value, const struct view *view) {
    g_autofree char *text = html_count(value);
    g_string_append_printf(out, "\n%s %s cycles (%.2f %%)", name, text,
                           100 * (double)value / (double)MAX(view->cycles, 1));
}

static void put_title(GString *out, const struct report_link *link, const struct view *view) {
    g_autofree char *flits = html_count(link->flits);
    g_string_append(out, "<title>");
    html_text(out, link->name);
    g_string_append_printf(out, ": %s flits", flits);
    put_figure(out, "used", link->flits, view);
    put_figure(out, "refused by the receiver", link->busy, view);
    if (link->arbitration >= 0)
        put_figure(out, "in arbitration", link->arbitration, view);
    put_figure(out, "idle", link->idle, view);
    if (link->lost > 0)
        g_string_append_printf(out, "\nflits that waited for another to go first: %" G_GINT64_FORMAT " flit-cycles",
                               link->lost);
    if (link->has_input) {
        put_figure(out, "at the input: blocked", link->blocked, view);
        put_figure(out, "– a flit behind could have gone", link->hol_blocked, view);
        g_string_append_printf(out, "\ndeepest queue %" G_GINT64_FORMAT " flits", link->depth);
    }
    g_string_append(out, "</title>");
}

static void draw_link(GString *out, const struct report_link *link, const struct view *view) {
    g_string_append(out, "<path class=\"k");
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++) {
        double share = (double)overlay_value(link, overlays[o].mark) / (double)MAX(view->cycles, 1);
        g_string_append_printf(out, " %c%u", overlays[o].mark, heat_bin(share, view->top[o]));
    }
    g_string_append(out, "\" data-link=\"");
    html_text(out, link->name);
    g_string_append_printf(out, "\" data-flits=\"%" G_GINT64_FORMAT "\" data-busy=\"%" G_GINT64_FORMAT "\" d=\"",
                           link->flits, link->busy);
    if (link->x0 == link->x1 && link->y0 == link->y1)
        local_arrow(out, view, link, link->name[0] == '(');
    else
        grid_arrow(out, view, link);
    g_string_append(out, "\">");
    put_title(out, link, view);
    g_string_append(out, "</path>\n");
}

/* ---- boxes ---- */

/* The cause that took most cycles, idle apart. */
static const char *main_cause(const json_t *component, double *share, int64_t cycles) {
    const char *name, *best = NULL;
    json_t *value;
    int64_t most = 0;
    json_object_foreach(json_object_get(component, "cycles"), name, value) {
        if (g_str_equal(name, "idle") || json_integer_value(value) <= most)
            continue;
        most = json_integer_value(value);
        best = name;
    }
    *share = (double)most / (double)MAX(cycles, 1);
    return best;
}

static void put_box_title(GString *out, const json_t *component) {
    const char *name;
    json_t *value;
    g_string_append(out, "<title>");
    html_text(out, report_string(component, "name"));
    json_object_foreach(json_object_get(component, "cycles"), name, value) {
        g_autofree char *text = html_count(json_integer_value(value));
        if (!json_integer_value(value))
            continue;
        g_string_append_c(out, '\n');
        html_text(out, name);
        g_string_append_printf(out, " %s cycles", text);
    }
    g_string_append(out, "</title>");
}

static void draw_box(GString *out, const json_t *component, double x, double y, double width, double height,
                     int64_t cycles) {
    double share = 0;
    const char *cause = main_cause(component, &share, cycles);
    g_string_append_printf(out,
                           "<g><rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"5\"/>", x,
                           y, width, height);
    g_string_append_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x + width / 2,
                           y + height / 2 - 3);
    html_text(out, report_string(component, "name"));
    g_string_append_printf(out, "</text><text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                           x + width / 2, y + height / 2 + 12);
    if (cause) {
        html_text(out, cause);
        g_string_append_printf(out, " %.0f %%", 100 * share);
    } else {
        g_string_append(out, "idle");
    }
    g_string_append(out, "</text>");
    put_box_title(out, component);
    g_string_append(out, "</g>\n");
}

static void draw_components(GString *out, const json_t *list, const struct view *view, int64_t cycles) {
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)list, index, item) {
        double x = report_number(item, "x"), y = report_number(item, "y");
        if (is_router(view, x, y))
            draw_box(out, item, px(view, x) + UNIT_X, py(view, y) + UNIT_Y, UNIT_WIDTH, UNIT_HEIGHT, cycles);
        else
            draw_box(out, item, px(view, x) - PORT_WIDTH / 2.0, py(view, y) - PORT_HEIGHT / 2.0, PORT_WIDTH,
                     PORT_HEIGHT, cycles);
    }
}

static void draw_router(GString *out, const json_t *router, const struct view *view) {
    static const char *const sides[] = {"north", "east", "south", "west", "local"};
    double x = px(view, report_number(router, "x")), y = py(view, report_number(router, "y"));
    g_string_append_printf(out,
                           "<g><rect class=\"router\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
                           "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d,%d</text>",
                           x - ROUTER, y - ROUTER, 2 * ROUTER, 2 * ROUTER, x, y + 4, (int)report_count(router, "x"),
                           (int)report_count(router, "y"));
    g_string_append_printf(out, "<title>router (%d,%d)", (int)report_count(router, "x"),
                           (int)report_count(router, "y"));
    for (unsigned side = 0; side < G_N_ELEMENTS(sides); side++) {
        const json_t *in = json_array_get(json_object_get(router, "in"), side);
        const json_t *to = json_array_get(json_object_get(router, "out"), side);
        g_string_append_printf(
            out, "\n%s: %" G_GINT64_FORMAT " flits in, %" G_GINT64_FORMAT " out, deepest %" G_GINT64_FORMAT,
            sides[side], report_count(in, "flits"), report_count(to, "flits"), report_count(in, "max_depth"));
    }
    g_string_append(out, "</title></g>\n");
}

/* ---- the whole ---- */

static void put_rules(GString *out) {
    g_string_append(out, "<style>");
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++) {
        char mark = overlays[o].mark;
        g_string_append_printf(out, "#o-%c:checked~.map .legend-%c{display:block}", mark, mark);
        g_string_append_printf(out,
                               "#o-%c:checked~.switch label[for=o-%c]{background:var(--accent);color:var(--paper);"
                               "border-color:var(--accent)}",
                               mark, mark);
        for (unsigned bin = 0; bin < HEAT_BINS; bin++)
            g_string_append_printf(out, "#o-%c:checked~.map .%c%u{fill:var(--h%u)}", mark, mark, bin, bin);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "</style>\n");
}

static void put_switches(GString *out) {
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++)
        g_string_append_printf(out, "<input class=\"o\" type=\"radio\" name=\"overlay\" id=\"o-%c\"%s>",
                               overlays[o].mark, o ? "" : " checked");
    g_string_append(out, "\n<div class=\"switch\">");
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++)
        g_string_append_printf(out, "<label for=\"o-%c\">%s</label>", overlays[o].mark, overlays[o].title);
    g_string_append(out, "</div>\n");
}

static void put_legends(GString *out, const struct view *view) {
    for (size_t o = 0; o < G_N_ELEMENTS(overlays); o++) {
        g_autofree char *top =
            g_strdup_printf("%.3g %% of %" G_GINT64_FORMAT " cycles", 100 * view->top[o], view->cycles);
        g_string_append_printf(out, "<div class=\"legend legend-%c\">%s ", overlays[o].mark, overlays[o].sentence);
        heat_legend(out, "0", top);
        g_string_append(out, "</div>\n");
    }
}

void report_mesh(GString *out, const json_t *result) {
    GArray *links = report_links(result);
    struct view view = make_view(result, links);
    const json_t *routers = json_object_get(result, "routers");
    int64_t cycles = report_count(result, "cycles");
    size_t index;
    json_t *router;
    put_rules(out);
    put_switches(out);
    double width = px(&view, view.max_x) + UNIT_X + UNIT_WIDTH + MARGIN;
    double height = py(&view, view.max_y) + UNIT_Y + UNIT_HEIGHT + MARGIN;
    g_string_append_printf(out,
                           "<div class=\"map\"><svg viewBox=\"0 0 %.0f %.0f\" style=\"max-width:%.0fpx\" role=\"img\" "
                           "aria-label=\"mesh\">\n",
                           width, height, width * largest_scale);
    for (guint i = 0; i < links->len; i++)
        draw_link(out, &g_array_index(links, struct report_link, i), &view);
    json_array_foreach((json_t *)routers, index, router) draw_router(out, router, &view);
    draw_components(out, json_object_get(result, "units"), &view, cycles);
    draw_components(out, json_object_get(result, "ports"), &view, cycles);
    g_string_append(out, "</svg>\n");
    put_legends(out, &view);
    g_string_append(out, "</div>\n");
    g_array_unref(links);
}
