/* What a what-if network may be, before it is built: ranges, relations between knobs, order, deadlock. */
#include <string.h>

#include "model/error.h"
#include "model/routing_table.h"
#include "noc/flex.h"

enum {
    CHANNELS_TOLD = 16, /* of a circle: enough to see its course */
};

struct range {
    const char *name;
    unsigned value, low, high;
};

static bool refuse(GError **error, char *sentence) {
    g_set_error_literal(error, FS_ERROR, FS_ERROR_INPUT, sentence);
    g_free(sentence);
    return false;
}

bool flex_needed(const struct machine *machine) {
    const struct noc_params *noc = &machine->noc;
    return noc->link_latency || noc->link_width != 1 || noc->link_period != 1 || noc->pipeline ||
           noc->holding_slots != 1 || noc->virtual_channels != 1 || noc->arbitration != ARBITRATION_FREE_RUNNING ||
           noc->routing != ROUTING_XY || noc->topology != TOPOLOGY_MESH;
}

const char *flex_reorders(const struct machine *machine) {
    const struct noc_params *noc = &machine->noc;
    if (noc->routing == ROUTING_WEST_FIRST)
        return "noc.routing west_first is adaptive: flits of one sender to one receiver may take different ways and "
               "overtake each other";
    if (noc->routing == ROUTING_ODD_EVEN)
        return "noc.routing odd_even is adaptive: flits of one sender to one receiver may take different ways and "
               "overtake each other";
    if (noc->virtual_channels > 1 && noc->vc_by_class == VC_FREE)
        return "noc.vc_by_class free lets flits of one sender to one receiver take different channels and overtake "
               "each other (class and pair keep them in order)";
    return NULL;
}

static bool check_ranges(const struct machine *machine, GError **error) {
    const struct noc_params *noc = &machine->noc;
    const struct range ranges[] = {
        {"noc.fifo_depth + noc.fifo_extra", noc->fifo_depth + noc->fifo_extra, 1, 65536},
        {"noc.fall_through", noc->fall_through, 1, 1024},
        {"noc.arbiter_phase", noc->arbiter_phase, 0, FLEX_MAX_LANES - 1},
        {"noc.link_latency", noc->link_latency, 0, 1024},
        {"noc.link_period", noc->link_period, 1, 1024},
        {"noc.link_width", noc->link_width, 1, 1024},
        {"noc.pipeline", noc->pipeline, 0, 200},
        {"noc.holding_slots", noc->holding_slots, 0, 16},
        {"noc.virtual_channels", noc->virtual_channels, 1, FLEX_MAX_VCS},
        {"noc.concentration", noc->concentration, 1, 16},
        {"noc.arbitration", (unsigned)noc->arbitration, 0, ARBITRATION_MATRIX},
        {"noc.routing", (unsigned)noc->routing, 0, ROUTING_TABLE},
        {"noc.topology", (unsigned)noc->topology, 0, TOPOLOGY_CONCENTRATED},
        {"noc.vc_by_class", (unsigned)noc->vc_by_class, 0, VC_BY_PAIR},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(ranges); i++)
        if (ranges[i].value < ranges[i].low || ranges[i].value > ranges[i].high)
            return refuse(error, g_strdup_printf("%s is %u, expected %u to %u", ranges[i].name, ranges[i].value,
                                                 ranges[i].low, ranges[i].high));
    return true;
}

static bool check_relations(const struct machine *machine, GError **error) {
    const struct noc_params *noc = &machine->noc;
    unsigned ports = flex_plan_ports(machine);
    if (noc->link_width > noc->link_period)
        return refuse(error, g_strdup_printf("noc.link_width is %u and noc.link_period is %u: a link moves at most one "
                                             "flit a cycle, expected a width up to the period",
                                             noc->link_width, noc->link_period));
    if (ports * noc->virtual_channels > FLEX_MAX_LANES)
        return refuse(error, g_strdup_printf("a router of this machine has %u ports, and %u virtual channels on each; "
                                             "expected a product up to %d",
                                             ports, noc->virtual_channels, FLEX_MAX_LANES));
    if (!machine->nx || !machine->ny || machine->nx > FLEX_MAX_SIDE || machine->ny > FLEX_MAX_SIDE)
        return refuse(error, g_strdup_printf("the grid is %u x %u, expected sides of 1 to %d", machine->nx, machine->ny,
                                             FLEX_MAX_SIDE));
    if (noc->topology == TOPOLOGY_TORUS && noc->virtual_channels > 1 && noc->virtual_channels % 2)
        return refuse(error, g_strdup_printf("noc.virtual_channels is %u on a torus, whose channels are halved at the "
                                             "dateline: expected an even number",
                                             noc->virtual_channels));
    return true;
}

/* A torus has no border, so nothing can sit outside of it. */
static bool check_places(const struct machine *machine, GError **error) {
    if (machine->noc.topology != TOPOLOGY_TORUS)
        return true;
    for (unsigned i = 0; i < machine->port_count + machine->unit_count; i++) {
        bool port = i < machine->port_count;
        unsigned x = port ? machine->ports[i].x : machine->units[i - machine->port_count].x;
        unsigned y = port ? machine->ports[i].y : machine->units[i - machine->port_count].y;
        if (x < 1 || y < 1 || x > machine->nx || y > machine->ny)
            return refuse(error, g_strdup_printf("the %s at (%u,%u) sits on an edge, and a torus has none: put it on a "
                                                 "local place",
                                                 port ? "memory port" : "unit", x, y));
    }
    return true;
}

