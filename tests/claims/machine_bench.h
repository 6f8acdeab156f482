/* A whole machine on a bench: described by a text, its memory and instruction queues filled by hand, run until nothing
 * is left to happen, and everything that crossed a unit's link or happened inside a component noted with its cycle.
 * What is put in takes effect in the cycle it names: an instruction is then accepted on the unit's local link, a
 * register write has its data beat, a flit for a memory port is accepted by it. */
#pragma once

#include <string.h>

#include "machine_text.h"
#include "model/numeric/fp16.h"
#include "units/cluster/cluster.h"
#include "units/system.h"

#define BENCH_MEMORY(attachment) "\"memory\": {\"attachment\": \"" attachment "\", \"latency\": 1}"
#define BENCH_DEEP               "\"endpoint\": {\"inst_depth\": 512, \"recv_depth\": 512}"
#define BENCH_WHOLE_L1           "\"cluster\": {\"l1_a\": 512, \"l1_b\": 512}"
#define MAP_ROW_OF_2             "\"map\": [\"xxx nul nul xxx\", \"mag mat mat nul\", \"xxx nul nul xxx\"]"
#define MAP_4                    "\"map\": [\"xxx nul nul xxx\", \"mag mat mat nul\", \"nul mat mat nul\", \"xxx nul nul xxx\"]"

enum {
    BENCH_PATIENCE = 1000000,
    BENCH_UNITS = 8,
    BENCH_PORT = 1000, /* event "unit" of memory port 0; of the dispatch agent the next number */
    BENCH_AGENT,
};

struct bench_event {
    const char *what; /* "in", "out" (flits at a unit's link), "taken", "retired", and the components' own */
    unsigned unit;
    cycle_t cycle;
    struct flit flit; /* of "in", "out", "response" */
    uint64_t a, b;
};

enum bench_input {
    INPUT_UNIT,  /* a flit accepted by unit `target` */
    INPUT_PORT,  /* a flit accepted by memory port 0 */
    INPUT_WRITE, /* a register write of the dispatch agent's window */
    INPUT_ENGINE /* the same of the control-program engine's */
};

struct bench_injection {
    cycle_t at;
    enum bench_input kind;
    unsigned target;
    struct flit flit;
    uint32_t offset;
    uint64_t value;
};

struct machine_bench {
    struct machine machine;
    struct system *system;
    GArray *events, *injections;
    guint injected;
    cycle_t now, due;
    struct endpoint_trace endpoints;
    struct cluster_trace clusters;
    struct port_trace ports;
    struct dispatch_trace dispatch;
    cycle_t program_end[BENCH_UNITS]; /* cycle after the last instruction put in for a unit */
    uint64_t unit_out_period;         /* above 1: units' links take a flit in every such cycle only */
    /* Called after every cycle, when set. */
    void (*sample)(struct machine_bench *bench, void *to, cycle_t now);
    void *sample_to;
};

/* ---- noting ---- */

static inline void bench_note(struct machine_bench *bench, struct bench_event event) {
    g_array_append_val(bench->events, event);
}

static inline unsigned bench_unit_of(const struct machine_bench *bench, const struct endpoint *endpoint) {
    return (unsigned)(endpoint - bench->system->endpoints);
}

static inline void bench_flit_in(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    bench_note(self,
               (struct bench_event){.what = "in", .unit = bench_unit_of(self, endpoint), .cycle = now, .flit = *flit});
}

static inline void bench_flit_out(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    bench_note(self,
               (struct bench_event){.what = "out", .unit = bench_unit_of(self, endpoint), .cycle = now, .flit = *flit});
}

static inline void bench_taken(void *self, const struct endpoint *endpoint, const struct flit *inst, cycle_t now) {
    bench_note(self, (struct bench_event){
                         .what = "taken", .unit = bench_unit_of(self, endpoint), .cycle = now, .flit = *inst});
}

static inline void bench_retired(void *self, const struct endpoint *endpoint, cycle_t now, bool fault,
                                 uint32_t result) {
    bench_note(self,
               (struct bench_event){
                   .what = "retired", .unit = bench_unit_of(self, endpoint), .cycle = now, .a = result, .b = fault});
}

