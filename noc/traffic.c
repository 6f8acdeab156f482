/* A traffic run: sources, sinks and figures around a mesh; see traffic.h.
 *
 * Every part of the mesh has an actor that steps its sources, routers and sinks. Messages are generated in blocks of
 * cycles ahead of time under a lock, by whichever part needs the next block first, so their numbering never depends on
 * how the mesh is split. Deliveries are brought into one order at the end, or as they come if there is one part. */
#include "noc/traffic.h"

#include <string.h>

#include "model/error.h"
#include "noc/histogram.h"
#include "noc/mesh.h"
#include "noc/trace.h"
#include "noc/traffic_source.h"

enum {
    BLOCK_CYCLES = 64,  /* generated at a time */
    PAYLOAD_NUMBER = 0, /* words of a flit's payload */
    PAYLOAD_GENERATED = 1,
    PAYLOAD_INJECTED = 2, /* of the first flit of its message */
    PAYLOAD_PACKET = 3,
    SATURATED_FLITS = 16, /* a source's backlog that is never called saturation */
};

static const uint64_t hash_factor = UINT64_C(1099511628211);
static const unsigned hash_cycle_shift = 20;

/* ---- what there is ---- */

/* Messages waiting at a source, oldest first. */
struct queue {
    struct traffic_message *ring;
    uint32_t room, head, count; /* room: a power of two */
};

struct traffic_part;

/* A source and a sink. */
struct place {
    struct traffic_part *part;
    uint32_t number, local; /* among all places, and those of the part */
    uint16_t x, y;
    bool node;            /* on a local port */
    struct link_sink way; /* into the mesh */
    struct queue queue;
    uint32_t sent; /* flits of the head message that are in the mesh */
    flit_index offer;
    cycle_t head_injected;
    uint64_t generated, injected, window_generated, window_injected; /* flits */
};

struct delivery {
    cycle_t cycle;
    uint64_t number; /* of the flit */
    uint32_t place;
};

struct figures {
    uint64_t generated, injected, delivered;
    uint64_t window_generated, window_injected, window_delivered, window_delivered_to_nodes, window_refused;
    struct histogram latency, network, queueing, network_to_nodes;
    cycle_t last_event;
};

struct traffic_part {
    struct traffic *run;
    struct mesh_part *mesh;
    struct place *places;
    uint32_t place_count, words;
    uint64_t *active;  /* bit a place: it has something to offer */
    uint64_t *arrived; /* bit a place: it took a flit in this cycle */
    uint64_t *arrived_number;
    unsigned active_count, arrived_count;
    GArray *dealt;    /* of struct traffic_message: generated for the part, under the run's lock */
    GArray *messages; /* those taken over */
    guint next_message;
    cycle_t block_end;  /* taken over up to here, exclusive */
    GArray *deliveries; /* of struct delivery, with several parts */
    GArray *intervals;  /* of struct traffic_interval */
    struct figures figures;
};

struct release {
    cycle_t cycle;
    uint32_t packet;
};

/* Replay of a trace: packets by the cycle in which they may go, and those that still wait. */
struct replay {
    struct trace trace;
    GArray *ready;     /* of struct release, a heap */
    uint32_t *missing; /* packets that a packet still waits for */
    cycle_t *earliest;
    uint32_t *first_waiter; /* packets that wait for this one: list heads into `waiter` */
    uint32_t *next_waiter;  /* by index of the wait */
    uint32_t *waiter;       /* packet of the wait */
    uint64_t *number;       /* of a packet's first flit */
    uint64_t generated;     /* packets */
};

struct traffic {
    const struct traffic_params *params;
    cycle_t window, window_end, limit; /* first cycle, first after it, last of the run */
    struct places geometry;
    struct traffic_source *source;
    struct replay *replay;
    GMutex lock; /* of the source and of messages being dealt out */
    struct traffic_part *parts;
    unsigned part_count;
    struct place **places; /* by number */
    struct flit_pool pool;
    struct hazard_log hazards;
    struct mesh mesh;
    uint64_t hash;
    GString *record;
};

void traffic_params_init(struct traffic_params *params) {
    *params = (struct traffic_params){.pattern = TRAFFIC_UNIFORM,
                                      .rate = 0.1,
                                      .warmup_cycles = 2000,
                                      .measure_cycles = 10000,
                                      .drain_cycles = 20000,
                                      .message_flits = 1,
                                      .hotspot_share = 1};
}

