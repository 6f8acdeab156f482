/* The staging store inside a memory port (noc-and-memory §7.1), to the cycle, and requests that nothing serves. */
#include "claims/machine_bench.h"
#include "memory/stage.h"
#include "program_run.h"

#define STAGED_PORT                                                                                                    \
    MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"staging\": \"per_port\"}")

enum {
    W = 10,
    FIRST = 11, /* request accepted to first word on the link: one less than from memory that answers at once */
    STREAM = 0x40,
    STORE_WORDS = 64,
};

#define STAGED UINT64_C(0x8000000000)

static void open_port(struct machine_bench *bench) {
    bench_open(bench, STAGED_PORT);
    bench_capture_port(bench);
    struct word256 words[STORE_WORDS];
    for (unsigned w = 0; w < STORE_WORDS; w++)
        words[w] = (struct word256){{w + 1}};
    stage_load(bench->system->agent.ports[0].stage, 0, words, sizeof words);
}

/* With count 0 a plain read of `words`. */
static struct flit read_request(uint64_t address, unsigned count, unsigned words, unsigned peers) {
    struct flit flit = {.type = FLIT_MEM_RD_REQ, .src_x = 1, .src_y = 1, .txn = 30, .last = 1};
    word_set(&flit.payload, 216, 40, address);
    word_set(&flit.payload, 208, 8, words - 1);
    word_set(&flit.payload, 200, 8, count ? STREAM : 0);
    word_set(&flit.payload, 192, 8, count);
    word_set(&flit.payload, 166, 2, peers);
    word_set(&flit.payload, 168, 8, 0x12);
    word_set(&flit.payload, 158, 8, count ? words : 0);
    return flit;
}

static void entries_come_every_six_cycles_or_as_the_link_allows(void) {
    static const struct {
        unsigned words, peers;
        cycle_t period;
    } rows[] = {{4, 0, 6}, {1, 0, 6}, {4, 1, 9}, {2, 2, 7}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_port(&bench);
        struct flit request = read_request(STAGED, 5, rows[i].words, rows[i].peers);
        bench_port_flit(&bench, &request, W);
        bench_run(&bench);
        unsigned an_entry = rows[i].words * (1 + rows[i].peers);
        g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 5 * an_entry);
        for (unsigned n = 0; n < 5 * an_entry; n++) {
            const struct bench_event *event = bench_need(&bench, "response", BENCH_PORT, -1, n);
            unsigned entry = n / an_entry, word = n % an_entry % rows[i].words;
            g_assert_cmpuint(event->cycle, ==, W + FIRST + entry * rows[i].period + n % an_entry);
            g_assert_cmpuint(event->flit.payload.w[0], ==, entry * rows[i].words + word + 1);
            g_assert_cmpuint(event->flit.txn, ==, 30 + entry);
            g_assert_cmpuint(event->flit.rsvd, ==, word);
        }
        g_assert_cmpuint(bench.system->dram.reads, ==, 0);
        bench_close(&bench);
    }
}

static void plain_reads_take_six_cycles_a_word(void) {
    struct machine_bench bench;
    open_port(&bench);
    struct flit request = read_request(STAGED + 3 * 32, 0, 5, 0);
    bench_port_flit(&bench, &request, W);
    bench_run(&bench);
    cycle_t first = bench_cycle(&bench, "response", BENCH_PORT, 0);
    for (unsigned n = 0; n < 5; n++) {
        const struct bench_event *event = bench_need(&bench, "response", BENCH_PORT, -1, n);
        g_assert_cmpuint(event->cycle, ==, first + 6 * n);
        g_assert_cmpuint(event->flit.payload.w[0], ==, 4 + n);
        g_assert_cmpuint(event->flit.last, ==, n == 4);
    }
    bench_close(&bench);
}

