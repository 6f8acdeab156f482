/* The mover's timing, faults, registers and reports on small moves. */
#include "mover_bench.h"

#include "memory/philox.h"

static struct move copy_of(uint64_t source, uint64_t destination, unsigned words) {
    GArray *moves = moves_new();
    moves_copy(moves, source, destination, words);
    struct move move = g_array_index(moves, struct move, 0);
    g_array_unref(moves);
    return move;
}

static void set_command(struct move *move, uint64_t value) {
    move->writes[move->count - 1].value = value;
}

/* timing.md §7: coalesced copies, totals until idle. */
static void copy_takes_the_published_cycles(void) {
    static const struct {
        enum memory_attachment attachment;
        unsigned words, total;
    } published[] = {{MEMORY_PER_PORT, 1, 17},  {MEMORY_PER_PORT, 64, 12 + 3 * 64},  {MEMORY_PER_PORT, 512, 786},
                     {MEMORY_CONVERGED, 1, 57}, {MEMORY_CONVERGED, 64, 52 + 3 * 64}, {MEMORY_CONVERGED, 512, 877}};
    for (unsigned n = 0; n < G_N_ELEMENTS(published); n++) {
        struct mover_bench bench;
        bench_open(&bench, published[n].attachment, NULL, 0);
        struct move move = copy_of(0x1000, 0x80000, published[n].words);
        cycle_t go = bench_move(&bench, &move);
        g_assert_cmpuint(bench.busy_from, ==, go + 2);
        g_assert_cmpuint(bench.busy_to + 1 - go, ==, published[n].total);
        g_assert_cmpuint(bench.mover.moves_done, ==, 1);
        bench_close(&bench);
    }
}

static void fault_at_go(struct move *move, enum mover_fault fault) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    g_autofree struct word256 *before = bench_randomise(&bench, 1);
    cycle_t go = bench_move(&bench, move);
    g_assert_cmpint(bench.mover.fault, ==, fault);
    g_assert_cmpuint(mover_status(&bench.mover, 0, 0), ==, (uint64_t)fault << 4);
    g_assert_cmpuint(bench.busy_from, ==, go + 2);
    g_assert_cmpuint(bench.busy_to, ==, go + 2);
    g_assert_cmpuint(bench.reads + bench.writes + bench.bursts, ==, 0);
    bench_expect_memory(&bench, before, "fault at GO");
    bench_close(&bench);
}

static void malformed_commands_fault_at_go(void) {
    static const struct {
        uint64_t command;
        enum mover_fault fault;
    } malformed[] = {{MOVER_GO | MOVER_TRANSPOSE, MOVER_FAULT_MODE},
                     {MOVER_GO | 6, MOVER_FAULT_MODE},
                     {MOVER_GO | 7, MOVER_FAULT_MODE},
                     {MOVER_GO | 3 << 3, MOVER_FAULT_WIDTH},
                     {MOVER_GO | 3 << 3 | MOVER_TRANSPOSE, MOVER_FAULT_WIDTH}};
    for (unsigned n = 0; n < G_N_ELEMENTS(malformed); n++) {
        struct move move = copy_of(0x1000, 0x80000, 4);
        set_command(&move, malformed[n].command);
        fault_at_go(&move, malformed[n].fault);
    }
    struct move gather = copy_of(0x1000, 0x80000, 4);
    gather.count--;
    move_write(&gather, MOVER_REG_INDEX, UINT64_C(2049) << 40);
    move_command(&gather, MOVER_GATHER, 1);
    fault_at_go(&gather, MOVER_FAULT_INDEX);
}

static void misaligned_destination_writes_only_what_is_before_it(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    g_autofree struct word256 *expected = bench_randomise(&bench, 2);
    struct move move = {0};
    struct walker from = {.base = 0x1000, .ndim = 1, .dims = {{.count = 6, .stride = 32}}};
    struct walker to = {.base = 0x80000,
                        .ndim = 2,
                        .dims = {{.count = 2, .stride = 0x108}, {.count = 3, .stride = 32}}}; /* second row is off */
    move_walker(&move, MOVE_SOURCE, &from, 0, 0);
    move_walker(&move, MOVE_DESTINATION, &to, 0, 0);
    move_command(&move, MOVER_COPY, 1);
    bench_move(&bench, &move);
    memcpy(&expected[0x80000 / 32], &expected[0x1000 / 32], 3 * sizeof *expected);
    g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_ALIGNMENT);
    g_assert_cmpuint(bench.mover.moves_done, ==, 0);
    bench_expect_memory(&bench, expected, "misaligned row");
    bench_close(&bench);
}

static void published_modes_5_to_7_are_copies(void) {
    for (uint64_t mode = 5; mode <= 7; mode++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        bench.mover.rtl_defects = true;
        g_autofree struct word256 *expected = bench_randomise(&bench, 3);
        struct move move = copy_of(0x1000, 0x80000, 5);
        set_command(&move, MOVER_GO | mode);
        bench_move(&bench, &move);
        memcpy(&expected[0x80000 / 32], &expected[0x1000 / 32], 5 * sizeof *expected);
        g_assert_cmpint(bench.mover.fault, ==, MOVER_FAULT_NONE);
        bench_expect_memory(&bench, expected, "published mode");
        bench_close(&bench);
    }
}

