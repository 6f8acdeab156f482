/* Random programs, sensible and senseless: whatever a program holds, the machine does not crash, it ends or stops
 * within the bounded number of cycles, nothing is lost or made on the way, and an answer other than a plain
 * interpreter's comes with a hazard. FLITSIM_FUZZ_PROGRAMS sets how many, FLITSIM_FUZZ_SEED where they start. */
#include <stdlib.h>

#include "model/numeric/fp22.h"
#include "program_run.h"
#include "units/check.h"

enum {
    PROGRAMS = 1000,
    INSTS_MAX = 16,
    PREAMBLE = 5,  /* fills both banks of both sides and opens sixteen sub-tiles */
    OPERANDS = 24, /* entries it writes in each */
    UNITS = 4,
    OUT_BASE = 0x20000, /* results of unit u lie at OUT_BASE + u * OUT_STRIDE */
    OUT_STRIDE = 0x4000,
    STANDSTILL = 600,
    CYCLES_MAX = 60000,
    CREDIT = 30,
    ENTRY_BYTES = MXFP7_WORDS * WORD_BYTES,
};

static const struct node_place { unsigned x, y; } places[UNITS] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};

/* ---- programs ---- */

struct fuzz_inst {
    struct word256 payload;
    struct cluster_inst inst;
    uint8_t type, txn, last, rsvd;
};

struct fuzz_program {
    struct fuzz_inst insts[UNITS][INSTS_MAX];
    unsigned count[UNITS];
    bool sensible; /* cluster instructions with fields of a plausible size, no transfers between clusters */
};

static unsigned below(GRand *random, unsigned n) {
    return (unsigned)g_rand_int_range(random, 0, (gint32)n);
}

static struct cluster_inst preamble_inst(unsigned i) {
    struct cluster_inst inst = cluster_inst_default(i + 1 < PREAMBLE ? CLUSTER_FILL : CLUSTER_GEMM);
    inst.n = OPERANDS;
    inst.addr = (uint64_t)ENTRY_BYTES * OPERANDS * i;
    inst.sel = i & 1;
    inst.fbank = i >> 1 & 1;
    inst.gm = inst.gn = 4;
    inst.nk = 1;
    return inst;
}

static struct cluster_inst sensible_inst(GRand *random, unsigned unit) {
    struct cluster_inst inst = cluster_inst_default(CLUSTER_FILL + below(random, 3));
    uint64_t out = OUT_BASE + unit * OUT_STRIDE + 0x400 * below(random, 8);
    inst.n = 1 + below(random, inst.op == CLUSTER_FILL ? OPERANDS : 16);
    inst.addr = inst.op == CLUSTER_FILL ? (uint64_t)ENTRY_BYTES * below(random, 256) : out;
    inst.sel = below(random, 2);
    inst.fbank = below(random, 2);
    inst.eoff = below(random, 8) ? below(random, 8) : below(random, 256);
    inst.gm = below(random, 5);
    inst.gn = below(random, 5);
    inst.nk = below(random, 4);
    inst.abank = below(random, 2);
    inst.bbank = below(random, 2);
    inst.aoff = below(random, 6);
    inst.boff = below(random, 6);
    inst.acc = below(random, 2);
    inst.emit = inst.op == CLUSTER_GEMM && (inst.acc || inst.nk > 1) && below(random, 3) == 0;
    return inst;
}

/* The fused DRAIN that belongs to an emitting GEMM, now and then with another count. */
static struct cluster_inst closing_inst(GRand *random, const struct cluster_inst *gemm) {
    struct cluster_inst inst = cluster_inst_default(CLUSTER_DRAIN);
    inst.addr = gemm->addr;
    inst.n = MAX(gemm->gm, 1) * MAX(gemm->gn, 1) + (below(random, 16) == 0);
    inst.fuse = 1;
    return inst;
}

static void senseless_inst(GRand *random, struct fuzz_inst *fuzz) {
    fuzz->type = below(random, 4) ? FLIT_CU_INST : below(random, 16);
    for (unsigned lane = 0; lane < 4; lane++)
        fuzz->payload.w[lane] = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
    if (fuzz->type == FLIT_CU_INST && below(random, 2)) { /* a known opcode, aimed at places that exist */
        word_set(&fuzz->payload, 252, 4, 1 + below(random, 3));
        word_set(&fuzz->payload, 107, 4, 1 + below(random, 2));
        word_set(&fuzz->payload, 103, 4, 1 + below(random, 2));
    }
    if (fuzz->type == FLIT_CU_INST) { /* counts that end within the cycles a test has */
        static const unsigned high[] = {196, 188, 180};
        word_set(&fuzz->payload, 209, 9, 0);
        for (unsigned field = 0; field < G_N_ELEMENTS(high); field++)
            word_set(&fuzz->payload, high[field], 4, 0);
    }
    fuzz->rsvd = below(random, 4) ? 0 : below(random, 8);
}

