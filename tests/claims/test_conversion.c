/* Claims of the transform brief that take the whole machine: T05 (bytes of the placements, from runs), T08 (request
 * flags at the port) and T13 (who reaches the bank's registers). */
#include "machine_bench.h"
#include "memory/move.h"
#include "run_bench.h"

enum {
    SOURCE = 0x10000,
    DESTINATION = 0x20000,
    ENTRIES = 4,
    FLAG_STREAM = 0x40,
    FLAG_QUANT = 0x10,
    FLAG_BLAYOUT = 0x20,
};

/* ---- T05: bytes an entry of an operand costs that every cluster reads once ---- */

struct traffic {
    uint64_t read, written, entries;
};

/* A product whose operands are read exactly once: one tile. Without the result's own bytes. */
static struct traffic operand_traffic(const char *transform) {
    struct finished_run finished;
    struct traffic traffic;
    g_autofree char *text = g_strdup_printf("gemm:m=32,k=128,n=32,transform=%s", transform);
    run_on_bench(&finished, "one", text, NULL, 7);
    const struct dram *dram = &finished.run.system->dram;
    traffic.read = dram->reads * WORD_BYTES;
    traffic.written = (dram->writes - finished.run.system->agent.ports[0].counts.write_words) * WORD_BYTES;
    traffic.entries = 2 * 32;
    finished_clear(&finished);
    return traffic;
}

static void claim_T05(void) {
    struct traffic mover = operand_traffic("mover"), fetch = operand_traffic("fetch"),
                   upload = operand_traffic("upload");
    g_assert_cmpuint(mover.read, ==, mover.entries * (256 + 128));
    g_assert_cmpuint(mover.written, ==, mover.entries * 128);
    g_assert_cmpuint(fetch.read, ==, fetch.entries * 256);
    g_assert_cmpuint(fetch.written, ==, 0);
    g_assert_cmpuint(upload.read, ==, upload.entries * 128);
    /* further fetches cost 128 against 256, so the difference of one fetch is made up for by two more: a tie at three
     */
    uint64_t behind = mover.read + mover.written - fetch.read, gain = fetch.read - upload.read;
    g_assert_cmpuint(behind, ==, 2 * gain);
}

/* ---- T08 ---- */

static struct flit entry_request(unsigned flags) {
    struct flit flit = {.type = FLIT_MEM_RD_REQ, .src_x = 1, .src_y = 1, .dst_x = 0, .dst_y = 1, .last = 1};
    word_set(&flit.payload, 216, 40, SOURCE);
    word_set(&flit.payload, 208, 8, 3);
    word_set(&flit.payload, 200, 8, flags);
    word_set(&flit.payload, 192, 8, ENTRIES);
    return flit;
}

/* Words and cycles of the answer to a request with these flags. */
static GArray *answer_to(unsigned flags) {
    struct machine_bench bench;
    GArray *answer = g_array_new(FALSE, TRUE, sizeof(struct bench_event));
    bench_open(&bench, MACHINE_TEXT(BENCH_MEMORY("per_port")));
    g_autofree struct mxfp7_entry *entries = bench_operand(&bench, SOURCE, ENTRIES, 0, 11);
    struct flit request = entry_request(flags);
    bench_capture_port(&bench);
    bench_port_flit(&bench, &request, 5);
    bench_run(&bench);
    for (unsigned n = 0; bench_find(&bench, "response", BENCH_PORT, -1, n); n++)
        g_array_append_vals(answer, bench_find(&bench, "response", BENCH_PORT, -1, n), 1);
    bench_close(&bench);
    return answer;
}

static void claim_T08(void) {
    GArray *plain = answer_to(FLAG_STREAM);
    g_assert_cmpuint(plain->len, ==, ENTRIES * 4);
    for (unsigned reserved = 1; reserved < 4; reserved++) {
        GArray *flagged = answer_to(FLAG_STREAM | reserved * FLAG_QUANT);
        g_assert_cmpuint(flagged->len, ==, plain->len);
        for (guint i = 0; i < plain->len; i++) {
            const struct bench_event *a = &g_array_index(plain, struct bench_event, i);
            const struct bench_event *b = &g_array_index(flagged, struct bench_event, i);
            g_assert_cmpuint(a->cycle, ==, b->cycle);
            g_assert_cmpuint(a->flit.txn, ==, b->flit.txn);
            g_assert_cmpmem(&a->flit.payload, WORD_BYTES, &b->flit.payload, WORD_BYTES);
        }
        g_array_unref(flagged);
    }
    GArray *single = answer_to(FLAG_QUANT | FLAG_BLAYOUT),
           *bare = answer_to(0); /* nor do they make a stream of a read */
    g_assert_cmpuint(single->len, ==, bare->len);
    g_array_unref(single);
    g_array_unref(bare);
    g_array_unref(plain);
}

