/* The links of a mesh as the result's counters tell of them; see report_parts.h. */
#include "analysis/report_parts.h"

enum {
    SIDES = 5, /* north, east, south, west, local: the order of in[] and out[] */
    LOCAL = 4,
};

static const int step_x[SIDES] = {0, 1, 0, -1, 0}, step_y[SIDES] = {-1, 0, 1, 0, 0};
static const unsigned opposite[SIDES] = {2, 3, 0, 1, LOCAL};

/* The largest coordinates of a router. */
struct extent {
    int64_t nx, ny;
};

static struct extent find_extent(const json_t *routers) {
    struct extent extent = {0};
    size_t index;
    json_t *router;
    json_array_foreach((json_t *)routers, index, router) {
        extent.nx = MAX(extent.nx, report_count(router, "x"));
        extent.ny = MAX(extent.ny, report_count(router, "y"));
    }
    return extent;
}

static const json_t *router_at(const json_t *routers, struct extent extent, int64_t x, int64_t y) {
    if (x < 1 || y < 1 || x > extent.nx || y > extent.ny)
        return NULL;
    return json_array_get(routers, (size_t)((y - 1) * extent.nx + x - 1));
}

static const json_t *component_at(const json_t *list, int64_t x, int64_t y) {
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)list, index,
                       item) if (report_count(item, "x") == x && report_count(item, "y") == y) return item;
    return NULL;
}

static const json_t *thing_at(const json_t *result, int64_t x, int64_t y) {
    const json_t *unit = component_at(json_object_get(result, "units"), x, y);
    return unit ? unit : component_at(json_object_get(result, "ports"), x, y);
}

const char *report_name_at(const json_t *result, int64_t x, int64_t y) {
    const json_t *thing = thing_at(result, x, y);
    return thing ? report_string(thing, "name") : NULL;
}

int64_t report_length(const json_t *result) {
    int64_t settled = report_count(result, "settled_cycles");
    return settled ? settled : report_count(result, "cycles");
}

static int64_t known_count(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void put_input(struct report_link *link, const json_t *router, unsigned side) {
    const json_t *in = json_array_get(json_object_get(router, "in"), side);
    link->has_input = true;
    link->blocked = report_count(in, "blocked");
    link->hol_blocked = report_count(in, "hol_blocked");
    link->depth = report_count(in, "max_depth");
}

static void add_output(GArray *links, const json_t *result, const json_t *router, unsigned side, struct extent extent) {
    const json_t *routers = json_object_get(result, "routers");
    const json_t *out = json_array_get(json_object_get(router, "out"), side);
    int64_t x = report_count(router, "x"), y = report_count(router, "y"), to_x = x + step_x[side],
            to_y = y + step_y[side];
    const json_t *next = side == LOCAL ? NULL : router_at(routers, extent, to_x, to_y);
    const char *name = next ? NULL : report_name_at(result, to_x, to_y);
    struct report_link link = {.x0 = x, .y0 = y, .x1 = to_x, .y1 = to_y};
    link.flits = report_count(out, "flits");
    link.busy = report_count(out, "busy");
    link.arbitration = known_count(out, "arbitration");
    link.lost = known_count(out, "lost");
    link.idle = report_count(out, "idle");
    if (!next && !name && !link.flits && !link.busy)
        return;
    if (next)
        put_input(&link, next, opposite[side]);
    if (name)
        g_snprintf(link.name, sizeof link.name, "(%d,%d)>%s", (int)x, (int)y, name);
    else
        g_snprintf(link.name, sizeof link.name, side == LOCAL ? "(%d,%d)>local" : "(%d,%d)>(%d,%d)", (int)x, (int)y,
                   (int)to_x, (int)to_y);
    g_array_append_val(links, link);
}

/* What comes into a router from where no router is. */
static void add_input(GArray *links, const json_t *result, const json_t *router, unsigned side, struct extent extent) {
    int64_t x = report_count(router, "x"), y = report_count(router, "y"), at_x = x + step_x[side],
            at_y = y + step_y[side];
    const json_t *in = json_array_get(json_object_get(router, "in"), side);
    const json_t *thing = thing_at(result, at_x, at_y);
    if ((side != LOCAL && router_at(json_object_get(result, "routers"), extent, at_x, at_y)) ||
        (!thing && !report_count(in, "flits")))
        return;
    struct report_link link = {.x0 = at_x, .y0 = at_y, .x1 = x, .y1 = y, .arbitration = 0, .lost = -1};
    link.flits = report_count(in, "flits");
    link.busy = report_count(thing, "link_refused") + report_count(thing, "refused_out_cycles");
    link.idle = report_length(result) - link.flits - link.busy;
    put_input(&link, router, side);
    g_snprintf(link.name, sizeof link.name, "%s>(%d,%d)", thing ? report_string(thing, "name") : "local", (int)x,
               (int)y);
    g_array_append_val(links, link);
}

GArray *report_links(const json_t *result) {
    GArray *links = g_array_new(FALSE, TRUE, sizeof(struct report_link));
    const json_t *routers = json_object_get(result, "routers");
    struct extent extent = find_extent(routers);
    size_t index;
    json_t *router;
    json_array_foreach((json_t *)routers, index, router) for (unsigned side = 0; side < SIDES; side++) {
        add_output(links, result, router, side, extent);
        add_input(links, result, router, side, extent);
    }
    return links;
}
