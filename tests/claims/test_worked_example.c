/* The worked example C[32,32] = A[32,128] B[32,128]' on one cluster, typed in as a host would: every word written
 * through the windows, then nothing but looks at the status. Claims I01 to I03 and I60 to I65. */
#include "claims/machine_bench.h"
#include "claims/run_bench.h"
#include "model/isa/host.h"
#include "model/isa/wire.h"
#include "model/numeric/fp16.h"

enum {
    A_BYTES = 0x2000,
    IMAGE_B = 0x2000,
    IMAGE_C = 0x4000,
    WRITE_CYCLES = 4, /* of a host that writes word after word */
    NODE = 0x11,
    CREDIT = 8,
};

static const struct control_command commands[] = {
    {CONTROL_WR, AGENT_SIG_DONE, 0, 0},
    {CONTROL_WR, AGENT_PROG_CRED, CREDIT, 0},
    {CONTROL_POLL, AGENT_PROG_STAT, 0, 1},
    {CONTROL_WR, AGENT_PROG_DST, NODE, 0},
    {CONTROL_WR, AGENT_PROG_BASE, 0, 0},
    {CONTROL_WR, AGENT_PROG_LEN, 4, 0},
    {CONTROL_WR, AGENT_PROG_KICK, 1, 0},
    {CONTROL_POLL, AGENT_SIG_DONE, 4, UINT16_MAX},
    {CONTROL_DONE, 0, 7, 0},
};

struct example {
    struct machine_bench bench;
    struct mxfp7_entry *a, *b;
    unsigned host_writes; /* before and with GO */
    cycle_t go;           /* data beat of the GO write */
    cycle_t done;         /* first cycle in which the status shows done */
};

static void host_write(struct example *example, bool engine, uint32_t offset, uint64_t value) {
    cycle_t at = (cycle_t)WRITE_CYCLES * example->host_writes++;
    (engine ? bench_engine : bench_write)(&example->bench, offset, value, at);
}

static void stage(struct example *example, unsigned slot, const struct cluster_inst *inst, bool last) {
    struct word256 payload;
    uint32_t header;
    struct flit flit = {.type = FLIT_CU_INST, .txn = 0x40 + slot, .last = last};
    g_assert_true(cluster_inst_encode(inst, &payload, NULL));
    g_assert_true(flit_header_encode(&flit, &header, NULL));
    for (unsigned k = 0; k < STAGE_FLIT_WORDS; k++)
        host_write(example, false, AGENT_STAGE + 40 * slot + 8 * k, k < 4 ? payload.w[k] : header);
}

static void write_commands(struct example *example) {
    for (unsigned c = 0; c < G_N_ELEMENTS(commands); c++) {
        uint64_t words[CONTROL_COMMAND_WORDS];
        g_assert_true(control_command_encode(&commands[c], words, NULL));
        for (unsigned f = 0; f < CONTROL_COMMAND_WORDS; f++)
            host_write(example, true, ENGINE_COMMANDS + 32 * c + 8 * f, words[f]);
    }
}

static void watch_status(struct machine_bench *bench, void *to, cycle_t now) {
    struct example *example = to;
    if (!example->done && now > example->go && control_read(&bench->system->agent.control, ENGINE_CONTROL) == 2)
        example->done = now;
}

static void note_control(void *self, const char *what, uint64_t a, uint64_t b, cycle_t now) {
    bench_note(self, (struct bench_event){.what = what, .unit = BENCH_AGENT, .cycle = now, .a = a, .b = b});
}

static void example_run(struct example *example) {
    static const struct cluster_inst program[] = {FILL(.addr = 0, .n = 32), FILL(.addr = IMAGE_B, .n = 32, .sel = 1),
                                                  GEMM(.gm = 8, .gn = 8, .nk = 4), DRAIN(.addr = IMAGE_C, .n = 64)};
    struct machine_bench *bench = &example->bench;
    *example = (struct example){0};
    bench_open(bench, MACHINE_TEXT(BENCH_MEMORY("per_port")));
    example->a = bench_operand(bench, 0, 32, 0, 61);
    example->b = bench_operand(bench, IMAGE_B, 32, 1, 62);
    for (unsigned slot = 0; slot < 4; slot++)
        stage(example, slot, &program[slot], slot == 3);
    write_commands(example);
    example->go = (cycle_t)WRITE_CYCLES * example->host_writes;
    host_write(example, true, ENGINE_CONTROL, 1);
    bench->sample = watch_status;
    bench->sample_to = example;
    struct control_trace control = {bench, note_control};
    bench->system->agent.control.trace = &control;
    bench_run(bench);
    bench->system->agent.control.trace = NULL;
    g_assert_cmpuint(bench_all_hazards(bench), ==, 0);
}

