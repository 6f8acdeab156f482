/* The yardstick: the router rules of noc-and-memory §3 and the reference's uniform sources as a plain loop over arrays,
 * without actors, groups or counters beyond deliveries. Same work, same order hash. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAIN_CAPACITY = 34,
    PLAIN_FALL_THROUGH = 3,
    PLAIN_PORTS = 5,
};

struct plain_flit {
    uint64_t number, ready;
    uint16_t x, y;
};

struct plain_input {
    struct plain_flit ring[PLAIN_CAPACITY], slot;
    int head, count, wants; /* wants: output of the slot, -1 when it is empty */
};

struct plain_router {
    struct plain_input in[PLAIN_PORTS];
    struct plain_flit out[PLAIN_PORTS];
    bool valid[PLAIN_PORTS], full[PLAIN_PORTS];
    int held;
};

struct plain_source {
    uint64_t state;
    struct plain_flit *queue;
    size_t head, tail, room;
};

struct plain_mesh {
    int nx, ny;
    struct plain_router *routers;
    struct plain_source *sources;
    struct plain_flit *arrived; /* number + 1, 0: none */
    uint64_t hops, delivered, hash, next_number;
};

static inline uint64_t plain_draw(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static inline int plain_route(const struct plain_flit *flit, int x, int y) {
    return flit->x < x ? 3 : flit->x > x ? 1 : flit->y < y ? 0 : flit->y > y ? 2 : 4;
}

static inline void plain_push(struct plain_router *router, int input, struct plain_flit flit, uint64_t now) {
    struct plain_input *in = &router->in[input];
    flit.ready = now + PLAIN_FALL_THROUGH;
    in->ring[(in->head + in->count++) % PLAIN_CAPACITY] = flit;
    router->held++;
}

/* Hands output `o` of router (x,y) over; false if the receiver is full. */
static inline bool plain_hand_over(struct plain_mesh *mesh, int x, int y, int o, uint64_t now) {
    static const int dx[] = {0, 1, 0, -1}, dy[] = {-1, 0, 1, 0};
    int at = (y - 1) * mesh->nx + x - 1;
    struct plain_router *router = &mesh->routers[at];
    if (o == 4) {
        mesh->arrived[at] = router->out[o];
        mesh->arrived[at].number++;
        mesh->delivered++;
    } else {
        int input = o ^ 2;
        struct plain_router *next = &mesh->routers[at + dy[o] * mesh->nx + dx[o]];
        if (next->full[input])
            return false;
        plain_push(next, input, router->out[o], now);
    }
    router->held--;
    mesh->hops++;
    return true;
}

static inline void plain_step(struct plain_mesh *mesh, int x, int y, uint64_t now) {
    struct plain_router *router = &mesh->routers[(y - 1) * mesh->nx + x - 1];
    for (int o = 0; o < PLAIN_PORTS; o++) {
        if (router->valid[o] && !plain_hand_over(mesh, x, y, o, now))
            continue;
        router->valid[o] = false;
        for (int k = 0; k < PLAIN_PORTS; k++) {
            struct plain_input *in = &router->in[(now + (unsigned)k) % PLAIN_PORTS];
            if (in->wants == o) {
                router->out[o] = in->slot;
                router->valid[o] = true;
                in->wants = -1;
                break;
            }
        }
    }
    for (int i = 0; i < PLAIN_PORTS; i++) {
        struct plain_input *in = &router->in[i];
        if (in->wants >= 0 || !in->count || in->ring[in->head].ready > now)
            continue;
        in->slot = in->ring[in->head];
        in->wants = plain_route(&in->slot, x, y);
        in->head = (in->head + 1) % PLAIN_CAPACITY;
        in->count--;
    }
}

static inline void plain_generate(struct plain_mesh *mesh, uint64_t now, double rate, bool open) {
    int nodes = mesh->nx * mesh->ny;
    for (int i = 0; i < nodes; i++) {
        struct plain_source *source = &mesh->sources[i];
        if (open && (double)(plain_draw(&source->state) >> 11) * 0x1p-53 < rate) {
            int to = (int)((plain_draw(&source->state) >> 33) % (uint64_t)(nodes - 1));
            to += to >= i;
            if (source->tail == source->room)
                source->queue = realloc(source->queue, (source->room = source->room * 2 + 64) * sizeof *source->queue);
            source->queue[source->tail++] = (struct plain_flit){mesh->next_number++, 0, (uint16_t)(to % mesh->nx + 1),
                                                                (uint16_t)(to / mesh->nx + 1)};
        }
        if (source->head < source->tail && !mesh->routers[i].full[4])
            plain_push(&mesh->routers[i], 4, source->queue[source->head++], now);
    }
}

/* Uniform traffic for `cycles`, then until all is delivered or as long again. */
static inline void plain_run(struct plain_mesh *mesh, int nx, int ny, double rate, uint64_t cycles, uint64_t drain) {
    int nodes = nx * ny;
    *mesh = (struct plain_mesh){.nx = nx, .ny = ny};
    mesh->routers = calloc((size_t)nodes, sizeof *mesh->routers);
    mesh->sources = calloc((size_t)nodes, sizeof *mesh->sources);
    mesh->arrived = calloc((size_t)nodes, sizeof *mesh->arrived);
    for (int i = 0; i < nodes; i++) {
        mesh->sources[i].state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(i + 1);
        for (int p = 0; p < PLAIN_PORTS; p++)
            mesh->routers[i].in[p].wants = -1;
    }
    for (uint64_t now = 0; now < cycles || (now < cycles + drain && mesh->delivered < mesh->next_number); now++) {
        for (int i = 0; i < nodes; i++)
            for (int p = 0; p < PLAIN_PORTS; p++)
                mesh->routers[i].full[p] = mesh->routers[i].in[p].count == PLAIN_CAPACITY;
        plain_generate(mesh, now, rate, now < cycles);
        for (int i = 0; i < nodes; i++)
            if (mesh->routers[i].held)
                plain_step(mesh, i % nx + 1, i / nx + 1, now);
        for (int i = 0; i < nodes; i++)
            if (mesh->arrived[i].number) {
                mesh->hash = mesh->hash * UINT64_C(1099511628211) + ((mesh->arrived[i].number - 1) ^ now << 20);
                mesh->arrived[i].number = 0;
            }
    }
}

static inline void plain_clear(struct plain_mesh *mesh) {
    for (int i = 0; i < mesh->nx * mesh->ny; i++)
        free(mesh->sources[i].queue);
    free(mesh->sources);
    free(mesh->routers);
    free(mesh->arrived);
}
