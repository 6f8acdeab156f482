/* A line of small meshes for tests: 1 x 2 routers, two memory ports, places that inject what they are given and take
 * everything, register writes at given cycles, and a log of what happened when. */
#pragma once

#include <string.h>

#include "model/isa/host.h"
#include "model/isa/wire.h"
#include "units/line.h"

enum {
    LINE_PLACES = 4, /* (1,1) (2,1) (1,2) (2,2) */
    LINE_BYTES = 1 << 17,
    LINE_PATIENCE = 4000, /* cycles without an event: nothing will come any more */
};

enum line_log {
    LOG_ACCEPTED,
    LOG_TAKEN,
    LOG_BEATS, /* of data packets on either link */
    LOG_CREDITS,
    LOG_INJECTED,
    LOG_DELIVERED,
    LOG_LANDED,   /* inbound write address accepted */
    LOG_ANSWERED, /* inbound write response */
    LOG_DOORBELL,
    LOG_WORDS, /* mover words taken */
    LOG_BUSY_ENDS,
    LINE_LOGS,
};

struct line_bench;

struct line_place {
    struct line_bench *bench;
    unsigned mesh, x, y;
    struct link_sink out;
    GArray *flits; /* of struct flit; `offered` is the earliest cycle */
    guint next;
};

struct line_write {
    cycle_t at; /* data beat */
    uint32_t offset;
    uint64_t value;
};

struct line_mesh {
    struct line_bench *bench;
    struct system *system;
    struct interlink *interlink;
    GArray *log[LINE_LOGS]; /* of cycle_t */
    GArray *arrived;        /* of struct flit */
    GArray *writes;
    guint next_write;
    struct line_place places[LINE_PLACES];
    struct agent_requester mover;
    struct interlink_trace trace;
    bool busy;
};

struct line_bench {
    struct machine machine;
    struct line *line;
    struct line_mesh mesh[MACHINE_MAX_MESHES];
    cycle_t now, last;
};

static inline void line_note(struct line_mesh *mesh, enum line_log log, cycle_t at) {
    g_array_append_val(mesh->log[log], at);
    mesh->bench->last = MAX(mesh->bench->last, at);
}

static inline cycle_t line_at(const struct line_bench *bench, unsigned mesh, enum line_log log, unsigned index) {
    const GArray *list = bench->mesh[mesh].log[log];
    return index < list->len ? g_array_index(list, cycle_t, index) : CYCLE_NEVER;
}

static inline unsigned line_count(const struct line_bench *bench, unsigned mesh, enum line_log log) {
    return bench->mesh[mesh].log[log]->len;
}

static inline cycle_t line_at_last(const struct line_bench *bench, unsigned mesh, enum line_log log) {
    return line_at(bench, mesh, log, line_count(bench, mesh, log) - 1);
}

static inline void line_event(void *self, const struct interlink_event *event, cycle_t at) {
    static const enum line_log logs[] = {[EVENT_TAKEN] = LOG_TAKEN,
                                         [EVENT_INJECTED] = LOG_INJECTED,
                                         [EVENT_WRITE_ADDRESS] = LOG_LANDED,
                                         [EVENT_WRITE_RESPONSE] = LOG_ANSWERED,
                                         [EVENT_DOORBELL] = LOG_DOORBELL};
    struct line_mesh *mesh = self;
    if (event->kind == EVENT_BEAT)
        line_note(mesh, event->header && event->header->kind == PACKET_CREDIT ? LOG_CREDITS : LOG_BEATS, at);
    else if (event->kind != EVENT_FAULTS)
        line_note(mesh, logs[event->kind], at);
}

static inline bool line_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)self;
    (void)flit;
    (void)now;
    return true;
}

static inline void line_deliver(void *self, flit_index index, cycle_t now) {
    struct line_place *place = self;
    struct line_mesh *mesh = &place->bench->mesh[place->mesh];
    struct flit flit = *flit_at(&mesh->system->pool, index);
    g_array_append_val(mesh->arrived, flit);
    flit_free(&mesh->system->pool, index);
    line_note(mesh, LOG_DELIVERED, now);
}

static inline cycle_t line_mover_step(void *self, cycle_t now) {
    struct line_mesh *mesh = self;
    if (mesh->system->mover.port.data_accepted)
        line_note(mesh, LOG_WORDS, now);
    return mesh->mover.step(mesh->mover.self, now);
}

