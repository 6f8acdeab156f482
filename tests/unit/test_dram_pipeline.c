/* The DRAM channel with several bursts in flight, latency given in nanoseconds, and the trace of bursts. */
#include "memory/dram_pipeline.h"

#include "analysis/dram_trace.h"
#include "claims/run_bench.h"
#include "mover_bench.h"

enum {
    LATENCY = 31,
    WORDS = 4096,
};

/* Busy cycles of a copy of WORDS words in bursts of 8, and that it is right. */
static uint64_t copy_time(bool pipelined, unsigned reads_in_flight, enum memory_attachment attachment, unsigned beat,
                          bool coalesce) {
    struct mover_bench bench;
    bench_open(&bench, attachment, NULL, 0);
    struct memory_params *memory = &bench.machine.memory;
    path_free(bench.path);
    memory->pipelined = pipelined;
    memory->reads_in_flight = reads_in_flight;
    memory->latency = LATENCY;
    memory->channel_bits = beat;
    struct mem_requester *requester = &bench.mover.port;
    bench.path = path_new(&bench.machine, &bench.dram, &requester, 1);
    g_autofree struct word256 *expected = bench_randomise(&bench, 61);
    GArray *moves = moves_new();
    moves_copy(moves, 0x1000, 0x80000, WORDS);
    moves_set_options(moves, &(struct move_options){.coalesce = coalesce, .burst_code = 4, .width = 1});
    bench_moves(&bench, moves);
    memcpy(&expected[0x80000 / 32], &expected[0x1000 / 32], WORDS * sizeof *expected);
    bench_expect_memory(&bench, expected, "copy");
    uint64_t busy = bench.mover.busy_cycles;
    bench_close(&bench);
    return busy;
}

static void bytes_are_right_under_every_option(void) {
    for (int a = MEMORY_CONVERGED; a <= MEMORY_PER_PORT; a++)
        for (unsigned reads = 1; reads <= 64; reads *= 4)
            for (unsigned beat = 256; beat <= (a == MEMORY_CONVERGED ? 1024u : 256u); beat *= 2)
                for (unsigned coalesce = 0; coalesce < 2; coalesce++)
                    copy_time(true, reads, a, beat, coalesce);
}

static void reads_in_flight_hide_the_latency(void) {
    for (int a = MEMORY_CONVERGED; a <= MEMORY_PER_PORT; a++) {
        uint64_t one = copy_time(true, 1, a, 256, true), four = copy_time(true, 4, a, 256, true),
                 many = copy_time(true, 16, a, 256, true);
        g_test_message("1: %" G_GUINT64_FORMAT ", 4: %" G_GUINT64_FORMAT ", 16: %" G_GUINT64_FORMAT, one, four, many);
        g_assert_cmpuint(four, <, one * 2 / 3);
        g_assert_cmpuint(many, <=, four);
        g_assert_cmpuint(many, >=, 2 * WORDS); /* a word in and a word out share the pins */
    }
    g_assert_cmpuint(copy_time(true, 16, MEMORY_PER_PORT, 256, true), <=, 2 * WORDS + 200);
}

static void the_bench_model_takes_one_burst_whatever_is_allowed(void) {
    g_assert_cmpuint(copy_time(false, 16, MEMORY_PER_PORT, 256, true), ==,
                     copy_time(false, 1, MEMORY_PER_PORT, 256, true));
}

/* One read and one write alone take what they take on the bench model. */
static void a_lone_burst_has_the_latency(void) {
    struct memory_params memory = {.latency = LATENCY};
    struct dram_pipeline pipeline;
    dram_pipeline_init(&pipeline, &memory, 2);
    dram_pipeline_read(&pipeline, 0x40, 2, 100);
    dram_pipeline_read(&pipeline, 0x80, 1, 101);
    g_assert_false(dram_pipeline_takes_read(&pipeline));
    dram_pipeline_write(&pipeline, 0x100, 3, 100);
    g_assert_null(dram_pipeline_reading(&pipeline, 100 + LATENCY - 1));
    for (cycle_t now = 101; now < 104; now++) { /* data from the cycle after the address */
        g_assert_nonnull(dram_pipeline_writing(&pipeline));
        g_assert_cmpint(dram_pipeline_grant(&pipeline, false, true, now), ==, PINS_WRITE);
        dram_pipeline_moved(&pipeline, PINS_WRITE, 1, now);
    }
    g_assert_false(dram_pipeline_answers(&pipeline, 103 + LATENCY - 1));
    g_assert_cmphex(dram_pipeline_reading(&pipeline, 100 + LATENCY)->address, ==, 0x40);
    dram_pipeline_moved(&pipeline, PINS_READ, 1, 131);
    dram_pipeline_moved(&pipeline, PINS_READ, 1, 132);
    g_assert_cmphex(dram_pipeline_reading(&pipeline, 133)->address, ==, 0x80); /* its latency ran meanwhile */
    g_assert_true(dram_pipeline_answers(&pipeline, 103 + LATENCY));
    g_assert_false(dram_pipeline_answers(&pipeline, 103 + LATENCY));
    dram_pipeline_clear(&pipeline);
}

