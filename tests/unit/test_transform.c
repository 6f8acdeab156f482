/* The transform bank alone, and converting moves through it. */
#include "golden/golden.h"
#include "mover_bench.h"

enum {
    SOURCE = 0x10000,
    DESTINATION = 0x80000,
};

static void convert(struct mover_bench *bench, uint64_t entries, struct move_geometry geometry, unsigned id,
                    unsigned mode) {
    GArray *moves = moves_new();
    moves_convert(moves, SOURCE, DESTINATION, entries, geometry, id, mode);
    bench_moves(bench, moves);
}

static const struct move_geometry bypass = {.in_beats = 4, .out_words = 4};
static const struct move_geometry quantiser = {.in_beats = 8, .out_words = 4};
static const struct transform_occupant *const quantiser_bank[] = {&transform_quantiser};

/* ---- the bank by itself ---- */

static void geometry_outside_the_contract_is_refused(void) {
    struct transform_occupant wide = transform_negate, ragged = transform_negate;
    const struct transform_occupant *slots[1];
    struct hazard_log log;
    hazard_log_init(&log);
    wide.out_words = 5;
    ragged.in_bits = 300;
    const struct transform_occupant *refused[] = {&wide, &ragged};
    for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        slots[0] = refused[i];
        g_assert_null(transform_bank_new(slots, 1, &log, &error));
        g_assert_nonnull(error);
    }
    hazard_log_clear(&log);
}

static void occupants_are_found_by_name(void) {
    g_assert_true(transform_find("identity") == &transform_identity);
    g_assert_true(transform_find("quantiser") == &transform_quantiser);
    g_assert_true(transform_find("negate") == &transform_negate);
    g_assert_null(transform_find("nothing"));
}

static void registers_read_geometry_and_fault(void) {
    struct hazard_log log;
    hazard_log_init(&log);
    struct transform_bank *bank = transform_bank_new(quantiser_bank, 1, &log, NULL);
    g_assert_cmphex(transform_cfg_read(bank, 0, 4, 0), ==, 4u << 16 | 1024);
    g_assert_cmphex(transform_cfg_read(bank, 1, 4, 0), ==, 4u << 16 | 2048);
    g_assert_cmphex(transform_cfg_read(bank, 2, 4, 0), ==, 0);
    g_assert_true(transform_grant(bank, 0));
    transform_start(bank, 0, 5, 0, 10);
    g_assert_cmphex(transform_cfg_read(bank, 0, 0, 10), ==, 0);
    g_assert_cmphex(transform_cfg_read(bank, 0, 0, 11), ==, TRANSFORM_FAULT_UNKNOWN_ID);
    transform_cfg_write(bank, 0, 0, 123, 12); /* a run holds the bank: dropped */
    g_assert_cmphex(transform_cfg_read(bank, 0, 0, 13), ==, TRANSFORM_FAULT_UNKNOWN_ID);
    g_assert_cmpuint(hazard_count(&log, "xform.cfg_during_run"), ==, 1);
    transform_release(bank, 0);
    transform_cfg_write(bank, 0, 0, 123, 14);
    g_assert_cmphex(transform_cfg_read(bank, 0, 0, 15), ==, 0);
    transform_bank_free(bank);
    hazard_log_clear(&log);
}

static void capture_comes_after_both_registers(void) {
    struct hazard_log log;
    hazard_log_init(&log);
    struct transform_bank *bank = transform_bank_new(quantiser_bank, 1, &log, NULL);
    struct word256 beat = {{1, 2, 3, 4}}, words[TRANSFORM_WORDS];
    cycle_t now = 100;
    transform_grant(bank, 0);
    transform_start(bank, 0, 1, 0, now);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_true(transform_need_beat(bank));
        transform_beat(bank, 0, &beat, ++now);
    }
    g_assert_false(transform_need_beat(bank));
    while (!transform_capture(bank, now, words))
        now++;
    g_assert_cmpuint(now + 1 - 100, ==, 8 + 9 + 4); /* P_occ, §9.7 */
    transform_bank_free(bank);
    hazard_log_clear(&log);
}

/* ---- converting moves ---- */

static void identity_copies_byte_for_byte(void) {
    for (int attachment = MEMORY_CONVERGED; attachment <= MEMORY_PER_PORT; attachment++)
        for (uint64_t entries = 1; entries <= 300; entries = entries * 3 + 1) {
            struct mover_bench bench;
            bench_open(&bench, attachment, NULL, 0);
            g_autofree struct word256 *expected = bench_randomise(&bench, 11);
            convert(&bench, entries, bypass, entries % 16, 0); /* every id is the bypass */
            memcpy(&expected[DESTINATION / 32], &expected[SOURCE / 32], entries * 4 * sizeof *expected);
            bench_expect_memory(&bench, expected, "identity");
            g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_NONE);
            g_assert_cmpuint(bench.hazards.hazards->len, ==, 0);
            bench_close(&bench);
        }
}