static inline cycle_t line_host_step(void *self, cycle_t now) {
    struct line_mesh *mesh = self;
    if (mesh->next_write == mesh->writes->len)
        return CYCLE_NEVER;
    const struct line_write *write = &g_array_index(mesh->writes, struct line_write, mesh->next_write);
    if (now < write->at)
        return write->at;
    dispatch_write(&mesh->system->agent.dispatch, write->offset, write->value, now);
    mesh->next_write++;
    return now + 2;
}

static inline void line_open_mesh(struct line_bench *bench, unsigned m) {
    struct line_mesh *mesh = &bench->mesh[m];
    struct system *system = bench->line->meshes[m];
    *mesh = (struct line_mesh){.bench = bench,
                               .system = system,
                               .interlink = &bench->line->interlinks[m],
                               .arrived = g_array_new(FALSE, FALSE, sizeof(struct flit)),
                               .writes = g_array_new(FALSE, FALSE, sizeof(struct line_write)),
                               .mover = system->agent.mover,
                               .trace = {.self = mesh, .event = line_event}};
    for (unsigned l = 0; l < LINE_LOGS; l++)
        mesh->log[l] = g_array_new(FALSE, FALSE, sizeof(cycle_t));
    mesh->interlink->trace = &mesh->trace;
    system->agent.mover.self = mesh;
    system->agent.mover.step = line_mover_step;
    system->agent.host = (struct agent_host){.self = mesh, .step = line_host_step};
    agent_wake(&system->agent, 0);
    for (unsigned p = 0; p < LINE_PLACES; p++) {
        struct line_place *place = &mesh->places[p];
        *place = (struct line_place){.bench = bench,
                                     .mesh = m,
                                     .x = 1 + p % 2,
                                     .y = 1 + p / 2,
                                     .flits = g_array_new(FALSE, FALSE, sizeof(struct flit))};
        struct link_sink sink = {.self = place, .accepts = line_accepts, .deliver = line_deliver};
        place->out = mesh_attach(&system->mesh, place->x, place->y, sink);
    }
}

/* The machine of `meshes` meshes in the order 0 1 3 2; change it before line_bench_start(). */
static inline void line_bench_open(struct line_bench *bench, unsigned meshes) {
    static const unsigned order[MACHINE_MAX_MESHES] = {0, 1, 3, 2};
    *bench = (struct line_bench){0};
    machine_init(&bench->machine);
    bench->machine.meshes = g_new0(struct machine, meshes);
    bench->machine.mesh_count = meshes;
    for (unsigned m = 0; m < meshes; m++) {
        struct machine *mesh = &bench->machine.meshes[m];
        machine_init(mesh);
        mesh->nx = 1;
        mesh->ny = 2;
        mesh->memory.attachment = MEMORY_CONVERGED;
        mesh->memory.latency = 1;
        mesh->memory.size = LINE_BYTES;
        mesh->port_count = 2;
        mesh->ports = g_new0(struct machine_port, 2);
        mesh->ports[0] = (struct machine_port){.x = 0, .y = 1};
        mesh->ports[1] = (struct machine_port){.x = 0, .y = 2};
        bench->machine.line[m] = meshes == MACHINE_MAX_MESHES ? order[m] : m;
    }
}

static inline void line_bench_start(struct line_bench *bench) {
    g_autoptr(GError) error = NULL;
    bench->line = line_new(&bench->machine, &error);
    g_assert_no_error(error);
    for (unsigned m = 0; m < bench->machine.mesh_count; m++)
        line_open_mesh(bench, m);
}

static inline void line_bench_close(struct line_bench *bench) {
    for (unsigned m = 0; m < bench->machine.mesh_count; m++) {
        struct line_mesh *mesh = &bench->mesh[m];
        for (unsigned l = 0; l < LINE_LOGS; l++)
            g_array_unref(mesh->log[l]);
        g_array_unref(mesh->arrived);
        g_array_unref(mesh->writes);
        for (unsigned p = 0; p < LINE_PLACES; p++)
            g_array_unref(mesh->places[p].flits);
    }
    line_free(bench->line);
    machine_clear(&bench->machine);
}

static inline struct line_place *line_place(struct line_bench *bench, unsigned mesh, unsigned x, unsigned y) {
    return &bench->mesh[mesh].places[(y - 1) * 2 + x - 1];
}

