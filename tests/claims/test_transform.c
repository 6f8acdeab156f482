/* Claims T01-T23 and I63 as far as mover and transform slot show them by themselves. T08 (request flags of a fetch) and
 * T13 (the processor's address range), and T05 and I63 on a whole machine, are in test_conversion.c and
 * test_worked_example.c. */
#include "mover_bench.h"

enum {
    SOURCE = 0x10000,
    DESTINATION = 0x80000,
    SECOND = 0xC0000,
    ENTRY_SOURCE_BYTES = 256, /* of the quantiser */
    ENTRY_BYTES = 128,
};

static const struct move_geometry four_four = {.in_beats = 4, .out_words = 4};
static const struct move_geometry eight_four = {.in_beats = 8, .out_words = 4};
static const struct transform_occupant *const bank_of_two[] = {&transform_quantiser, &transform_negate};
static const struct transform_occupant *const *const project = bank_of_two;

static struct move converting(uint64_t destination, uint64_t entries, struct move_geometry geometry, unsigned id,
                              unsigned mode) {
    GArray *moves = moves_new();
    moves_convert(moves, SOURCE, destination, entries, geometry, id, mode);
    struct move move = g_array_index(moves, struct move, 0);
    g_array_unref(moves);
    return move;
}

static cycle_t convert(struct mover_bench *bench, uint64_t entries, struct move_geometry geometry, unsigned id,
                       unsigned mode) {
    struct move move = converting(DESTINATION, entries, geometry, id, mode);
    return bench_move(bench, &move);
}

static struct word256 word_at(struct mover_bench *bench, uint64_t address) {
    return dram_read(&bench->dram, address, NULL);
}

static bool same(struct word256 a, struct word256 b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- occupants of this file: the contract is all they need ---- */

struct plain {
    unsigned count, entries;
    struct word256 words[TRANSFORM_WORDS];
};

static void plain_start(void *state, unsigned id, unsigned mode) {
    (void)id, (void)mode;
    struct plain *plain = state;
    plain->count = 0;
    plain->entries++;
}

static void plain_beat(void *state, const struct word256 *beat) {
    struct plain *plain = state;
    plain->words[plain->count++ % TRANSFORM_WORDS] = *beat;
}

static unsigned plain_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    memcpy(words, ((struct plain *)state)->words, sizeof(struct word256[TRANSFORM_WORDS]));
    return 1;
}

static unsigned late_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    return plain_finish(state, words) + 99;
}

/* Two beats become four words: each one twice. */
static unsigned expanding_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    const struct plain *plain = state;
    for (unsigned i = 0; i < TRANSFORM_WORDS; i++)
        words[i] = plain->words[i / 2];
    return 1;
}

static unsigned fault_in_the_third(const void *state) {
    return ((const struct plain *)state)->entries == 3 ? 4 : 0;
}

#define PLAIN(in, out, end, raises)                                                                                    \
    {                                                                                                                  \
        .name = "plain", .in_bits = (in), .out_words = (out), .state_size = sizeof(struct plain),                      \
        .start = plain_start, .beat = plain_beat, .finish = (end), .fault = (raises)                                   \
    }

static const struct transform_occupant quick_8_to_4 = PLAIN(2048, 4, plain_finish, NULL);
static const struct transform_occupant late_4_to_4 = PLAIN(1024, 4, late_finish, NULL);
static const struct transform_occupant expanding = PLAIN(512, 4, expanding_finish, NULL);
static const struct transform_occupant faulting = PLAIN(1024, 4, plain_finish, fault_in_the_third);
static const struct transform_occupant too_wide = PLAIN(1024, 8, plain_finish, NULL);

/* Cycles a further entry of a long move costs: the first few are ahead of the bank. */
static double period_of(enum memory_attachment attachment, const struct transform_occupant *occupant,
                        struct move_geometry geometry) {
    double span[2];
    for (unsigned n = 0; n < 2; n++) {
        struct mover_bench bench;
        bench_open(&bench, attachment, &occupant, 1);
        convert(&bench, n ? 40 : 20, geometry, 1, 0);
        span[n] = (double)(bench.last_read - bench.first_read);
        bench_close(&bench);
    }
    return (span[1] - span[0]) / 20;
}

