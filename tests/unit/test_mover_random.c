/* Thousands of random descriptors against a plain loop over elements: the memory afterwards, the fault, the count of
 * moves. Sources lie in the lower part of memory, destinations in the upper one, so that order does not matter. */
#include "memory/philox.h"
#include "mover_bench.h"

enum {
    DESCRIPTORS = 8000,
    SOURCE = 0x38000,
    DESTINATION = 0xB0000,
    INDEXES = 0x70000,
    STRIDE_WORDS = 96,
};

/* What a descriptor says, as the loop below understands it. */
struct descriptor {
    unsigned mode, width;
    bool coalesce;
    unsigned cap;
    struct walker source, destination;
    uint32_t immediate, pitch;
    uint64_t seed;
    unsigned row_words, index_count, id, id_mode;
};

/* ---- random descriptors ---- */

static unsigned below(GRand *random, unsigned limit) {
    return (unsigned)g_rand_int_range(random, 0, (gint32)limit);
}

static struct walker random_walk(GRand *random, uint64_t base, unsigned dims, bool bounded) {
    struct walker walk = {.base = base, .ndim = below(random, dims + 1)};
    for (unsigned d = 0; d < WALKER_DIMS; d++)
        walk.dims[d] = (struct walker_dim){
            .count = (uint16_t)below(random, 6),
            .stride = (uint32_t)WORD_BYTES *
                      (uint32_t)(below(random, 2) ? 1 : g_rand_int_range(random, -STRIDE_WORDS, STRIDE_WORDS)),
            .axis = (uint8_t)below(random, 4),
            .step = (int16_t)g_rand_int_range(random, -2, 3)};
    for (unsigned a = 0; bounded && a < WALKER_AXES; a++)
        walk.axes[a] = (struct walker_axis){(uint16_t)g_rand_int_range(random, -3, 3), (uint16_t)below(random, 7)};
    return walk;
}

static struct descriptor random_descriptor(GRand *random) {
    static const unsigned modes[] = {MOVER_COPY, MOVER_COPY, MOVER_COPY, MOVER_GATHER, MOVER_GENERATE, MOVER_FILL};
    struct descriptor d = {.mode = modes[below(random, G_N_ELEMENTS(modes))],
                           .width = below(random, 3),
                           .coalesce = below(random, 2),
                           .cap = below(random, 8),
                           .immediate = g_rand_int(random),
                           .seed = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random),
                           .pitch = WORD_BYTES * below(random, 8),
                           .row_words = 1 + below(random, 5),
                           .index_count = 1 + below(random, 40)};
    unsigned dims = d.mode == MOVER_GENERATE ? 2 : 4;
    d.source = random_walk(random, SOURCE, dims, below(random, 2));
    d.destination = random_walk(random, DESTINATION, dims, below(random, 2));
    return d;
}

static struct move move_of(const struct descriptor *d) {
    struct move move = {0};
    move_walker(&move, MOVE_SOURCE, &d->source, d->id, d->id_mode);
    move_walker(&move, MOVE_DESTINATION, &d->destination, 0, 0);
    move_write(&move, MOVER_REG_IMMEDIATE, d->immediate);
    move_write(&move, MOVER_REG_SEED, d->seed);
    move_write(&move, MOVER_REG_INDEX, INDEXES | (uint64_t)d->index_count << 40);
    move_write(&move, MOVER_REG_PITCH, d->pitch | (uint64_t)d->row_words << 32);
    move_write(&move, MOVER_REG_COMMAND,
               MOVER_GO | (uint64_t)d->cap << 13 | (uint64_t)d->coalesce << 11 | d->width << 3 | d->mode);
    return move;
}

/* ---- the plain loop ---- */

static struct word256 filler(const struct descriptor *d) {
    uint8_t bytes[WORD_BYTES];
    struct word256 word;
    for (unsigned i = 0; i < WORD_BYTES; i++)
        bytes[i] = (uint8_t)(d->immediate >> 8 * (i % (1u << d->width)));
    memcpy(&word, bytes, sizeof word);
    return word;
}

static struct word256 gathered(const struct descriptor *d, const struct word256 *memory, uint64_t n) {
    uint32_t index = ((const uint32_t *)&memory[INDEXES / WORD_BYTES])[n / d->row_words];
    uint64_t address = d->source.base + index * d->pitch + n % d->row_words * WORD_BYTES;
    return memory[address / WORD_BYTES % BENCH_WORDS];
}

static struct word256 random_word(const struct descriptor *d, uint64_t address) {
    struct word256 word = {{0}};
    philox_half(&word, 0, d->seed, address);
    philox_half(&word, 1, d->seed, address);
    return word;
}

