/* A small traffic driver for tests of the networks: sources and sinks at every place, an unbounded queue at each
 * source, deliveries checked for destination and order as they happen. Runs the same traffic on the what-if network and
 * on the reference mesh. */
#pragma once

#include <glib.h>
#include <string.h>

#include "model/routing_table.h"
#include "noc/flex.h"
#include "noc/mesh.h"

struct traffic;

struct traffic_node {
    struct traffic *traffic;
    unsigned x, y, index;
    struct link_sink in;
    GQueue queue; /* of flit_index + 1 */
    bool head_offered;
    uint64_t random;
    unsigned refuse; /* of 16 cycles the sink refuses in so many */
    uint64_t sent, received, last_cycle;
    uint64_t *last_id; /* by source: last flit delivered, plus 1 */
};

/* Index of the node a flit of `from` goes to; draw is random. The node itself: nothing is sent. */
typedef unsigned traffic_pattern(struct traffic *traffic, const struct traffic_node *from, uint64_t draw);

struct traffic {
    struct machine machine;
    struct flex flex;
    struct mesh mesh;
    bool reference;
    struct flit_pool pool;
    struct hazard_log hazards;
    unsigned node_count, locals;
    struct traffic_node *nodes;
    int *node_at; /* by place */
    traffic_pattern *pattern;
    double rate;
    bool types; /* message types are dealt at random, else all are the same */
    cycle_t now, due;
    uint64_t generated, injected, delivered, reordered, misdelivered, duplicates;
    uint64_t latency; /* network latency, offered at the head of the queue to delivery, summed */
    uint64_t hash;    /* of every delivery's flit and cycle */
};

static inline struct machine traffic_machine(unsigned nx, unsigned ny) {
    struct machine machine = {.nx = nx, .ny = ny, .bare = true};
    machine.noc = (struct noc_params){.fifo_depth = 32,
                                      .fall_through = 3,
                                      .fifo_extra = 2,
                                      .link_width = 1,
                                      .link_period = 1,
                                      .holding_slots = 1,
                                      .virtual_channels = 1,
                                      .concentration = 1};
    return machine;
}

static inline uint64_t traffic_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static inline bool traffic_sink_accepts(void *self, const struct flit *flit, cycle_t now) {
    const struct traffic_node *node = self;
    (void)flit;
    return ((now * 5 + node->index) & 15) >= node->refuse;
}

static inline void traffic_sink_deliver(void *self, flit_index index, cycle_t now) {
    struct traffic_node *node = self;
    struct traffic *traffic = node->traffic;
    const struct flit *flit = flit_at(&traffic->pool, index);
    uint64_t id;
    memcpy(&id, &flit->payload, sizeof id);
    unsigned source = (unsigned)traffic->node_at[flit->src_y * (traffic->machine.nx + 2) + flit->src_x];
    traffic->misdelivered += flit->dst_x != node->x || flit->dst_y != node->y;
    traffic->duplicates += node->received && node->last_cycle == now;
    node->last_cycle = now;
    if (node->last_id) {
        traffic->reordered += id + 1 < node->last_id[source];
        node->last_id[source] = id + 1;
    }
    traffic->latency += now - flit->offered;
    traffic->hash = (traffic->hash ^ id ^ now << 20 ^ node->index) * UINT64_C(1099511628211);
    traffic->delivered++;
    node->received++;
    flit_free(&traffic->pool, index);
}

static inline void traffic_add_node(struct traffic *traffic, unsigned x, unsigned y) {
    struct traffic_node *node = &traffic->nodes[traffic->node_count];
    *node = (struct traffic_node){.traffic = traffic, .x = x, .y = y, .index = traffic->node_count};
    node->random = UINT64_C(0x9E3779B97F4A7C15) * (node->index + 1);
    g_queue_init(&node->queue);
    struct link_sink sink = {node, traffic_sink_accepts, traffic_sink_deliver};
    node->in = traffic->reference ? mesh_attach(&traffic->mesh, x, y, sink) : flex_attach(&traffic->flex, x, y, sink);
    traffic->node_at[y * (traffic->machine.nx + 2) + x] = (int)traffic->node_count++;
}