/* ---- claims ---- */

static void claim_T01(void) {
    struct machine machine;
    struct mem_requester unit = {.read_offered = true, .read_address = SOURCE, .read_words = 8, .return_ready = true};
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    machine = bench.machine;
    g_autofree struct word256 *memory = bench_randomise(&bench, 21);
    struct mem_requester *requesters[] = {&unit, &bench.mover.port};
    struct mem_path *path = path_new(&machine, &bench.dram, requesters, 2);
    struct move move = converting(DESTINATION, 2, eight_four, 1, 0);
    unsigned taken = 0;
    for (cycle_t now = 0; now < 400; now++) {
        path_step(path, now);
        if (unit.read_accepted)
            unit.read_offered = false;
        if (unit.word_returned) /* the unit sees memory as it is, while the mover converts the same words */
            g_assert_true(same(unit.word, memory[SOURCE / 32 + taken++]));
        if (now < move.count)
            mover_write(&bench.mover, move.writes[now].offset, move.writes[now].value, now);
        mover_step(&bench.mover, now);
    }
    g_assert_cmpuint(taken, ==, 8);
    g_assert_cmpuint(bench.mover.moves_done, ==, 1);
    g_assert_false(same(word_at(&bench, DESTINATION), memory[SOURCE / 32]));
    path_free(path);
    bench_close(&bench);
}

static void claim_T02(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    g_autofree struct word256 *memory = bench_randomise(&bench, 22);
    struct move move = converting(DESTINATION, 1, four_four, 2, 0);
    for (unsigned i = 0; i < move.count; i++)
        bench_cycle(&bench, &move.writes[i]);
    while (bench.mover.present < 4)
        g_assert_true(bench_cycle(&bench, NULL));
    for (unsigned i = 0; i < 4; i++) {
        struct word256 held = bench.mover.data[(bench.mover.data_out + i) & bench.mover.data_mask].word;
        for (unsigned lane = 0; lane < 4; lane++)
            g_assert_cmphex(held.w[lane], ==, memory[SOURCE / 32 + i].w[lane] ^ UINT64_C(0x8000800080008000));
    }
    bench_close(&bench);
}

static void claim_T03(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    struct move move = converting(DESTINATION, 1, eight_four, 1, 0);
    g_assert_cmphex(move.writes[move.count - 1].value & 7, ==, 5);
    for (unsigned i = 0; i < move.count; i++)
        bench_cycle(&bench, &move.writes[i]);
    while (!bench.mover.port.read_offered)
        g_assert_true(bench_cycle(&bench, NULL));
    g_assert_cmpuint(bench.mover.reserved, ==, 4); /* not the eight beats, and before the address is accepted */
    g_assert_cmpuint(bench.bursts, ==, 0);
    bench_settle(&bench);
    g_assert_cmpuint(bench.mover.reserved, ==, 0);
    bench_close(&bench);
}

static void claim_T04(void) {
    /* A bank in which conversions overlapped would look like one without latency: the converged master hides it all. */
    double published = period_of(MEMORY_CONVERGED, &transform_quantiser, eight_four);
    double overlapped = period_of(MEMORY_CONVERGED, &quick_8_to_4, eight_four);
    g_test_message("cycles an entry: %g, with a bank that never makes wait: %g", published, overlapped);
    g_assert_cmpfloat(published, ==, overlapped);
    g_assert_cmpfloat(period_of(MEMORY_PER_PORT, &transform_quantiser, eight_four), <, published);
}

/* Bytes on memory's side for `fetches` reads of one operand entry. */
static uint64_t bytes_moved(bool by_mover, unsigned fetches) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    if (by_mover)
        convert(&bench, 1, eight_four, 1, 0);
    uint64_t bytes = by_mover ? (bench.reads + bench.writes) * WORD_BYTES : 0;
    for (unsigned i = 0; i < fetches; i++) {
        GArray *moves = moves_new();
        moves_copy(moves, by_mover ? DESTINATION : SOURCE, SECOND,
                   (by_mover ? ENTRY_BYTES : ENTRY_SOURCE_BYTES) / WORD_BYTES);
        bench_moves(&bench, moves); /* a copy stands for the fetch: its reads count */
        bytes += bench.reads * WORD_BYTES;
    }
    bench_close(&bench);
    return bytes;
}