/* ---- T13 ---- */

/* Runs a converting move through occupant `id` by register writes of the host's window; returns the mover's fault. */
static enum mover_fault convert(struct machine_bench *bench, unsigned id) {
    GArray *moves = moves_new();
    moves_convert(moves, SOURCE, DESTINATION, 2, (struct move_geometry){id == 1 ? 8 : 4, 4}, id, 0);
    const struct move *move = &g_array_index(moves, struct move, 0);
    for (unsigned w = 0; w < move->count; w++)
        bench_write(bench, AGENT_AUX_CFG + move->writes[w].offset, move->writes[w].value, bench->now + 3 * w);
    bench_run(bench);
    g_array_unref(moves);
    return bench->system->mover.fault;
}

static uint32_t bank_register(struct machine_bench *bench, unsigned id, unsigned reg) {
    uint32_t value;
    g_assert_true(system_processor_read(bench->system, PROCESSOR_TRANSFORM + (id << 8 | reg), &value, bench->now));
    return value;
}

/* The host writes everything its window has but GO and kicks, and the fault stays. */
static void host_writes_everything(struct machine_bench *bench) {
    for (uint32_t offset = 0; offset < 0x10000; offset += 8)
        if (offset != AGENT_PROG_KICK && offset != 0x0140 && offset != AGENT_AUX_CFG)
            dispatch_write(&bench->system->agent.dispatch, offset, 0, bench->now);
    bench->now += 8;
}

static void claim_T13(void) {
    for (unsigned wide = 0; wide < 2; wide++) {
        struct machine_bench bench;
        uint32_t value;
        bench_open(&bench, wide ? MACHINE_TEXT("\"agent\": {\"wide_complex\": true}") : MACHINE_TEXT("\"agent\": {}"));
        struct word256 source[16] = {{{1, 2, 3, 4}}};
        dram_load(&bench.system->dram, SOURCE, source, sizeof source);
        g_assert_cmpint(convert(&bench, 1), ==, MOVER_FAULT_NONE);
        if (!wide)
            g_assert_cmphex(bank_register(&bench, 1, TRANSFORM_REG_GEOMETRY), ==, 4 << 16 | 2048);
        g_assert_cmpint(convert(&bench, 9), ==, MOVER_FAULT_OCCUPANT); /* names no occupant */
        host_writes_everything(&bench);
        g_assert_cmphex(transform_fault(bench.system->bank, bench.now), ==, TRANSFORM_FAULT_UNKNOWN_ID);
        g_assert_cmpint(convert(&bench, 1), ==, MOVER_FAULT_OCCUPANT); /* sticky */
        g_assert_cmpint(system_processor_write(bench.system, PROCESSOR_TRANSFORM, 0, bench.now), ==, !wide);
        g_assert_cmpint(system_processor_read(bench.system, PROCESSOR_TRANSFORM, &value, bench.now), ==, !wide);
        g_assert_cmphex(transform_fault(bench.system->bank, bench.now + 1), ==, wide ? TRANSFORM_FAULT_UNKNOWN_ID : 0);
        g_assert_cmpint(convert(&bench, 1), ==, wide ? MOVER_FAULT_OCCUPANT : MOVER_FAULT_NONE);
        g_assert_false(system_processor_write(bench.system, PROCESSOR_TRANSFORM + (16 << 8), 0, bench.now));
        g_assert_false(system_processor_write(bench.system, PROCESSOR_TRANSFORM - 4, 0, bench.now));
        bench_close(&bench);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_T05", claim_T05);
    g_test_add_func("/claim_T08", claim_T08);
    g_test_add_func("/claim_T13", claim_T13);
    return g_test_run();
}
