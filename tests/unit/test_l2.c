/* The L2 adapter between a router and a unit: what it claims, when it answers, and that everything else passes a cycle
 * later. Most of it by itself, with both links ending on the test; the rest in a cluster's link. */
#include "claims/machine_bench.h"
#include "noc/l2.h"

#define ADAPTED "\"l2\": {\"clusters\": true, \"enabled\": true}"

enum {
    F = 3,
    FIRST = 1 + 3 + F, /* request taken to first response, §7.2 */
    BASE = 0x10000,
    LINES = 64,
    WINDOW_BITS = 11,
    OUTSTANDING = 13,
    LIMIT = 200,
    STREAM = 0x40,
};

struct seen {
    cycle_t cycle;
    struct flit flit;
};

struct adapter_bench {
    struct flit_pool pool;
    struct hazard_log hazards;
    struct l2_adapter adapter;
    cycle_t now;
    bool unit_refuses, mesh_refuses;
    struct seen to_unit[LIMIT], to_mesh[LIMIT];
    unsigned unit_count, mesh_count;
};

static bool unit_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit, (void)now;
    return !((struct adapter_bench *)self)->unit_refuses;
}

static void unit_deliver(void *self, flit_index at, cycle_t now) {
    struct adapter_bench *bench = self;
    bench->to_unit[bench->unit_count++] = (struct seen){now, *flit_at(&bench->pool, at)};
    flit_free(&bench->pool, at);
}

static bool mesh_accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit, (void)now;
    return !((struct adapter_bench *)self)->mesh_refuses;
}

static void mesh_deliver(void *self, flit_index at, cycle_t now) {
    struct adapter_bench *bench = self;
    bench->to_mesh[bench->mesh_count++] = (struct seen){now, *flit_at(&bench->pool, at)};
    flit_free(&bench->pool, at);
}

static void open_adapter(struct adapter_bench *bench, bool enabled) {
    struct machine machine = {.noc = {.fall_through = F, .fifo_extra = 2},
                              .l2 = {.clusters = true,
                                     .enabled = enabled,
                                     .lines = LINES,
                                     .window_bits = WINDOW_BITS,
                                     .queue = 16,
                                     .cluster_base = BASE}};
    struct machine_unit place = {.name = (char *)"cluster0", .kind = UNIT_CLUSTER, .x = 1, .y = 2};
    *bench = (struct adapter_bench){.now = 0};
    flit_pool_init(&bench->pool);
    hazard_log_init(&bench->hazards);
    l2_init(&bench->adapter, &machine, &place, &bench->pool, &bench->hazards);
    bench->adapter.unit = (struct link_sink){bench, unit_accepts, unit_deliver};
    bench->adapter.mesh = (struct link_sink){bench, mesh_accepts, mesh_deliver};
    for (unsigned l = 0; l < LINES; l++)
        bench->adapter.lines[l] = (struct word256){{l, l + 1000}};
}

static void close_adapter(struct adapter_bench *bench) {
    l2_clear(&bench->adapter);
    hazard_log_clear(&bench->hazards);
    flit_pool_clear(&bench->pool);
}

/* One cycle; the adapter is stepped first, as the unit behind it is after it. */
static void cycle(struct adapter_bench *bench) {
    l2_step(&bench->adapter, bench->now++);
}

static void cycles(struct adapter_bench *bench, unsigned count) {
    while (count--)
        cycle(bench);
}

static flit_index make(struct adapter_bench *bench, struct flit flit) {
    flit_index at = flit_new(&bench->pool);
    *flit_at(&bench->pool, at) = flit;
    return at;
}

/* The unit hands a flit over in the present cycle, which is then over; false if its link stands. */
static bool unit_sends(struct adapter_bench *bench, struct flit flit) {
    struct link_sink sink = l2_unit_end(&bench->adapter);
    l2_step(&bench->adapter, bench->now);
    bool taken = sink.accepts(sink.self, &flit, bench->now);
    if (taken)
        sink.deliver(sink.self, make(bench, flit), bench->now);
    bench->now++;
    return taken;
}

/* The router offers one; false if it is refused. */
static bool router_sends(struct adapter_bench *bench, struct flit flit) {
    struct link_sink sink = l2_mesh_end(&bench->adapter);
    bool taken = sink.accepts(sink.self, &flit, bench->now);
    if (taken)
        sink.deliver(sink.self, make(bench, flit), bench->now);
    l2_step(&bench->adapter, bench->now++);
    return taken;
}

