/* A mover on its memory path, alone or with the bank of one's choice, for tests: registers are written one per cycle, a
 * move runs until everything is quiet. */
#pragma once

#include <string.h>

#include "memory/dram.h"
#include "memory/move.h"
#include "memory/mover.h"
#include "memory/path.h"

enum {
    BENCH_BYTES = 1 << 20,
    BENCH_WORDS = BENCH_BYTES / WORD_BYTES,
    BENCH_PATIENCE = 4000000,
};

struct mover_bench {
    struct machine machine;
    struct hazard_log hazards;
    struct transform_bank *bank;
    struct dram dram;
    struct mover mover;
    struct mem_path *path;
    cycle_t now;
    /* Of the last move. */
    cycle_t busy_from, busy_to;      /* cycles in which busy was high first and last */
    uint64_t reads, writes, bursts;  /* words returned, words handed over, read bursts accepted */
    cycle_t first_read, first_write; /* cycles of the first accepted addresses; CYCLE_NEVER if none */
    cycle_t last_read;
};

static inline void bench_open(struct mover_bench *bench, enum memory_attachment attachment,
                              const struct transform_occupant *const *slots, unsigned count) {
    *bench = (struct mover_bench){.machine = {.noc = {.fall_through = 3, .fifo_extra = 2},
                                              .memory = {.attachment = attachment,
                                                         .latency = 1,
                                                         .channel_bits = WORD_BITS,
                                                         .size = BENCH_BYTES,
                                                         .crossing = 8,
                                                         .address_queue = 16,
                                                         .write_queue = 64,
                                                         .read_queue = 64,
                                                         .response_queue = 16},
                                              .mover = {.index_words = 256,
                                                        .fifo_depth = 512,
                                                        .command_depth = 128,
                                                        .max_reads = 16,
                                                        .max_writes = 32,
                                                        .burst_max = 128}}};
    g_autoptr(GError) error = NULL;
    hazard_log_init(&bench->hazards);
    bench->bank = transform_bank_new(slots, count, &bench->hazards, &error);
    g_assert_no_error(error);
    dram_init(&bench->dram, BENCH_BYTES);
    mover_init(&bench->mover, &bench->machine, 0, bench->bank, &bench->hazards);
    struct mem_requester *requester = &bench->mover.port;
    bench->path = path_new(&bench->machine, &bench->dram, &requester, 1);
}

static inline void bench_close(struct mover_bench *bench) {
    path_free(bench->path);
    mover_clear(&bench->mover);
    dram_clear(&bench->dram);
    transform_bank_free(bench->bank);
    hazard_log_clear(&bench->hazards);
}

/* One cycle; write may be NULL. True while anything goes on. */
static inline bool bench_cycle(struct mover_bench *bench, const struct register_write *write) {
    cycle_t now = bench->now++;
    const struct mem_requester *port = &bench->mover.port;
    bool moving = path_step(bench->path, now);
    bench->reads += port->word_returned;
    bench->writes += port->data_accepted;
    bench->bursts += port->read_accepted;
    if (port->read_accepted) {
        bench->last_read = now;
        bench->first_read = MIN(bench->first_read, now);
    }
    if (port->write_accepted)
        bench->first_write = MIN(bench->first_write, now);
    if (mover_busy(&bench->mover)) {
        bench->busy_from = MIN(bench->busy_from, now);
        bench->busy_to = now;
    }
    if (write)
        mover_write(&bench->mover, write->offset, write->value, now);
    return mover_step(&bench->mover, now) != CYCLE_NEVER || moving;
}

static inline void bench_forget(struct mover_bench *bench) {
    bench->busy_from = bench->first_read = bench->first_write = CYCLE_NEVER;
    bench->busy_to = bench->last_read = bench->reads = bench->writes = bench->bursts = 0;
}

static inline void bench_settle(struct mover_bench *bench) {
    cycle_t start = bench->now;
    while (bench_cycle(bench, NULL))
        g_assert_cmpuint(bench->now - start, <, BENCH_PATIENCE);
}

/* Writes the list and runs until all is quiet. Returns the cycle of the last write, the GO. */
static inline cycle_t bench_move(struct mover_bench *bench, const struct move *move) {
    bench_forget(bench);
    for (unsigned i = 0; i < move->count; i++)
        bench_cycle(bench, &move->writes[i]);
    cycle_t go = bench->now - 1;
    bench_settle(bench);
    return go;
}

static inline void bench_moves(struct mover_bench *bench, GArray *moves) {
    for (guint i = 0; i < moves->len; i++)
        bench_move(bench, &g_array_index(moves, struct move, i));
    g_array_unref(moves);
}

/* Random contents, the same for the same seed; returns a copy to be freed. */
static inline struct word256 *bench_randomise(struct mover_bench *bench, guint32 seed) {
    struct word256 *words = g_new(struct word256, BENCH_WORDS);
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    for (unsigned i = 0; i < BENCH_WORDS; i++)
        for (unsigned lane = 0; lane < 4; lane++)
            words[i].w[lane] = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
    dram_load(&bench->dram, 0, words, BENCH_BYTES);
    return words;
}

/* Fails on the first word that differs from `expected`. */
static inline void bench_expect_memory(struct mover_bench *bench, const struct word256 *expected, const char *what) {
    for (unsigned i = 0; i < BENCH_WORDS; i++) {
        struct word256 word = dram_read(&bench->dram, (uint64_t)i * WORD_BYTES, NULL);
        if (memcmp(&word, &expected[i], sizeof word))
            g_error("%s: word %u is %016" PRIx64 "…, expected %016" PRIx64 "…", what, i, word.w[0], expected[i].w[0]);
    }
}