static void gather_row8_defect_is_off_by_default(void) {
    for (unsigned defects = 0; defects < 2; defects++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        bench.mover.rtl_defects = defects;
        g_autofree struct word256 *memory = bench_randomise(&bench, 4);
        uint32_t indexes[16];
        for (unsigned i = 0; i < 16; i++)
            indexes[i] = 100 + 3 * i;
        dram_load(&bench.dram, 0x70000, indexes, sizeof indexes);
        GArray *moves = moves_new();
        moves_gather(moves, 0, 32, 1, 0x70000, 16, 0x80000);
        bench_moves(&bench, moves);
        for (unsigned row = 0; row < 16; row++) {
            unsigned used = defects && row == 8 ? 0 : row;
            struct word256 word = dram_read(&bench.dram, 0x80000 + row * 32, NULL);
            g_assert_cmpmem(&word, sizeof word, &memory[indexes[used]], sizeof word);
        }
        bench_close(&bench);
    }
}

static void late_writes_are_reported_and_taken(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    GArray *moves = moves_new();
    moves_fill(moves, 0x80000, 40, 2, 0x11111111);
    const struct move *move = &g_array_index(moves, struct move, 0);
    bench_forget(&bench);
    for (unsigned i = 0; i < move->count; i++)
        bench_cycle(&bench, &move->writes[i]);
    for (unsigned i = 0; i < 10; i++)
        bench_cycle(&bench, NULL);
    g_assert_cmpuint(bench.hazards.hazards->len, ==, 0);
    bench_cycle(&bench, &(struct register_write){MOVER_REG_IMMEDIATE, 0x22222222});
    bench_cycle(&bench, &(struct register_write){MOVER_REG_COMMAND, MOVER_GO | MOVER_COALESCE | 2 << 3 | MOVER_FILL});
    bench_settle(&bench);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mover.reconfigured"), ==, 1);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mover.go_lost"), ==, 1);
    g_assert_cmpuint(bench.mover.moves_done, ==, 1);
    struct word256 word = dram_read(&bench.dram, 0x80000 + 39 * 32, NULL);
    g_assert_cmphex(word.w[0], ==, UINT64_C(0x2222222222222222)); /* formed when handed over */
    g_array_unref(moves);
    bench_close(&bench);
}

/* A register write may come before the path, between path and mover, or after both: all the same cycle. */
static void place_of_a_write_within_its_cycle_is_free(void) {
    enum {
        PLACES = 3,
        WORDS = 40,
        REWRITTEN = 75
    };
    struct word256 result[PLACES][WORDS];
    for (unsigned place = 0; place < PLACES; place++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        g_autoptr(GArray) moves = moves_new();
        moves_fill(moves, 0x80000, WORDS, 2, 0x11111111);
        const struct move *move = &g_array_index(moves, struct move, 0);
        bool moving = true;
        for (cycle_t now = 0; moving || now <= REWRITTEN; now++)
            for (unsigned part = 0; part < PLACES; part++) {
                if (part == place && now < move->count)
                    mover_write(&bench.mover, move->writes[now].offset, move->writes[now].value, now);
                if (part == place && now == REWRITTEN)
                    mover_write(&bench.mover, MOVER_REG_IMMEDIATE, 0x22222222, now);
                if (part == 0)
                    moving = path_step(bench.path, now);
                if (part == 1)
                    moving |= mover_step(&bench.mover, now) != CYCLE_NEVER;
            }
        dram_store(&bench.dram, 0x80000, result[place], sizeof result[place]);
        bench_close(&bench);
    }
    g_assert_cmphex(result[0][0].w[0], ==, UINT64_C(0x1111111111111111));
    g_assert_cmphex(result[0][WORDS - 1].w[0], ==, UINT64_C(0x2222222222222222));
    g_assert_cmpmem(result[0], sizeof result[0], result[1], sizeof result[1]);
    g_assert_cmpmem(result[0], sizeof result[0], result[2], sizeof result[2]);
}

static void odd_sources_are_reported(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    struct move move = copy_of(0x1008, 0x80000, 2);
    bench_move(&bench, &move);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mover.src_misaligned"), ==, 2);
    move = copy_of(UINT64_C(0x1000001000), 0x80000, 3);
    bench_move(&bench, &move);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mem.foreign_mesh"), ==, 3);
    GArray *moves = moves_new();
    moves_gather(moves, 0, 32, 1, 0x70000, 4, 0x80000);
    struct move *gather = &g_array_index(moves, struct move, 0);
    gather->writes[gather->count - 3].value = 0x70000 | UINT64_C(3) << 40; /* one index fewer than rows */
    bench_move(&bench, gather);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mover.gather_overrun"), ==, 1);
    g_array_unref(moves);
    bench_close(&bench);
}