static void claim_T05(void) {
    g_assert_cmpuint(bytes_moved(true, 1), ==, 256 + 128 + 128);
    g_assert_cmpuint(bytes_moved(false, 1), ==, 256);
    g_assert_cmpuint(bytes_moved(true, 2), >, bytes_moved(false, 2)); /* the brief says it wins here already */
    g_assert_cmpuint(bytes_moved(true, 3), ==, bytes_moved(false, 3));
    g_assert_cmpuint(bytes_moved(true, 4), <, bytes_moved(false, 4));
}

static void claim_T06(void) {
    struct mover_bench bench;
    struct word256 first[4], words[4];
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    g_autofree struct word256 *memory = bench_randomise(&bench, 26);
    convert(&bench, 2, four_four, 0, 0);
    g_assert_true(same(word_at(&bench, DESTINATION), memory[SOURCE / 32]));
    convert(&bench, 2, four_four, 2, 0);
    g_assert_cmphex(word_at(&bench, DESTINATION).w[1], ==, memory[SOURCE / 32].w[1] ^ UINT64_C(0x8000800080008000));
    for (unsigned mode = 0; mode < 16; mode++) {
        convert(&bench, 2, eight_four, 1, mode);
        dram_store(&bench.dram, DESTINATION, words, sizeof words);
        if (mode == 0)
            memcpy(first, words, sizeof first);
        g_assert_cmpint(memcmp(first, words, sizeof words) == 0, ==, (mode & 1) == 0);
    }
    bench_close(&bench);
}

static void claim_T07(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    g_autofree struct word256 *memory = bench_randomise(&bench, 27);
    struct move move = converting(DESTINATION, 1, four_four, 0, 0);
    for (unsigned i = 0; i < move.count; i++)
        if (move.writes[i].offset == 0x10 && move.writes[i].value & 1)
            move.writes[i].value |= UINT64_C(2) << 47 | UINT64_C(15) << 55; /* destination header: ignored */
    bench_move(&bench, &move);
    g_assert_true(same(word_at(&bench, DESTINATION), memory[SOURCE / 32]));
    g_assert_cmphex(move.writes[0].offset, ==, 0x10);
    move.writes[0].value |= UINT64_C(2) << 47;
    bench_move(&bench, &move);
    g_assert_cmphex(word_at(&bench, DESTINATION).w[0], ==, memory[SOURCE / 32].w[0] ^ UINT64_C(0x8000800080008000));
    move.writes[0].value ^= UINT64_C(2) << 47 | UINT64_C(9) << 55;
    bench_move(&bench, &move);
    g_assert_cmpuint(bench.mover.convert.mode, ==, 9);
    bench_close(&bench);
}

static void claim_T09(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    uint16_t small[128], large[128];
    for (unsigned i = 0; i < 128; i++) {
        small[i] = 0x2C00 + i; /* per entry: the second entry's numbers are 64 times larger, so its scales differ */
        large[i] = small[i] + (6 << 10);
    }
    dram_load(&bench.dram, SOURCE, small, sizeof small);
    dram_load(&bench.dram, SOURCE + sizeof small, large, sizeof large);
    convert(&bench, 2, eight_four, 1, 0);
    struct word256 a = word_at(&bench, DESTINATION), b = word_at(&bench, DESTINATION + ENTRY_BYTES);
    g_assert_cmpmem(&a.w[1], 24, &b.w[1], 24); /* same elements; the scales are in the low 32 bits */
    g_assert_false(same(a, b));                /* other scales */
    convert(&bench, 2, eight_four, 1, 1);      /* per move */
    g_assert_false(same(a, word_at(&bench, DESTINATION)));
    transform_cfg_write(bench.bank, 2, 0x08, 0xFFFF, bench.now); /* per configuration */
    convert(&bench, 2, four_four, 2, 0);
    g_assert_true(same(word_at(&bench, DESTINATION), word_at(&bench, SOURCE)));
    bench_close(&bench);
}