/* Returns the fault. */
static enum mover_fault perform(const struct descriptor *d, struct word256 *memory) {
    struct walker from = d->source, to = d->destination;
    uint64_t elements = walker_elements(&to);
    walker_start(&from);
    walker_start(&to);
    for (uint64_t n = 0; n < elements; n++, walker_advance(&from), walker_advance(&to)) {
        uint64_t address = walker_address(&to);
        if (!walker_valid(&to))
            continue;
        if (address % WORD_BYTES)
            return MOVER_FAULT_ALIGNMENT;
        struct word256 *word = &memory[address / WORD_BYTES % BENCH_WORDS];
        if (d->mode == MOVER_GENERATE)
            *word = random_word(d, address);
        else if (d->mode == MOVER_GATHER)
            *word = gathered(d, memory, n);
        else if (d->mode == MOVER_FILL || !walker_valid(&from))
            *word = filler(d);
        else
            *word = memory[walker_address(&from) / WORD_BYTES % BENCH_WORDS];
    }
    return MOVER_FAULT_NONE;
}

/* ---- tests ---- */

static void put_indexes(struct mover_bench *bench, struct word256 *memory, GRand *random) {
    uint32_t *indexes = (uint32_t *)&memory[INDEXES / WORD_BYTES];
    for (unsigned i = 0; i < MOVE_INDEXES_MAX; i++)
        indexes[i] = below(random, 500);
    dram_load(&bench->dram, INDEXES, indexes, MOVE_INDEXES_MAX * sizeof *indexes);
}

/* Small queues make the stalls of §8.6 common. */
static void shrink(struct mover_bench *bench, bool small) {
    if (!small)
        return;
    bench->mover.params.fifo_depth = 160;
    bench->mover.params.command_capacity = 5;
    bench->mover.params.max_writes = 2;
    bench->mover.params.max_reads = 3;
}

static void run_descriptors(enum memory_attachment attachment, bool small, guint32 seed, bool misalign) {
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    struct mover_bench bench;
    bench_open(&bench, attachment, NULL, 0);
    shrink(&bench, small);
    g_autofree struct word256 *memory = bench_randomise(&bench, seed);
    put_indexes(&bench, memory, random);
    for (unsigned n = 0; n < DESCRIPTORS / 4; n++) {
        struct descriptor d = random_descriptor(random);
        if (misalign)
            d.destination.dims[below(random, 2)].stride += 8 * below(random, 3);
        uint64_t done = bench.mover.moves_done;
        d.index_count = d.mode == MOVER_GATHER ? MIN(walker_elements(&d.destination), MOVE_INDEXES_MAX) : d.index_count;
        struct move move = move_of(&d);
        bench_move(&bench, &move);
        enum mover_fault fault = perform(&d, memory);
        g_assert_cmpint(bench.mover.fault, ==, fault);
        g_assert_cmpuint(bench.mover.moves_done - done, ==, fault == MOVER_FAULT_NONE);
        g_assert_cmpuint(bench.mover.reserved + bench.mover.present + bench.mover.unanswered, ==, 0);
        if (n % 16 == 15)
            bench_expect_memory(&bench, memory, "random descriptors");
    }
    bench_expect_memory(&bench, memory, "random descriptors");
    bench_close(&bench);
}

static void random_moves_match_a_plain_loop(void) {
    for (guint32 n = 0; n < 4; n++)
        run_descriptors(n & 1 ? MEMORY_PER_PORT : MEMORY_CONVERGED, n & 2, 100 + n, false);
}

static void misaligned_moves_stop_where_the_loop_does(void) {
    for (guint32 n = 0; n < 2; n++)
        run_descriptors(n & 1 ? MEMORY_PER_PORT : MEMORY_CONVERGED, n & 1, 200 + n, true);
}

static void random_conversions_copy_through_the_identity(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(300);
    struct mover_bench bench;
    bench_open(&bench, MEMORY_CONVERGED, NULL, 0);
    g_autofree struct word256 *memory = bench_randomise(&bench, 300);
    for (unsigned n = 0; n < DESCRIPTORS / 10; n++) {
        unsigned rows = 4 * (1 + below(random, 2)), row = 1 + below(random, 30);
        struct descriptor d = {.mode = MOVER_TRANSFORM,
                               .coalesce = below(random, 2),
                               .cap = below(random, 8),
                               .id = below(random, 16),
                               .source = random_walk(random, SOURCE, 0, false),
                               .destination = random_walk(random, DESTINATION, 0, false)};
        d.source.ndim = d.destination.ndim = 2;
        for (unsigned side = 0; side < 2; side++) {
            struct walker *walk = side ? &d.destination : &d.source;
            walk->dims[0].count = side ? rows : row;
            walk->dims[1].count = side ? row : rows;
            walk->dims[0].stride = WORD_BYTES * (row + below(random, 9));
            walk->dims[1].stride = WORD_BYTES * (1 + (below(random, 3) == 0));
            if (below(random, 8) == 0 && side)
                walk->dims[0].stride += 8;
        }
        d.source.dims[0].stride = WORD_BYTES * rows;
        struct move move = move_of(&d);
        bench_move(&bench, &move);
        struct descriptor copy = d;
        copy.mode = MOVER_COPY;
        g_assert_cmpint(bench.mover.fault, ==, perform(&copy, memory));
        g_assert_cmpuint(bench.mover.reserved + bench.mover.present + bench.mover.unanswered, ==, 0);
        if (n % 16 == 15)
            bench_expect_memory(&bench, memory, "random conversions");
    }
    bench_expect_memory(&bench, memory, "random conversions");
    g_assert_cmpuint(bench.hazards.hazards->len, ==, 0);
    bench_close(&bench);
}