static struct flit request(enum flit_type type, uint64_t address, unsigned words, unsigned txn) {
    struct flit flit = {.type = type, .txn = (uint8_t)txn, .src_x = 1, .src_y = 2, .dst_x = 0, .dst_y = 2, .last = 1};
    word_set(&flit.payload, 216, 40, address);
    word_set(&flit.payload, 208, 8, words - 1);
    return flit;
}

static struct flit stream(uint64_t address, unsigned count, unsigned words, unsigned txn) {
    struct flit flit = request(FLIT_MEM_RD_REQ, address, 4, txn);
    word_set(&flit.payload, 200, 8, STREAM);
    word_set(&flit.payload, 192, 8, count);
    word_set(&flit.payload, 158, 8, words);
    return flit;
}

static struct flit data(uint64_t value, bool last) {
    struct flit flit = {.type = FLIT_MEM_WR_DATA, .src_x = 1, .src_y = 2, .dst_x = 0, .dst_y = 2, .last = last};
    flit.payload.w[0] = value;
    return flit;
}

static struct flit control(unsigned op, unsigned index, uint64_t value) {
    struct flit flit = {.type = FLIT_CU_CTRL, .txn = 77, .src_x = 0, .src_y = 2, .dst_x = 1, .dst_y = 2, .last = 1};
    word_set(&flit.payload, 248, 8, op);
    word_set(&flit.payload, 240, 8, index);
    word_set(&flit.payload, 176, 64, value);
    return flit;
}

/* ---- timing ---- */

static void passing_costs_one_cycle_out_and_none_in(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    for (unsigned n = 0; n < 5; n++)
        g_assert_true(unit_sends(&bench, request(FLIT_MEM_RD_REQ, 0x80000, 1, n)));
    cycles(&bench, 3);
    g_assert_cmpuint(bench.mesh_count, ==, 5);
    for (unsigned n = 0; n < 5; n++) {
        g_assert_cmpuint(bench.to_mesh[n].cycle, ==, n + 1);
        g_assert_cmpuint(bench.to_mesh[n].flit.txn, ==, n);
    }
    cycle_t now = bench.now;
    g_assert_true(router_sends(&bench, (struct flit){.type = FLIT_CU_INST, .txn = 9}));
    g_assert_cmpuint(bench.to_unit[0].cycle, ==, now);
    g_assert_true(l2_quiet(&bench.adapter));
    close_adapter(&bench);
}

static void a_read_is_answered_after_the_pipe_one_word_a_cycle(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE + 5 * 32 + 7, 20, 40));
    cycles(&bench, 60);
    g_assert_cmpuint(bench.unit_count, ==, 20);
    g_assert_cmpuint(bench.mesh_count, ==, 0);
    for (unsigned n = 0; n < 20; n++) {
        const struct flit *flit = &bench.to_unit[n].flit;
        g_assert_cmpuint(bench.to_unit[n].cycle, ==, FIRST + n);
        g_assert_cmpuint(flit->type, ==, FLIT_MEM_RD_RESP);
        g_assert_cmpuint(flit->payload.w[0], ==, 5 + n);
        g_assert_cmpuint(flit->txn, ==, 40);
        g_assert_cmpuint(flit->rsvd, ==, 0);
        g_assert_cmpuint(flit->last, ==, n == 19);
        g_assert_cmpuint(flit->dst_x, ==, 1);
        g_assert_cmpuint(flit->dst_y, ==, 2);
    }
    g_assert_cmpuint(bench.adapter.served, ==, 20);
    close_adapter(&bench);
}

static void entries_carry_tag_word_index_and_last(void) {
    for (unsigned words = 0; words < 6; words++) {
        unsigned wide = words >= 1 && words <= 4 ? words : 4;
        struct adapter_bench bench;
        open_adapter(&bench, true);
        unit_sends(&bench, stream(BASE, 6, words, 253));
        cycles(&bench, 60);
        g_assert_cmpuint(bench.unit_count, ==, 6 * wide);
        for (unsigned n = 0; n < 6 * wide; n++) {
            const struct flit *flit = &bench.to_unit[n].flit;
            g_assert_cmpuint(flit->txn, ==, (253 + n / wide) % 256);
            g_assert_cmpuint(flit->rsvd, ==, n % wide);
            g_assert_cmpuint(flit->last, ==, n % wide == wide - 1);
            g_assert_cmpuint(flit->payload.w[0], ==, n);
        }
        close_adapter(&bench);
    }
}