/* ---- queues ---- */

static void queue_push(struct queue *queue, const struct traffic_message *message) {
    if (queue->count == queue->room) {
        uint32_t room = queue->room ? 2 * queue->room : 4;
        struct traffic_message *ring = g_new(struct traffic_message, room);
        for (uint32_t i = 0; i < queue->count; i++)
            ring[i] = queue->ring[(queue->head + i) & (queue->room - 1)];
        g_free(queue->ring);
        queue->ring = ring;
        queue->room = room;
        queue->head = 0;
    }
    queue->ring[(queue->head + queue->count++) & (queue->room - 1)] = *message;
}

static const struct traffic_message *queue_head(const struct queue *queue) {
    return &queue->ring[queue->head];
}

static void queue_pop(struct queue *queue) {
    queue->head = (queue->head + 1) & (queue->room - 1);
    queue->count--;
}

/* ---- trace replay ---- */

static bool release_before(const struct release *a, const struct release *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->packet < b->packet;
}

static void heap_push(GArray *heap, struct release entry) {
    g_array_append_val(heap, entry);
    struct release *all = (struct release *)heap->data;
    for (guint i = heap->len - 1; i > 0 && release_before(&all[i], &all[(i - 1) / 2]); i = (i - 1) / 2) {
        struct release above = all[(i - 1) / 2];
        all[(i - 1) / 2] = all[i];
        all[i] = above;
    }
}

static struct release heap_pop(GArray *heap) {
    struct release *all = (struct release *)heap->data, first = all[0];
    all[0] = all[heap->len - 1];
    g_array_set_size(heap, heap->len - 1);
    for (guint i = 0, child; (child = 2 * i + 1) < heap->len; i = child) {
        if (child + 1 < heap->len && release_before(&all[child + 1], &all[child]))
            child++;
        if (!release_before(&all[child], &all[i]))
            break;
        struct release below = all[child];
        all[child] = all[i];
        all[i] = below;
    }
    return first;
}

static bool check_packet(const struct traffic *run, const struct trace_packet *packet, GError **error) {
    uint32_t place;
    const char *name = run->params->trace_name;
    if (!place_number(&run->geometry, packet->src_x, packet->src_y, &place) ||
        !place_number(&run->geometry, packet->dst_x, packet->dst_y, &place))
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "%s: packet %" G_GUINT64_FORMAT " goes from (%u,%u) to (%u,%u), expected places of the %ux%u mesh",
                    name, packet->id, packet->src_x, packet->src_y, packet->dst_x, packet->dst_y, run->geometry.nx,
                    run->geometry.ny);
    else if (packet->cycle >= run->window_end)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "%s: packet %" G_GUINT64_FORMAT " of cycle %" G_GUINT64_FORMAT
                    " lies beyond the warm-up and window of %" G_GUINT64_FORMAT " cycles",
                    name, packet->id, packet->cycle, run->window_end);
    else
        return true;
    return false;
}

static void replay_free(struct replay *replay) {
    trace_clear(&replay->trace);
    g_array_unref(replay->ready);
    g_free(replay->missing);
    g_free(replay->earliest);
    g_free(replay->first_waiter);
    g_free(replay->next_waiter);
    g_free(replay->waiter);
    g_free(replay->number);
    g_free(replay);
}

static void replay_link(struct replay *replay, uint32_t index) {
    const struct trace_packet *packet = &g_array_index(replay->trace.packets, struct trace_packet, index);
    replay->missing[index] = packet->wait_count;
    replay->earliest[index] = packet->cycle;
    for (uint32_t w = packet->first_wait; w < packet->first_wait + packet->wait_count; w++) {
        uint32_t before = g_array_index(replay->trace.waits, struct trace_wait, w).packet;
        replay->waiter[w] = index;
        replay->next_waiter[w] = replay->first_waiter[before];
        replay->first_waiter[before] = w;
    }
    if (!packet->wait_count)
        heap_push(replay->ready, (struct release){packet->cycle, index});
}

