/* Routing policies of the what-if network: which ports bring a flit nearer to its router of destination.
 *
 * xy, yx and table give one port; west_first and odd_even may give several, of which the router takes the one with most
 * room when the flit enters its holding slot. On a torus every policy counts distances the short way round, and exactly
 * half way round goes east or south from odd coordinates, west or north from even ones. */
#include "model/routing_table.h"
#include "noc/flex_plan.h"

enum {
    OUT_NORTH = 1 << SIDE_NORTH,
    OUT_EAST = 1 << SIDE_EAST,
    OUT_SOUTH = 1 << SIDE_SOUTH,
    OUT_WEST = 1 << SIDE_WEST,
};

struct distance {
    int x, y; /* positive: east, south */
};

static int short_way(int distance, unsigned from, int size) {
    if (distance < 0)
        distance += size;
    if (2 * distance == size)
        return from % 2 ? distance : distance - size;
    return 2 * distance < size ? distance : distance - size;
}

static inline struct distance distance_to(const struct flex_plan *plan, unsigned x, unsigned y, flex_dest dest) {
    struct distance d = {(int)flex_dest_x(dest) - (int)x, (int)flex_dest_y(dest) - (int)y};
    if (plan->torus) {
        d.x = short_way(d.x, x, (int)plan->columns);
        d.y = short_way(d.y, y, (int)plan->rows);
    }
    return d;
}

static inline uint32_t along_x(struct distance d) {
    return d.x > 0 ? OUT_EAST : OUT_WEST;
}

static inline uint32_t along_y(struct distance d) {
    return d.y > 0 ? OUT_SOUTH : OUT_NORTH;
}

static uint32_t route_xy(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest) {
    (void)in;
    struct distance d = distance_to(plan, x, y, dest);
    return d.x ? along_x(d) : d.y ? along_y(d) : 1u << flex_dest_port(dest);
}

static uint32_t route_yx(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest) {
    (void)in;
    struct distance d = distance_to(plan, x, y, dest);
    return d.y ? along_y(d) : d.x ? along_x(d) : 1u << flex_dest_port(dest);
}

/* Turn model: all hops to the west come first, so no turn into west exists. */
static uint32_t route_west_first(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest) {
    (void)in;
    struct distance d = distance_to(plan, x, y, dest);
    if (d.x < 0 || !d.y)
        return d.x ? along_x(d) : 1u << flex_dest_port(dest);
    return along_y(d) | (d.x ? along_x(d) : 0);
}

/* Turn model: no turn from east into north or south in even columns, none from north or south into west in odd ones. */
static uint32_t route_odd_even(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest) {
    struct distance d = distance_to(plan, x, y, dest);
    if (!d.x)
        return d.y ? along_y(d) : 1u << flex_dest_port(dest);
    if (!d.y)
        return along_x(d);
    if (d.x < 0)
        return OUT_WEST | (x % 2 == 0 ? along_y(d) : 0);
    uint32_t ports = 0;
    if (in != SIDE_WEST || x % 2 == 1)
        ports |= along_y(d);
    if (d.x != 1 || flex_dest_x(dest) % 2 == 1) /* else the turn would be needed in an even column */
        ports |= OUT_EAST;
    return ports;
}

static uint32_t route_table(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, flex_dest dest) {
    (void)in;
    uint8_t side = *routing_table_at(plan->table, x, y, flex_dest_x(dest), flex_dest_y(dest));
    return side < FLEX_SIDES ? 1u << side : 1u << flex_dest_port(dest);
}

flex_route_fn *flex_route_of(int routing) {
    static flex_route_fn *const policies[] = {
        [ROUTING_XY] = route_xy,
        [ROUTING_YX] = route_yx,
        [ROUTING_WEST_FIRST] = route_west_first,
        [ROUTING_ODD_EVEN] = route_odd_even,
        [ROUTING_TABLE] = route_table,
    };
    return policies[routing];
}
