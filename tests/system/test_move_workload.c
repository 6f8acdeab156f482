/* The `move` workload: every kind, with parameters drawn at random, gives the bytes that plain loops give and leaves
 * the rest of memory alone, on both attachments and from and to the staging store; and it tells when that is not so. */
#include <stdio.h>

#include "machine_text.h"
#include "workloads/run.h"

#define STAGED UINT64_C(0x8000000000)

enum {
    ROUNDS = 12,
};

struct moved {
    struct machine machine;
    struct workload workload;
    struct run run;
};

static void moved_run(struct moved *moved, const char *keys, const char *text, uint64_t seed) {
    GError *error = NULL;
    g_autofree char *machine = g_strdup_printf("{%s, %s}", keys, MACHINE_MAP);
    assert_machine(&moved->machine, machine, NULL);
    workload_load(&moved->workload, text, NULL, &error);
    g_assert_no_error(error);
    run_init(&moved->run, &moved->machine, &moved->workload);
    moved->run.seed = seed;
    moved->workload.type->run(&moved->run, &error);
    g_assert_no_error(error);
    g_assert_false(moved->run.dead);
}

static void moved_clear(struct moved *moved) {
    run_clear(&moved->run);
    workload_clear(&moved->workload);
    machine_clear(&moved->machine);
}

static uint64_t fact(const struct moved *moved, const char *key) {
    for (guint i = 0; i < moved->run.facts->len; i++) {
        const struct run_fact *fact = &g_array_index(moved->run.facts, struct run_fact, i);
        if (g_str_equal(fact->key, key))
            return fact->count;
    }
    g_error("no fact %s", key);
}

#define PER_PORT  "\"memory\": {\"attachment\": \"per_port\"}"
#define CONVERGED "\"memory\": {\"attachment\": \"converged\", \"staging\": \"converged\"}"