static bool replay_new(struct traffic *run, GError **error) {
    struct trace trace;
    if (!run->params->trace) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "trace: pattern trace needs the text of a trace");
        return false;
    }
    if (!trace_parse(&trace, run->params->trace, run->params->trace_name ? run->params->trace_name : "trace", error))
        return false;
    struct replay *replay = run->replay = g_new0(struct replay, 1);
    guint packets = trace.packets->len, waits = trace.waits->len;
    replay->trace = trace;
    replay->ready = g_array_new(FALSE, FALSE, sizeof(struct release));
    replay->missing = g_new0(uint32_t, packets);
    replay->earliest = g_new0(cycle_t, packets);
    replay->first_waiter = g_new(uint32_t, packets);
    replay->next_waiter = g_new(uint32_t, waits);
    replay->waiter = g_new(uint32_t, waits);
    replay->number = g_new0(uint64_t, packets);
    uint64_t number = 0;
    for (guint i = 0; i < packets; i++)
        replay->first_waiter[i] = UINT32_MAX;
    for (guint i = 0; i < packets; i++) {
        const struct trace_packet *packet = &g_array_index(trace.packets, struct trace_packet, i);
        if (!check_packet(run, packet, error))
            return false;
        replay->number[i] = number;
        number += packet->flits;
        replay_link(replay, i);
    }
    return true;
}

/* The last flit of a packet was delivered in cycle now. */
static void replay_delivered(struct replay *replay, uint32_t packet, cycle_t now) {
    for (uint32_t w = replay->first_waiter[packet]; w != UINT32_MAX; w = replay->next_waiter[w]) {
        uint32_t waiter = replay->waiter[w];
        cycle_t from = now + g_array_index(replay->trace.waits, struct trace_wait, w).delay;
        replay->earliest[waiter] = MAX(replay->earliest[waiter], from);
        if (--replay->missing[waiter] == 0)
            heap_push(replay->ready, (struct release){replay->earliest[waiter], waiter});
    }
}

static void replay_message(const struct traffic *run, uint32_t index, cycle_t now, struct traffic_message *message) {
    const struct trace_packet *packet = &g_array_index(run->replay->trace.packets, struct trace_packet, index);
    *message = (struct traffic_message){
        .cycle = now, .number = run->replay->number[index], .flits = packet->flits, .packet = index};
    place_number(&run->geometry, packet->src_x, packet->src_y, &message->source);
    place_number(&run->geometry, packet->dst_x, packet->dst_y, &message->destination);
}

/* ---- sources ---- */

static bool in_window(const struct traffic *run, cycle_t cycle) {
    return cycle >= run->window && cycle < run->window_end;
}

static struct traffic_interval *interval_of(struct traffic_part *part, cycle_t now) {
    cycle_t length = part->run->params->interval_cycles;
    if (!length)
        return NULL;
    guint index = (guint)(now / length);
    if (index >= part->intervals->len)
        g_array_set_size(part->intervals, index + 1); /* cleared */
    return &g_array_index(part->intervals, struct traffic_interval, index);
}

static void record(struct traffic *run, const struct traffic_message *message) {
    const struct place *from = run->places[message->source], *to = run->places[message->destination];
    trace_write(run->record, message->number, message->cycle, from->x, from->y, to->x, to->y, message->flits);
}

static void deal_out(void *self, const struct traffic_message *message) {
    struct traffic *run = self;
    g_array_append_vals(run->places[message->source]->part->dealt, message, 1);
    if (run->record)
        record(run, message);
}

/* Takes over what the part was dealt, after generating the block that cycle now lies in. */
static void next_block(struct traffic_part *part, cycle_t now) {
    struct traffic *run = part->run;
    GArray *used = part->messages;
    bool locked = run->part_count > 1;
    if (locked)
        g_mutex_lock(&run->lock);
    traffic_source_generate(run->source, (now / BLOCK_CYCLES + 1) * BLOCK_CYCLES, deal_out, run);
    part->block_end = traffic_source_next(run->source);
    part->messages = part->dealt;
    part->dealt = used;
    g_array_set_size(used, 0);
    if (locked)
        g_mutex_unlock(&run->lock);
    part->next_message = 0;
}

static void enqueue(struct traffic_part *part, const struct traffic_message *message) {
    struct traffic *run = part->run;
    struct place *place = run->places[message->source];
    struct traffic_interval *interval = interval_of(part, message->cycle);
    queue_push(&place->queue, message);
    if (!(part->active[place->local / 64] >> (place->local % 64) & 1)) {
        part->active[place->local / 64] |= UINT64_C(1) << (place->local % 64);
        part->active_count++;
    }
    place->generated += message->flits;
    part->figures.generated += message->flits;
    part->figures.last_event = message->cycle;
    if (in_window(run, message->cycle)) {
        part->figures.window_generated += message->flits;
        place->window_generated += message->flits;
    }
    if (interval)
        interval->generated += message->flits;
}