/* ---- the helpers of memory/move.h against loops over indexes ---- */

static void typical_moves_do_what_they_say(void) {
    struct mover_bench bench;
    bench_open(&bench, MEMORY_PER_PORT, NULL, 0);
    g_autofree struct word256 *memory = bench_randomise(&bench, 400);
    const struct word256 *from = &memory[SOURCE / WORD_BYTES];
    struct word256 *to = &memory[DESTINATION / WORD_BYTES];
    const struct word256 zero = {{0}};
    GArray *moves = moves_new();
    moves_transpose(moves, SOURCE, DESTINATION, 7, 5, 3);
    bench_moves(&bench, moves);
    for (unsigned r = 0; r < 7; r++)
        for (unsigned c = 0; c < 5; c++)
            for (unsigned w = 0; w < 3; w++)
                to[(c * 7 + r) * 3 + w] = from[(r * 5 + c) * 3 + w];
    bench_expect_memory(&bench, memory, "transpose");
    moves = moves_new();
    moves_im2col(moves, SOURCE, DESTINATION, (struct move_image){5, 6, 2}, (struct move_window){3, 2, 2, 1}, 0, 0);
    bench_moves(&bench, moves);
    unsigned n = 0;
    for (int oy = 0; oy < 3; oy++)
        for (int ox = 0; ox < 4; ox++)
            for (int ky = 0; ky < 3; ky++)
                for (int kx = 0; kx < 2; kx++)
                    for (int w = 0; w < 2; w++) {
                        int y = 2 * oy + ky - 1, x = 2 * ox + kx - 1;
                        to[n++] = y < 0 || y >= 5 || x < 0 || x >= 6 ? zero : from[(y * 6 + x) * 2 + w];
                    }
    bench_expect_memory(&bench, memory, "im2col");
    moves = moves_new();
    moves_pad(moves, SOURCE, DESTINATION, (struct move_image){3, 4, 2}, 2, 0, 0);
    bench_moves(&bench, moves);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 8; x++)
            for (int w = 0; w < 2; w++)
                to[(y * 8 + x) * 2 + w] =
                    y < 2 || y >= 5 || x < 2 || x >= 6 ? zero : from[((y - 2) * 4 + x - 2) * 2 + w];
    bench_expect_memory(&bench, memory, "pad");
    bench_close(&bench);
}

static void long_regions_are_cut(void) {
    GArray *moves = moves_new();
    moves_copy(moves, 0, 0x1000000, 2 * MOVE_COUNT_MAX + 1);
    moves_convert(moves, 0, 0x1000000, MOVE_COUNT_MAX + 7, (struct move_geometry){8, 4}, 1, 0);
    moves_gather(moves, 0, 64, 2, 0x2000, MOVE_INDEXES_MAX + 5, 0x1000000);
    g_assert_cmpuint(moves->len, ==, 3 + 2 + 2);
    const struct move *rest = &g_array_index(moves, struct move, 4);
    g_assert_cmphex(rest->writes[0].value >> 4 & ADDRESS_MASK, ==, UINT64_C(65535) * 256);
    g_assert_cmphex(rest->writes[1].value >> 4 & 0xFFFF, ==, 7);
    const struct move *last = &g_array_index(moves, struct move, 6);
    g_assert_cmphex(last->writes[last->count - 3].value, ==, (0x2000 + 4 * 2048) | UINT64_C(5) << 40);
    g_array_unref(moves);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mover/random/moves_match_a_plain_loop", random_moves_match_a_plain_loop);
    g_test_add_func("/mover/random/misaligned_moves_stop_where_the_loop_does",
                    misaligned_moves_stop_where_the_loop_does);
    g_test_add_func("/mover/random/conversions_copy_through_the_identity",
                    random_conversions_copy_through_the_identity);
    g_test_add_func("/mover/random/typical_moves_do_what_they_say", typical_moves_do_what_they_say);
    g_test_add_func("/mover/random/long_regions_are_cut", long_regions_are_cut);
    return g_test_run();
}
