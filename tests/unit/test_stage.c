/* The staging store at the converged path, and the DRAM timing options, driven by one requester or a mover. */
#include "memory/stage.h"

#include "memory/dram_timing.h"
#include "mover_bench.h"

enum {
    LINES = 64,
    PATIENCE = 5000,
};

#define STAGED (UINT64_C(1) << 39)

static const struct machine staged_machine = {.noc = {.fall_through = 3, .fifo_extra = 2},
                                              .memory = {.attachment = MEMORY_CONVERGED,
                                                         .latency = 1,
                                                         .channel_bits = WORD_BITS,
                                                         .size = BENCH_BYTES,
                                                         .crossing = 8,
                                                         .address_queue = 16,
                                                         .write_queue = 64,
                                                         .read_queue = 64,
                                                         .response_queue = 16,
                                                         .staging = STAGING_CONVERGED,
                                                         .staging_entries = 256,
                                                         .staging_banks = 4}};

/* Cycles of what happened to one requester, 0 for its first offer. */
struct trace {
    cycle_t accepted, words[LINES], response;
    unsigned count;
    struct word256 data[LINES];
};

/* One read or write burst, alone on the path. */
static struct trace burst(struct mem_path *path, struct mem_requester *port, bool write, uint64_t address,
                          unsigned words, cycle_t *now) {
    struct trace trace = {0};
    cycle_t start = *now;
    *port = (struct mem_requester){.return_ready = true};
    port->read_offered = !write;
    port->write_offered = port->data_offered = write;
    port->read_address = port->write_address = address;
    port->read_words = port->write_words = words;
    for (bool moving = true; moving; ++*now) {
        g_assert_cmpuint(*now - start, <, PATIENCE);
        port->data = (struct word256){{trace.count, address, 7, 9}};
        moving = path_step(path, *now);
        if (port->read_accepted || port->write_accepted) {
            trace.accepted = *now - start;
            port->read_offered = port->write_offered = false;
        }
        if (port->word_returned || port->data_accepted) {
            trace.data[trace.count] = port->word;
            trace.words[trace.count++] = *now - start;
            port->data_offered = write && trace.count < words;
        }
        if (port->response)
            trace.response = *now - start;
    }
    return trace;
}

static void bursts_take_the_stated_cycles(void) {
    struct dram dram;
    struct mem_requester port, *ports = &port;
    dram_init(&dram, BENCH_BYTES);
    struct mem_path *path = path_new(&staged_machine, &dram, &ports, 1);
    cycle_t now = 100;
    struct trace write = burst(path, &port, true, STAGED | 0x400, 4, &now);
    g_assert_cmpuint(write.accepted, ==, 1);
    for (unsigned i = 0; i < 4; i++)
        g_assert_cmpuint(write.words[i], ==, 2 + i);
    g_assert_cmpuint(write.response, ==, 6);
    struct trace read = burst(path, &port, false, STAGED | 0x400, 4, &now);
    g_assert_cmpuint(read.accepted, ==, 1);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(read.words[i], ==, 2 + 5 + 6 * i); /* request in the cycle after acceptance */
        g_assert_cmpuint(read.data[i].w[0], ==, i);
    }
    g_assert_cmpuint(dram.reads + dram.writes, ==, 0);
    path_free(path);
    dram_clear(&dram);
}

static void addresses_of_others_are_not_claimed(void) {
    struct stage *stage = stage_new(&staged_machine.memory, 2);
    g_assert_true(stage_claims(stage, STAGED | UINT64_C(2) << 36 | 0x40));
    g_assert_false(stage_claims(stage, STAGED | UINT64_C(1) << 36 | 0x40)); /* another mesh */
    g_assert_false(stage_claims(stage, STAGED | UINT64_C(2) << 36 | UINT64_C(4) << 32));
    g_assert_false(stage_claims(stage, UINT64_C(2) << 36 | 0x40)); /* DRAM */
    stage_free(stage);
}

/* Moves between DRAM and staging in both directions, bytes intact. */
static void moves_go_through_the_store(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    path_free(bench.path);
    bench.machine.memory.staging = STAGING_CONVERGED;
    bench.machine.memory.staging_entries = 256;
    struct mem_requester *requester = &bench.mover.port;
    bench.path = path_new(&bench.machine, &bench.dram, &requester, 1);
    g_autofree struct word256 *expected = bench_randomise(&bench, 51);
    GArray *moves = moves_new();
    moves_copy(moves, 0x1000, STAGED | 0x1000, 300);
    moves_copy(moves, STAGED | 0x1000, 0x80000, 300);
    bench_moves(&bench, moves);
    memcpy(&expected[0x80000 / 32], &expected[0x1000 / 32], 300 * sizeof *expected);
    bench_expect_memory(&bench, expected, "through staging");
    struct word256 word;
    stage_store(path_stage(bench.path), 0x1000 + 299 * 32, &word, sizeof word);
    g_assert_cmpmem(&word, sizeof word, &expected[0x1000 / 32 + 299], sizeof word);
    g_assert_cmpuint(bench.mover.moves_done, ==, 2);
    bench_close(&bench);
}