static void replay_generate(struct traffic_part *part, cycle_t now) {
    struct traffic *run = part->run;
    GArray *ready = run->replay->ready;
    while (ready->len && g_array_index(ready, struct release, 0).cycle <= now) {
        struct traffic_message message;
        replay_message(run, heap_pop(ready).packet, now, &message);
        run->replay->generated++;
        if (run->record)
            record(run, &message);
        enqueue(part, &message);
    }
}

static void generate(struct traffic_part *part, cycle_t now) {
    if (part->run->replay) {
        replay_generate(part, now);
        return;
    }
    if (part->next_message == part->messages->len && now >= part->block_end)
        next_block(part, now);
    while (part->next_message < part->messages->len) {
        const struct traffic_message *message =
            &g_array_index(part->messages, struct traffic_message, part->next_message);
        if (message->cycle > now)
            break;
        enqueue(part, message);
        part->next_message++;
    }
}

/* The next cycle in which the sources can have something new. */
static cycle_t next_generation(const struct traffic_part *part) {
    const struct replay *replay = part->run->replay;
    if (replay)
        return replay->ready->len ? g_array_index(replay->ready, struct release, 0).cycle : CYCLE_NEVER;
    if (part->next_message < part->messages->len)
        return g_array_index(part->messages, struct traffic_message, part->next_message).cycle;
    return part->block_end;
}

static void make_offer(struct place *place) {
    struct traffic *run = place->part->run;
    struct flit_pool *pool = place->part->mesh->pool;
    const struct traffic_message *message = queue_head(&place->queue);
    const struct place *to = run->places[message->destination];
    place->offer = flit_new(pool);
    struct flit *flit = flit_at(pool, place->offer);
    *flit = (struct flit){.dst_x = to->x,
                          .dst_y = to->y,
                          .src_x = place->x,
                          .src_y = place->y,
                          .last = place->sent + 1 == message->flits};
    flit->payload.w[PAYLOAD_NUMBER] = message->number + place->sent;
    flit->payload.w[PAYLOAD_GENERATED] = message->cycle;
    flit->payload.w[PAYLOAD_PACKET] = message->packet;
}

/* The offered flit was taken in cycle now. */
static void injected(struct place *place, cycle_t now) {
    struct traffic_part *part = place->part;
    struct traffic_interval *interval = interval_of(part, now);
    place->offer = FLIT_NONE;
    place->injected++;
    part->figures.injected++;
    if (in_window(part->run, now)) {
        part->figures.window_injected++;
        place->window_injected++;
    }
    if (interval)
        interval->injected++;
    if (++place->sent == queue_head(&place->queue)->flits) {
        place->sent = 0;
        queue_pop(&place->queue);
    }
}

static void offer(struct place *place, cycle_t now) {
    struct traffic_part *part = place->part;
    if (place->offer == FLIT_NONE)
        make_offer(place);
    struct flit *flit = flit_at(part->mesh->pool, place->offer);
    if (!place->way.accepts(place->way.self, flit, now)) {
        part->figures.window_refused += in_window(part->run, now);
        return;
    }
    if (place->sent == 0)
        place->head_injected = now;
    flit->offered = now;
    flit->payload.w[PAYLOAD_INJECTED] = place->head_injected;
    place->way.deliver(place->way.self, place->offer, now);
    injected(place, now);
    if (!place->queue.count) {
        part->active[place->local / 64] &= ~(UINT64_C(1) << (place->local % 64));
        part->active_count--;
    }
}

static void offer_all(struct traffic_part *part, cycle_t now) {
    if (!part->active_count)
        return;
    for (uint32_t word = 0; word < part->words; word++)
        for (uint64_t bits = part->active[word]; bits; bits &= bits - 1)
            offer(&part->places[word * 64 + (unsigned)__builtin_ctzll(bits)], now);
}

/* ---- sinks ---- */

static bool sink_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)self, (void)flit, (void)now;
    return true;
}

