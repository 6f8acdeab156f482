/* Claims on transfers between clusters, I16, I17 and I41 to I50: each runs the machine. Clusters a (1,1), b (2,1),
 * c (1,2); programs are texts of docs/assembly.md. */
#include "model/numeric/fp22.h"
#include "program_run.h"

#define HAZARDS_DIR FLITSIM_SOURCE_DIR "/tests/hazards/"
#define OPEN_TILE   "fill addr=0x0 n=4\nfill addr=0x1000 n=4 sel=b\ngemm gm=2 gn=2 nk=2\n"
#define WORD(n)     "00000000000000000000000000000000000000000000000000000000989090" n

static struct program_run run_text(const char *text) {
    struct program_run run;
    program_open(&run, text);
    program_go(&run);
    return run;
}

static struct program_run run_stored(const char *id) {
    g_autofree char *path = g_strconcat(HAZARDS_DIR, id, ".fs", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return run_text(text);
}

static uint64_t seen(const struct program_run *run, const char *id) {
    return hazard_count(&run->system->hazards, id);
}

static void assert_tile(const struct cluster *cluster, unsigned t, const uint32_t wanted[TILE_LANES]) {
    g_assert_cmpmem(cluster->tile[t], sizeof cluster->tile[t], wanted, TILE_LANES * sizeof *wanted);
}

/* ---- shared fetch ---- */

#define SHARED                                                                                                         \
    "program (1,2)\nfill addr=0x8000 n=60 sel=b\nfill addr=0x0 n=8 peers=(1,1) last\n"                                 \
    "program (1,1)\nfill addr=0x0 n=8 peers=(1,2) last\n"
#define ALONE                                                                                                          \
    "program (1,2)\nfill addr=0x8000 n=60 sel=b\nfill addr=0x0 n=8 last\n"                                             \
    "program (1,1)\nfill addr=0x0 n=8 last\n"

static bool same_entries(const struct cluster *a, const struct cluster *b, unsigned side, unsigned count) {
    return memcmp(a->store[side], b->store[side], count * sizeof *a->store[side]) == 0;
}

static void claim_I16(void) {
    struct program_run shared = run_text(SHARED), alone = run_text(ALONE);
    const struct cluster *wrong = program_cluster(&shared, 1, 2), *right = program_cluster(&alone, 1, 2);
    g_assert_cmpuint(seen(&shared, "cluster.shared_fill_side"), >, 0);
    g_assert_cmpuint(seen(&alone, "cluster.shared_fill_side"), ==, 0);
    g_assert_false(same_entries(wrong, right, 1, 8) && same_entries(wrong, right, 0, 8));
    program_close(&shared);
    program_close(&alone);
}

static void claim_I17(void) {
    struct program_run shared = run_text("# set: cluster.rendezvous=true\n" SHARED), alone = run_text(ALONE);
    const struct cluster *met = program_cluster(&shared, 1, 2), *right = program_cluster(&alone, 1, 2);
    g_assert_true(shared.ended);
    g_assert_cmpuint(shared.system->hazards.hazards->len, ==, 0);
    g_assert_true(same_entries(met, right, 0, 8));
    g_assert_true(same_entries(met, right, 1, 60));
    g_assert_true(same_entries(program_cluster(&shared, 1, 1), right, 0, 8));
    g_assert_cmpuint(shared.system->dram.reads, ==, alone.system->dram.reads - 8 * 4);
    program_close(&shared);
    program_close(&alone);
}

/* ---- bursts ---- */

struct burst_log {
    unsigned flits, descriptors, left, wrong;
    unsigned offsets[16];
};

static void log_flit(void *self, const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    struct burst_log *log = self;
    (void)endpoint;
    (void)now;
    if (flit->type != FLIT_CU_DATA)
        return;
    log->flits++;
    if (log->left) {
        log->wrong += flit->last != (--log->left == 0);
        return;
    }
    log->offsets[log->descriptors++ % 16] = word_get(&flit->payload, 232, 16);
    log->left = word_get(&flit->payload, 224, 8) + 1;
    log->wrong += flit->last;
}

static void claim_I41(void) {
    struct program_run run;
    struct burst_log log = {0};
    struct endpoint_trace trace = {.self = &log, .flit_out = log_flit};
    program_open(&run, "program (2,1)\nfill addr=0x0 n=8\nfill addr=0x1000 n=8 sel=b\ngemm gm=4 gn=4 nk=2 last\n"
                       "program (1,1)\nfill addr=0x0 n=8\nfill addr=0x1000 n=8 sel=b\ngemm gm=4 gn=4 nk=2\n"
                       "drain n=6 addr=0x100 dnode dst=(2,1) dbuf=2 last\n");
    run.system->endpoints[0].trace = &trace;
    program_go(&run);
    g_assert_true(run.ended);
    g_assert_cmpuint(log.descriptors, ==, 2);
    g_assert_cmpuint(log.flits, ==, 2 + 12);
    g_assert_cmpuint(log.wrong, ==, 0);
    g_assert_cmpuint(log.offsets[0], ==, 8); /* 0x100 / 32 */
    g_assert_cmpuint(log.offsets[1], ==, 16);
    program_close(&run);
}

static void claim_I42(void) {
    const char *image = WORD("81") " " WORD("82") " " WORD("83") " " WORD("84");
    g_autofree char *text = g_strdup_printf(
        "memory 0x0: %s\nprogram (1,1)\nfill addr=0x0 n=1\nfill addr=0x0 n=1 sel=b last\nprogram (2,1)\n"
        "data buf_id=0 offset=0 len=3\nraw " WORD("81") " type=CU_DATA\nraw " WORD("82") " type=CU_DATA\nraw " WORD("8"
                                                                                                                    "3") " type=CU_DATA\nraw " WORD(
            "84") " type=CU_DATA last\n"
                  "data buf_id=1 offset=0 len=3\nraw " WORD("81") " type=CU_DATA\nraw " WORD(
                      "82") " type=CU_DATA\nraw " WORD("83") " type=CU_DATA\nraw " WORD("84") " type=CU_DATA last\n",
        image);
    struct program_run run = run_text(text);
    const struct cluster *filled = program_cluster(&run, 1, 1), *sent = program_cluster(&run, 2, 1);
    g_assert_cmpuint(sent->counts.entries_written, ==, 2);
    g_assert_true(same_entries(filled, sent, 0, 1));
    g_assert_true(same_entries(filled, sent, 1, 1));
    program_close(&run);
}

/* ---- the resident tile ---- */

#define TWO_TILES                                                                                                      \
    "program (2,1)\nfill addr=0x0 n=4\nfill addr=0x1000 n=4 sel=b\ngemm gm=2 gn=2 nk=2 last\n"                         \
    "program (1,1)\nfill addr=0x2000 n=4\nfill addr=0x3000 n=4 sel=b\ngemm gm=2 gn=2 nk=2"
#define SEND_TO_B "\ndrain n=4 dnode dst=(2,1) dbuf=2 last\n"

struct push_log {
    unsigned count;
    cycle_t at[64];
};

static void log_push(void *self, const struct unit_context *where, const char *what, uint64_t a, uint64_t b,
                     cycle_t now) {
    struct push_log *log = self;
    (void)where;
    (void)a;
    (void)b;
    if (strcmp(what, "emit") == 0)
        log->at[log->count++ % 64] = now;
}

static void claim_I43(void) {
    struct program_run before = run_text(TWO_TILES " last\n"), run;
    struct push_log log = {0};
    struct cluster_trace trace = {.self = &log, .event = log_push};
    program_open(&run, TWO_TILES SEND_TO_B);
    program_cluster(&run, 1, 1)->trace = &trace;
    program_go(&run);
    struct cluster *sender = program_cluster(&run, 1, 1), *receiver = program_cluster(&run, 2, 1);
    g_assert_cmpuint(sender->counts.send, ==, 4);
    g_assert_cmpuint(receiver->counts.add_peer, ==, 4);
    g_assert_cmpuint(log.count, ==, 8); /* two granules each, one command every other cycle */
    g_assert_cmpuint(log.at[7] - log.at[0], ==, 7);
    for (unsigned t = 0; t < 4; t++) {
        uint32_t sum[TILE_LANES];
        memcpy(sum, program_cluster(&before, 2, 1)->tile[t], sizeof sum);
        fp22_tile_add_words(sum, program_cluster(&before, 1, 1)->tile[t], FP22_WIDTH);
        assert_tile(receiver, t, sum);
    }
    program_close(&before);
    program_close(&run);
}

static void claim_I44(void) {
    struct program_run before = run_text(TWO_TILES " last\n"), run = run_text(TWO_TILES SEND_TO_B);
    unsigned rounded = 0;
    for (unsigned t = 0; t < 4; t++) {
        const uint32_t *mine = program_cluster(&before, 2, 1)->tile[t];
        const uint32_t *other = program_cluster(&before, 1, 1)->tile[t];
        uint32_t sum[TILE_LANES];
        memcpy(sum, mine, sizeof sum);
        fp22_tile_add_words(sum, other, FP22_WIDTH);
        assert_tile(program_cluster(&run, 2, 1), t, sum);
        for (unsigned lane = 0; lane < TILE_LANES; lane++) { /* through memory each partial is FP16 */
            double a = fp22_to_double(mine[lane], FP22_WIDTH), b = fp22_to_double(other[lane], FP22_WIDTH);
            _Float16 through = (_Float16)((double)(_Float16)a + (double)(_Float16)b);
            rounded += (_Float16)fp22_to_double(sum[lane], FP22_WIDTH) != through;
        }
    }
    g_assert_cmpuint(rounded, >, 0);
    program_close(&before);
    program_close(&run);
}

/* ---- rejection, acknowledgement ---- */

#define DATA_FLIT "raw " WORD("81") " type=CU_DATA\n"
#define DATA_LAST "raw " WORD("81") " type=CU_DATA last\n"
#define BY_HAND   "write SIG_DONE=0\ncredit 30\nkick\ndone\n"

static void claim_I45(void) {
    struct program_run run = run_text(
        "program (1,1)\ndata buf_id=0 offset=2047 len=1 flags=1\n" DATA_FLIT DATA_LAST
        "data buf_id=3 offset=0 len=0 flags=1\n" DATA_LAST "data buf_id=2 offset=1 len=1 flags=1\n" DATA_FLIT DATA_LAST
        "data buf_id=0 offset=0 len=3 flags=1\n" DATA_FLIT DATA_FLIT DATA_FLIT DATA_LAST BY_HAND);
    const struct cluster *cluster = program_cluster(&run, 1, 1);
    g_assert_cmpuint(seen(&run, "cudata.rejected"), ==, 3);
    g_assert_cmpuint(run.system->agent.dispatch.signals, ==, 4);
    g_assert_cmpuint(cluster->counts.entries_written, ==, 1);
    g_assert_true(bit_test(cluster->written[0], 0));
    g_assert_false(bit_test(cluster->written[0], 511));
    g_assert_cmpuint(cluster->counts.add_peer, ==, 0);
    program_close(&run);
}

static void claim_I46(void) {
    struct program_run run = run_text("program (1,1)\ndata buf_id=0 offset=0 len=0 flags=1\n" DATA_LAST
                                      "data buf_id=0 offset=0 len=0 flags=1 ack_x=2 ack_y=1\n" DATA_LAST BY_HAND);
    g_assert_cmpuint(run.system->agent.dispatch.signals, ==, 1);
    g_assert_cmpuint(run.system->endpoints[1].counts.in[FLIT_CU_SIGNAL], ==, 1);
    program_close(&run);
}

static void claim_I47(void) {
    struct program_run run = run_stored("cudata.interleaved"), last = run_stored("cudata.last_mismatch");
    g_assert_cmpuint(seen(&run, "cudata.interleaved"), >, 0);
    g_assert_cmpuint(seen(&last, "cudata.interleaved"), >, 0);
    program_close(&run);
    program_close(&last);
}

static void claim_I48(void) {
    struct program_run unopened = run_text("program (1,1)\n" OPEN_TILE "drain n=4 dnode dst=(2,1) dbuf=2 last\n");
    struct program_run sweeping = run_stored("cluster.peer_blocks_fill");
    g_assert_cmpuint(seen(&unopened, "acc.unopened_tile"), ==, 4);
    g_assert_cmpuint(seen(&sweeping, "cluster.peer_blocks_fill"), >, 0);
    program_close(&unopened);
    program_close(&sweeping);
}

static void claim_I49(void) {
    struct program_run run = run_stored("deadlock.self_peer");
    struct deadlock_report report;
    g_assert_false(run.ended);
    deadlock_report_init(&report, run.system, run.end, run.end);
    g_assert_cmpstr(report.id, ==, "deadlock.self_peer");
    g_assert_cmpuint(report.circle, >=, 3);
    g_assert_cmpuint(run.system->endpoints[0].counts.out[FLIT_CU_DATA], ==, 105);
    g_assert_cmpuint(run.system->endpoints[0].counts.in[FLIT_CU_DATA], ==, 69);
    deadlock_report_clear(&report);
    program_close(&run);
}

/* LOAD, ADD, EMIT, ADD_EMIT, SEND, ADD_PEER and, as an option, FWD; the eighth is no command at all. */
static void claim_I50(void) {
    struct program_run run =
        run_text("program (1,1)\n" OPEN_TILE "drain n=4 addr=0x20000\ngemm gm=2 gn=2 nk=2 emit "
                 "addr=0x21000\ndrain n=4 fuse addr=0x21000\ndrain n=4 dnode dst=(2,1) dbuf=2 last\n");
    const struct cluster_counts *counts = &program_cluster(&run, 1, 1)->counts;
    g_assert_cmpuint(counts->load, ==, 8);
    g_assert_cmpuint(counts->add, ==, 4);
    g_assert_cmpuint(counts->emit, ==, 4);
    g_assert_cmpuint(counts->add_emit, ==, 4);
    g_assert_cmpuint(counts->send, ==, 4);
    g_assert_cmpuint(program_cluster(&run, 2, 1)->counts.add_peer, ==, 4);
    for (unsigned t = 0; t < 4; t++) { /* emitting and draining afterwards write the same words */
        struct word256 drained = dram_read(&run.system->dram, 0x20000 + 32 * t, NULL);
        struct word256 emitted = dram_read(&run.system->dram, 0x21000 + 32 * t, NULL);
        g_assert_cmpmem(&drained, sizeof drained, &emitted, sizeof emitted);
    }
    program_close(&run);
}

/* FWD: the last block leaves alone and the tile stays as the blocks before it made it. */
static void claim_I50_forward(void) {
    const char *text =
        "# set: cluster.forward=true\n"
        "program (2,1)\nfill addr=0x0 n=4\nfill addr=0x1000 n=4 sel=b\ngemm gm=2 gn=2 nk=1 last\n"
        "program (1,1)\n"
        "fill addr=0x0 n=4\nfill addr=0x1000 n=4 sel=b\ngemm gm=2 gn=2 nk=1\n"
        "gemm gm=2 gn=2 nk=1 fwd acc dnode dst=(2,1) dbuf=2\ndrain n=8 fuse dnode dst=(2,1) dbuf=2 last\n";
    struct program_run run = run_text(text);
    const struct cluster *sender = program_cluster(&run, 1, 1), *receiver = program_cluster(&run, 2, 1);
    g_assert_true(run.ended);
    g_assert_cmpuint(run.system->hazards.hazards->len, ==, 0);
    g_assert_cmpuint(sender->counts.forwarded, ==, 4);
    for (unsigned t = 0; t < 4; t++) { /* both hold the same product; the receiver added it once more */
        uint32_t twice[TILE_LANES];
        memcpy(twice, sender->tile[t], sizeof twice);
        fp22_tile_add_words(twice, sender->tile[t], FP22_WIDTH);
        assert_tile(receiver, t, twice);
    }
    program_close(&run);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I16", claim_I16);
    g_test_add_func("/claim_I17", claim_I17);
    g_test_add_func("/claim_I41", claim_I41);
    g_test_add_func("/claim_I42", claim_I42);
    g_test_add_func("/claim_I43", claim_I43);
    g_test_add_func("/claim_I44", claim_I44);
    g_test_add_func("/claim_I45", claim_I45);
    g_test_add_func("/claim_I46", claim_I46);
    g_test_add_func("/claim_I47", claim_I47);
    g_test_add_func("/claim_I48", claim_I48);
    g_test_add_func("/claim_I49", claim_I49);
    g_test_add_func("/claim_I50", claim_I50);
    g_test_add_func("/claim_I50/forward", claim_I50_forward);
    return g_test_run();
}