static void quantised_bytes_are_the_golden_ones(void) {
    for (unsigned mode = 0; mode < 2; mode++) {
        struct golden g;
        unsigned entries = 0;
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, quantiser_bank, 1);
        g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(struct word256));
        golden_open(&g, "quantise.txt");
        while (golden_next(&g) && SOURCE + (entries + 1) * 256 <= DESTINATION) {
            if (golden_decimal(&g, 0) != (int)mode)
                continue;
            for (unsigned beat = 0; beat < 8; beat++) {
                struct word256 word = golden_word(&g, 1 + beat);
                dram_write(&bench.dram, SOURCE + entries * 256 + beat * 32, &word);
            }
            for (unsigned i = 0; i < 4; i++) {
                struct word256 word = golden_word(&g, 9 + i);
                g_array_append_val(results, word);
            }
            entries++;
        }
        g_assert_cmpuint(entries, >, 10);
        convert(&bench, entries, quantiser, 1, mode | 0xE); /* only bit 0 of the mode counts */
        g_assert_cmpuint(bench.mover.moves_done, ==, 1);
        for (unsigned i = 0; i < results->len; i++) {
            struct word256 word = dram_read(&bench.dram, DESTINATION + 32 * i, NULL);
            golden_expect_word(&g, "converted word", &word, &g_array_index(results, struct word256, i));
        }
        golden_close(&g);
        bench_close(&bench);
    }
}

/* Cycles a further entry costs. */
static uint64_t entry_period(enum memory_attachment attachment, const struct transform_occupant *const *slots,
                             unsigned count, struct move_geometry geometry, unsigned id) {
    cycle_t busy[2];
    for (unsigned n = 0; n < 2; n++) {
        struct mover_bench bench;
        bench_open(&bench, attachment, slots, count);
        convert(&bench, n ? 20 : 10, geometry, id, 0);
        busy[n] = bench.last_read - bench.first_read;
        bench_close(&bench);
    }
    g_assert_cmpuint((busy[1] - busy[0]) % 10, ==, 0);
    return (busy[1] - busy[0]) / 10;
}

static void entry_period_is_that_of_the_slowest_stage(void) {
    g_assert_cmpuint(entry_period(MEMORY_PER_PORT, NULL, 0, bypass, 0), ==, 9);
    g_assert_cmpuint(entry_period(MEMORY_PER_PORT, quantiser_bank, 1, quantiser, 1), ==, 21);
    g_assert_cmpuint(entry_period(MEMORY_CONVERGED, quantiser_bank, 1, quantiser, 1), ==, 27); /* 2X + 2 + M + 8 */
}

static void first_address_comes_as_in_a_copy(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, quantiser_bank, 1);
    GArray *moves = moves_new();
    moves_convert(moves, SOURCE, DESTINATION, 1, quantiser, 1, 0);
    cycle_t go = bench_move(&bench, &g_array_index(moves, struct move, 0));
    g_assert_cmpuint(bench.first_read - go, ==, 6 + 8);
    g_array_unref(moves);
    bench_close(&bench);
}

static void strided_sources_convert_too(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    g_autofree struct word256 *expected = bench_randomise(&bench, 12);
    struct move move = {0};
    struct walker from = {.base = SOURCE, .ndim = 1, .dims = {{.count = 64, .stride = 96}}};
    struct walker to = {
        .base = DESTINATION, .ndim = 2, .dims = {{.count = 16, .stride = 0x1000}, {.count = 4, .stride = 64}}};
    move_walker(&move, MOVE_SOURCE, &from, 0, 0);
    move_walker(&move, MOVE_DESTINATION, &to, 0, 0);
    move_command(&move, MOVER_TRANSFORM, 1);
    bench_move(&bench, &move);
    for (unsigned i = 0; i < 64; i++)
        expected[DESTINATION / 32 + i / 4 * 128 + i % 4 * 2] = expected[SOURCE / 32 + 3 * i];
    bench_expect_memory(&bench, expected, "strided");
    g_assert_cmpuint(bench.bursts, ==, 64);
    bench_close(&bench);
}