/* The last flit of a message arrived. */
static void message_done(struct place *place, const struct flit *flit, cycle_t now) {
    struct traffic_part *part = place->part;
    struct figures *figures = &part->figures;
    cycle_t generated = flit->payload.w[PAYLOAD_GENERATED], head = flit->payload.w[PAYLOAD_INJECTED];
    struct traffic_interval *interval = interval_of(part, now);
    if (interval) {
        interval->messages++;
        interval->latency += now - generated;
        interval->network_latency += now - head;
    }
    if (part->run->replay)
        replay_delivered(part->run->replay, (uint32_t)flit->payload.w[PAYLOAD_PACKET], now);
    if (!in_window(part->run, generated))
        return;
    histogram_add(&figures->latency, now - generated, 1);
    histogram_add(&figures->network, now - head, 1);
    histogram_add(&figures->queueing, head - generated, 1);
    if (place->node)
        histogram_add(&figures->network_to_nodes, now - head, 1);
}

static void sink_deliver(void *self, flit_index index, cycle_t now) {
    struct place *place = self;
    struct traffic_part *part = place->part;
    struct figures *figures = &part->figures;
    const struct flit *flit = flit_at(part->mesh->pool, index);
    struct traffic_interval *interval = interval_of(part, now);
    part->arrived[place->local / 64] |= UINT64_C(1) << (place->local % 64);
    part->arrived_number[place->local] = flit->payload.w[PAYLOAD_NUMBER];
    part->arrived_count++;
    figures->delivered++;
    figures->last_event = now;
    if (in_window(part->run, now)) {
        figures->window_delivered++;
        figures->window_delivered_to_nodes += place->node;
    }
    if (interval)
        interval->delivered++;
    if (flit->last)
        message_done(place, flit, now);
    flit_free(part->mesh->pool, index);
}

static void hash_delivery(struct traffic *run, uint64_t number, cycle_t cycle) {
    run->hash = run->hash * hash_factor + (number ^ cycle << hash_cycle_shift);
}

/* Brings the deliveries of cycle now in the order of places. */
static void note_arrivals(struct traffic_part *part, cycle_t now) {
    if (!part->arrived_count)
        return;
    part->arrived_count = 0;
    for (uint32_t word = 0; word < part->words; word++) {
        uint64_t bits = part->arrived[word];
        part->arrived[word] = 0;
        for (; bits; bits &= bits - 1) {
            uint32_t local = word * 64 + (unsigned)__builtin_ctzll(bits);
            if (part->run->part_count == 1) {
                hash_delivery(part->run, part->arrived_number[local], now);
                continue;
            }
            struct delivery delivery = {now, part->arrived_number[local], part->places[local].number};
            g_array_append_val(part->deliveries, delivery);
        }
    }
}

static bool comes_before(const struct delivery *a, const struct delivery *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->place < b->place;
}

/* Moves the deliveries of `other` into `into`, both in order. */
static void merge_deliveries(GArray *into, GArray *other) {
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(struct delivery), into->len + other->len);
    const struct delivery *a = (const struct delivery *)into->data, *b = (const struct delivery *)other->data;
    const struct delivery *a_end = a + into->len, *b_end = b + other->len;
    while (a < a_end || b < b_end) {
        bool first = b == b_end || (a < a_end && comes_before(a, b));
        g_array_append_vals(all, first ? a++ : b++, 1);
    }
    g_array_set_size(into, 0);
    g_array_set_size(other, 0);
    g_array_append_vals(into, all->data, all->len);
    g_array_unref(all);
}

/* One order for the deliveries of several parts: neighbours are merged until one list is left. */
static void hash_all(struct traffic *run) {
    if (run->part_count == 1)
        return;
    for (unsigned step = 1; step < run->part_count; step *= 2)
        for (unsigned p = 0; p + step < run->part_count; p += 2 * step)
            merge_deliveries(run->parts[p].deliveries, run->parts[p + step].deliveries);
    const GArray *all = run->parts[0].deliveries;
    for (guint i = 0; i < all->len; i++) {
        const struct delivery *delivery = &g_array_index(all, struct delivery, i);
        hash_delivery(run, delivery->number, delivery->cycle);
    }
}

/* ---- a cycle of a part ---- */

static cycle_t part_step(void *self, cycle_t now) {
    struct traffic_part *part = self;
    generate(part, now);
    offer_all(part, now);
    cycle_t next = mesh_part_step(part->mesh, now);
    note_arrivals(part, now);
    if (part->active_count)
        return now + 1;
    next = MIN(next, next_generation(part));
    return MAX(next, now + 1);
}

