/* A routing table: by which side a flit leaves each router towards each destination router. Endpoints follow the router
 * they sit at, so the last hop (local port or edge place) needs no entry.
 *
 * Text form, one statement a line, `#` opens a comment:
 *
 *     grid 4 3              columns and rows of routers; the first statement
 *     base xy               optional: start from xy or yx; later lines override
 *     1,1 4,3 south         at router (1,1) towards router (4,3): leave by the south side
 *     1-2,* 3,1-3 east      a coordinate is a number, a range a-b, or * for all
 *     *,1 * east            and * alone is every router
 */
#pragma once

#include <stdint.h>

#include <glib.h>

enum routing_side {
    SIDE_NORTH,
    SIDE_EAST,
    SIDE_SOUTH,
    SIDE_WEST,
    SIDE_HERE,  /* router and destination are the same */
    SIDE_UNSET, /* no line says */
};

struct routing_table {
    unsigned columns, rows;
    uint8_t *side; /* [router * columns * rows + destination], router = (y-1) * columns + (x-1) */
};

/* A table with nothing set but the destinations at the router itself. */
struct routing_table *routing_table_new(unsigned columns, unsigned rows);
void routing_table_free(struct routing_table *table);

/* Reads the text form. `name` opens the error sentence: NAME:LINE: what is wrong. NULL on error. */
struct routing_table *routing_table_parse(const char *text, const char *name, GError **error);

static inline uint8_t *routing_table_at(const struct routing_table *table, unsigned x, unsigned y, unsigned to_x,
                                        unsigned to_y) {
    size_t router = (size_t)(y - 1) * table->columns + (x - 1), count = (size_t)table->columns * table->rows;
    return &table->side[router * count + (size_t)(to_y - 1) * table->columns + (to_x - 1)];
}