static inline void bench_cluster_event(void *self, const struct unit_context *where, const char *what, uint64_t a,
                                       uint64_t b, cycle_t now) {
    const struct machine_bench *bench = self;
    unsigned unit = (unsigned)(where->place - bench->machine.units);
    bench_note(self, (struct bench_event){.what = what, .unit = unit, .cycle = now, .a = a, .b = b});
}

static inline void bench_port_event(void *self, const struct mem_port *port, const char *what, cycle_t now) {
    bench_note(self, (struct bench_event){.what = what, .unit = BENCH_PORT, .cycle = now, .a = port->index});
}

static inline void bench_dispatch_event(void *self, const char *what, const struct flit *flit, cycle_t now) {
    struct bench_event event = {.what = what, .unit = BENCH_AGENT, .cycle = now};
    if (flit)
        event.flit = *flit;
    bench_note(self, event);
}

/* ---- life ---- */

static inline struct cluster *bench_cluster(const struct machine_bench *bench, unsigned unit) {
    return bench->system->endpoints[unit].unit;
}

static inline void bench_open(struct machine_bench *bench, const char *text) {
    GError *error = NULL;
    *bench = (struct machine_bench){.due = CYCLE_NEVER,
                                    .events = g_array_new(FALSE, TRUE, sizeof(struct bench_event)),
                                    .injections = g_array_new(FALSE, TRUE, sizeof(struct bench_injection))};
    assert_machine(&bench->machine, text, NULL);
    bench->system = system_new(&bench->machine, &error);
    g_assert_no_error(error);
    bench->endpoints = (struct endpoint_trace){bench, bench_flit_in, bench_flit_out, bench_taken, bench_retired};
    bench->clusters = (struct cluster_trace){.self = bench, .event = bench_cluster_event};
    bench->ports = (struct port_trace){.self = bench, .event = bench_port_event};
    bench->dispatch = (struct dispatch_trace){.self = bench, .event = bench_dispatch_event};
    for (unsigned i = 0; i < bench->system->endpoint_count; i++) {
        bench->system->endpoints[i].trace = &bench->endpoints;
        bench_cluster(bench, i)->trace = &bench->clusters;
    }
    for (unsigned p = 0; p < bench->system->agent.port_count; p++)
        bench->system->agent.ports[p].trace = &bench->ports;
    bench->system->agent.dispatch.trace = &bench->dispatch;
}

static inline void bench_close(struct machine_bench *bench) {
    system_free(bench->system);
    machine_clear(&bench->machine);
    g_array_unref(bench->events);
    g_array_unref(bench->injections);
}

/* ---- a memory port by itself: what it sends is noted as "response" instead of going to the mesh ---- */

static inline bool bench_port_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)self, (void)flit, (void)now;
    return true;
}

static inline void bench_port_deliver(void *self, flit_index index, cycle_t now) {
    struct machine_bench *bench = self;
    const struct flit *flit = flit_at(&bench->system->pool, index);
    bench_note(bench, (struct bench_event){.what = "response", .unit = BENCH_PORT, .cycle = now, .flit = *flit});
    flit_free(&bench->system->pool, index);
}

static inline void bench_capture_port(struct machine_bench *bench) {
    bench->system->agent.ports[0].out =
        (struct link_sink){.self = bench, .accepts = bench_port_accepts, .deliver = bench_port_deliver};
}

/* Unit 0's link ends on the bench, which takes a flit in cycles that are multiples of `period` and drops it. */
static inline bool bench_unit_accepts(void *self, const struct flit *flit, cycle_t now) {
    const struct machine_bench *bench = self;
    (void)flit;
    return now % bench->unit_out_period == 0;
}

static inline void bench_unit_deliver(void *self, flit_index index, cycle_t now) {
    struct machine_bench *bench = self;
    (void)now;
    flit_free(&bench->system->pool, index);
}

static inline void bench_capture_unit(struct machine_bench *bench, uint64_t period) {
    bench->unit_out_period = period;
    bench->system->endpoints[0].out =
        (struct link_sink){.self = bench, .accepts = bench_unit_accepts, .deliver = bench_unit_deliver};
}

/* ---- input ---- */

