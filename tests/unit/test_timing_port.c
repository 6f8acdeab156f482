/* Timing of a memory port by itself, to the cycle: reads, shared reads and burst writes on both attachments, from the
 * cycle w in which a request is accepted at the port. The figures are measured ones. */
#include "claims/machine_bench.h"

#define PER_PORT  MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1}")
#define CONVERGED MACHINE_TEXT("\"memory\": {\"attachment\": \"converged\", \"latency\": 1}")
#define PER_PORT_FP16                                                                                                  \
    MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"fetch_transform\": true}")
#define CONVERGED_FP16                                                                                                 \
    MACHINE_TEXT("\"memory\": {\"attachment\": \"converged\", \"latency\": 1, \"fetch_transform\": true}")

enum {
    W = 10,
    STREAM = 0x40,
    CONVERT = 0x10,
};

static void open_port(struct machine_bench *bench, const char *text) {
    bench_open(bench, text);
    bench_capture_port(bench);
}

/* A read from node (source, 1): `count` entries of `words`, or with count 0 a plain read of `words`. */
static void read_request(struct machine_bench *bench, unsigned source, unsigned count, unsigned words, unsigned flags,
                         unsigned peers, cycle_t at) {
    struct flit flit = {.type = FLIT_MEM_RD_REQ, .src_x = source, .src_y = 1, .last = 1};
    word_set(&flit.payload, 208, 8, words - 1);
    if (count) {
        word_set(&flit.payload, 200, 8, STREAM | flags);
        word_set(&flit.payload, 192, 8, count);
        word_set(&flit.payload, 158, 8, words);
        word_set(&flit.payload, 166, 2, peers);
        for (unsigned peer = 0; peer < peers; peer++)
            word_set(&flit.payload, 168 + 8 * peer, 8, node_byte(2 + peer, 2));
    }
    bench_port_flit(bench, &flit, at);
}

/* A burst of `words` from node (source, 1): descriptor in `at`, its words behind it. */
static void write_burst(struct machine_bench *bench, unsigned source, unsigned words, cycle_t at) {
    struct flit flit = {.type = FLIT_MEM_WR_REQ, .src_x = source, .src_y = 1};
    word_set(&flit.payload, 216, 40, 0x1000 * source);
    word_set(&flit.payload, 208, 8, words - 1);
    bench_port_flit(bench, &flit, at);
    for (unsigned k = 0; k < words; k++) {
        flit = (struct flit){.type = FLIT_MEM_WR_DATA, .src_x = source, .src_y = 1, .last = k + 1 == words};
        bench_port_flit(bench, &flit, at + 1 + k);
    }
}

static cycle_t response(const struct machine_bench *bench, unsigned n) {
    return bench_cycle(bench, "response", BENCH_PORT, n);
}

/* Entries of a run of 12: first response in w + first, entries `period` apart, each entry's words behind one another.
 */
static void check_stream(const char *text, unsigned flags, unsigned first, unsigned period) {
    struct machine_bench bench;
    open_port(&bench, text);
    read_request(&bench, 1, 12, 4, flags, 0, W);
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, FLIT_MEM_RD_RESP), ==, 48);
    for (unsigned k = 0; k < 48; k++)
        g_assert_cmpuint(response(&bench, k), ==, W + first + k / 4 * period + k % 4);
    bench_close(&bench);
}

static void converted_entries(void) {
    check_stream(CONVERGED, 0, 30, 24);
    check_stream(PER_PORT, 0, 12, 6);
}

static void entries_converted_on_the_fetch(void) {
    check_stream(CONVERGED_FP16, CONVERT, 44, 28);
    check_stream(PER_PORT_FP16, CONVERT, 26, 20);
}

/* Four entries: 16 responses, the last in w + 33; four entries of one word: w + 9, then every three cycles. */
static void short_runs(void) {
    struct machine_bench bench;
    open_port(&bench, PER_PORT);
    read_request(&bench, 1, 4, 4, 0, 0, W);
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 16);
    g_assert_cmpuint(response(&bench, 15), ==, W + 33);
    bench_close(&bench);
    open_port(&bench, PER_PORT);
    read_request(&bench, 1, 4, 1, 0, 0, W);
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 4);
    for (unsigned k = 0; k < 4; k++)
        g_assert_cmpuint(response(&bench, k), ==, W + 9 + 3 * k);
    bench_close(&bench);
}

/* A plain word: response in w + 7; of three queued ones the responses come 4 apart, converged 22. */
static void plain_reads(void) {
    static const struct {
        const char *text;
        unsigned first, period;
    } rows[] = {{PER_PORT, 7, 4}, {CONVERGED, 25, 22}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_port(&bench, rows[i].text);
        for (unsigned k = 0; k < 3; k++)
            read_request(&bench, 1, 0, 1, 0, 0, W + k);
        bench_run(&bench);
        for (unsigned k = 0; k < 3; k++)
            g_assert_cmpuint(response(&bench, k), ==, W + rows[i].first + k * rows[i].period);
        bench_close(&bench);
    }
}