static void make_program(GRand *random, struct fuzz_program *program) {
    *program = (struct fuzz_program){.sensible = below(random, 2)};
    unsigned units = 1 + below(random, UNITS);
    for (unsigned u = 0; u < units; u++) {
        program->count[u] = PREAMBLE + 1 + below(random, INSTS_MAX - PREAMBLE);
        for (unsigned i = 0; i < program->count[u]; i++) {
            struct fuzz_inst *fuzz = &program->insts[u][i];
            *fuzz = (struct fuzz_inst){.type = FLIT_CU_INST, .txn = i, .last = i + 1 == program->count[u]};
            const struct cluster_inst *before = i ? &program->insts[u][i - 1].inst : NULL;
            fuzz->inst = i < PREAMBLE                                 ? preamble_inst(i)
                         : before->op == CLUSTER_GEMM && before->emit ? closing_inst(random, before)
                                                                      : sensible_inst(random, u);
            cluster_inst_encode(&fuzz->inst, &fuzz->payload, NULL);
            if (!program->sensible && below(random, 3) == 0)
                senseless_inst(random, fuzz);
        }
    }
}

/* ---- a plain interpreter: one instruction after the other, no time ---- */

struct plain {
    struct mxfp7_entry store[2][512];
    uint32_t tile[512][TILE_LANES];
};

static void plain_fill(struct plain *plain, struct dram *dram, const struct cluster_inst *inst) {
    for (unsigned i = 0; i < inst->n; i++) {
        struct word256 words[MXFP7_WORDS];
        for (unsigned w = 0; w < MXFP7_WORDS; w++)
            words[w] = dram_read(dram, inst->addr + (uint64_t)i * ENTRY_BYTES + w * WORD_BYTES, NULL);
        mxfp7_unpack(words, inst->sel ? MXFP7_COLUMNS : MXFP7_ROWS,
                     &plain->store[inst->sel][inst->fbank * BANK_ENTRIES + (inst->eoff + i) % BANK_ENTRIES]);
    }
}

static void plain_gemm(struct plain *plain, struct dram *dram, const struct cluster_inst *inst) {
    unsigned gm = MAX(inst->gm, 1), gn = MAX(inst->gn, 1), nk = MAX(inst->nk, 1);
    for (unsigned kb = 0; kb < nk; kb++)
        for (unsigned s = 0; s < gm * gn; s++) {
            int32_t sums[TILE_LANES];
            unsigned ea = (inst->aoff + s / gn * nk + kb) % BANK_ENTRIES,
                     eb = (inst->boff + s % gn * nk + kb) % BANK_ENTRIES;
            const struct mxfp7_entry *a = &plain->store[0][inst->abank * BANK_ENTRIES + ea];
            const struct mxfp7_entry *b = &plain->store[1][inst->bbank * BANK_ENTRIES + eb];
            mxfp7_block_dot(a, b, sums);
            (kb == 0 && !inst->acc ? fp22_tile_load : fp22_tile_add)(plain->tile[s], sums, a->scale, b->scale,
                                                                     inst->anchor, FP22_WIDTH);
        }
    for (unsigned s = 0; inst->emit && s < gm * gn; s++) {
        struct word256 out;
        fp22_tile_emit(plain->tile[s], FP22_WIDTH, &out);
        dram_write(dram, inst->addr + (uint64_t)s * WORD_BYTES, &out);
    }
}

static void plain_run(struct plain *plain, struct dram *dram, const struct fuzz_inst *insts, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        const struct cluster_inst *inst = &insts[i].inst;
        if (inst->op == CLUSTER_FILL)
            plain_fill(plain, dram, inst);
        else if (inst->op == CLUSTER_GEMM)
            plain_gemm(plain, dram, inst);
        for (unsigned t = 0; inst->op == CLUSTER_DRAIN && !inst->fuse && t < inst->n; t++) {
            struct word256 out;
            fp22_tile_emit(plain->tile[t], FP22_WIDTH, &out);
            dram_write(dram, inst->addr + (uint64_t)t * WORD_BYTES, &out);
        }
    }
}

static void compare(struct system *system, const struct fuzz_program *program, unsigned number) {
    struct dram expected;
    struct system sketch = {0};
    dram_init(&expected, system->machine->memory.size);
    sketch.dram = expected;
    program_fill_memory(&sketch);
    for (unsigned u = 0; u < UNITS; u++) {
        struct plain *plain = g_new0(struct plain, 1);
        const struct cluster *cluster = system->endpoints[u].unit;
        plain_run(plain, &sketch.dram, program->insts[u], program->count[u]);
        if (memcmp(plain->tile, cluster->tile, sizeof plain->tile) != 0)
            g_test_fail_printf("program %u: the tile of unit %u is wrong and no hazard says so", number, u);
        g_free(plain);
    }
    for (uint64_t at = OUT_BASE; at < OUT_BASE + UNITS * OUT_STRIDE; at += WORD_BYTES) {
        struct word256 ours = dram_read(&system->dram, at, NULL), wanted = dram_read(&sketch.dram, at, NULL);
        if (memcmp(&ours, &wanted, sizeof ours) != 0) {
            g_test_fail_printf("program %u: memory at 0x%" G_GINT64_MODIFIER "x is wrong and no hazard says so", number,
                               at);
            break;
        }
    }
    dram_clear(&sketch.dram);
}