static void reads_and_writes_take_turns_on_the_pins(void) {
    struct memory_params memory = {.latency = 1};
    struct dram_pipeline pipeline;
    dram_pipeline_init(&pipeline, &memory, 8);
    unsigned writes = 0;
    for (cycle_t now = 0; now < 10; now++)
        writes += dram_pipeline_grant(&pipeline, true, true, now) == PINS_WRITE;
    g_assert_cmpuint(writes, ==, 5);
    g_assert_cmpint(dram_pipeline_grant(&pipeline, false, false, 10), ==, PINS_IDLE);
    dram_pipeline_clear(&pipeline);
}

/* ---- whole machine ---- */

static cycle_t gemm_cycles(char *const *sets) {
    struct finished_run finished;
    run_on_bench(&finished, "ref4", "gemm:transform=upload", sets, 2);
    cycle_t cycles = finished.run.cycles;
    finished_clear(&finished);
    return cycles;
}

static void several_ports_gain_on_a_shared_channel(void) {
    cycle_t bench = gemm_cycles(SETS("memory.attachment=converged", "memory.latency=31"));
    cycle_t pipelined = gemm_cycles(SETS("memory.attachment=converged", "memory.latency=31", "memory.pipelined=true"));
    g_test_message("bench %" G_GUINT64_FORMAT ", pipelined %" G_GUINT64_FORMAT, bench, pipelined);
    g_assert_cmpuint(pipelined, <, bench);
}

static void fixed_nanoseconds_are_more_cycles_at_a_faster_clock(void) {
    cycle_t slow = gemm_cycles(SETS("memory.latency_ns=120", "clock_mhz=200"));
    cycle_t fast = gemm_cycles(SETS("memory.latency_ns=120", "clock_mhz=300"));
    cycle_t fixed_slow = gemm_cycles(SETS("memory.latency=24", "clock_mhz=200"));
    cycle_t fixed_fast = gemm_cycles(SETS("memory.latency=24", "clock_mhz=300"));
    g_assert_cmpuint(fast, >, slow);
    g_assert_cmpuint((uint64_t)fast * 200, <, (uint64_t)slow * 300); /* and yet the work is done sooner */
    g_assert_cmpuint(fixed_slow, ==, fixed_fast);
    g_assert_cmpuint(slow, ==, fixed_slow); /* 120 ns at 200 MHz */
    g_assert_cmpuint(fast, ==, gemm_cycles(SETS("memory.latency=36")));
}

/* ---- trace ---- */

static void trace_run(struct finished_run *finished, char *const *sets, GString *text) {
    GError *error = NULL;
    struct dram_trace trace;
    dram_trace_init(&trace);
    config_load_machine(&finished->machine, "one", sets, &error);
    workload_load(&finished->workload, "move:kind=copy,words=300,burst=6", NULL, &error);
    g_assert_no_error(error);
    run_init(&finished->run, &finished->machine, &finished->workload);
    finished->run.memory_watch = &trace.watch;
    finished->workload.type->run(&finished->run, &error);
    g_assert_no_error(error);
    g_string_assign(text, trace.text->str);
    dram_trace_clear(&trace);
}

static void the_trace_has_every_burst_once(void) {
    char *const *machines[] = {SETS("memory.attachment=per_port"), SETS("memory.attachment=converged"),
                               SETS("memory.attachment=converged", "memory.pipelined=true"),
                               SETS("memory.attachment=per_port", "memory.pipelined=true")};
    for (unsigned m = 0; m < G_N_ELEMENTS(machines); m++) {
        struct finished_run finished;
        g_autoptr(GString) text = g_string_new(NULL);
        trace_run(&finished, machines[m], text);
        g_auto(GStrv) lines = g_strsplit(g_strchomp(text->str), "\n", -1);
        uint64_t words[2] = {0}, bursts[2] = {0};
        cycle_t before = 0;
        g_assert_cmpstr(lines[0], ==, "# cycle R|W address words");
        for (unsigned i = 1; lines[i]; i++) {
            uint64_t cycle, address;
            unsigned count;
            char kind;
            g_assert_cmpint(sscanf(lines[i], "%" G_GUINT64_FORMAT " %c 0x%" G_GINT64_MODIFIER "x %u", &cycle, &kind,
                                   &address, &count),
                            ==, 4);
            g_assert_cmpuint(cycle, >=, before);
            before = cycle;
            words[kind == 'W'] += count;
            bursts[kind == 'W']++;
        }
        const struct mover *mover = &finished.run.system->mover;
        g_assert_cmpuint(words[0], ==, 300);
        g_assert_cmpuint(words[1], ==, 300);
        g_assert_cmpuint(bursts[0], ==, mover->read_bursts);
        g_assert_cmpuint(bursts[1], ==, mover->write_bursts);
        finished_clear(&finished);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define TEST(name) g_test_add_func("/dram_pipeline/" #name, name)
    TEST(bytes_are_right_under_every_option);
    TEST(reads_in_flight_hide_the_latency);
    TEST(the_bench_model_takes_one_burst_whatever_is_allowed);
    TEST(a_lone_burst_has_the_latency);
    TEST(reads_and_writes_take_turns_on_the_pins);
    TEST(several_ports_gain_on_a_shared_channel);
    TEST(fixed_nanoseconds_are_more_cycles_at_a_faster_clock);
    TEST(the_trace_has_every_burst_once);
    return g_test_run();
}