static void claim_T10(void) {
    const struct transform_occupant *slots[] = {&expanding};
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, slots, 1);
    g_autofree struct word256 *memory = bench_randomise(&bench, 30);
    convert(&bench, 7, (struct move_geometry){2, 4}, 1, 0);
    for (unsigned i = 0; i < 28; i++)
        g_assert_true(same(word_at(&bench, DESTINATION + 32 * i), memory[SOURCE / 32 + i / 2]));
    bench_close(&bench);
}

static void claim_T11(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    g_assert_cmphex(transform_cfg_read(bench.bank, 1, 0x04, 0), ==, 0x040800);
    g_assert_cmphex(transform_cfg_read(bench.bank, 2, 0x04, 0), ==, 0x040400);
    g_assert_cmphex(transform_cfg_read(bench.bank, 3, 0x04, 0), ==, 0);
    convert(&bench, 1, four_four, 3, 0);
    g_assert_cmphex(transform_cfg_read(bench.bank, 0, 0x00, bench.now), ==, 1);
    transform_cfg_write(bench.bank, 2, 0x00, 0, bench.now); /* any write, through any id */
    g_assert_cmphex(transform_cfg_read(bench.bank, 0, 0x00, bench.now), ==, 0);
    bench_close(&bench);
}

static void claim_T12(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    convert(&bench, 4, four_four, 15, 0);
    g_assert_cmphex(transform_fault(bench.bank, bench.now), ==, TRANSFORM_FAULT_UNKNOWN_ID);
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_OCCUPANT);
    bench_close(&bench);
}

static void claim_T14(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    g_autofree struct word256 *memory = bench_randomise(&bench, 34);
    struct move move = converting(DESTINATION, 4, four_four, 2, 0);
    for (unsigned i = 0; i < move.count; i++)
        bench_cycle(&bench, &move.writes[i]);
    for (unsigned i = 0; i < 30; i++)
        bench_cycle(&bench, NULL);
    transform_cfg_write(bench.bank, 2, 0x08, 0xFFFF, bench.now);
    g_assert_cmpuint(hazard_count(&bench.hazards, "xform.cfg_during_run"), ==, 1);
    bench_settle(&bench);
    g_assert_cmphex(word_at(&bench, DESTINATION + 3 * ENTRY_BYTES).w[0], ==,
                    memory[SOURCE / 32 + 12].w[0] ^ UINT64_C(0x8000800080008000));
    transform_cfg_write(bench.bank, 2, 0x08, 0xFFFF, bench.now);
    g_assert_cmphex(transform_cfg_read(bench.bank, 2, 0x08, bench.now), ==, 0xFFFF);
    g_assert_cmpuint(hazard_count(&bench.hazards, "xform.cfg_during_run"), ==, 1);
    bench_close(&bench);
}

static void claim_T15(void) {
    for (int attachment = MEMORY_CONVERGED; attachment <= MEMORY_PER_PORT; attachment++) {
        const struct transform_occupant *slots[] = {&faulting};
        struct mover_bench bench;
        bench_open(&bench, attachment, slots, 1);
        g_autofree struct word256 *expected = bench_randomise(&bench, 35);
        convert(&bench, 200, four_four, 1, 0);
        g_assert_false(mover_busy(&bench.mover));
        g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_OCCUPANT);
        g_assert_cmphex(transform_fault(bench.bank, bench.now), ==, 4);
        g_assert_cmpuint(bench.mover.moves_done, ==, 0);
        g_assert_cmpuint(bench.bursts, ==, 3); /* no further reads */
        memcpy(&expected[DESTINATION / 32], &expected[SOURCE / 32], 8 * sizeof *expected);
        bench_expect_memory(&bench, expected, "two whole entries");
        GArray *moves = moves_new(); /* nothing is left over: the next move runs */
        moves_copy(moves, SOURCE, SECOND, 300);
        bench_moves(&bench, moves);
        memcpy(&expected[SECOND / 32], &expected[SOURCE / 32], 300 * sizeof *expected);
        bench_expect_memory(&bench, expected, "copy after the abort");
        g_assert_cmpuint(bench.mover.moves_done, ==, 1);
        bench_close(&bench);
    }
}