static void thirteen_words_are_on_their_way_at_most(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    bench.unit_refuses = true;
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE, 40, 0));
    cycles(&bench, 50);
    g_assert_cmpuint(bench.adapter.served, ==, OUTSTANDING);
    g_assert_cmpuint(l2_held(&bench.adapter), ==, OUTSTANDING);
    bench.unit_refuses = false;
    cycle_t now = bench.now;
    cycles(&bench, 60);
    g_assert_cmpuint(bench.unit_count, ==, 40);
    for (unsigned n = 0; n < 40; n++) /* what stood ready drains, and the pipe is long enough to keep up */
        g_assert_cmpuint(bench.to_unit[n].cycle, ==, now + n);
    close_adapter(&bench);
}

static void a_write_is_kept_and_acknowledged_through_the_pipe(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    unit_sends(&bench, request(FLIT_MEM_WR_REQ, BASE + 10 * 32, 3, 2));
    for (unsigned n = 0; n < 3; n++)
        g_assert_true(unit_sends(&bench, data(700 + n, n == 2)));
    cycle_t last = bench.now - 1;
    cycles(&bench, 20);
    g_assert_cmpuint(bench.mesh_count, ==, 0);
    g_assert_cmpuint(bench.unit_count, ==, 1);
    g_assert_cmpuint(bench.to_unit[0].flit.type, ==, FLIT_MEM_WR_ACK);
    g_assert_cmpuint(bench.to_unit[0].flit.txn, ==, 2);
    g_assert_cmpuint(bench.to_unit[0].cycle, ==, last + FIRST);
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE + 9 * 32, 5, 0));
    cycles(&bench, 30);
    static const uint64_t expected[] = {9, 700, 701, 702, 13};
    for (unsigned n = 0; n < 5; n++)
        g_assert_cmpuint(bench.to_unit[1 + n].flit.payload.w[0], ==, expected[n]);
    close_adapter(&bench);
}

static void responses_go_before_flits_of_the_router(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE, 4, 0));
    unsigned refused = 0;
    while (bench.now < 20) {
        cycle_t now = bench.now;
        bool taken = router_sends(&bench, (struct flit){.type = FLIT_CU_INST});
        refused += !taken;
        g_assert_cmpint(taken, ==, !(now >= FIRST && now < FIRST + 4));
    }
    g_assert_cmpuint(refused, ==, 4);
    close_adapter(&bench);
}

static void a_second_read_stops_the_link_until_the_first_is_issued(void) {
    struct adapter_bench bench;
    open_adapter(&bench, true);
    g_assert_true(unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE, 10, 1)));
    g_assert_true(unit_sends(&bench, request(FLIT_MEM_RD_REQ, BASE + 32, 1, 2))); /* in the register, and stays */
    unsigned stood = 0;
    while (!unit_sends(&bench, (struct flit){.type = FLIT_CU_SIGNAL}))
        stood++;
    g_assert_cmpuint(stood, ==, 9);
    cycles(&bench, 30);
    g_assert_cmpuint(bench.unit_count, ==, 11);
    g_assert_cmpuint(bench.to_unit[10].flit.txn, ==, 2);
    g_assert_cmpuint(bench.to_unit[10].cycle, ==, bench.to_unit[9].cycle + 1);
    g_assert_cmpuint(bench.mesh_count, ==, 1);
    close_adapter(&bench);
}

/* ---- claims ---- */

