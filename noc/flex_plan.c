/* Topologies, places and virtual channels; see flex_plan.h. */
#include "noc/flex_plan.h"

#include <glib.h>

#include "model/routing_table.h"

static const int step_x[FLEX_SIDES] = {0, 1, 0, -1};
static const int step_y[FLEX_SIDES] = {-1, 0, 1, 0};

/* Message classes of noc-and-memory §2.2. */
enum message_class {
    CLASS_REQUEST,
    CLASS_RESPONSE,
    CLASS_WRITE,
    CLASS_ACK,
    CLASS_INSTRUCTION,
    CLASS_SIGNAL,
    CLASS_DATA,
    CLASS_CONTROL,
    CLASSES,
};

static const uint8_t class_of_type[FLIT_TYPES] = {
    [FLIT_MEM_RD_REQ] = CLASS_REQUEST, [FLIT_MEM_WR_REQ] = CLASS_WRITE,  [FLIT_MEM_RD_RESP] = CLASS_RESPONSE,
    [FLIT_MEM_WR_ACK] = CLASS_ACK,     [FLIT_MEM_WR_DATA] = CLASS_WRITE, [FLIT_CU_INST] = CLASS_INSTRUCTION,
    [FLIT_CU_SIGNAL] = CLASS_SIGNAL,   [FLIT_CU_CTRL] = CLASS_CONTROL,   [FLIT_CU_DATA] = CLASS_DATA,
};

/* Channel of a class when n channels can be had: what answers something never shares with what asks for it. */
static const uint8_t class_channel[FLEX_MAX_VCS][CLASSES] = {
    /* request, response, write, ack, instruction, signal, data, control */
    {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1, 0, 0}, {0, 1, 2, 1, 0, 1, 2, 0}, {0, 1, 2, 3, 0, 3, 2, 0},
    {0, 1, 2, 3, 4, 3, 2, 4}, {0, 1, 2, 3, 4, 3, 5, 4}, {0, 1, 2, 3, 4, 6, 5, 4}, {0, 1, 2, 3, 4, 6, 5, 7},
};

static unsigned concentration(const struct machine *machine) {
    return machine->noc.topology == TOPOLOGY_CONCENTRATED ? machine->noc.concentration : 1;
}

/* A block of c endpoints is as square as its divisors allow, and not taller than wide. */
static void block_of(const struct machine *machine, unsigned *block_x, unsigned *block_y) {
    unsigned c = concentration(machine);
    *block_y = 1;
    for (unsigned tall = 1; tall * tall <= c; tall++)
        if (c % tall == 0)
            *block_y = tall;
    *block_x = c / *block_y;
}

unsigned flex_plan_columns(const struct machine *machine) {
    unsigned block_x, block_y;
    block_of(machine, &block_x, &block_y);
    return (machine->nx + block_x - 1) / block_x;
}

unsigned flex_plan_rows(const struct machine *machine) {
    unsigned block_x, block_y;
    block_of(machine, &block_x, &block_y);
    return (machine->ny + block_y - 1) / block_y;
}

/* Ports for edge places beyond the first of a side; most of them at a corner, or at the one router of a line. */
static unsigned extra_ports(const struct machine *machine) {
    unsigned block_x, block_y;
    block_of(machine, &block_x, &block_y);
    unsigned sides_x = flex_plan_columns(machine) == 1 ? 2 : 1, sides_y = flex_plan_rows(machine) == 1 ? 2 : 1;
    return sides_x * (block_y - 1) + sides_y * (block_x - 1);
}

unsigned flex_plan_ports(const struct machine *machine) {
    return FLEX_SIDES + concentration(machine) + extra_ports(machine);
}

static flex_dest pack(unsigned x, unsigned y, unsigned port) {
    return x | y << FLEX_COORDINATE_BITS | port << FLEX_PORT_SHIFT;
}

static flex_dest *dest_at(const struct flex_plan *plan, unsigned x, unsigned y) {
    return &plan->dest[y * (plan->nx + 2) + x];
}