static void claim_T16(void) {
    const struct transform_occupant *slots[] = {&too_wide};
    struct hazard_log log;
    hazard_log_init(&log);
    g_autoptr(GError) error = NULL;
    g_assert_null(transform_bank_new(slots, 1, &log, &error));
    g_assert_nonnull(strstr(error->message, "OUT_WORDS 8"));
    struct transform_bank *bank = transform_bank_new(project, 2, &log, NULL);
    unsigned in_beats, out_words;
    transform_geometry(bank, 0, &in_beats, &out_words);
    g_assert_cmpuint(in_beats, ==, 4);
    g_assert_cmpuint(out_words, ==, 4);
    transform_bank_free(bank);
    hazard_log_clear(&log);
}

static void claim_T17(void) {
    const struct transform_occupant *slots[] = {&late_4_to_4};
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, slots, 1);
    g_autofree struct word256 *expected = bench_randomise(&bench, 37);
    convert(&bench, 20, four_four, 1, 0);
    memcpy(&expected[DESTINATION / 32], &expected[SOURCE / 32], 80 * sizeof *expected);
    bench_expect_memory(&bench, expected, "late done");
    bench_close(&bench);
    g_assert_cmpfloat(period_of(MEMORY_PER_PORT, &late_4_to_4, four_four), >, 100);
}

static void claim_T18(void) {
    struct mover_bench bench;
    const struct transform_occupant *slots[] = {&transform_quantiser, &expanding};
    bench_open(&bench, MEMORY_PER_PORT, slots, 2);
    g_assert_cmphex(transform_cfg_read(bench.bank, 1, 4, 0), ==, 4 << 16 | 2048);
    g_assert_cmphex(transform_cfg_read(bench.bank, 2, 4, 0), ==, 4 << 16 | 512);
    convert(&bench, 6, eight_four, 1, 0);
    g_assert_cmpuint(bench.reads, ==, 48);
    g_assert_cmpuint(bench.writes, ==, 24);
    convert(&bench, 6, (struct move_geometry){2, 4}, 2, 0);
    g_assert_cmpuint(bench.reads, ==, 12);
    g_assert_cmpuint(bench.writes, ==, 24);
    convert(&bench, 6, four_four, 1, 0); /* the descriptor does not tile to the declared geometry */
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_RANGE);
    bench_close(&bench);
}

static void claim_T19(void) {
    enum {
        OTHER = 1
    };
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, project, 2);
    g_assert_true(transform_grant(bench.bank, OTHER));
    struct move move = converting(DESTINATION, 3, eight_four, 1, 0);
    bench_forget(&bench);
    for (unsigned i = 0; i < move.count; i++)
        bench_cycle(&bench, &move.writes[i]);
    for (unsigned i = 0; i < 200; i++)
        bench_cycle(&bench, NULL);
    g_assert_true(mover_busy(&bench.mover));
    g_assert_cmpuint(bench.bursts, ==, 0);
    struct word256 beat = {{0}};
    transform_beat(bench.bank, 0, &beat, bench.now);
    g_assert_cmpuint(hazard_count(&bench.hazards, "xform.beat_no_grant"), ==, 1);
    transform_release(bench.bank, OTHER);
    while (bench.bursts < 3) {
        bench_cycle(&bench, NULL);
        if (bench.bursts)
            g_assert_false(transform_grant(bench.bank, OTHER)); /* kept between entries */
    }
    bench_settle(&bench);
    g_assert_cmpuint(bench.mover.moves_done, ==, 1);
    g_assert_true(transform_grant(bench.bank, OTHER));
    bench_close(&bench);
}

