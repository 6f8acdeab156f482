/* Activity over time; see series.h. */
#include "analysis/series.h"

#include <string.h>

#include "units/cluster/cluster.h"

enum column {
    COLUMN_MESH_FLITS,
    COLUMN_UNIT_FLITS,
    COLUMN_PORT_FLITS,
    COLUMN_READ_WORDS,
    COLUMN_WRITE_WORDS,
    COLUMN_COMPUTE,
    COLUMN_RETIRED,
    COLUMNS,
};

static const char *const column_names[COLUMNS] = {
    [COLUMN_MESH_FLITS] = "mesh_flits",   /* over links between routers */
    [COLUMN_UNIT_FLITS] = "unit_flits",   /* from a router to a unit */
    [COLUMN_PORT_FLITS] = "port_flits",   /* from a router outward: to a memory port */
    [COLUMN_READ_WORDS] = "read_words",   /* DRAM */
    [COLUMN_WRITE_WORDS] = "write_words", /* DRAM */
    [COLUMN_COMPUTE] = "compute_issues",  /* blocks that clusters multiplied */
    [COLUMN_RETIRED] = "instructions_retired",
};

struct row {
    uint64_t values[COLUMNS];
};

struct series {
    uint64_t interval;
    GArray *rows; /* of struct row: what happened in the interval */
    struct row seen;
    struct run_observer observer;
};

/* A link to where another router stands, round the ends of a torus too. */
static bool between_routers(const struct mesh *mesh, const struct router_figures *router, unsigned port, bool torus) {
    static const int step_x[ROUTER_PORTS] = {0, 1, 0, -1, 0}, step_y[ROUTER_PORTS] = {-1, 0, 1, 0, 0};
    int x = (int)router->x + step_x[port], y = (int)router->y + step_y[port];
    return port != PORT_LOCAL && (torus || (x >= 1 && y >= 1 && x <= (int)mesh->nx && y <= (int)mesh->ny));
}

static void count_links(const struct system *system, struct row *row) {
    bool torus = system->machine->noc.topology == TOPOLOGY_TORUS;
    for (unsigned i = 0; i < mesh_router_count(&system->mesh); i++) {
        struct router_figures router = mesh_figures(&system->mesh, i);
        for (unsigned port = 0; port < ROUTER_PORTS; port++) {
            enum column column = between_routers(&system->mesh, &router, port, torus) ? COLUMN_MESH_FLITS
                                 : port == PORT_LOCAL                                 ? COLUMN_UNIT_FLITS
                                                                                      : COLUMN_PORT_FLITS;
            row->values[column] += router.out[port].flits;
        }
    }
}

static struct row totals(const struct system *system) {
    struct row row = {0};
    count_links(system, &row);
    row.values[COLUMN_READ_WORDS] = system->dram.reads;
    row.values[COLUMN_WRITE_WORDS] = system->dram.writes;
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        const struct endpoint *endpoint = &system->endpoints[i];
        row.values[COLUMN_RETIRED] += endpoint->retired;
        if (endpoint->type != &unit_type_cluster)
            continue;
        const struct cluster_counts *counts = &((const struct cluster *)endpoint->unit)->counts;
        row.values[COLUMN_COMPUTE] += counts->load + counts->add + counts->add_emit;
    }
    return row;
}

/* Books what has happened since the last look into the interval that the last look opened; whole intervals without a
 * stepped cycle stay empty. */
static void book(struct series *series, const struct system *system, cycle_t end) {
    struct row now = totals(system), none = {0};
    while (series->rows->len < (end + series->interval - 1) / series->interval)
        g_array_append_val(series->rows, none);
    if (!series->rows->len)
        return;
    guint place = (guint)(series->observer.next / series->interval) - 1;
    struct row *row = &g_array_index(series->rows, struct row, MIN(place, series->rows->len - 1));
    for (unsigned column = 0; column < COLUMNS; column++)
        row->values[column] += now.values[column] - series->seen.values[column];
    series->seen = now;
}

static cycle_t look(void *self, struct system *system, cycle_t now) {
    struct series *series = self;
    book(series, system, now);
    return (now / series->interval + 1) * series->interval;
}

static void finish(void *self, struct system *system, cycle_t end) {
    book(self, system, end);
}

struct series *series_new(uint64_t interval) {
    struct series *series = g_new0(struct series, 1);
    series->interval = interval;
    series->rows = g_array_new(FALSE, TRUE, sizeof(struct row));
    series->observer = (struct run_observer){.self = series, .next = interval, .look = look, .finish = finish};
    return series;
}

void series_free(struct series *series) {
    if (!series)
        return;
    g_array_unref(series->rows);
    g_free(series);
}

struct run_observer *series_observer(struct series *series) {
    return &series->observer;
}

static bool check_total(enum column column, uint64_t sum, uint64_t total, GError **error) {
    if (sum == total)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                "internal error: the intervals of %s add up to %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                column_names[column], sum, total);
    return false;
}

json_t *series_json(const struct series *series, const struct run *run, GError **error) {
    struct row total = totals(run->system);
    json_t *object = json_object(), *columns = json_object(), *sums = json_object();
    json_object_set_new(object, "interval", json_integer((json_int_t)series->interval));
    json_object_set_new(object, "columns", columns);
    json_object_set_new(object, "totals", sums);
    for (unsigned column = 0; column < COLUMNS; column++) {
        json_t *values = json_array();
        uint64_t sum = 0;
        for (guint i = 0; i < series->rows->len; i++) {
            uint64_t value = g_array_index(series->rows, struct row, i).values[column];
            json_array_append_new(values, json_integer((json_int_t)value));
            sum += value;
        }
        json_object_set_new(columns, column_names[column], values);
        json_object_set_new(sums, column_names[column], json_integer((json_int_t)sum));
        if (!check_total(column, sum, total.values[column], error)) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}