static void status_word_has_its_fields(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    struct move move = copy_of(0x1000, 0x80000, 1);
    bench_move(&bench, &move);
    bench_move(&bench, &move);
    g_assert_cmphex(mover_status(&bench.mover, 0x12345, 0xABCD), ==,
                    UINT64_C(2) << 40 | 0x2345ull << 24 | 0xABCDull << 8);
    for (unsigned i = 0; i < move.count; i++)
        bench_cycle(&bench, &move.writes[i]);
    bench_cycle(&bench, NULL);
    g_assert_cmphex(mover_status(&bench.mover, 0, 0) & 1, ==, 1);
    bench_settle(&bench);
    bench_close(&bench);
}

static void one_fill_run_is_idle_before_it_is_written(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    GArray *moves = moves_new();
    moves_fill(moves, 0x80000, 5, 0, 0xAB);
    bench_move(&bench, &g_array_index(moves, struct move, 0));
    g_assert_cmpuint(bench.first_write, >, bench.busy_to);
    g_assert_cmpuint(bench.writes, ==, 5);
    g_assert_cmpuint(hazard_count(&bench.hazards, "mover.idle_before_write"), ==, 1);
    g_array_unref(moves);
    bench_close(&bench);
}

static void generated_bytes_follow_seed_and_address(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    GArray *moves = moves_new();
    moves_generate(moves, 0x40000, 3, 0x0123456789abcdef);
    bench_moves(&bench, moves);
    for (unsigned i = 0; i < 3; i++) {
        struct word256 word = dram_read(&bench.dram, 0x40000 + 32 * i, NULL), expected = {{0}};
        for (unsigned half = 0; half < 2; half++)
            philox_half(&expected, half, 0x0123456789abcdef, 0x40000 + 32 * i);
        g_assert_cmpmem(&word, sizeof word, &expected, sizeof expected);
    }
    bench_close(&bench);
}

/* §8.10: a word's halves take the seed as it stands 1 and 43 cycles after their command was taken, which for a single
 * word is 8 cycles after GO. A register write shows in the next cycle. */
static void seed_is_taken_at_the_start_of_each_half(void) {
    enum {
        TAKEN = 8,
        OLD = 5,
        NEW = 6
    };
    static const struct {
        unsigned written; /* cycles after GO in which the seed changes */
        uint64_t first, second;
    } cases[] = {{TAKEN, NEW, NEW}, {TAKEN + 1, OLD, NEW}, {TAKEN + 42, OLD, NEW}, {TAKEN + 43, OLD, OLD}};
    for (unsigned n = 0; n < G_N_ELEMENTS(cases); n++) {
        struct mover_bench bench;
        bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
        g_autoptr(GArray) moves = moves_new();
        moves_generate(moves, 0x40000, 1, OLD);
        const struct move *move = &g_array_index(moves, struct move, 0);
        for (unsigned i = 0; i < move->count; i++)
            bench_cycle(&bench, &move->writes[i]);
        for (unsigned i = 1; i < cases[n].written; i++)
            bench_cycle(&bench, NULL);
        bench_cycle(&bench, &(struct register_write){MOVER_REG_SEED, NEW});
        bench_settle(&bench);
        struct word256 word = dram_read(&bench.dram, 0x40000, NULL), expected = {{0}};
        philox_half(&expected, 0, cases[n].first, 0x40000);
        philox_half(&expected, 1, cases[n].second, 0x40000);
        g_assert_cmpmem(&word, sizeof word, &expected, sizeof expected);
        bench_close(&bench);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mover/copy_takes_the_published_cycles", copy_takes_the_published_cycles);
    g_test_add_func("/mover/malformed_commands_fault_at_go", malformed_commands_fault_at_go);
    g_test_add_func("/mover/misaligned_destination_writes_only_what_is_before_it",
                    misaligned_destination_writes_only_what_is_before_it);
    g_test_add_func("/mover/published_modes_5_to_7_are_copies", published_modes_5_to_7_are_copies);
    g_test_add_func("/mover/gather_row8_defect_is_off_by_default", gather_row8_defect_is_off_by_default);
    g_test_add_func("/mover/late_writes_are_reported_and_taken", late_writes_are_reported_and_taken);
    g_test_add_func("/mover/place_of_a_write_within_its_cycle_is_free", place_of_a_write_within_its_cycle_is_free);
    g_test_add_func("/mover/odd_sources_are_reported", odd_sources_are_reported);
    g_test_add_func("/mover/status_word_has_its_fields", status_word_has_its_fields);
    g_test_add_func("/mover/one_fill_run_is_idle_before_it_is_written", one_fill_run_is_idle_before_it_is_written);
    g_test_add_func("/mover/generated_bytes_follow_seed_and_address", generated_bytes_follow_seed_and_address);
    g_test_add_func("/mover/seed_is_taken_at_the_start_of_each_half", seed_is_taken_at_the_start_of_each_half);
    return g_test_run();
}