static void claim_T20(void) {
    /* Beats, occupant and three cycles: start, beat register, requester register, capture less the last beat's own. */
    g_assert_cmpfloat(period_of(MEMORY_PER_PORT, &quick_8_to_4, eight_four), ==, 8 + 1 + 4);
    g_assert_cmpfloat(period_of(MEMORY_PER_PORT, &transform_quantiser, eight_four), ==, 8 + 9 + 4);
    g_assert_cmpfloat(period_of(MEMORY_PER_PORT, &late_4_to_4, four_four), ==, 4 + 100 + 4);
}

static void claim_T21(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    g_autofree struct word256 *expected = bench_randomise(&bench, 41);
    convert(&bench, 500, four_four, 1, 3);
    memcpy(&expected[DESTINATION / 32], &expected[SOURCE / 32], 2000 * sizeof *expected);
    bench_expect_memory(&bench, expected, "default bank");
    bench_close(&bench);
}

static void claim_T22(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    for (unsigned id = 0; id < 16; id++) {
        g_assert_cmphex(transform_cfg_read(bench.bank, id, 4, 0), ==, 4 << 16 | 1024);
        convert(&bench, 2, four_four, id, 0);
        g_assert_cmphex(transform_fault(bench.bank, bench.now), ==, 0);
    }
    g_assert_cmpuint(bench.mover.moves_done, ==, 16);
    bench_close(&bench);
}

static void claim_T23(void) {
    for (unsigned side = 0; side < 2; side++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        g_autofree struct word256 *expected = bench_randomise(&bench, 43);
        struct walker walk[2] = {
            {.base = SOURCE, .ndim = 1, .dims = {{.count = 8, .stride = 32, .axis = 1, .step = 1}}},
            {.base = DESTINATION, .ndim = 1, .dims = {{.count = 8, .stride = 32}}}};
        walk[side].axes[side].extent = 6;
        struct move move = {0};
        move_walker(&move, MOVE_SOURCE, &walk[0], 0, 0);
        move_walker(&move, MOVE_DESTINATION, &walk[1], 0, 0);
        move_write(&move, MOVER_REG_IMMEDIATE, 0xABCD);
        move_command(&move, MOVER_TRANSFORM, 1);
        bench_move(&bench, &move);
        g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_BOUND);
        g_assert_cmpuint(bench.bursts + bench.writes, ==, 0);
        bench_expect_memory(&bench, expected, "nothing converted");
        move.writes[move.count - 1].value = MOVER_GO | MOVER_COALESCE | 1 << 3 | MOVER_COPY;
        bench_move(&bench, &move);
        for (unsigned i = 0; i < 8; i++)
            expected[DESTINATION / 32 + i] =
                side == 0 && i >= 6
                    ? (struct word256){{0xABCDABCDABCDABCD, 0xABCDABCDABCDABCD, 0xABCDABCDABCDABCD, 0xABCDABCDABCDABCD}}
                    : expected[SOURCE / 32 + i];
        bench_expect_memory(&bench, expected, "padding in a copy");
        bench_close(&bench);
    }
}

static void claim_I63(void) {
    /* An operand side of the worked example: 32 entries. Converted once, the fetch reads half the bytes. */
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, project, 2);
    convert(&bench, 32, eight_four, 1, 0);
    g_assert_cmpuint(bench.reads * WORD_BYTES, ==, 8192);
    g_assert_cmpuint(bench.writes * WORD_BYTES, ==, 4096);
    bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define CLAIM(id) g_test_add_func("/claim_" #id, claim_##id)
    CLAIM(T01);
    CLAIM(T02);
    CLAIM(T03);
    CLAIM(T04);
    CLAIM(T05);
    CLAIM(T06);
    CLAIM(T07);
    CLAIM(T09);
    CLAIM(T10);
    CLAIM(T11);
    CLAIM(T12);
    CLAIM(T14);
    CLAIM(T15);
    CLAIM(T16);
    CLAIM(T17);
    CLAIM(T18);
    CLAIM(T19);
    CLAIM(T20);
    CLAIM(T21);
    CLAIM(T22);
    CLAIM(T23);
    CLAIM(I63);
    return g_test_run();
}