/* A flit of the place for the far mesh, offered from cycle `at` on, behind the earlier ones of the place. */
static inline struct flit line_remote_flit(const struct line_place *place, unsigned to, uint8_t final, cycle_t at) {
    return (struct flit){.dst_x = 0,
                         .dst_y = place->y,
                         .src_x = place->x,
                         .src_y = place->y,
                         .type = FLIT_CU_DATA,
                         .txn = final,
                         .rsvd = FLIT_RSVD_REMOTE | to,
                         .offered = at};
}

static inline void line_inject(struct line_place *place, struct flit flit) {
    g_array_append_val(place->flits, flit);
}

/* A burst of n flits: descriptor with the far node as receiver of the acknowledgement, then data. */
static inline void line_burst(struct line_bench *bench, unsigned from, unsigned x, unsigned y, unsigned to,
                              uint8_t final, unsigned flits, cycle_t at) {
    struct line_place *place = line_place(bench, from, x, y);
    for (unsigned f = 0; f < flits; f++) {
        struct flit flit = line_remote_flit(place, to, final, at);
        flit.last = f + 1 == flits;
        if (f == 0)
            word_set(&flit.payload, 208, 8, final);
        else
            word_set(&flit.payload, 0, 64, 1000 * from + f);
        line_inject(place, flit);
    }
}

static inline void line_write_register(struct line_bench *bench, unsigned mesh, cycle_t at, uint32_t offset,
                                       uint64_t value) {
    struct line_write write = {.at = at, .offset = offset, .value = value};
    g_array_append_val(bench->mesh[mesh].writes, write);
}

/* Register writes of a move of `words` words from 0x4000 of the mesh to 0x2000 of mesh `to`. GO has its data beat in
 * cycle 22. */
static inline void line_move(struct line_bench *bench, unsigned mesh, unsigned to, unsigned words, bool coalesce) {
    const struct {
        uint32_t offset;
        uint64_t value;
    } list[] = {{0x40, 0},
                {0x10, UINT64_C(0x100000040000)},
                {0x18, 0x2000000 | words << 4},
                {0x20, 0},
                {0x10, UINT64_C(0x100000020001) | (uint64_t)to << 40},
                {0x18, 0x2000001 | words << 4},
                {0x20, 0},
                {0x00, coalesce ? 0x10808 : 0x10008}};
    for (unsigned w = 0; w < G_N_ELEMENTS(list); w++)
        line_write_register(bench, mesh, 1 + 3 * w, AGENT_AUX_CFG + list[w].offset, list[w].value);
}

static inline bool line_offer(struct line_bench *bench, struct line_place *place) {
    if (place->next == place->flits->len)
        return false;
    struct line_mesh *mesh = &bench->mesh[place->mesh];
    const struct flit *front = &g_array_index(place->flits, struct flit, place->next);
    if (bench->now < front->offered || !place->out.accepts(place->out.self, front, bench->now))
        return true;
    flit_index index = flit_new(&mesh->system->pool);
    struct flit *flit = flit_at(&mesh->system->pool, index);
    *flit = *front;
    flit->offered = bench->now;
    place->out.deliver(place->out.self, index, bench->now);
    line_wake(bench->line, place->mesh, bench->now);
    place->next++;
    line_note(mesh, LOG_ACCEPTED, bench->now);
    return true;
}

/* Runs until nothing is due, or nothing has happened for long. */
static inline void line_bench_run(struct line_bench *bench) {
    bool going = true;
    for (; going && bench->now < bench->last + LINE_PATIENCE; bench->now++) {
        going = false;
        for (unsigned m = 0; m < bench->machine.mesh_count; m++)
            for (unsigned p = 0; p < LINE_PLACES; p++)
                going |= line_offer(bench, &bench->mesh[m].places[p]);
        going |= line_step(bench->line, bench->now) != CYCLE_NEVER;
        for (unsigned m = 0; m < bench->machine.mesh_count; m++) {
            struct line_mesh *mesh = &bench->mesh[m];
            bool busy = mover_busy(&mesh->system->mover);
            if (mesh->busy && !busy)
                line_note(mesh, LOG_BUSY_ENDS, bench->now + 1);
            mesh->busy = busy;
        }
    }
}