static void example_clear(struct example *example) {
    g_free(example->a);
    g_free(example->b);
    bench_close(&example->bench);
}

/* Writes and polls, no branch: command after command is fetched once. After GO the host writes nothing, and the status
 * bit it looks at goes up behind the last command. */
static void claim_I01(void) {
    struct example example;
    example_run(&example);
    for (unsigned c = 0; c < G_N_ELEMENTS(commands); c++)
        g_assert_cmpuint(bench_need(&example.bench, "fetch", BENCH_AGENT, -1, c)->a, ==, c);
    g_assert_cmpuint(bench_count(&example.bench, "fetch", BENCH_AGENT, -1), ==, G_N_ELEMENTS(commands));
    g_assert_cmpuint(example.bench.injections->len, ==, example.host_writes);
    const struct bench_injection *final =
        &g_array_index(example.bench.injections, struct bench_injection, example.host_writes - 1);
    g_assert_cmpuint(final->at, ==, example.go);
    g_assert_cmpuint(example.done, >, bench_cycle(&example.bench, "retired", 0, 3));
    g_assert_cmpuint(control_read(&example.bench.system->agent.control, ENGINE_CODE), ==, 7);
    g_autofree struct word256 *want = bench_expected(example.a, example.b, 8, 8, 4);
    bench_assert_memory(&example.bench, IMAGE_C, want, 64);
    example_clear(&example);
}

/* Its writes land in the agent's registers, name a staged program and a node, and kick it; the agent then streams the
 * flits into the mesh. */
static void claim_I02(void) {
    struct example example;
    example_run(&example);
    const struct machine_bench *bench = &example.bench;
    const struct dispatch *dispatch = &bench->system->agent.dispatch;
    static const unsigned written[] = {AGENT_SIG_DONE,  AGENT_PROG_CRED, AGENT_PROG_DST,
                                       AGENT_PROG_BASE, AGENT_PROG_LEN,  AGENT_PROG_KICK};
    for (unsigned k = 0; k < G_N_ELEMENTS(written); k++)
        g_assert_cmphex(bench_need(bench, "write address", BENCH_AGENT, -1, k)->a, ==, written[k]);
    g_assert_cmphex(dispatch->destination, ==, NODE);
    g_assert_cmpuint(dispatch->length, ==, 4);
    cycle_t kick = bench_cycle(bench, "kick", BENCH_AGENT, 0);
    for (unsigned f = 0; f < 4; f++) {
        const struct bench_event *pushed = bench_need(bench, "flit on link", BENCH_AGENT, -1, f);
        g_assert_cmpuint(pushed->cycle, ==, kick + 10 + 5 * f);
        g_assert_cmpuint(node_byte(pushed->flit.dst_x, pushed->flit.dst_y), ==, NODE);
        g_assert_cmpuint(pushed->flit.type, ==, FLIT_CU_INST);
        g_assert_cmpuint(pushed->flit.txn, ==, 0x40 + f);
    }
    example_clear(&example);
}

/* Four instruction flits make the whole product: 256 commands from the GEMM, 128 response flits a FILL. */
static void claim_I03(void) {
    struct example example;
    example_run(&example);
    const struct machine_bench *bench = &example.bench;
    struct cluster_counts counts = bench_counts(bench, 0);
    g_assert_cmpuint(bench_count(bench, "in", 0, FLIT_CU_INST), ==, 4);
    g_assert_cmpuint(counts.load + counts.add, ==, 256);
    unsigned responses[2] = {0};
    cycle_t second = bench_cycle(bench, "taken", 0, 1);
    for (unsigned k = 0; k < 256; k++)
        responses[bench_flit_cycle(bench, "in", 0, FLIT_MEM_RD_RESP, k) > second]++;
    g_assert_cmpuint(responses[0], ==, 128);
    g_assert_cmpuint(responses[1], ==, 128);
    example_clear(&example);
}