/* ---- the run ---- */

struct fuzz_host {
    struct system *system;
    const struct fuzz_program *program;
    unsigned unit, step;
};

/* Per unit: destination, length, base, kick, then wait until the dispatcher is idle. */
static cycle_t fuzz_host(void *self, cycle_t now) {
    static const uint32_t registers[] = {AGENT_PROG_DST, AGENT_PROG_LEN, AGENT_PROG_BASE, AGENT_PROG_KICK};
    struct fuzz_host *host = self;
    struct dispatch *dispatch = &host->system->agent.dispatch;
    while (host->unit < UNITS && !host->program->count[host->unit])
        host->unit++;
    if (host->unit == UNITS)
        return CYCLE_NEVER;
    if (host->step == 0 && dispatch->running)
        return now + 4;
    const uint64_t values[] = {node_byte(places[host->unit].x, places[host->unit].y), host->program->count[host->unit],
                               host->unit * INSTS_MAX, 1};
    dispatch_write(dispatch, registers[host->step], values[host->step], now);
    if (++host->step == G_N_ELEMENTS(registers)) {
        host->step = 0;
        host->unit++;
    }
    return now + 4;
}

static void stage(struct system *system, const struct fuzz_program *program) {
    struct dispatch *dispatch = &system->agent.dispatch;
    for (unsigned u = 0; u < UNITS; u++)
        for (unsigned i = 0; i < program->count[u]; i++) {
            const struct fuzz_inst *fuzz = &program->insts[u][i];
            unsigned slot = u * INSTS_MAX + i;
            dispatch_stage(dispatch, slot, &fuzz->payload, fuzz->type, fuzz->txn, fuzz->last);
            dispatch->staging[slot * STAGED_WORDS + 4] |= fuzz->rsvd;
        }
    dispatch->credit = CREDIT;
}

static void run_one(const struct machine *machine, GRand *random, unsigned number, unsigned counts[3]) {
    struct fuzz_program program;
    make_program(random, &program);
    struct system *system = system_new(machine, NULL);
    program_fill_memory(system);
    stage(system, &program);
    struct fuzz_host host = {.system = system, .program = &program};
    system->agent.host = (struct agent_host){.self = &host, .step = fuzz_host, .due = 0};
    agent_wake(&system->agent, 0);
    cycle_t now = 0, last = 0;
    while (now != CYCLE_NEVER && now < CYCLES_MAX && !system_standstill(system, now))
        now = system_step(system, last = now);
    if (now >= CYCLES_MAX && now != CYCLE_NEVER)
        g_test_fail_printf("program %u neither ends nor stops in %d cycles", number, CYCLES_MAX);
    if (!system_balances(system, last))
        g_test_fail_printf(
            "program %u: %s", number,
            ((struct hazard *)g_ptr_array_index(system->hazards.hazards, system->hazards.hazards->len - 1))->what);
    bool quiet = system_quiet(system);
    struct deadlock_report report;
    if (!quiet) {
        deadlock_report_init(&report, system, system_last_progress(system), last);
        if (!report.waits->len)
            g_test_fail_printf("program %u stops and nobody is said to wait", number);
        deadlock_report_clear(&report);
    }
    counts[0] += quiet;
    counts[1] += system->hazards.hazards->len > 0;
    if (program.sensible && quiet && !system->hazards.hazards->len) {
        compare(system, &program, number);
        counts[2]++;
    }
    system_free(system);
}

static unsigned number_of(const char *name, unsigned otherwise) {
    const char *text = g_getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void random_programs(void) {
    unsigned programs = number_of("FLITSIM_FUZZ_PROGRAMS", PROGRAMS), first = number_of("FLITSIM_FUZZ_SEED", 0);
    unsigned counts[3] = {0};
    struct program_run run;
    program_open(&run, "# cold:\n");
    run.machine.engine.standstill_cycles = STANDSTILL;
    for (unsigned p = first; p < first + programs; p++) {
        g_autoptr(GRand) random = g_rand_new_with_seed(p);
        run_one(&run.machine, random, p, counts);
    }
    g_test_message("%u programs: %u ended, %u with hazards, %u answers compared", programs, counts[0], counts[1],
                   counts[2]);
    g_assert_cmpuint(counts[2], >=, programs / 50);
    program_close(&run);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fuzz/random_programs", random_programs);
    return g_test_run();
}