static void misaligned_destination_cuts_inside_an_entry(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    g_autofree struct word256 *expected = bench_randomise(&bench, 13);
    struct move move = {0};
    struct walker from = {.base = SOURCE, .ndim = 1, .dims = {{.count = 12, .stride = 32}}};
    struct walker to = {
        .base = DESTINATION, .ndim = 2, .dims = {{.count = 2, .stride = 0x204}, {.count = 6, .stride = 32}}};
    move_walker(&move, MOVE_SOURCE, &from, 0, 0);
    move_walker(&move, MOVE_DESTINATION, &to, 0, 0);
    move_command(&move, MOVER_TRANSFORM, 1);
    bench_move(&bench, &move);
    memcpy(&expected[DESTINATION / 32], &expected[SOURCE / 32], 6 * sizeof *expected);
    bench_expect_memory(&bench, expected, "cut");
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_ALIGNMENT);
    g_assert_cmpuint(bench.mover.moves_done, ==, 0);
    g_assert_cmpuint(bench.reads, ==, 8); /* two entries, the third is not read */
    bench_close(&bench);
}

static void ragged_runs_fault_before_any_read(void) {
    static const unsigned shapes[][2] = {{8, 6}, {9, 8}, {12, 8}}; /* source and destination words */
    for (unsigned n = 0; n < G_N_ELEMENTS(shapes); n++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        struct move move = {0};
        struct walker from = {.base = SOURCE, .ndim = 1, .dims = {{.count = shapes[n][0], .stride = 32}}};
        struct walker to = {.base = DESTINATION, .ndim = 1, .dims = {{.count = shapes[n][1], .stride = 32}}};
        move_walker(&move, MOVE_SOURCE, &from, 0, 0);
        move_walker(&move, MOVE_DESTINATION, &to, 0, 0);
        move_command(&move, MOVER_TRANSFORM, 1);
        bench_move(&bench, &move);
        g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_RANGE);
        g_assert_cmpuint(bench.reads + bench.bursts + bench.writes, ==, 0);
        bench_close(&bench);
    }
}

static void sticky_fault_aborts_the_next_run_at_its_first_entry(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, quantiser_bank, 1);
    convert(&bench, 5, bypass, 9, 0);
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_OCCUPANT);
    convert(&bench, 5, quantiser, 1, 0);
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_OCCUPANT);
    g_assert_cmpuint(bench.writes, ==, 0);
    transform_cfg_write(bench.bank, 0, TRANSFORM_REG_FAULT, 0, bench.now);
    convert(&bench, 5, quantiser, 1, 0);
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_NONE);
    g_assert_cmpuint(bench.writes, ==, 20);
    bench_close(&bench);
}

static void example_occupant_negates_and_keeps(void) {
    const struct transform_occupant *slots[] = {NULL, transform_find("negate")};
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, slots, 2);
    g_autofree struct word256 *expected = bench_randomise(&bench, 14);
    transform_cfg_write(bench.bank, 2, 0x08, 0x0001, 0);
    g_assert_cmphex(transform_cfg_read(bench.bank, 2, 0x08, 0), ==, 1);
    convert(&bench, 3, bypass, 2, 0);
    for (unsigned i = 0; i < 12; i++)
        for (unsigned lane = 0; lane < 4; lane++)
            expected[DESTINATION / 32 + i].w[lane] =
                expected[SOURCE / 32 + i].w[lane] ^
                (lane ? UINT64_C(0x8000800080008000) : UINT64_C(0x8000800080000000));
    bench_expect_memory(&bench, expected, "negate");
    bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/transform/geometry_outside_the_contract_is_refused", geometry_outside_the_contract_is_refused);
    g_test_add_func("/transform/occupants_are_found_by_name", occupants_are_found_by_name);
    g_test_add_func("/transform/registers_read_geometry_and_fault", registers_read_geometry_and_fault);
    g_test_add_func("/transform/capture_comes_after_both_registers", capture_comes_after_both_registers);
    g_test_add_func("/transform/identity_copies_byte_for_byte", identity_copies_byte_for_byte);
    g_test_add_func("/transform/quantised_bytes_are_the_golden_ones", quantised_bytes_are_the_golden_ones);
    g_test_add_func("/transform/entry_period_is_that_of_the_slowest_stage", entry_period_is_that_of_the_slowest_stage);
    g_test_add_func("/transform/first_address_comes_as_in_a_copy", first_address_comes_as_in_a_copy);
    g_test_add_func("/transform/strided_sources_convert_too", strided_sources_convert_too);
    g_test_add_func("/transform/misaligned_destination_cuts_inside_an_entry",
                    misaligned_destination_cuts_inside_an_entry);
    g_test_add_func("/transform/ragged_runs_fault_before_any_read", ragged_runs_fault_before_any_read);
    g_test_add_func("/transform/sticky_fault_aborts_the_next_run_at_its_first_entry",
                    sticky_fault_aborts_the_next_run_at_its_first_entry);
    g_test_add_func("/transform/example_occupant_negates_and_keeps", example_occupant_negates_and_keeps);
    return g_test_run();
}