static void draw(GRand *random, GString *text) {
    static const struct {
        const char *key;
        int low, high;
    } ranges[] = {
        {"words", 1, 400},     {"rows", 1, 24},  {"columns", 1, 24},    {"element", 1, 5}, {"image_height", 3, 9},
        {"image_width", 3, 9}, {"window", 1, 4}, {"stride", 1, 4},      {"pad", 0, 3},     {"table", 1, 40},
        {"entries", 1, 20},    {"id", 0, 3},     {"mode", 0, 2},        {"width", 0, 3},   {"immediate", 0, 1 << 30},
        {"coalesce", 0, 2},    {"burst", 0, 8},  {"generator", 0, 100}, {"parts", 1, 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
        int value = g_rand_int_range(random, ranges[i].low, ranges[i].high);
        if (g_str_equal(ranges[i].key, "coalesce"))
            g_string_append_printf(text, ",coalesce=%s", value ? "true" : "false");
        else
            g_string_append_printf(text, ",%s=%d", ranges[i].key, value);
    }
}

static void every_kind_gives_the_bytes_of_plain_loops(void) {
    static const char *const kinds[] = {"copy",     "transpose", "im2col",  "pad",    "gather",
                                        "generate", "fill",      "convert", "reshard"};
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    for (unsigned n = 0; n < ROUNDS * G_N_ELEMENTS(kinds); n++) {
        struct moved moved;
        g_autoptr(GString) text = g_string_new(NULL);
        bool converged = n & 1;
        g_string_printf(text, "move:kind=%s", kinds[n % G_N_ELEMENTS(kinds)]);
        draw(random, text);
        if (converged && n & 2)
            g_string_append_printf(text, ",source=%" G_GUINT64_FORMAT, STAGED);
        else if (converged && n & 4)
            g_string_append_printf(text, ",destination=%" G_GUINT64_FORMAT, STAGED + 4096);
        g_test_message("%s", text->str);
        moved_run(&moved, converged ? CONVERGED ", \"clock_mhz\": 100" : PER_PORT, text->str, n + 1);
        bool convert_unknown = strstr(text->str, "kind=convert") && strstr(text->str, ",id=2");
        g_assert_cmpuint(fact(&moved, "move.fault"), ==, convert_unknown ? MOVER_FAULT_OCCUPANT : 0);
        g_assert_cmpint(moved.run.answer_wrong, ==, convert_unknown);
        g_assert_cmpuint(fact(&moved, "move.mismatches"), ==, convert_unknown ? fact(&moved, "move.words") : 0);
        g_assert_cmpuint(fact(&moved, "move.changed_outside"), ==, 0);
        moved_clear(&moved);
    }
}

/* A control program of few commands spreads a move's registers over several, down to one register a program. */
static void short_programs_give_the_same_bytes(void) {
    uint64_t rounds = 0;
    for (unsigned commands = 16; commands >= 2; commands /= 2) {
        struct moved moved;
        g_autofree char *keys = g_strdup_printf(PER_PORT ", \"agent\": {\"commands\": %u}", commands);
        moved_run(&moved, keys, "move:kind=im2col,image_height=6,image_width=6", 1);
        g_assert_cmpuint(fact(&moved, "move.mismatches"), ==, 0);
        g_assert_cmpuint(fact(&moved, "move.changed_outside"), ==, 0);
        g_assert_cmpuint(moved.run.rounds, >, rounds);
        rounds = moved.run.rounds;
        g_assert_cmpuint(moved.run.rounds, >=, moved.run.mover_writes / (commands - 1));
        moved_clear(&moved);
    }
}

static void counts_are_those_of_the_move(void) {
    struct moved moved;
    moved_run(&moved, PER_PORT, "move:kind=copy,words=256", 1);
    g_assert_cmpuint(fact(&moved, "move.read_bytes"), ==, 8192);
    g_assert_cmpuint(fact(&moved, "move.write_bytes"), ==, 8192);
    g_assert_cmpuint(fact(&moved, "move.read_bursts"), ==, 2);
    g_assert_cmpuint(fact(&moved, "move.write_bursts"), ==, 2);
    moved_clear(&moved);
    moved_run(&moved, PER_PORT, "move:kind=copy,words=256,burst=4,coalesce=false", 1);
    g_assert_cmpuint(fact(&moved, "move.read_bursts"), ==, 32);
    g_assert_cmpuint(fact(&moved, "move.write_bursts"), ==, 256);
    moved_clear(&moved);
    moved_run(&moved, PER_PORT, "move:kind=fill,words=70000", 1); /* beyond a 16-bit count: two moves */
    g_assert_cmpuint(fact(&moved, "move.moves_done"), ==, 2);
    moved_clear(&moved);
}

/* A copy of 256 contiguous words, a fill of 256 and eight generated ones take what was measured with a memory that
 * answers at once behind the crossing (§8.7). */
static void cycles_are_the_measured_ones(void) {
    static const struct {
        const char *text;
        uint64_t cycles;
    } rows[] = {{"move:kind=copy,words=4,coalesce=false", 79},
                {"move:kind=copy,words=4", 62},
                {"move:kind=copy,words=256,coalesce=false", 2093},
                {"move:kind=copy,words=256", 581},
                {"move:kind=fill,words=256,coalesce=false", 1819},
                {"move:kind=fill,words=256", 422},
                {"move:kind=generate,words=8", 763}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct moved moved;
        moved_run(&moved, "\"memory\": {\"attachment\": \"converged\", \"latency\": 1}", rows[i].text, 1);
        g_assert_cmpuint(fact(&moved, "move.cycles"), ==, rows[i].cycles);
        moved_clear(&moved);
    }
}

static void faults_are_told_with_their_code(void) {
    static const struct {
        const char *text;
        enum mover_fault fault;
    } rows[] = {{"move:kind=copy,width=3", MOVER_FAULT_WIDTH},
                {"move:kind=convert,id=7", MOVER_FAULT_OCCUPANT},
                {"move:kind=fill,words=9,destination=4100", MOVER_FAULT_ALIGNMENT}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct moved moved;
        moved_run(&moved, PER_PORT, rows[i].text, 1);
        g_assert_cmpuint(fact(&moved, "move.fault"), ==, rows[i].fault);
        g_assert_cmpuint(fact(&moved, "move.moves_done"), ==, 0);
        g_assert_cmpuint(fact(&moved, "move.mismatches"), ==, fact(&moved, "move.words"));
        g_assert_cmpuint(fact(&moved, "move.changed_outside"), ==, 0);
        g_assert_true(moved.run.answer_wrong);
        moved_clear(&moved);
    }
}

static void refuses(const char *text, const char *key, const char *expected) {
    struct machine machine;
    struct workload workload;
    struct run run;
    g_autoptr(GError) error = NULL;
    assert_machine(&machine, MACHINE_TEXT("\"memory\": {\"size\": 65536}"), NULL);
    workload_load(&workload, text, NULL, &error);
    g_assert_no_error(error);
    run_init(&run, &machine, &workload);
    g_assert_false(workload.type->run(&run, &error));
    g_assert_nonnull(strstr(error->message, key));
    g_assert_nonnull(strstr(error->message, expected));
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
}

static void wrong_shapes_are_refused(void) {
    refuses("move:kind=im2col,image_height=2,image_width=2,window=5", "window", "expected a window that fits");
    refuses("move:kind=reshard,columns=10,parts=3", "parts", "expected a divisor");
    refuses("move:kind=copy,words=10,destination=96", "destination", "overlaps the source");
    refuses("move:kind=copy,words=2000", "destination", "expected a place inside memory.size");
    refuses("move:kind=copy,words=4,source=549755813888", "source", "memory.staging=converged");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/move/every_kind_gives_the_bytes_of_plain_loops", every_kind_gives_the_bytes_of_plain_loops);
    g_test_add_func("/move/short_programs_give_the_same_bytes", short_programs_give_the_same_bytes);
    g_test_add_func("/move/counts_are_those_of_the_move", counts_are_those_of_the_move);
    g_test_add_func("/move/cycles_are_the_measured_ones", cycles_are_the_measured_ones);
    g_test_add_func("/move/faults_are_told_with_their_code", faults_are_told_with_their_code);
    g_test_add_func("/move/wrong_shapes_are_refused", wrong_shapes_are_refused);
    return g_test_run();
}