static inline void traffic_init(struct traffic *traffic, const struct machine *machine, bool reference, bool edges) {
    *traffic = (struct traffic){.machine = *machine, .reference = reference};
    unsigned nx = machine->nx, ny = machine->ny, places = (nx + 2) * (ny + 2);
    flit_pool_init(&traffic->pool);
    hazard_log_init(&traffic->hazards);
    if (reference)
        mesh_init(&traffic->mesh, machine, &traffic->pool, &traffic->hazards);
    else
        flex_init(&traffic->flex, machine, &traffic->pool, &traffic->hazards);
    traffic->nodes = g_new0(struct traffic_node, places);
    traffic->node_at = g_new0(int, places);
    for (unsigned y = 1; y <= ny; y++)
        for (unsigned x = 1; x <= nx; x++)
            traffic_add_node(traffic, x, y);
    traffic->locals = traffic->node_count;
    for (unsigned y = 1; edges && y <= ny; y++) {
        traffic_add_node(traffic, 0, y);
        traffic_add_node(traffic, nx + 1, y);
    }
    for (unsigned x = 1; edges && x <= nx; x++) {
        traffic_add_node(traffic, x, 0);
        traffic_add_node(traffic, x, ny + 1);
    }
    for (unsigned i = 0; traffic->node_count <= 1200 && i < traffic->node_count; i++)
        traffic->nodes[i].last_id = g_new0(uint64_t, traffic->node_count);
}

static inline void traffic_clear(struct traffic *traffic) {
    for (unsigned i = 0; i < traffic->node_count; i++) {
        g_queue_clear(&traffic->nodes[i].queue);
        g_free(traffic->nodes[i].last_id);
    }
    g_free(traffic->nodes);
    g_free(traffic->node_at);
    if (traffic->reference)
        mesh_clear(&traffic->mesh);
    else
        flex_clear(&traffic->flex);
    flit_pool_clear(&traffic->pool);
    hazard_log_clear(&traffic->hazards);
}

/* Appends a flit to a source's queue; ids count up over the whole run. */
static inline void traffic_put(struct traffic *traffic, unsigned from, unsigned to, unsigned type) {
    flit_index index = flit_new(&traffic->pool);
    struct flit *flit = flit_at(&traffic->pool, index);
    const struct traffic_node *source = &traffic->nodes[from], *target = &traffic->nodes[to];
    flit->dst_x = (uint16_t)target->x, flit->dst_y = (uint16_t)target->y;
    flit->src_x = (uint16_t)source->x, flit->src_y = (uint16_t)source->y;
    flit->type = (uint8_t)type;
    flit->txn = flit->last = flit->rsvd = 0;
    flit->offered = 0;
    memset(&flit->payload, 0, sizeof flit->payload);
    memcpy(&flit->payload, &traffic->generated, sizeof traffic->generated);
    traffic->generated++;
    g_queue_push_tail(&traffic->nodes[from].queue, GUINT_TO_POINTER(index + 1));
}

static inline void traffic_generate(struct traffic *traffic, struct traffic_node *node) {
    if ((double)(traffic_random(&node->random) >> 11) * 0x1p-53 >= traffic->rate)
        return;
    uint64_t draw = traffic_random(&node->random) >> 33;
    unsigned to = traffic->pattern(traffic, node, draw);
    if (to != node->index)
        traffic_put(traffic, node->index, to, traffic->types ? draw % 9 : FLIT_CU_DATA);
}

static inline void traffic_offer(struct traffic *traffic, struct traffic_node *node) {
    gpointer head = g_queue_peek_head(&node->queue);
    if (!head)
        return;
    struct flit *flit = flit_at(&traffic->pool, GPOINTER_TO_UINT(head) - 1);
    if (!node->head_offered)
        flit->offered = traffic->now;
    node->head_offered = true;
    if (!node->in.accepts(node->in.self, flit, traffic->now))
        return;
    g_queue_pop_head(&node->queue);
    node->head_offered = false;
    node->sent++;
    traffic->injected++;
    node->in.deliver(node->in.self, GPOINTER_TO_UINT(head) - 1, traffic->now);
}