static inline void bench_inject(struct machine_bench *bench, struct bench_injection injection) {
    g_assert_cmpuint(injection.at, >=, bench->now);
    g_array_append_val(bench->injections, injection);
}

static inline void bench_flit(struct machine_bench *bench, unsigned unit, const struct flit *flit, cycle_t at) {
    bench_inject(bench, (struct bench_injection){.at = at, .kind = INPUT_UNIT, .target = unit, .flit = *flit});
}

/* Instructions accepted by a unit in cycles at, at + 1, …; the final one carries `last`, all name port 0 as sender. */
static inline void bench_program_at(struct machine_bench *bench, unsigned unit, const struct cluster_inst *insts,
                                    unsigned count, cycle_t at) {
    for (unsigned k = 0; k < count; k++) {
        struct flit flit = {.type = FLIT_CU_INST,
                            .src_x = bench->machine.ports[0].x,
                            .src_y = bench->machine.ports[0].y,
                            .dst_x = bench->machine.units[unit].x,
                            .dst_y = bench->machine.units[unit].y,
                            .txn = k,
                            .last = k + 1 == count};
        GError *error = NULL;
        cluster_inst_encode(&insts[k], &flit.payload, &error);
        g_assert_no_error(error);
        bench_flit(bench, unit, &flit, at + k);
    }
    bench->program_end[unit] = at + count;
}

/* The same as soon as it can be, behind what the unit was given before. */
static inline void bench_program(struct machine_bench *bench, unsigned unit, const struct cluster_inst *insts,
                                 unsigned count) {
    bench_program_at(bench, unit, insts, count, MAX(bench->now, bench->program_end[unit]));
}

#define BENCH_PROGRAM(bench, unit, ...)                                                                                \
    bench_program(bench, unit, (const struct cluster_inst[]){__VA_ARGS__},                                             \
                  G_N_ELEMENTS(((const struct cluster_inst[]){__VA_ARGS__})))

static inline void bench_write(struct machine_bench *bench, uint32_t offset, uint64_t value, cycle_t at) {
    bench_inject(bench, (struct bench_injection){.at = at, .kind = INPUT_WRITE, .offset = offset, .value = value});
}

static inline void bench_engine(struct machine_bench *bench, uint32_t offset, uint64_t value, cycle_t at) {
    bench_inject(bench, (struct bench_injection){.at = at, .kind = INPUT_ENGINE, .offset = offset, .value = value});
}

static inline void bench_port_flit(struct machine_bench *bench, const struct flit *flit, cycle_t at) {
    bench_inject(bench, (struct bench_injection){.at = at, .kind = INPUT_PORT, .flit = *flit});
}

/* ---- running ---- */

static inline flit_index bench_new_flit(struct machine_bench *bench, const struct flit *content) {
    flit_index index = flit_new(&bench->system->pool);
    struct flit *flit = flit_at(&bench->system->pool, index);
    *flit = *content;
    flit->offered = bench->now;
    return index;
}

static inline void bench_apply(struct machine_bench *bench, const struct bench_injection *input) {
    struct agent *agent = &bench->system->agent;
    if (input->kind == INPUT_WRITE) {
        dispatch_write(&agent->dispatch, input->offset, input->value, bench->now);
        agent_wake(agent, bench->now);
    } else if (input->kind == INPUT_ENGINE) {
        control_write(&agent->control, input->offset, input->value, bench->now);
        agent_wake(agent, bench->now);
    } else if (input->kind == INPUT_PORT) {
        port_deliver(&agent->ports[0], bench_new_flit(bench, &input->flit), bench->now);
        agent_wake(agent, bench->now + bench->machine.noc.fall_through);
    } else {
        struct link_sink sink = endpoint_sink(&bench->system->endpoints[input->target]);
        g_assert_true(sink.accepts(sink.self, &input->flit, bench->now));
        sink.deliver(sink.self, bench_new_flit(bench, &input->flit), bench->now);
    }
}

static inline int bench_by_cycle(const void *a, const void *b) {
    const struct bench_injection *one = a, *two = b;
    return one->at < two->at ? -1 : one->at > two->at;
}