/* Follows the table from every router to one destination; a walk longer than the number of routers goes in a circle. */
static bool check_destination(const struct flex_plan *plan, unsigned to_x, unsigned to_y, uint8_t *arrives,
                              GError **error) {
    uint32_t routers = plan->columns * plan->rows;
    memset(arrives, 0, routers);
    arrives[(to_y - 1) * plan->columns + to_x - 1] = 1;
    for (uint32_t start = 0; start < routers; start++) {
        unsigned x = start % plan->columns + 1, y = start / plan->columns + 1;
        uint32_t hops = 0;
        while (!arrives[(y - 1) * plan->columns + x - 1]) {
            uint8_t side = *routing_table_at(plan->table, x, y, to_x, to_y);
            if (side >= FLEX_SIDES)
                return refuse(error,
                              g_strdup_printf("the routing table says nothing for router (%u,%u) towards (%u,%u)", x, y,
                                              to_x, to_y));
            if (!flex_plan_neighbour(plan, x, y, side, &x, &y))
                return refuse(error, g_strdup_printf("the routing table leads out of the grid by the %s side of router "
                                                     "(%u,%u) towards (%u,%u)",
                                                     flex_port_name(plan, side), CLAMP(x, 1, plan->columns),
                                                     CLAMP(y, 1, plan->rows), to_x, to_y));
            if (++hops > routers)
                return refuse(error, g_strdup_printf("the routing table goes in a circle from router (%u,%u) towards "
                                                     "(%u,%u) and never arrives",
                                                     x, y, to_x, to_y));
        }
        x = start % plan->columns + 1;
        y = start / plan->columns + 1;
        while (!arrives[(y - 1) * plan->columns + x - 1]) { /* later walks may stop at this one's way */
            arrives[(y - 1) * plan->columns + x - 1] = 1;
            flex_plan_neighbour(plan, x, y, *routing_table_at(plan->table, x, y, to_x, to_y), &x, &y);
        }
    }
    return true;
}

static bool check_table(const struct flex_plan *plan, GError **error) {
    const struct routing_table *table = plan->table;
    if (!table)
        return refuse(error, g_strdup("noc.routing is table and no noc.routing_table is given"));
    if (table->columns != plan->columns || table->rows != plan->rows)
        return refuse(error, g_strdup_printf("the routing table is for %u x %u routers, this network has %u x %u",
                                             table->columns, table->rows, plan->columns, plan->rows));
    uint8_t *arrives = g_new(uint8_t, plan->columns * plan->rows);
    bool good = true;
    for (unsigned y = 1; y <= plan->rows && good; y++)
        for (unsigned x = 1; x <= plan->columns && good; x++)
            good = check_destination(plan, x, y, arrives, error);
    g_free(arrives);
    return good;
}

/* Dimension order and the turn models can't close a circle on a mesh, nor dimension order with a dateline on a torus
 * (the tests hold the graph search to that on small sizes), so the common machines start at once. */
static bool known_safe(const struct noc_params *noc) {
    if (noc->routing == ROUTING_TABLE)
        return false;
    if (noc->topology != TOPOLOGY_TORUS)
        return true;
    return (noc->routing == ROUTING_XY || noc->routing == ROUTING_YX) && noc->virtual_channels > 1;
}

static char *circle_text(const struct flex_plan *plan, const GArray *circle) {
    GString *text = g_string_new("the network can deadlock: each of these channels can wait for the next, the last for "
                                 "the first:");
    for (guint i = 0; i < circle->len && i < CHANNELS_TOLD; i++) {
        const struct flex_channel *channel = &g_array_index(circle, struct flex_channel, i);
        g_string_append_printf(text, "%s router (%u,%u) %s channel %u", i ? "," : "", channel->x, channel->y,
                               flex_port_name(plan, channel->in), channel->vc);
    }
    if (circle->len > CHANNELS_TOLD)
        g_string_append_printf(text, " and %u more", circle->len - CHANNELS_TOLD);
    g_string_append(text, plan->torus && !plan->dateline ? "; take 2 noc.virtual_channels or set noc.force_deadlockable"
                                                         : "; change the routing or set noc.force_deadlockable");
    return g_string_free(text, FALSE);
}

static bool check_deadlock(const struct flex_plan *plan, GError **error) {
    GArray *circle = g_array_new(FALSE, FALSE, sizeof(struct flex_channel));
    bool good = !flex_find_circle(plan, circle) || refuse(error, circle_text(plan, circle));
    g_array_unref(circle);
    return good;
}

static bool check_order(const struct machine *machine, GError **error) {
    const char *why = machine->bare || machine->noc.force_reordering ? NULL : flex_reorders(machine);
    return !why || refuse(error, g_strdup_printf("%s; units rely on that order, so this takes a bare mesh or "
                                                 "noc.force_reordering",
                                                 why));
}

bool flex_check(const struct machine *machine, GError **error) {
    struct flex_plan plan;
    if (!check_ranges(machine, error) || !check_relations(machine, error) || !check_places(machine, error) ||
        !check_order(machine, error))
        return false;
    if (known_safe(&machine->noc))
        return true;
    flex_plan_init(&plan, machine);
    bool good = (machine->noc.routing != ROUTING_TABLE || check_table(&plan, error)) &&
                (machine->noc.force_deadlockable || check_deadlock(&plan, error));
    flex_plan_clear(&plan);
    return good;
}