/* One request for d receivers: each entry is read once, its words sent d times; max(fetch interval, 4 d + 1) apart. */
static void shared_reads(void) {
    static const struct {
        const char *text;
        unsigned receivers, period;
    } rows[] = {{PER_PORT, 1, 6},   {PER_PORT, 2, 9},   {PER_PORT, 4, 17},
                {CONVERGED, 1, 24}, {CONVERGED, 2, 24}, {CONVERGED, 4, 24}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        unsigned d = rows[i].receivers;
        open_port(&bench, rows[i].text);
        read_request(&bench, 1, 8, 4, 0, d - 1, W);
        bench_run(&bench);
        g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 8 * 4 * d);
        g_assert_cmpuint(bench.system->dram.reads, ==, 32);
        for (unsigned entry = 2; entry < 8; entry++)
            g_assert_cmpuint(response(&bench, 4 * d * entry) - response(&bench, 4 * d * (entry - 1)), ==,
                             rows[i].period);
        for (unsigned k = 0; k < 4 * d; k++)
            g_assert_cmpuint(bench_need(&bench, "response", BENCH_PORT, -1, k)->flit.dst_x, ==, 1 + k / 4);
        bench_close(&bench);
    }
}

/* Three entries for two receivers: 24 responses, entries 9 apart. */
static void shared_read_of_three(void) {
    struct machine_bench bench;
    open_port(&bench, PER_PORT);
    read_request(&bench, 1, 3, 4, 0, 1, W);
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, -1), ==, 24);
    g_assert_cmpuint(response(&bench, 8) - response(&bench, 0), ==, 9);
    g_assert_cmpuint(response(&bench, 16) - response(&bench, 8), ==, 9);
    bench_close(&bench);
}

/* Requests of four units, 16 entries each, are served one after the other. */
static void requests_in_turn(void) {
    static const struct {
        const char *text;
        unsigned period;
    } rows[] = {{PER_PORT, 102}, {CONVERGED, 390}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_port(&bench, rows[i].text);
        for (unsigned unit = 0; unit < 4; unit++)
            read_request(&bench, 1 + unit, 16, 4, 0, 0, W + unit);
        bench_run(&bench);
        for (unsigned unit = 0; unit < 4; unit++)
            g_assert_cmpuint(bench_cycle(&bench, "request taken", BENCH_PORT, unit), ==, W + 3 + rows[i].period * unit);
        bench_close(&bench);
    }
}

/* Descriptor accepted to acknowledgement on the link. */
static void one_write(void) {
    static const struct {
        const char *text;
        unsigned words, ack;
    } rows[] = {{CONVERGED, 1, 33}, {CONVERGED, 2, 35}, {CONVERGED, 8, 47},
                {PER_PORT, 1, 11},  {PER_PORT, 2, 13},  {PER_PORT, 8, 25}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_port(&bench, rows[i].text);
        write_burst(&bench, 1, rows[i].words, W);
        bench_run(&bench);
        g_assert_cmpuint(bench_cycle(&bench, "slot opened", BENCH_PORT, 0), ==, W + 3);
        g_assert_cmpuint(bench_cycle(&bench, "burst issued", BENCH_PORT, 0), ==, W + rows[i].words + 6);
        g_assert_cmpuint(response(&bench, 0), ==, W + rows[i].ack);
        g_assert_cmpuint(bench_cycle(&bench, "write response", BENCH_PORT, 0), ==, W + rows[i].ack - 1);
        bench_close(&bench);
    }
}

/* Acknowledgements of many bursts from 1, 2 or 4 writers, in the steady state. */
static void write_intervals(void) {
    static const struct {
        const char *text;
        unsigned writers, words, period;
    } rows[] = {{CONVERGED, 1, 8, 33}, {CONVERGED, 2, 8, 33}, {CONVERGED, 4, 8, 33}, {CONVERGED, 2, 1, 26},
                {PER_PORT, 1, 8, 11},  {PER_PORT, 2, 8, 11},  {PER_PORT, 4, 8, 11},  {PER_PORT, 2, 1, 4}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine_bench bench;
        open_port(&bench, rows[i].text);
        for (unsigned k = 0; k < 6; k++)
            write_burst(&bench, 1 + k % rows[i].writers, rows[i].words, W + k * (rows[i].words + 1));
        bench_run(&bench);
        g_assert_cmpuint(bench_count(&bench, "response", BENCH_PORT, FLIT_MEM_WR_ACK), ==, 6);
        for (unsigned k = 2; k < 6; k++)
            g_assert_cmpuint(response(&bench, k) - response(&bench, k - 1), ==, rows[i].period);
        bench_close(&bench);
    }
}