static void only_whole_runs_inside_the_window_are_claimed(void) {
    struct flit peers = stream(BASE, 2, 4, 0), remote = request(FLIT_MEM_RD_REQ, BASE, 1, 0);
    word_set(&peers.payload, 166, 2, 1);
    remote.rsvd = 4;
    const struct {
        struct flit flit;
        bool claimed, straddles;
    } rows[] = {{request(FLIT_MEM_RD_REQ, BASE, 1, 0), true, false},
                {request(FLIT_MEM_RD_REQ, BASE - 32, 1, 0), false, false},
                {request(FLIT_MEM_RD_REQ, BASE - 32, 2, 0), false, true},
                {request(FLIT_MEM_RD_REQ, BASE + 62 * 32, 1, 0), true, false},
                {request(FLIT_MEM_RD_REQ, BASE + 63 * 32, 1, 0), false, true}, /* the top line */
                {request(FLIT_MEM_WR_REQ, BASE + 60 * 32, 4, 0), false, true},
                {request(FLIT_MEM_RD_REQ, BASE + 64 * 32, 1, 0), false, false},
                {stream(BASE, 15, 4, 0), true, false},
                {stream(BASE, 16, 4, 0), false, true},
                {stream(BASE, 0, 4, 0), false, false},
                {peers, false, false},
                {remote, false, false}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        for (unsigned enabled = 0; enabled < 2; enabled++) {
            struct adapter_bench bench;
            open_adapter(&bench, enabled);
            unit_sends(&bench, rows[i].flit);
            cycle(&bench);
            g_test_message("row %u", i);
            g_assert_cmpuint(bench.mesh_count, ==, !(enabled && rows[i].claimed));
            g_assert_cmpuint(hazard_count(&bench.hazards, "l2.straddle"), ==, enabled && rows[i].straddles);
            close_adapter(&bench);
        }
}

/* ---- control ---- */

static uint64_t reply(struct adapter_bench *bench, struct flit request) {
    unsigned before = bench->mesh_count;
    cycle_t now = bench->now;
    g_assert_true(router_sends(bench, request));
    cycles(bench, 2);
    g_assert_cmpuint(bench->mesh_count, ==, before + 1);
    const struct seen *seen = &bench->to_mesh[before];
    g_assert_cmpuint(seen->cycle, ==, now + 1);
    g_assert_cmpuint(seen->flit.txn, ==, 77);
    g_assert_cmpuint(seen->flit.dst_x, ==, 0);
    g_assert_cmpuint(seen->flit.src_x, ==, 1);
    g_assert_cmphex(word_get(&seen->flit.payload, 248, 8), ==, 2);
    g_assert_cmphex(word_get(&seen->flit.payload, 240, 8), ==, word_get(&request.payload, 240, 8));
    return word_get(&seen->flit.payload, 176, 64);
}

static void control_reaches_base_enable_and_counts(void) {
    struct adapter_bench bench;
    open_adapter(&bench, false);
    g_assert_cmphex(reply(&bench, control(0, 0xE0, 0)), ==, UINT64_C(0x0002010B00000040));
    g_assert_cmphex(reply(&bench, control(0, 0xE1, 0)), ==, BASE);
    g_assert_cmphex(reply(&bench, control(1, 0xE1, UINT64_C(0xFF00000000000800))), ==, 0x800);
    g_assert_cmphex(reply(&bench, control(0, 0xE2, 9)), ==, 0);
    g_assert_cmphex(reply(&bench, control(1, 0xE2, 3)), ==, 1);
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, 0x800, 3, 0));
    unit_sends(&bench, request(FLIT_MEM_RD_REQ, 0x7E0, 3, 0));
    cycles(&bench, 20);
    g_assert_cmphex(reply(&bench, control(0, 0xE3, 0)), ==, UINT64_C(3) << 32 | 1);
    g_assert_cmphex(reply(&bench, control(1, 0xE5, 5)), ==, 0);
    router_sends(&bench, control(0, 0, 0)); /* others are the unit's own */
    g_assert_cmpuint(bench.to_unit[bench.unit_count - 1].flit.type, ==, FLIT_CU_CTRL);
    close_adapter(&bench);
}

static void a_reply_delays_a_forwarded_flit_by_one(void) {
    struct adapter_bench bench;
    struct flit signal = {.type = FLIT_CU_SIGNAL};
    open_adapter(&bench, true);
    struct link_sink sink = l2_mesh_end(&bench.adapter);
    sink.deliver(sink.self, make(&bench, control(0, 0xE0, 0)), 0);
    unit_sends(&bench, signal);
    cycles(&bench, 4);
    g_assert_cmpuint(bench.to_mesh[0].flit.type, ==, FLIT_CU_CTRL);
    g_assert_cmpuint(bench.to_mesh[0].cycle, ==, 1);
    g_assert_cmpuint(bench.to_mesh[1].flit.type, ==, FLIT_CU_SIGNAL);
    g_assert_cmpuint(bench.to_mesh[1].cycle, ==, 2);
    bench.mesh_refuses = true;
    router_sends(&bench, control(0, 0xE0, 0));
    router_sends(&bench, control(0, 0xE0, 0));
    g_assert_cmpuint(hazard_count(&bench.hazards, "ctrl.lost"), ==, 1);
    bench.mesh_refuses = false;
    cycles(&bench, 4);
    g_assert_cmpuint(bench.mesh_count, ==, 3);
    close_adapter(&bench);
}