/* 57 host writes: 20 staging words, 36 command words for nine commands, 1 GO; by hand and by the workload. */
static void claim_I60(void) {
    struct example example;
    struct finished_run finished;
    example_run(&example);
    unsigned staging = 0, command = 0, go = 0;
    for (guint k = 0; k < example.bench.injections->len; k++) {
        const struct bench_injection *input = &g_array_index(example.bench.injections, struct bench_injection, k);
        staging += input->kind == INPUT_WRITE;
        command += input->kind == INPUT_ENGINE && input->offset != ENGINE_CONTROL;
        go += input->kind == INPUT_ENGINE && input->offset == ENGINE_CONTROL;
    }
    g_assert_cmpuint(staging, ==, 20);
    g_assert_cmpuint(command, ==, 36);
    g_assert_cmpuint(go, ==, 1);
    g_assert_cmpuint(example.host_writes, ==, 57);
    example_clear(&example);
    run_on_bench(&finished, "one", "gemm:m=32,k=128,n=32,emit=false", NULL, 1);
    g_assert_cmpuint(finished.run.host_writes, ==, 57);
    g_assert_cmpuint(finished.run.commands, ==, 9);
    finished_clear(&finished);
}

static void claim_I61(void) {
    struct example example;
    example_run(&example);
    const struct machine_bench *bench = &example.bench;
    g_assert_cmpuint(bench_count(bench, "in", 0, FLIT_CU_INST), ==, 4);
    g_assert_cmpuint(bench_count(bench, "out", 0, FLIT_MEM_RD_REQ), ==, 2);
    g_assert_cmpuint(bench_count(bench, "in", 0, FLIT_MEM_RD_RESP), ==, 256);
    g_assert_cmpuint(bench_count(bench, "out", 0, FLIT_MEM_WR_REQ), ==, 8);
    g_assert_cmpuint(bench_count(bench, "out", 0, FLIT_MEM_WR_DATA), ==, 64);
    g_assert_cmpuint(bench_count(bench, "in", 0, FLIT_MEM_WR_ACK), ==, 8);
    g_assert_cmpuint(bench_count(bench, "out", 0, FLIT_CU_SIGNAL), ==, 4);
    for (unsigned b = 0; b < 8; b++) {
        const struct flit *descriptor = &bench_need(bench, "out", 0, FLIT_MEM_WR_REQ, b)->flit;
        g_assert_cmphex(word_get(&descriptor->payload, 216, 40), ==, IMAGE_C + 256 * b);
        g_assert_cmpuint(word_get(&descriptor->payload, 208, 8), ==, 7);
    }
    example_clear(&example);
}

static void claim_I62(void) {
    struct example example;
    example_run(&example);
    struct cluster_counts counts = bench_counts(&example.bench, 0);
    g_assert_cmpuint(counts.load, ==, 64);
    g_assert_cmpuint(counts.add, ==, 192);
    g_assert_cmpuint(counts.emit, ==, 64);
    g_assert_cmpuint(counts.load + counts.add + counts.emit + counts.add_emit + counts.send + counts.add_peer, ==, 320);
    g_assert_cmpuint(counts.pacing_cycles, ==, 0);
    g_assert_cmpuint(bench_cycle(&example.bench, "issue", 0, 255) - bench_cycle(&example.bench, "issue", 0, 0), ==,
                     255);
    example_clear(&example);
}

/* 2,048 bytes of C written once. Operand bytes a side: 8,192 with the conversion on the fetch, half with it before. */
static void claim_I63(void) {
    static const struct {
        const char *workload;
        uint64_t read_words, converted_bytes;
    } rows[] = {{"gemm:m=32,k=128,n=32,emit=false,transform=fetch", 2 * A_BYTES / WORD_BYTES, 0},
                {"gemm:m=32,k=128,n=32,emit=false,transform=upload", A_BYTES / WORD_BYTES, 0},
                {"gemm:m=32,k=128,n=32,emit=false,transform=mover", A_BYTES / WORD_BYTES, A_BYTES}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct finished_run finished;
        run_on_bench(&finished, "one", rows[i].workload, NULL, 1);
        const struct port_counts *counts = &finished.run.system->agent.ports[0].counts;
        g_assert_cmpuint(counts->requests, ==, 2);
        g_assert_cmpuint(counts->read_words, ==, rows[i].read_words);
        g_assert_cmpuint(counts->write_words * WORD_BYTES, ==, 2048);
        g_assert_cmpuint(finished.run.system->dram.writes * WORD_BYTES, ==, 2048 + rows[i].converted_bytes);
        g_assert_cmpuint(finished.run.system->mover.words_read * WORD_BYTES, ==, 2 * rows[i].converted_bytes);
        finished_clear(&finished);
    }
}