static inline const struct bench_injection *bench_next_input(const struct machine_bench *bench) {
    return bench->injected < bench->injections->len
               ? &g_array_index(bench->injections, struct bench_injection, bench->injected)
               : NULL;
}

/* Runs until nothing can happen any more, or to the end of cycle `limit`. Returns the last cycle in which anything was
 * due; bench->now is the next free one. */
static inline cycle_t bench_run_to(struct machine_bench *bench, cycle_t limit) {
    const struct bench_injection *input;
    g_array_sort(bench->injections, bench_by_cycle);
    cycle_t last = bench->now, due = bench->due;
    while (true) {
        input = bench_next_input(bench);
        cycle_t next = MIN(due, input ? input->at : CYCLE_NEVER);
        if (next == CYCLE_NEVER || next > limit)
            break;
        last = bench->now = next;
        for (; (input = bench_next_input(bench)) && input->at == next; bench->injected++)
            bench_apply(bench, input);
        due = system_step(bench->system, next);
        if (bench->sample)
            bench->sample(bench, bench->sample_to, next);
    }
    bench->due = due;
    bench->now = last + 1;
    return last;
}

static inline cycle_t bench_run(struct machine_bench *bench) {
    cycle_t limit = bench->now + BENCH_PATIENCE, last = bench_run_to(bench, limit);
    if (bench->due != CYCLE_NEVER)
        g_error("the machine is still not at rest in cycle %" G_GUINT64_FORMAT, last);
    return last;
}

/* ---- looking ---- */

/* Event number n (from 0) of a name at a unit from event `first` on, of a flit type or -1 for any; NULL if there are
 * not so many. */
static inline const struct bench_event *bench_find(const struct machine_bench *bench, const char *what, unsigned unit,
                                                   int type, unsigned n) {
    for (guint i = 0; i < bench->events->len; i++) {
        const struct bench_event *event = &g_array_index(bench->events, struct bench_event, i);
        if (event->unit == unit && strcmp(event->what, what) == 0 && (type < 0 || event->flit.type == type) && !n--)
            return event;
    }
    return NULL;
}

static inline const struct bench_event *bench_need(const struct machine_bench *bench, const char *what, unsigned unit,
                                                   int type, unsigned n) {
    const struct bench_event *event = bench_find(bench, what, unit, type, n);
    if (!event)
        g_error("no event \"%s\" number %u of flit type %d at unit %u", what, n, type, unit);
    return event;
}

static inline cycle_t bench_cycle(const struct machine_bench *bench, const char *what, unsigned unit, unsigned n) {
    return bench_need(bench, what, unit, -1, n)->cycle;
}

static inline cycle_t bench_flit_cycle(const struct machine_bench *bench, const char *what, unsigned unit,
                                       enum flit_type type, unsigned n) {
    return bench_need(bench, what, unit, (int)type, n)->cycle;
}

static inline unsigned bench_count(const struct machine_bench *bench, const char *what, unsigned unit, int type) {
    unsigned count = 0;
    for (guint i = 0; i < bench->events->len; i++) {
        const struct bench_event *event = &g_array_index(bench->events, struct bench_event, i);
        count += event->unit == unit && strcmp(event->what, what) == 0 && (type < 0 || event->flit.type == type);
    }
    return count;
}

static inline void bench_forget(struct machine_bench *bench) {
    g_array_set_size(bench->events, 0);
}

static inline uint64_t bench_hazards(const struct machine_bench *bench, const char *id) {
    return hazard_count(&bench->system->hazards, id);
}

static inline unsigned bench_all_hazards(const struct machine_bench *bench) {
    return bench->system->hazards.hazards->len;
}

static inline struct cluster_counts bench_counts(const struct machine_bench *bench, unsigned unit) {
    return cluster_counts_at(bench_cluster(bench, unit), bench->now);
}

/* ---- operands and answers ---- */

/* Random entries: elements -63..63, scales around 1. */
static inline struct mxfp7_entry *bench_entries(unsigned count, guint32 seed) {
    struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, count);
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    for (unsigned e = 0; e < count; e++)
        for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
            for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                entries[e].q[lane][k] = (int8_t)g_rand_int_range(random, -63, 64);
            entries[e].scale[lane] = (uint8_t)g_rand_int_range(random, 17 << 3, 20 << 3);
        }
    return entries;
}