static void place_locals(struct flex_plan *plan) {
    for (unsigned y = 1; y <= plan->ny; y++)
        for (unsigned x = 1; x <= plan->nx; x++) {
            unsigned inner_x = (x - 1) % plan->block_x, inner_y = (y - 1) % plan->block_y;
            *dest_at(plan, x, y) = pack((x - 1) / plan->block_x + 1, (y - 1) / plan->block_y + 1,
                                        FLEX_SIDES + inner_y * plan->block_x + inner_x);
        }
}

/* Gives an edge place its side of the router, or the router's next extra port if the side is taken. */
static void place_edge(struct flex_plan *plan, unsigned x, unsigned y, unsigned side, unsigned *used) {
    unsigned router_x = (CLAMP(x, 1, plan->nx) - 1) / plan->block_x + 1;
    unsigned router_y = (CLAMP(y, 1, plan->ny) - 1) / plan->block_y + 1;
    bool along_y = side == SIDE_EAST || side == SIDE_WEST;
    unsigned position = along_y ? (y - 1) % plan->block_y : (x - 1) % plan->block_x;
    unsigned *extra = &used[(router_y - 1) * plan->columns + router_x - 1];
    unsigned port = position == 0 ? side : FLEX_SIDES + plan->block_x * plan->block_y + (*extra)++;
    *dest_at(plan, x, y) = pack(router_x, router_y, port);
}

static void place_edges(struct flex_plan *plan) {
    unsigned *used = g_new0(unsigned, (size_t)plan->columns * plan->rows);
    for (unsigned y = 1; y <= plan->ny; y++) {
        place_edge(plan, 0, y, SIDE_WEST, used);
        place_edge(plan, plan->nx + 1, y, SIDE_EAST, used);
    }
    for (unsigned x = 1; x <= plan->nx; x++) {
        place_edge(plan, x, 0, SIDE_NORTH, used);
        place_edge(plan, x, plan->ny + 1, SIDE_SOUTH, used);
    }
    g_free(used);
}

static void init_channels(struct flex_plan *plan) {
    plan->dateline = plan->torus ? plan->vcs / 2 : 0;
    if (plan->assignment != VC_FREE) {
        plan->groups = plan->vcs;
        for (unsigned vc = 0; vc < plan->vcs; vc++)
            plan->group_vcs[vc] = (uint8_t)(1u << vc);
        return;
    }
    unsigned all = (1u << plan->vcs) - 1, low = (1u << plan->dateline) - 1;
    plan->groups = plan->dateline ? 2 : 1;
    plan->group_vcs[0] = (uint8_t)(plan->dateline ? low : all);
    plan->group_vcs[1] = (uint8_t)(all & ~low);
}

void flex_plan_init(struct flex_plan *plan, const struct machine *machine) {
    const struct noc_params *noc = &machine->noc;
    *plan = (struct flex_plan){.nx = machine->nx,
                               .ny = machine->ny,
                               .columns = flex_plan_columns(machine),
                               .rows = flex_plan_rows(machine),
                               .ports = flex_plan_ports(machine),
                               .vcs = noc->virtual_channels,
                               .torus = noc->topology == TOPOLOGY_TORUS,
                               .assignment = noc->virtual_channels == 1 ? VC_BY_PAIR : noc->vc_by_class,
                               .route = flex_route_of(noc->routing),
                               .table = noc->table};
    block_of(machine, &plan->block_x, &plan->block_y);
    plan->lanes = plan->ports * plan->vcs;
    plan->dest = g_new0(flex_dest, (size_t)(plan->nx + 2) * (plan->ny + 2));
    place_locals(plan);
    if (!plan->torus)
        place_edges(plan);
    init_channels(plan);
}

void flex_plan_clear(struct flex_plan *plan) {
    g_free(plan->dest);
    *plan = (struct flex_plan){0};
}