/* ---- building ---- */

static void place_init(struct traffic *run, struct traffic_part *part, uint32_t number) {
    struct place *place = &part->places[part->place_count];
    unsigned x, y;
    place_coordinates(&run->geometry, number, &x, &y);
    *place = (struct place){.part = part, .number = number, .local = part->place_count++, .offer = FLIT_NONE};
    place->x = (uint16_t)x;
    place->y = (uint16_t)y;
    place->node = number < run->geometry.nodes;
    if (mesh_has_place(&run->mesh, x, y)) /* a torus has no edge places */
        place->way = mesh_attach(&run->mesh, x, y, (struct link_sink){place, sink_accepts, sink_deliver});
    run->places[number] = place;
}

static void part_arrays(struct traffic *run, struct traffic_part *part, uint32_t places) {
    part->run = run;
    part->places = g_new0(struct place, places);
    part->words = (places + 63) / 64;
    part->active = g_new0(uint64_t, part->words);
    part->arrived = g_new0(uint64_t, part->words);
    part->arrived_number = g_new0(uint64_t, places);
    part->dealt = g_array_new(FALSE, FALSE, sizeof(struct traffic_message));
    part->messages = g_array_new(FALSE, FALSE, sizeof(struct traffic_message));
    part->deliveries = g_array_new(FALSE, FALSE, sizeof(struct delivery));
    part->intervals = g_array_new(FALSE, TRUE, sizeof(struct traffic_interval));
}

static struct traffic_part *part_of_place(struct traffic *run, uint32_t number) {
    unsigned x, y;
    place_coordinates(&run->geometry, number, &x, &y);
    if (!mesh_has_place(&run->mesh, x, y))
        return run->parts;
    return &run->parts[mesh_part_at(&run->mesh, x, y) - run->mesh.parts];
}

/* A replay is one part: who waits for whom goes across the mesh. */
static void build(struct traffic *run, const struct machine *machine) {
    uint32_t *part_of = g_new0(uint32_t, run->geometry.nodes);
    run->part_count = run->replay ? 1 : mesh_split(machine, NULL, part_of);
    flit_pool_init(&run->pool);
    hazard_log_init(&run->hazards);
    mesh_init_parts(&run->mesh, machine, &run->pool, &run->hazards, part_of, run->part_count);
    run->parts = g_new0(struct traffic_part, run->part_count);
    run->places = g_new0(struct place *, run->geometry.count);
    uint32_t *size = g_new0(uint32_t, run->part_count);
    for (uint32_t i = 0; i < run->geometry.count; i++)
        size[part_of_place(run, i) - run->parts]++;
    for (unsigned p = 0; p < run->part_count; p++) {
        part_arrays(run, &run->parts[p], size[p]);
        run->parts[p].mesh = &run->mesh.parts[p];
    }
    for (uint32_t i = 0; i < run->geometry.count; i++)
        place_init(run, part_of_place(run, i), i);
    g_free(size);
    g_free(part_of);
}

static void part_clear(struct traffic_part *part) {
    for (uint32_t i = 0; i < part->place_count; i++)
        g_free(part->places[i].queue.ring);
    g_free(part->places);
    g_free(part->active);
    g_free(part->arrived);
    g_free(part->arrived_number);
    g_array_unref(part->dealt);
    g_array_unref(part->messages);
    g_array_unref(part->deliveries);
    g_array_unref(part->intervals);
    histogram_clear(&part->figures.latency);
    histogram_clear(&part->figures.network);
    histogram_clear(&part->figures.queueing);
    histogram_clear(&part->figures.network_to_nodes);
}

/* Also after half of a preparation. */
static void run_clear(struct traffic *run) {
    for (unsigned p = 0; run->parts && p < run->part_count; p++)
        part_clear(&run->parts[p]);
    if (run->parts) {
        mesh_clear(&run->mesh);
        hazard_log_clear(&run->hazards);
        flit_pool_clear(&run->pool);
    }
    g_free(run->parts);
    g_free(run->places);
    if (run->source)
        traffic_source_free(run->source);
    if (run->replay)
        replay_free(run->replay);
    if (run->record)
        g_string_free(run->record, TRUE);
    g_mutex_clear(&run->lock);
}

