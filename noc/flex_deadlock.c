/* Deadlock before a run: the channel dependency graph of a plan and the search for a circle in it.
 *
 * A channel is a lane of an input that a router feeds. Channel a depends on b if some flit can sit in a and need a
 * place in b next. Only states that flits can reach count: for each destination router the flits are followed from
 * every place of entry, so a turn that the crossbar has but no route uses makes no dependency. */
#include <string.h>

#include "model/routing_table.h"
#include "noc/flex.h"

struct graph {
    const struct flex_plan *plan;
    uint32_t channels;
    uint32_t *next;    /* by channel: lanes of the sides it depends on, a bit side * vcs + vc */
    uint32_t *left;    /* of these, those the search has not followed yet */
    uint32_t *seen;    /* by channel: destination it was last reached for, plus 1 */
    uint32_t *pending; /* channels to follow for the present destination */
    uint32_t count;
};

static uint32_t channel_number(const struct flex_plan *plan, unsigned x, unsigned y, unsigned in, unsigned vc) {
    return (((y - 1) * plan->columns + x - 1) * FLEX_SIDES + in) * plan->vcs + vc;
}

static struct flex_channel channel_at(const struct flex_plan *plan, uint32_t number) {
    uint32_t router = number / plan->vcs / FLEX_SIDES;
    return (struct flex_channel){.x = (uint16_t)(router % plan->columns + 1),
                                 .y = (uint16_t)(router / plan->columns + 1),
                                 .in = number / plan->vcs % FLEX_SIDES,
                                 .vc = (uint8_t)(number % plan->vcs)};
}

/* The channel behind bit `lane` (side * vcs + vc) of router (x,y). */
static uint32_t channel_behind(const struct flex_plan *plan, unsigned x, unsigned y, unsigned lane) {
    unsigned side = lane / plan->vcs, to_x, to_y;
    flex_plan_neighbour(plan, x, y, side, &to_x, &to_y);
    return channel_number(plan, to_x, to_y, flex_opposite(side), lane % plan->vcs);
}

/* Lanes that a flit in a channel of router `at` may need next. */
static uint32_t lanes_needed(const struct flex_plan *plan, struct flex_channel at, flex_dest dest) {
    uint32_t lanes = 0, ports = plan->route(plan, at.x, at.y, at.in, dest) & ((1u << FLEX_SIDES) - 1);
    unsigned to_x, to_y;
    if (flex_dest_x(dest) == at.x && flex_dest_y(dest) == at.y)
        return 0; /* leaves the network here */
    for (; ports; ports &= ports - 1) {
        unsigned side = (unsigned)__builtin_ctz(ports);
        if (flex_plan_neighbour(plan, at.x, at.y, side, &to_x, &to_y))
            lanes |= (uint32_t)plan->group_vcs[flex_plan_group(plan, at.x, at.y, at.in, at.vc, side)]
                     << (side * plan->vcs);
    }
    return lanes;
}

static void reach(struct graph *graph, struct flex_channel at, uint32_t lanes, uint32_t mark) {
    for (; lanes; lanes &= lanes - 1) {
        uint32_t channel = channel_behind(graph->plan, at.x, at.y, (unsigned)__builtin_ctz(lanes));
        if (graph->seen[channel] == mark)
            continue;
        graph->seen[channel] = mark;
        graph->pending[graph->count++] = channel;
    }
}

/* Flits enter by local ports, and by sides without a router. */
static void enter(struct graph *graph, unsigned x, unsigned y, flex_dest dest, uint32_t mark) {
    const struct flex_plan *plan = graph->plan;
    unsigned to_x, to_y, vcs = plan->dateline && plan->assignment != VC_FREE ? plan->dateline : plan->vcs;
    for (unsigned in = 0; in <= FLEX_SIDES; in++) {
        if (flex_plan_neighbour(plan, x, y, in, &to_x, &to_y))
            continue;
        for (unsigned vc = 0; vc < vcs; vc++) {
            struct flex_channel at = {(uint16_t)x, (uint16_t)y, (uint8_t)in, (uint8_t)vc};
            reach(graph, at, lanes_needed(plan, at, dest), mark);
        }
    }
}

static void follow(struct graph *graph, uint32_t router) {
    const struct flex_plan *plan = graph->plan;
    flex_dest dest = (router % plan->columns + 1) | (router / plan->columns + 1) << FLEX_COORDINATE_BITS |
                     FLEX_SIDES << FLEX_PORT_SHIFT;
    for (unsigned y = 1; y <= plan->rows; y++)
        for (unsigned x = 1; x <= plan->columns; x++)
            enter(graph, x, y, dest, router + 1);
    while (graph->count) {
        uint32_t channel = graph->pending[--graph->count];
        struct flex_channel at = channel_at(plan, channel);
        uint32_t lanes = lanes_needed(plan, at, dest);
        graph->next[channel] |= lanes;
        reach(graph, at, lanes, router + 1);
    }
}

enum colour {
    UNSEEN,
    ON_PATH,
    DONE,
};

/* Walks all that can be reached from a channel. True if it comes back to a channel of the path it is on: that one is
 * *closing, and the circle is the path from there on. */