bool flex_plan_has_place(const struct flex_plan *plan, unsigned x, unsigned y) {
    bool column = x >= 1 && x <= plan->nx, row = y >= 1 && y <= plan->ny;
    if (plan->torus)
        return column && row;
    return (column && y <= plan->ny + 1) || (row && x <= plan->nx + 1);
}

flex_dest flex_plan_dest(const struct flex_plan *plan, unsigned x, unsigned y) {
    x = MIN(x, plan->nx + 1);
    y = MIN(y, plan->ny + 1);
    if (plan->torus || x == 0 || x == plan->nx + 1) /* the outward hop goes along x first */
        y = CLAMP(y, 1, plan->ny);
    if (plan->torus)
        x = CLAMP(x, 1, plan->nx);
    return *dest_at(plan, x, y);
}

/* Moves one step along a dimension of `size` routers; false if that leaves the network. */
static bool step_along(const struct flex_plan *plan, unsigned *at, int step, unsigned size) {
    int to = (int)*at + step;
    if (plan->torus && size > 1)
        to = to < 1 ? (int)size : to > (int)size ? 1 : to;
    *at = (unsigned)to;
    return to >= 1 && to <= (int)size;
}

bool flex_plan_neighbour(const struct flex_plan *plan, unsigned x, unsigned y, unsigned side, unsigned *to_x,
                         unsigned *to_y) {
    *to_x = x;
    *to_y = y;
    if (side >= FLEX_SIDES)
        return false;
    return step_x[side] ? step_along(plan, to_x, step_x[side], plan->columns)
                        : step_along(plan, to_y, step_y[side], plan->rows);
}

/* Does the link out of this side go round the end of a ring? */
static bool is_wrap(const struct flex_plan *plan, unsigned x, unsigned y, unsigned side) {
    return plan->torus && ((side == SIDE_EAST && x == plan->columns) || (side == SIDE_WEST && x == 1) ||
                           (side == SIDE_SOUTH && y == plan->rows) || (side == SIDE_NORTH && y == 1));
}

unsigned flex_plan_group(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, unsigned vc, unsigned out) {
    if (!plan->dateline)
        return plan->assignment == VC_FREE ? 0 : vc;
    bool ahead = in < FLEX_SIDES && out < FLEX_SIDES && in % 2 == out % 2; /* on along the same dimension */
    bool crossed = (ahead && vc >= plan->dateline) || is_wrap(plan, x, y, out);
    if (plan->assignment == VC_FREE)
        return crossed;
    return vc % plan->dateline + (crossed ? plan->dateline : 0);
}

unsigned flex_plan_vc(const struct flex_plan *plan, const struct flit *flit) {
    unsigned usable = plan->dateline ? plan->dateline : plan->vcs;
    if (usable == 1)
        return 0;
    if (plan->assignment == VC_BY_CLASS)
        return class_channel[usable - 1][class_of_type[flit->type % FLIT_TYPES]];
    uint32_t pair = flit->src_x * 0x9E3779B1u ^ flit->src_y * 0x85EBCA6Bu ^ flit->dst_x * 0xC2B2AE35u ^
                    flit->dst_y * 0x27D4EB2Fu; /* odd constants of common integer hashes: any would do */
    return (pair >> 16) % usable;
}

const char *flex_port_name(const struct flex_plan *plan, unsigned port) {
    static const char *const sides[FLEX_SIDES] = {"north", "east", "south", "west"};
    static const char *const locals[] = {"local 0",  "local 1",  "local 2",  "local 3", "local 4",  "local 5",
                                         "local 6",  "local 7",  "local 8",  "local 9", "local 10", "local 11",
                                         "local 12", "local 13", "local 14", "local 15"};
    unsigned endpoints = plan->block_x * plan->block_y;
    if (port < FLEX_SIDES)
        return sides[port];
    if (port < FLEX_SIDES + endpoints)
        return endpoints == 1 ? "local" : locals[port - FLEX_SIDES];
    return "edge";
}