static inline void traffic_cycle(struct traffic *traffic, bool generate) {
    for (unsigned i = 0; i < traffic->node_count; i++) {
        if (generate)
            traffic_generate(traffic, &traffic->nodes[i]);
        traffic_offer(traffic, &traffic->nodes[i]);
    }
    traffic->due =
        traffic->reference ? mesh_step(&traffic->mesh, traffic->now) : flex_step(&traffic->flex, traffic->now);
    traffic->now++;
}

static inline void traffic_run(struct traffic *traffic, traffic_pattern *pattern, double rate, cycle_t cycles) {
    traffic->pattern = pattern;
    traffic->rate = rate;
    for (cycle_t end = traffic->now + cycles; traffic->now < end;)
        traffic_cycle(traffic, true);
}

/* Runs without new flits until everything has arrived; false if that takes longer than `cycles`. */
static inline bool traffic_drain(struct traffic *traffic, cycle_t cycles) {
    for (cycle_t end = traffic->now + cycles; traffic->delivered < traffic->generated && traffic->now < end;)
        traffic_cycle(traffic, false);
    return traffic->delivered == traffic->generated;
}

static inline uint64_t traffic_queued(const struct traffic *traffic) {
    uint64_t queued = 0;
    for (unsigned i = 0; i < traffic->node_count; i++)
        queued += g_queue_get_length((GQueue *)&traffic->nodes[i].queue);
    return queued;
}

/* generated = queued + inside + delivered, each delivered once, at its place. */
static inline void traffic_assert_conserved(const struct traffic *traffic) {
    uint64_t held = traffic->reference ? mesh_held(&traffic->mesh) : flex_held(&traffic->flex);
    g_assert_cmpuint(traffic->generated, ==, traffic_queued(traffic) + held + traffic->delivered);
    g_assert_cmpuint(traffic->pool.live, ==, traffic_queued(traffic) + held);
    g_assert_cmpuint(traffic->misdelivered, ==, 0);
    g_assert_cmpuint(traffic->duplicates, ==, 0);
}

static inline uint64_t traffic_sum_hol(const struct traffic *traffic) {
    const struct flex_plan *plan = &traffic->flex.plan;
    uint64_t sum = 0;
    for (unsigned y = 1; y <= plan->rows; y++)
        for (unsigned x = 1; x <= plan->columns; x++)
            for (unsigned port = 0; port < plan->ports; port++)
                sum += flex_input(&traffic->flex, x, y, port).hol_blocked;
    return sum;
}

/* --- patterns; n nodes, coordinates from 1 --- */

static inline unsigned traffic_uniform(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    if (traffic->node_count == 1)
        return from->index;
    unsigned to = (unsigned)(draw % (traffic->node_count - 1));
    return to >= from->index ? to + 1 : to;
}

/* Columns in pairs (1,2), (3,4), …: each node sends to its partner in the row. */
static inline unsigned traffic_partner(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    (void)draw;
    unsigned x = from->x % 2 ? from->x + 1 : from->x - 1;
    return x > traffic->machine.nx || from->index >= traffic->locals ? from->index
                                                                     : (from->y - 1) * traffic->machine.nx + x - 1;
}

/* A quarter to the north-west node, the rest to the partner in the row: head-of-line blocking at its purest. */
static inline unsigned traffic_mixhot(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    return draw % 4 ? traffic_partner(traffic, from, draw) : 0;
}

static inline unsigned traffic_to_first(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    (void)traffic, (void)from, (void)draw;
    return 0;
}

static inline unsigned traffic_tornado(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    (void)draw;
    unsigned nx = traffic->machine.nx;
    return (from->y - 1) * nx + (from->x - 1 + (nx - 1) / 2) % nx;
}

static inline unsigned traffic_transpose(struct traffic *traffic, const struct traffic_node *from, uint64_t draw) {
    (void)draw;
    return (from->x - 1) * traffic->machine.nx + from->y - 1;
}
