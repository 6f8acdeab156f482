/* What the sources of a traffic run generate, in the order of its numbering: cycle by cycle, nodes in index order.
 * Generation never depends on the network, so it is done in blocks ahead of time, whoever needs the next one. */
#pragma once

#include "noc/traffic.h"

/* A place is a number: nodes in reading order, then the west edge rows, then the north, east and south edges. */
struct places {
    unsigned nx, ny, nodes, count;
};

void places_init(struct places *places, unsigned nx, unsigned ny);
void place_coordinates(const struct places *places, uint32_t place, unsigned *x, unsigned *y);
/* False if nothing can be at (x,y). */
bool place_number(const struct places *places, unsigned x, unsigned y, uint32_t *place);

#define PLACE_NONE UINT32_MAX

struct traffic_message {
    cycle_t cycle;
    uint64_t number; /* of its first flit */
    uint32_t source, destination;
    uint32_t flits;
    uint32_t packet; /* of the trace */
};

struct traffic_source;

/* NULL and an error if the pattern does not fit the mesh. */
struct traffic_source *traffic_source_new(const struct machine *machine, const struct traffic_params *params,
                                          GError **error);
void traffic_source_free(struct traffic_source *source);
unsigned traffic_source_silent(const struct traffic_source *source);

/* The first cycle that has not been generated; CYCLE_NEVER when all have. */
cycle_t traffic_source_next(const struct traffic_source *source);

/* Generates the cycles up to `to` (exclusive) that have not been generated yet. */
void traffic_source_generate(struct traffic_source *source, cycle_t to,
                             void (*emit)(void *self, const struct traffic_message *message), void *self);