/* A write to the store waits until the requester's write to DRAM is answered; another requester's does not. */
static void sides_change_only_when_drained(void) {
    struct dram dram;
    struct mem_requester ports[2] = {{.write_offered = true, .data_offered = true, .write_words = 1}, {0}};
    struct mem_requester *list[] = {&ports[0], &ports[1]};
    cycle_t staged_at[2] = {0}, answered_at = 0;
    dram_init(&dram, BENCH_BYTES);
    struct mem_path *path = path_new(&staged_machine, &dram, list, 2);
    for (cycle_t now = 0; now < 200; now++) {
        path_step(path, now);
        for (unsigned r = 0; r < 2; r++) {
            bool to_store = ports[r].write_address & STAGED;
            if (ports[r].response && r == 0 && !answered_at)
                answered_at = now;
            if (ports[r].write_accepted && to_store)
                staged_at[r] = now;
            if (ports[r].write_accepted)
                ports[r].write_offered = false;
            if (ports[r].data_accepted)
                ports[r].data_offered = false;
        }
        bool next = ports[0].data_accepted && !(ports[0].write_address & STAGED);
        for (unsigned r = 0; next && r < 2; r++)
            ports[r] = (struct mem_requester){
                .write_offered = true, .data_offered = true, .write_words = 1, .write_address = STAGED | r << 5};
    }
    g_assert_cmpuint(answered_at, >, 0);
    g_assert_cmpuint(staged_at[0], >, answered_at);
    g_assert_cmpuint(staged_at[1], <, answered_at);
    path_free(path);
    dram_clear(&dram);
}

/* Busy cycles of a copy of 512 words under the given options. */
static uint64_t copy_time(struct memory_params options, enum memory_attachment attachment) {
    struct mover_bench bench;
    bench_open(&bench, attachment, NULL, 0);
    struct memory_params *memory = &bench.machine.memory;
    path_free(bench.path);
    memory->banks = options.banks, memory->row_bytes = options.row_bytes;
    memory->row_hit = options.row_hit, memory->row_miss = options.row_miss;
    memory->refresh_interval = options.refresh_interval, memory->refresh_cycles = options.refresh_cycles;
    memory->words_per_cycle = options.words_per_cycle;
    if (options.latency)
        memory->latency = options.latency;
    struct mem_requester *requester = &bench.mover.port;
    bench.path = path_new(&bench.machine, &bench.dram, &requester, 1);
    g_autofree struct word256 *expected = bench_randomise(&bench, 52);
    GArray *moves = moves_new();
    moves_copy(moves, 0x1000, 0x80000, 512);
    bench_moves(&bench, moves);
    memcpy(&expected[0x80000 / 32], &expected[0x1000 / 32], 512 * sizeof *expected);
    bench_expect_memory(&bench, expected, "copy under memory options");
    uint64_t busy = bench.mover.busy_cycles;
    bench_close(&bench);
    return busy;
}

static void memory_options_only_slow_what_they_name(void) {
    for (int a = MEMORY_CONVERGED; a <= MEMORY_PER_PORT; a++) {
        uint64_t plain = copy_time((struct memory_params){0}, a);
        g_assert_cmpuint(copy_time((struct memory_params){.words_per_cycle = 8}, a), ==, plain);
        g_assert_cmpuint(copy_time((struct memory_params){.words_per_cycle = 0.25}, a), >=, 512 * 4);
        g_assert_cmpuint(copy_time((struct memory_params){.refresh_interval = 100, .refresh_cycles = 20}, a), >, plain);
        g_assert_cmpuint(copy_time((struct memory_params){.latency = 31}, a), >, plain);
        struct memory_params rows = {.banks = 4, .row_bytes = 8192, .row_hit = 1, .row_miss = 1};
        g_assert_cmpuint(copy_time(rows, a), ==, plain);
        rows.row_miss = 50;
        g_assert_cmpuint(copy_time(rows, a), >, plain);
    }
}

static void shared_bandwidth_counts_reads_and_writes(void) {
    /* 512 words in and out at one word a cycle in all: the pins are busy 1024 cycles. */
    g_assert_cmpuint(copy_time((struct memory_params){.words_per_cycle = 1}, MEMORY_CONVERGED), >=, 1024);
    g_assert_cmpuint(copy_time((struct memory_params){0}, MEMORY_CONVERGED), <, 1024);
}

static void rows_hit_while_they_stay_open(void) {
    struct memory_params memory = {.banks = 2, .row_bytes = 1024, .row_hit = 10, .row_miss = 30, .latency = 99};
    struct dram_timing timing;
    dram_timing_init(&timing, &memory);
    g_assert_cmpuint(dram_timing_open(&timing, 0), ==, 30);
    g_assert_cmpuint(dram_timing_open(&timing, 1023), ==, 10);
    g_assert_cmpuint(dram_timing_open(&timing, 1024), ==, 30); /* the other bank */
    g_assert_cmpuint(dram_timing_open(&timing, 512), ==, 10);
    g_assert_cmpuint(dram_timing_open(&timing, 2048), ==, 30); /* same bank, other row */
    g_assert_cmpuint(dram_timing_open(&timing, 0), ==, 30);
    g_assert_cmpuint(timing.row_hits, ==, 2);
    dram_timing_clear(&timing);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stage/bursts_take_the_stated_cycles", bursts_take_the_stated_cycles);
    g_test_add_func("/stage/addresses_of_others_are_not_claimed", addresses_of_others_are_not_claimed);
    g_test_add_func("/stage/moves_go_through_the_store", moves_go_through_the_store);
    g_test_add_func("/stage/sides_change_only_when_drained", sides_change_only_when_drained);
    g_test_add_func("/dram/options_only_slow_what_they_name", memory_options_only_slow_what_they_name);
    g_test_add_func("/dram/shared_bandwidth_counts_reads_and_writes", shared_bandwidth_counts_reads_and_writes);
    g_test_add_func("/dram/rows_hit_while_they_stay_open", rows_hit_while_they_stay_open);
    return g_test_run();
}