/* Cycle of the acknowledgement of a write of `words` from W on. */
static cycle_t acknowledged(uint64_t address, unsigned words) {
    struct machine_bench bench;
    open_port(&bench);
    struct flit request = {.type = FLIT_MEM_WR_REQ, .src_x = 1, .src_y = 1, .txn = 2};
    word_set(&request.payload, 216, 40, address);
    word_set(&request.payload, 208, 8, words - 1);
    bench_port_flit(&bench, &request, W);
    for (unsigned n = 0; n < words; n++) {
        struct flit data = {.type = FLIT_MEM_WR_DATA, .src_x = 1, .src_y = 1, .last = n + 1 == words};
        data.payload.w[0] = 500 + n;
        bench_port_flit(&bench, &data, W + 1 + n);
    }
    bench_run(&bench);
    const struct stage *stage = bench.system->agent.ports[0].stage;
    for (unsigned n = 0; n < words; n++)
        g_assert_cmpuint(address >> 39 ? stage->words[address % 0x1000 / 32 + n].w[0]
                                       : bench_memory(&bench, address + n * 32).w[0],
                         ==, 500 + n);
    cycle_t cycle = bench_flit_cycle(&bench, "response", BENCH_PORT, FLIT_MEM_WR_ACK, 0);
    bench_close(&bench);
    return cycle;
}

static void writes_are_acknowledged_as_by_memory_that_answers_at_once(void) {
    for (unsigned words = 1; words <= 8; words++)
        g_assert_cmpuint(acknowledged(STAGED + 0x100, words), ==, acknowledged(0x100, words));
}

static void a_read_that_nothing_serves_is_named_in_the_deadlock_report(void) {
    struct program_run run;
    struct deadlock_report report;
    program_open(&run, "# set: memory.staging=converged\n# set: memory.attachment=converged\n"
                       "program (1,1)\nfill addr=0x9000000000 n=1 last\n");
    program_go(&run);
    g_assert_false(run.ended);
    deadlock_report_init(&report, run.system, run.end, run.end);
    g_assert_cmpstr(report.id, ==, "mem.unserved_aperture");
    deadlock_report_clear(&report);
    g_assert_cmpuint(hazard_count(&run.system->hazards, "mem.unserved_aperture"), ==, 1);
    g_assert_cmpuint(run.system->dram.reads, ==, 0);
    program_close(&run);
}

static void a_write_that_nothing_serves_leaves_no_trace(void) {
    struct machine_bench bench;
    open_port(&bench);
    struct flit request = {.type = FLIT_MEM_WR_REQ, .src_x = 1, .src_y = 1}, data = request;
    word_set(&request.payload, 216, 40, UINT64_C(0x8200000000));
    data.type = FLIT_MEM_WR_DATA;
    data.last = 1;
    for (unsigned n = 0; n < 40; n++) { /* more than there are slots: they are freed */
        bench_port_flit(&bench, &request, W + 4 * n);
        bench_port_flit(&bench, &data, W + 4 * n + 1);
    }
    bench_run(&bench);
    g_assert_cmpuint(bench_hazards(&bench, "mem.unserved_aperture"), ==, 40);
    g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 0);
    g_assert_cmpuint(bench.system->dram.writes, ==, 0);
    g_assert_true(system_quiet(bench.system));
    bench_close(&bench);
}

/* Only where no store is built does an aperture reach DRAM under another name. */
static void the_alias_is_reported_without_a_store_only(void) {
    static const char *const sets[] = {"off", "per_port", "converged"};
    for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
        struct program_run run;
        g_autofree char *text = g_strdup_printf("# set: memory.staging=%s\n# set: memory.attachment=%s\n"
                                                "program (1,1)\nfill addr=0x8000000000 n=2 last\n",
                                                sets[i], i == 2 ? "converged" : "per_port");
        program_open(&run, text);
        program_go(&run);
        g_assert_true(run.ended);
        g_assert_cmpuint(hazard_count(&run.system->hazards, "mem.aperture_alias"), ==, i == 0 ? 2 : 0);
        g_assert_cmpuint(run.system->dram.reads, ==, i == 0 ? 8 : 0);
        program_close(&run);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define TEST(name) g_test_add_func("/port_stage/" #name, name)
    TEST(entries_come_every_six_cycles_or_as_the_link_allows);
    TEST(plain_reads_take_six_cycles_a_word);
    TEST(writes_are_acknowledged_as_by_memory_that_answers_at_once);
    TEST(a_read_that_nothing_serves_is_named_in_the_deadlock_report);
    TEST(a_write_that_nothing_serves_leaves_no_trace);
    TEST(the_alias_is_reported_without_a_store_only);
    return g_test_run();
}