/* Patterns that address a place west of the mesh need one there. */
static bool check_edges(const struct machine *machine, const struct traffic_params *params, GError **error) {
    bool edge =
        params->pattern == TRAFFIC_ROWPORT || params->pattern == TRAFFIC_RANDPORT || params->pattern == TRAFFIC_MIXHOT;
    edge |= params->pattern == TRAFFIC_HOTSPOT && !params->hotspot_count;
    for (unsigned i = 0; i < params->hotspot_count; i++) {
        const struct traffic_hotspot *spot = &params->hotspots[i];
        edge |= spot->x < 1 || spot->y < 1 || spot->x > machine->nx || spot->y > machine->ny;
    }
    if (machine->noc.topology != TOPOLOGY_TORUS || !edge)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "sends to a place on the edge, which a torus does not have; expected places inside it");
    return false;
}

/* Checks everything; on failure the run still has to be cleared. */
static bool prepare(struct traffic *run, const struct machine *machine, const struct traffic_params *params,
                    GError **error) {
    *run = (struct traffic){.params = params};
    g_mutex_init(&run->lock);
    if (!mesh_check(machine, error) || !check_edges(machine, params, error))
        return false;
    run->window = params->warmup_cycles;
    run->window_end = params->warmup_cycles + params->measure_cycles;
    run->limit = run->window_end + params->drain_cycles - 1;
    places_init(&run->geometry, machine->nx, machine->ny);
    if (!(run->source = traffic_source_new(machine, params, error)))
        return false;
    return params->pattern != TRAFFIC_TRACE || replay_new(run, error);
}

bool traffic_check(const struct machine *machine, const struct traffic_params *params, GError **error) {
    struct traffic run;
    bool good = prepare(&run, machine, params, error);
    run_clear(&run);
    return good;
}

/* ---- results ---- */

/* The value below or at which that many of a thousand lie. */
static uint64_t quantile(const struct histogram *histogram, uint64_t per_mille) {
    if (!histogram->count)
        return 0;
    uint64_t whole = histogram->count / 1000 * per_mille, rest = histogram->count % 1000 * per_mille;
    uint64_t rank = whole + (rest + 999) / 1000; /* nearest rank */
    rank -= rank > 0;
    return histogram_at(histogram, rank);
}

static void sum_latency(const struct traffic *run, size_t member, struct traffic_latency *latency) {
    struct histogram all = {0};
    for (unsigned p = 0; p < run->part_count; p++)
        histogram_merge(&all, (const struct histogram *)((const char *)&run->parts[p].figures + member));
    *latency = (struct traffic_latency){.count = all.count,
                                        .sum = all.sum,
                                        .p50 = quantile(&all, 500),
                                        .p90 = quantile(&all, 900),
                                        .p99 = quantile(&all, 990),
                                        .p999 = quantile(&all, 999),
                                        .max = all.max};
    histogram_clear(&all);
}

static void sum_figures(const struct traffic *run, struct traffic_result *result) {
    for (unsigned p = 0; p < run->part_count; p++) {
        const struct figures *figures = &run->parts[p].figures;
        result->generated += figures->generated;
        result->injected += figures->injected;
        result->delivered += figures->delivered;
        result->window_generated += figures->window_generated;
        result->window_injected += figures->window_injected;
        result->window_delivered += figures->window_delivered;
        result->window_delivered_to_nodes += figures->window_delivered_to_nodes;
        result->window_refused += figures->window_refused;
    }
    result->queued = result->generated - result->injected;
    result->in_flight = mesh_held(&run->mesh);
    sum_latency(run, offsetof(struct figures, latency), &result->latency);
    sum_latency(run, offsetof(struct figures, network), &result->network);
    sum_latency(run, offsetof(struct figures, queueing), &result->queueing);
    sum_latency(run, offsetof(struct figures, network_to_nodes), &result->network_to_nodes);
}

static void sum_nodes(const struct traffic *run, struct traffic_result *result) {
    double cycles = (double)run->params->measure_cycles * result->nodes;
    result->min_node_injected = UINT64_MAX;
    for (uint32_t i = 0; i < result->nodes; i++) {
        const struct place *place = run->places[i];
        result->min_node_injected = MIN(result->min_node_injected, place->window_injected);
        result->max_node_injected = MAX(result->max_node_injected, place->window_injected);
        /* A source is full when an eighth of what it generated in the window did not get in. */
        uint64_t left = place->window_generated - MIN(place->window_injected, place->window_generated);
        result->saturated |= left > SATURATED_FLITS * run->params->message_flits + place->window_generated / 8;
    }
    uint64_t growth = result->window_generated - MIN(result->window_delivered, result->window_generated);
    result->saturated |= growth > result->window_generated / 50 + (uint64_t)result->nodes * run->params->message_flits;
    result->offered = (double)result->window_generated / cycles;
    result->injected_load = (double)result->window_injected / cycles;
    result->accepted = (double)result->window_delivered / cycles;
}