/* Three sources with a single word each, back to back: address of the first in w + 8, then one every 4 cycles, and the
 * acknowledgement 3 cycles behind each. */
static void three_writers(void) {
    struct machine_bench bench;
    open_port(&bench, PER_PORT);
    for (unsigned k = 0; k < 3; k++)
        write_burst(&bench, 1 + k, 1, W + 2 * k);
    bench_run(&bench);
    for (unsigned k = 0; k < 3; k++) {
        g_assert_cmpuint(bench_cycle(&bench, "write address", BENCH_PORT, k), ==, W + 8 + 4 * k);
        g_assert_cmpuint(response(&bench, k), ==, W + 8 + 4 * k + 3);
    }
    bench_close(&bench);
}

struct words_seen {
    cycle_t last_read, first_handed, first_stored, first_fetched;
};

static void watch_words(struct machine_bench *bench, void *to, cycle_t now) {
    struct words_seen *seen = to;
    const struct port_counts *counts = &bench->system->agent.ports[0].counts;
    if (counts->read_words == 4 && !seen->last_read)
        seen->last_read = now;
    if (counts->write_words && !seen->first_handed)
        seen->first_handed = now;
    if (bench->system->dram.reads && !seen->first_fetched)
        seen->first_fetched = now;
    if (bench->system->dram.writes && !seen->first_stored)
        seen->first_stored = now;
}

/* Through the shared path, from the cycle a in which an address is offered: a read of four words is accepted in a + 1,
 * stands at the memory in a + 10 (its first beat is the next cycle's) and is complete in a + 22; a write's first word
 * is taken in a + 6, its address at the memory in a + 10. */
static void through_the_shared_path(void) {
    struct machine_bench bench;
    struct words_seen seen = {0};
    open_port(&bench, CONVERGED);
    bench.sample = watch_words;
    bench.sample_to = &seen;
    read_request(&bench, 1, 1, 4, 0, 0, W);
    bench_run(&bench);
    cycle_t offered = bench_cycle(&bench, "request taken", BENCH_PORT, 0) + 1;
    g_assert_cmpuint(bench_cycle(&bench, "read address", BENCH_PORT, 0), ==, offered + 1);
    g_assert_cmpuint(seen.first_fetched, ==, offered + 10 + 1);
    g_assert_cmpuint(seen.last_read, ==, offered + 22);
    bench_close(&bench);
    seen = (struct words_seen){0};
    open_port(&bench, CONVERGED);
    bench.sample = watch_words;
    bench.sample_to = &seen;
    write_burst(&bench, 1, 8, W);
    bench_run(&bench);
    offered = bench_cycle(&bench, "burst issued", BENCH_PORT, 0) + 1;
    g_assert_cmpuint(bench_cycle(&bench, "write address", BENCH_PORT, 0), ==, offered + 1);
    g_assert_cmpuint(seen.first_handed, ==, offered + 6);
    g_assert_cmpuint(seen.first_stored, >, offered + 10);
    bench_close(&bench);
}

/* From a unit one router away: offered in c, in the port's intake and readable in c + 8. */
static void unit_to_intake(void) {
    struct machine_bench bench;
    bench_open(&bench, PER_PORT);
    BENCH_PROGRAM(&bench, 0, FILL(.n = 1));
    bench_run(&bench);
    g_assert_cmpuint(bench_cycle(&bench, "request taken", BENCH_PORT, 0), ==,
                     bench_flit_cycle(&bench, "out", 0, FLIT_MEM_RD_REQ, 0) + 8);
    bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timing/port/converted_entries", converted_entries);
    g_test_add_func("/timing/port/entries_converted_on_the_fetch", entries_converted_on_the_fetch);
    g_test_add_func("/timing/port/short_runs", short_runs);
    g_test_add_func("/timing/port/plain_reads", plain_reads);
    g_test_add_func("/timing/port/shared_reads", shared_reads);
    g_test_add_func("/timing/port/shared_read_of_three", shared_read_of_three);
    g_test_add_func("/timing/port/requests_in_turn", requests_in_turn);
    g_test_add_func("/timing/port/one_write", one_write);
    g_test_add_func("/timing/port/write_intervals", write_intervals);
    g_test_add_func("/timing/port/three_writers", three_writers);
    g_test_add_func("/timing/port/through_the_shared_path", through_the_shared_path);
    g_test_add_func("/timing/port/unit_to_intake", unit_to_intake);
    return g_test_run();
}