/* The `last` instruction retires as a batch completion whose argument is its transaction; the counter counts every
 * signal; only instruction completions give credit back, so that one credit is gone for good. */
static void claim_I64(void) {
    struct example example;
    example_run(&example);
    const struct machine_bench *bench = &example.bench;
    struct dispatch *dispatch = &example.bench.system->agent.dispatch;
    for (unsigned k = 0; k < 4; k++) {
        const struct flit *signal = &bench_need(bench, "out", 0, FLIT_CU_SIGNAL, k)->flit;
        g_assert_cmpuint(word_get(&signal->payload, 248, 8), ==, k == 3 ? SIGNAL_BATCH_COMPLETE : SIGNAL_INST_COMPLETE);
        g_assert_cmpuint(word_get(&signal->payload, 216, 32), ==, k == 3 ? 0x40 + 3 : k + 1);
    }
    g_assert_cmpuint(dispatch_read(dispatch, AGENT_SIG_DONE, bench->now), ==, 4);
    g_assert_cmpuint(dispatch_read(dispatch, AGENT_PROG_CRED, bench->now), ==, CREDIT - 1);
    uint64_t status = dispatch_read(dispatch, AGENT_NODE_STATUS + 8 * NODE, bench->now);
    g_assert_cmphex(status, ==, UINT64_C(1) << 56 | UINT64_C(0x43) << 24 | 4 << 8 | 1);
    example_clear(&example);
}

/* A program of `count` no-operations to the cluster with `credit` seeded; a fresh credit `again` later. */
static void dispatch_nops(struct machine_bench *bench, unsigned count, unsigned credit) {
    struct word256 payload = {{0}};
    bench_open(bench, MACHINE_TEXT(BENCH_MEMORY("per_port")));
    for (unsigned slot = 0; slot < count; slot++)
        dispatch_stage(&bench->system->agent.dispatch, slot, &payload, FLIT_CU_INST, slot, slot + 1 == count);
    const uint64_t writes[][2] = {{AGENT_PROG_CRED, credit},
                                  {AGENT_PROG_DST, NODE},
                                  {AGENT_PROG_LEN, count},
                                  {AGENT_PROG_BASE, 0},
                                  {AGENT_PROG_KICK, 1}};
    for (unsigned w = 0; w < G_N_ELEMENTS(writes); w++)
        bench_write(bench, (uint32_t)writes[w][0], writes[w][1], WRITE_CYCLES * w);
}

static void claim_I65(void) {
    for (unsigned credit = 0; credit <= 6; credit++) {
        struct machine_bench bench;
        dispatch_nops(&bench, 6, credit);
        cycle_t kick = 4 * WRITE_CYCLES + 1;
        bench_run_to(&bench, kick + 2000);
        const struct dispatch *dispatch = &bench.system->agent.dispatch;
        /* one credit in hand is enough: each completion brings it back; none sends nothing */
        g_assert_cmpuint(dispatch->pushed, ==, credit ? 6 : 0);
        g_assert_cmpuint(dispatch->credit, ==, credit ? credit - 1 : 0);
        for (unsigned f = 0; f < MIN(credit, 6); f++) /* so many go out without waiting for anybody */
            g_assert_cmpuint(bench_cycle(&bench, "flit pushed", BENCH_AGENT, f), ==, kick + 6 + 5 * f);
        for (unsigned f = MAX(credit, 1); credit && f < 6; f++) { /* then each waits for a completion */
            cycle_t signal = bench_flit_cycle(&bench, "signal", BENCH_AGENT, FLIT_CU_SIGNAL, f - credit);
            g_assert_cmpuint(bench_cycle(&bench, "flit pushed", BENCH_AGENT, f), ==, MAX(signal + 5, kick + 6 + 5 * f));
        }
        bench_close(&bench);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I01", claim_I01);
    g_test_add_func("/claim_I02", claim_I02);
    g_test_add_func("/claim_I03", claim_I03);
    g_test_add_func("/claim_I60/typed_in", claim_I60);
    g_test_add_func("/claim_I61", claim_I61);
    g_test_add_func("/claim_I62", claim_I62);
    g_test_add_func("/claim_I63", claim_I63);
    g_test_add_func("/claim_I64", claim_I64);
    g_test_add_func("/claim_I65", claim_I65);
    return g_test_run();
}