static void sum_intervals(const struct traffic *run, struct traffic_result *result) {
    if (!run->params->interval_cycles)
        return;
    guint count = (guint)((result->cycles + run->params->interval_cycles - 1) / run->params->interval_cycles);
    result->intervals = g_array_new(FALSE, TRUE, sizeof(struct traffic_interval));
    g_array_set_size(result->intervals, count);
    for (unsigned p = 0; p < run->part_count; p++)
        for (guint i = 0; i < MIN(count, run->parts[p].intervals->len); i++) {
            struct traffic_interval *into = &g_array_index(result->intervals, struct traffic_interval, i);
            const struct traffic_interval *from = &g_array_index(run->parts[p].intervals, struct traffic_interval, i);
            into->generated += from->generated;
            into->injected += from->injected;
            into->delivered += from->delivered;
            into->messages += from->messages;
            into->latency += from->latency;
            into->network_latency += from->network_latency;
        }
}

static void copy_routers(const struct traffic *run, struct traffic_result *result) {
    result->router_count = mesh_router_count(&run->mesh);
    result->routers = g_new0(struct router_figures, result->router_count);
    for (unsigned i = 0; i < result->router_count; i++)
        result->routers[i] = mesh_figures(&run->mesh, i);
}

static void collect(struct traffic *run, enum clock_end end, struct traffic_result *result) {
    *result = (struct traffic_result){.nodes = run->geometry.nodes, .actors = run->part_count};
    cycle_t last = 0;
    for (unsigned p = 0; p < run->part_count; p++)
        last = MAX(last, run->parts[p].figures.last_event);
    result->cycles = MAX(end == CLOCK_LIMIT ? run->limit : last, run->window_end - 1) + 1;
    result->silent = run->replay ? 0 : traffic_source_silent(run->source);
    hash_all(run);
    result->order_hash = run->hash;
    sum_figures(run, result);
    sum_nodes(run, result);
    sum_intervals(run, result);
    copy_routers(run, result);
    result->flit_hops = mesh_hops(&run->mesh);
    result->router_steps = mesh_steps(&run->mesh);
    result->hol_cycles = mesh_hol_cycles(&run->mesh);
    if (run->replay)
        result->held_back = run->replay->trace.packets->len - run->replay->generated;
    if (run->record)
        result->trace = g_string_free(g_steal_pointer(&run->record), FALSE);
}

static bool conserved(const struct traffic_result *result, GError **error) {
    if (result->generated == result->delivered + result->in_flight + result->queued)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL,
                "internal error: of %" G_GUINT64_FORMAT " flits generated, %" G_GUINT64_FORMAT
                " were delivered, %" G_GUINT64_FORMAT " are in the mesh and %" G_GUINT64_FORMAT " wait at sources",
                result->generated, result->delivered, result->in_flight, result->queued);
    return false;
}

bool traffic_run(const struct machine *machine, const struct traffic_params *params, struct traffic_result *result,
                 GError **error) {
    struct traffic run;
    *result = (struct traffic_result){0};
    bool good = prepare(&run, machine, params, error);
    if (good) {
        build(&run, machine);
        if (params->record) {
            run.record = g_string_new(NULL);
            trace_begin(run.record);
        }
        struct clock *clock = clock_new(&machine->engine);
        for (unsigned p = 0; p < run.part_count; p++) {
            char name[32];
            g_snprintf(name, sizeof name, "mesh%u", p);
            run.parts[p].mesh->actor = clock_add(clock, name, part_step, &run.parts[p]);
        }
        enum clock_end end = clock_run(clock, run.limit);
        mesh_settle(&run.mesh);
        collect(&run, end, result);
        clock_free(clock);
        good = conserved(result, error);
    }
    run_clear(&run);
    return good;
}

void traffic_result_clear(struct traffic_result *result) {
    if (result->intervals)
        g_array_unref(result->intervals);
    g_free(result->routers);
    g_free(result->trace);
    *result = (struct traffic_result){0};
}