/* ---- in a cluster's link ---- */

static void a_fill_is_served_without_the_mesh(void) {
    struct machine_bench bench;
    bench_open(&bench, MACHINE_TEXT(ADAPTED));
    struct l2_adapter *adapter = bench.system->adapters[0];
    g_autofree struct mxfp7_entry *entries = bench_entries(8, 4);
    for (unsigned e = 0; e < 8; e++)
        mxfp7_pack(&entries[e], MXFP7_ROWS, &adapter->lines[e * MXFP7_WORDS]);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = 0xF0000000, .n = 8));
    bench_run(&bench);
    bench_assert_l1(&bench, 0, 0, 0, entries, 8);
    g_assert_cmpuint(bench.system->dram.reads, ==, 0);
    g_assert_cmpuint(bench.system->agent.ports[0].counts.requests, ==, 0);
    g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 0), ==,
                     bench_flit_cycle(&bench, "out", 0, FLIT_MEM_RD_REQ, 0) + FIRST);
    g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 31), ==,
                     bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 0) + 31);
    g_assert_true(system_quiet(bench.system));
    bench_close(&bench);
}

static void results_drained_into_it_are_there(void) {
    struct machine_bench bench;
    bench_open(&bench, MACHINE_TEXT(ADAPTED));
    g_autofree struct mxfp7_entry *a = bench_operand(&bench, 0x1000, 4, 0, 1);
    g_autofree struct mxfp7_entry *b = bench_operand(&bench, 0x2000, 4, 1, 2);
    g_autofree struct word256 *expected = bench_expected(a, b, 4, 4, 1);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = 0x1000, .n = 4), FILL(.addr = 0x2000, .n = 4, .sel = 1),
                  GEMM(.gm = 4, .gn = 4, .nk = 1), DRAIN(.addr = 0xF0000400, .gm = 4, .gn = 4, .n = 16));
    bench_run(&bench);
    g_assert_cmpmem(&bench.system->adapters[0]->lines[32], 16 * WORD_BYTES, expected, 16 * WORD_BYTES);
    g_assert_cmpuint(bench.system->dram.writes, ==, 0);
    g_assert_cmpuint(bench_count(&bench, "in", 0, FLIT_MEM_WR_ACK), ==, 2);
    bench_close(&bench);
}

/* Built and never enabled it is a register: requests and signals a cycle later each way out, the answers as ever. */
static cycle_t first_response(const char *keys) {
    struct machine_bench bench;
    g_autofree char *text = g_strdup_printf("{%s, %s}", keys, MACHINE_MAP);
    bench_open(&bench, text);
    g_autofree struct mxfp7_entry *entries = bench_operand(&bench, 0x1000, 4, 0, 1);
    BENCH_PROGRAM(&bench, 0, FILL(.addr = 0x1000, .n = 4));
    bench_run(&bench);
    bench_assert_l1(&bench, 0, 0, 0, entries, 4);
    cycle_t cycle = bench_flit_cycle(&bench, "in", 0, FLIT_MEM_RD_RESP, 0);
    bench_close(&bench);
    return cycle;
}

static void unused_it_costs_one_cycle_and_unbuilt_none(void) {
    cycle_t plain = first_response("\"l2\": {}"), built = first_response("\"l2\": {\"clusters\": true}");
    cycle_t others = first_response("\"l2\": {\"vectors\": true, \"enabled\": true}");
    g_assert_cmpuint(built, ==, plain + 1);
    g_assert_cmpuint(others, ==, plain);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define TEST(name) g_test_add_func("/l2/" #name, name)
    TEST(passing_costs_one_cycle_out_and_none_in);
    TEST(a_read_is_answered_after_the_pipe_one_word_a_cycle);
    TEST(entries_carry_tag_word_index_and_last);
    TEST(thirteen_words_are_on_their_way_at_most);
    TEST(a_write_is_kept_and_acknowledged_through_the_pipe);
    TEST(responses_go_before_flits_of_the_router);
    TEST(a_second_read_stops_the_link_until_the_first_is_issued);
    TEST(only_whole_runs_inside_the_window_are_claimed);
    TEST(control_reaches_base_enable_and_counts);
    TEST(a_reply_delays_a_forwarded_flit_by_one);
    TEST(a_fill_is_served_without_the_mesh);
    TEST(results_drained_into_it_are_there);
    TEST(unused_it_costs_one_cycle_and_unbuilt_none);
    return g_test_run();
}