static inline void bench_load(struct machine_bench *bench, uint64_t address, const struct mxfp7_entry *entries,
                              unsigned count, enum mxfp7_packing packing) {
    for (unsigned e = 0; e < count; e++) {
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&entries[e], packing, words);
        dram_load(&bench->system->dram, address + e * sizeof words, words, sizeof words);
    }
}

/* Loads fresh random entries and returns them, to be freed. */
static inline struct mxfp7_entry *bench_operand(struct machine_bench *bench, uint64_t address, unsigned count,
                                                unsigned side, guint32 seed) {
    struct mxfp7_entry *entries = bench_entries(count, seed);
    bench_load(bench, address, entries, count, side ? MXFP7_COLUMNS : MXFP7_ROWS);
    return entries;
}

/* One K block onto a sub-tile, opening it or adding to it. */
static inline void bench_block(uint32_t tile[TILE_LANES], const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                               bool load) {
    int32_t sums[TILE_LANES];
    mxfp7_block_dot(a, b, sums);
    (load ? fp22_tile_load : fp22_tile_add)(tile, sums, a->scale, b->scale, CLUSTER_ANCHOR, FP22_WIDTH);
}

/* The FP16 words of gm x gn sub-tiles over nk blocks; a at g*nk + kb, b at h*nk + kb. */
static inline struct word256 *bench_expected(const struct mxfp7_entry *a, const struct mxfp7_entry *b, unsigned gm,
                                             unsigned gn, unsigned nk) {
    struct word256 *words = g_new0(struct word256, gm * gn);
    for (unsigned g = 0; g < gm; g++)
        for (unsigned h = 0; h < gn; h++) {
            uint32_t tile[TILE_LANES];
            for (unsigned kb = 0; kb < nk; kb++)
                bench_block(tile, &a[g * nk + kb], &b[h * nk + kb], kb == 0);
            fp22_tile_emit(tile, FP22_WIDTH, &words[g * gn + h]);
        }
    return words;
}

static inline struct word256 bench_memory(struct machine_bench *bench, uint64_t address) {
    return dram_read(&bench->system->dram, address, NULL);
}

static inline bool bench_memory_is(struct machine_bench *bench, uint64_t address, const struct word256 *words,
                                   unsigned count) {
    for (unsigned w = 0; w < count; w++) {
        struct word256 word = bench_memory(bench, address + (uint64_t)w * WORD_BYTES);
        if (memcmp(&word, &words[w], sizeof word))
            return false;
    }
    return true;
}

static inline void bench_assert_memory(struct machine_bench *bench, uint64_t address, const struct word256 *words,
                                       unsigned count) {
    for (unsigned w = 0; w < count; w++) {
        struct word256 word = bench_memory(bench, address + (uint64_t)w * WORD_BYTES);
        g_assert_cmpmem(&word, sizeof word, &words[w], sizeof word);
    }
}

static inline const struct mxfp7_entry *bench_l1(const struct machine_bench *bench, unsigned unit, unsigned side,
                                                 unsigned bank, unsigned entry) {
    return &bench_cluster(bench, unit)->store[side][bank * BANK_ENTRIES + entry];
}

static inline void bench_assert_l1(const struct machine_bench *bench, unsigned unit, unsigned side, unsigned first,
                                   const struct mxfp7_entry *entries, unsigned count) {
    for (unsigned e = 0; e < count; e++)
        g_assert_cmpmem(bench_l1(bench, unit, side, 0, first + e), sizeof entries[e], &entries[e], sizeof entries[e]);
}

/* Instructions with the usual anchor. */
#define FILL(...)  ((struct cluster_inst){.op = CLUSTER_FILL, .anchor = CLUSTER_ANCHOR, __VA_ARGS__})
#define GEMM(...)  ((struct cluster_inst){.op = CLUSTER_GEMM, .anchor = CLUSTER_ANCHOR, __VA_ARGS__})
#define DRAIN(...) ((struct cluster_inst){.op = CLUSTER_DRAIN, .anchor = CLUSTER_ANCHOR, __VA_ARGS__})
