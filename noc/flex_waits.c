/* Standstill of the what-if network: who waits for whom. Called when a run has come to rest, so speed is no matter. */
#include "noc/flex_router.h"

/* Cycles that no flit needs to make its next move when nothing holds it up. */
static cycle_t longest_move(const struct flex *net) {
    cycle_t serial = (net->link_period + net->link_width - 1) / net->link_width;
    return net->fall_through + net->stages + 2 * net->link_latency + 2 * serial + net->plan.vcs + 2;
}

bool flex_standstill(const struct flex *net, cycle_t now) {
    return now > net->last_move + longest_move(net) && flex_held(net) > 0;
}

struct search {
    struct flex *net;
    cycle_t now;
    uint8_t *colour; /* by lane of the network: 0 unseen, 1 on the path, 2 done */
    GArray *path;    /* of struct flex_wait */
    GArray *ends;    /* waits for endpoints */
};

static size_t lane_number(const struct flex *net, unsigned x, unsigned y, unsigned in, unsigned vc) {
    size_t router = (size_t)(y - 1) * net->plan.columns + x - 1;
    return router * net->plan.lanes + in * net->plan.vcs + vc;
}

/* Fills in what holds up a flit in channel vc of an output, if anything does. */
static bool is_held(struct search *search, const struct flex_router *router, unsigned output, unsigned vc,
                    struct flex_wait *wait) {
    struct flex *net = search->net;
    const struct flex_output *out = &router->out[output];
    if (!(out->full >> vc & 1))
        return false;
    wait->endpoint = !out->to;
    if (!out->to)
        return true;
    wait->held_x = out->to->x;
    wait->held_y = out->to->y;
    wait->held_in = out->to_port;
    wait->held_vc = (uint8_t)vc;
    return !flex_lane_room(net, &out->to->lane[out->to_port * net->plan.vcs + vc], search->now);
}

static bool visit(struct search *search, const struct flex_router *router, unsigned lane);

/* Follows one flit in a slot. True once a circle is closed; the path then ends with it. */
static bool visit_slot(struct search *search, const struct flex_router *router, unsigned lane, unsigned output) {
    struct flex *net = search->net;
    struct flex_wait wait = {.x = router->x, .y = router->y, .in = net->port_of[lane], .out = (uint8_t)output};
    wait.vc = (uint8_t)(lane % net->plan.vcs);
    wait.flit = flex_slot_for(router, lane, output)->flit;
    for (unsigned set = flex_channels(router, lane, output); set; set &= set - 1) {
        if (!is_held(search, router, output, (unsigned)__builtin_ctz(set), &wait))
            continue;
        if (wait.endpoint) {
            g_array_append_val(search->ends, wait);
            continue;
        }
        const struct flex_router *holder = &net->routers[(wait.held_y - 1u) * net->plan.columns + wait.held_x - 1u];
        g_array_append_val(search->path, wait);
        if (visit(search, holder, wait.held_in * net->plan.vcs + wait.held_vc))
            return true;
        g_array_set_size(search->path, search->path->len - 1);
    }
    return false;
}

static bool visit(struct search *search, const struct flex_router *router, unsigned lane) {
    struct flex *net = search->net;
    uint8_t *colour = &search->colour[(size_t)router->index * net->plan.lanes + lane];
    if (*colour)
        return *colour == 1;
    *colour = 1;
    for (unsigned output = 0; output < net->plan.ports; output++)
        if ((router->out[output].request >> lane & 1) && visit_slot(search, router, lane, output))
            return true;
    *colour = 2;
    return false;
}

/* Drops what leads to the circle but is no part of it. */
static void keep_circle(const struct flex *net, const GArray *path, GArray *waits) {
    const struct flex_wait *last = &g_array_index(path, struct flex_wait, path->len - 1);
    size_t closing = lane_number(net, last->held_x, last->held_y, last->held_in, last->held_vc);
    guint first = 0;
    for (;; first++) {
        const struct flex_wait *wait = &g_array_index(path, struct flex_wait, first);
        if (lane_number(net, wait->x, wait->y, wait->in, wait->vc) == closing)
            break;
    }
    g_array_append_vals(waits, &g_array_index(path, struct flex_wait, first), path->len - first);
}

bool flex_waits(struct flex *net, cycle_t now, GArray *waits) {
    struct search search = {.net = net, .now = now};
    search.colour = g_new0(uint8_t, (size_t)net->count * net->plan.lanes);
    search.path = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
    search.ends = g_array_new(FALSE, FALSE, sizeof(struct flex_wait));
    bool circle = false;
    for (uint32_t i = 0; i < net->count && !circle; i++)
        for (uint64_t lanes = net->routers[i].occupied; lanes && !circle; lanes &= lanes - 1)
            circle = visit(&search, &net->routers[i], (unsigned)__builtin_ctzll(lanes));
    if (circle)
        keep_circle(net, search.path, waits);
    else
        g_array_append_vals(waits, search.ends->data, search.ends->len);
    g_array_unref(search.path);
    g_array_unref(search.ends);
    g_free(search.colour);
    return circle;
}

char *flex_wait_text(const struct flex *net, const struct flex_wait *wait) {
    const struct flex_plan *plan = &net->plan;
    char *held = wait->endpoint ? g_strdup("the endpoint there, which refuses it")
                                : g_strdup_printf("router (%u,%u) %s channel %u", wait->held_x, wait->held_y,
                                                  flex_port_name(plan, wait->held_in), wait->held_vc);
    char *text = g_strdup_printf("router (%u,%u) %s channel %u wants %s, held by %s", wait->x, wait->y,
                                 flex_port_name(plan, wait->in), wait->vc, flex_port_name(plan, wait->out), held);
    g_free(held);
    return text;
}