static bool walk(struct graph *graph, uint8_t *colour, uint32_t start, GArray *path, uint32_t *closing) {
    g_array_set_size(path, 0);
    g_array_append_val(path, start);
    colour[start] = ON_PATH;
    while (path->len) {
        uint32_t channel = g_array_index(path, uint32_t, path->len - 1);
        struct flex_channel at = channel_at(graph->plan, channel);
        if (!graph->left[channel]) {
            colour[channel] = DONE;
            g_array_set_size(path, path->len - 1);
            continue;
        }
        uint32_t to = channel_behind(graph->plan, at.x, at.y, (unsigned)__builtin_ctz(graph->left[channel]));
        graph->left[channel] &= graph->left[channel] - 1;
        *closing = to;
        if (colour[to] == ON_PATH)
            return true;
        if (colour[to] == UNSEEN) {
            colour[to] = ON_PATH;
            g_array_append_val(path, to);
        }
    }
    return false;
}

/* The shortest circle through a channel that is known to be on one: breadth first, `from` remembering the way. */
static void shortest_circle(struct graph *graph, uint32_t start, GArray *circle) {
    uint32_t *from = graph->seen, head = 0, channel = start;
    for (uint32_t i = 0; i < graph->channels; i++)
        from[i] = UINT32_MAX;
    for (graph->pending[0] = start, graph->count = 1; from[start] == UINT32_MAX; head++) {
        channel = graph->pending[head];
        struct flex_channel at = channel_at(graph->plan, channel);
        for (uint32_t lanes = graph->next[channel]; lanes; lanes &= lanes - 1) {
            uint32_t to = channel_behind(graph->plan, at.x, at.y, (unsigned)__builtin_ctz(lanes));
            if (from[to] != UINT32_MAX)
                continue;
            from[to] = channel;
            graph->pending[graph->count++] = to;
        }
    }
    g_array_set_size(circle, 0);
    channel = start;
    do {
        channel = from[channel];
        struct flex_channel at = channel_at(graph->plan, channel);
        g_array_prepend_val(circle, at);
    } while (channel != start);
}

/* Of the circle at the end of the path, a short one through one of its first channels. */
static void keep_circle(struct graph *graph, const GArray *path, uint32_t closing, GArray *circle) {
    enum {
        STARTS = 64
    };
    GArray *other = g_array_new(FALSE, FALSE, sizeof(struct flex_channel));
    guint first = 0;
    while (g_array_index(path, uint32_t, first) != closing)
        first++;
    for (guint i = first; i < path->len && i < first + STARTS; i++) {
        shortest_circle(graph, g_array_index(path, uint32_t, i), other);
        if (circle->len && circle->len <= other->len)
            continue;
        g_array_set_size(circle, 0);
        g_array_append_vals(circle, other->data, other->len);
    }
    g_array_unref(other);
}

/* Searches the dependencies known so far. */
static bool search(struct graph *graph, GArray *circle) {
    uint8_t *colour = g_new0(uint8_t, graph->channels);
    GArray *path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t closing = 0;
    bool found = false;
    memcpy(graph->left, graph->next, graph->channels * sizeof *graph->next);
    for (uint32_t channel = 0; channel < graph->channels && !found; channel++)
        if (colour[channel] == UNSEEN)
            found = walk(graph, colour, channel, path, &closing);
    if (found)
        keep_circle(graph, path, closing, circle);
    g_array_unref(path);
    g_free(colour);
    return found;
}

/* One channel stands for all that are used alike: those of a mesh, and those on either side of a dateline. A circle
 * over several of them is also one over the channel that stands for them. */
static struct flex_plan reduced_plan(const struct flex_plan *plan) {
    struct flex_plan reduced = *plan;
    reduced.dateline = plan->dateline ? 1 : 0;
    reduced.vcs = reduced.groups = plan->dateline ? 2 : 1;
    reduced.lanes = reduced.ports * reduced.vcs;
    reduced.group_vcs[0] = 1;
    reduced.group_vcs[1] = 2;
    return reduced;
}

bool flex_find_circle(const struct flex_plan *plan, GArray *circle) {
    struct flex_plan reduced = reduced_plan(plan);
    uint32_t routers = plan->columns * plan->rows;
    struct graph graph = {.plan = &reduced, .channels = routers * FLEX_SIDES * reduced.vcs};
    graph.next = g_new0(uint32_t, graph.channels);
    graph.left = g_new0(uint32_t, graph.channels);
    graph.seen = g_new0(uint32_t, graph.channels);
    graph.pending = g_new(uint32_t, graph.channels);
    bool found = false;
    for (uint32_t router = 0; router < routers && !found; router++) {
        follow(&graph, router);
        bool power = (router & (router + 1)) == 0; /* a circle shows early: don't follow thousands more to find it */
        if (power || router + 1 == routers)
            found = search(&graph, circle);
    }
    for (guint i = 0; i < circle->len; i++) {
        struct flex_channel *channel = &g_array_index(circle, struct flex_channel, i);
        channel->vc = channel->vc ? (uint8_t)plan->dateline : 0;
    }
    g_free(graph.next);
    g_free(graph.left);
    g_free(graph.seen);
    g_free(graph.pending);
    return found;
}
