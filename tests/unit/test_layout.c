/* Orders of elements: each rule at hand-made places, every order there and back, and the allocator's bookkeeping. */
#include <string.h>

#include "workloads/layout.h"

static uint16_t *random_halves(size_t count) {
    uint16_t *halves = g_new(uint16_t, count);
    for (size_t i = 0; i < count; i++)
        halves[i] = (uint16_t)g_test_rand_int();
    return halves;
}

static unsigned some(int lo, int hi) {
    return (unsigned)g_test_rand_int_range(lo, hi + 1);
}

/* Element (r, k) against the formula of workloads §1.3 written out. */
static void packed_order(void) {
    struct operand_layout layout;
    operand_layout_init(&layout, 256, 256, 16, 4, false);
    g_assert_cmpuint(operand_entries(&layout), ==, 512);
    for (size_t r = 0; r < 256; r += 3) {
        for (size_t k = 0; k < 256; k += 5) {
            size_t G = r / 4, t = G / 16, gi = G % 16, B = k / 32, c = B / 4, bi = B % 4;
            size_t e = ((t * 2 + c) * 16 + gi) * 4 + bi;
            g_assert_cmpuint(operand_entry_of(&layout, r, k), ==, e);
            g_assert_cmpuint(operand_fp16_offset(&layout, r, k), ==, e * 256 + r % 4 * 64 + k % 32 * 2);
            g_assert_cmpuint(operand_word_offset(&layout, r, k), ==, e * 128 + k % 32 / 8 * 32);
        }
    }
    g_assert_cmpuint(operand_chunk_first(&layout, 1, 1) * ENTRY_CONVERTED_BYTES, ==, 0x2000 * 3);
    operand_layout_init(&layout, 10, 40, 1, 1, false); /* group-major: entry = G * blocks + B */
    g_assert_cmpuint(operand_entry_of(&layout, 9, 33), ==, 2 * 2 + 1);
}

static void padding(void) {
    struct operand_layout layout;
    operand_layout_init(&layout, 300, 300, 16, 2, false);
    g_assert_cmpuint(layout.tiles, ==, 5);
    g_assert_cmpuint(layout.chunks, ==, 5);
    g_assert_cmpuint(operand_entries(&layout), ==, 80 * 10);
    operand_layout_init(&layout, 96, 160, 8, 3, true);
    g_assert_cmpuint(layout.blocks, ==, 5);
    g_assert_cmpuint(operand_chunk_blocks(&layout, 0), ==, 3);
    g_assert_cmpuint(operand_chunk_blocks(&layout, 1), ==, 2);
    g_assert_cmpuint(operand_chunk_first(&layout, 1, 1), ==, 8 * 5 + 24);
}

/* Entries are all used, none twice, and a chunk's entries are one run. */
static void each_entry_once(void) {
    for (unsigned trial = 0; trial < 200; trial++) {
        struct operand_layout layout;
        operand_layout_init(&layout, some(1, 100), some(1, 400), some(1, 9), some(1, 5), trial % 2);
        g_autofree uint8_t *hits = g_malloc0(operand_entries(&layout));
        for (size_t group = 0; group < layout.tiles * layout.group; group++) {
            for (size_t block = 0; block < layout.blocks; block++) {
                size_t e = operand_entry_of(&layout, group * 4, block * 32), chunk = block / layout.block;
                size_t first = operand_chunk_first(&layout, group / layout.group, chunk);
                g_assert_cmpuint(e, <, operand_entries(&layout));
                g_assert_cmpuint(e - first, <, layout.group * operand_chunk_blocks(&layout, chunk));
                g_assert_cmpuint(hits[e]++, ==, 0);
            }
        }
    }
}

/* Packing loses nothing, and converting the image is quantising the rows. */
static void operand_round_trip(void) {
    for (unsigned trial = 0; trial < 60; trial++) {
        struct operand_layout layout;
        operand_layout_init(&layout, some(1, 60), some(1, 300), some(1, 9), some(1, 5), trial % 3 == 0);
        size_t elements = layout.lanes * layout.k, count = operand_entries(&layout);
        g_autofree uint16_t *rows = random_halves(elements), *back = g_new0(uint16_t, elements);
        g_autofree uint8_t *image = g_malloc(count * ENTRY_FP16_BYTES);
        operand_pack(&layout, rows, image);
        operand_unpack(&layout, image, back);
        g_assert_cmpmem(rows, elements * 2, back, elements * 2);

        enum mxfp7_packing packing = trial % 2 ? MXFP7_COLUMNS : MXFP7_ROWS;
        g_autofree uint8_t *converted = g_malloc(count * ENTRY_CONVERTED_BYTES);
        g_autofree struct mxfp7_entry *quantised = g_new0(struct mxfp7_entry, count);
        g_autofree struct mxfp7_entry *unpacked = g_new0(struct mxfp7_entry, count);
        image_convert(image, count, packing, converted);
        image_entries(converted, count, packing, unpacked);
        operand_quantise(&layout, rows, quantised);
        g_assert_cmpmem(quantised, count * sizeof *quantised, unpacked, count * sizeof *unpacked);
    }
}

/* One significand where workloads §1.4 puts it. */
static void converted_places(void) {
    for (unsigned packing = MXFP7_ROWS; packing <= MXFP7_COLUMNS; packing++) {
        struct operand_layout layout;
        operand_layout_init(&layout, 8, 64, 2, 2, false);
        for (unsigned trial = 0; trial < 50; trial++) {
            unsigned lane = some(0, 7), k = some(0, 63), slot;
            g_autofree uint16_t *rows = g_new0(uint16_t, 8 * 64);
            uint8_t image[4 * ENTRY_FP16_BYTES], converted[4 * ENTRY_CONVERTED_BYTES];
            rows[lane * 64 + k] = 0x53e0; /* 63: a power-of-two scale, significand 63 */
            operand_pack(&layout, rows, image);
            image_convert(image, 4, packing, converted);
            slot = packing == MXFP7_ROWS ? lane % 4 * 8 + k % 8 : k % 8 * 4 + lane % 4;
            const uint8_t *word = converted + operand_word_offset(&layout, lane, k);
            unsigned top = 255 - 7 * slot, value = 0;
            for (unsigned bit = 0; bit < 7; bit++)
                value = value << 1 | (word[(top - bit) / 8] >> (top - bit) % 8 & 1);
            g_assert_cmpuint(value, ==, 63);
            g_assert_cmphex(word[3 - lane % 4], ==, 20 << 3);
        }
    }
}

static void result_order(void) {
    struct result_layout layout;
    result_layout_init(&layout, 256, 256, 16, 32);
    g_assert_cmphex(result_tile_offset(&layout, 1, 1), ==, 0x4000 * 3);
    g_assert_cmphex(result_bytes(&layout), ==, 0x20000);
    for (size_t m = 0; m < 256; m += 7) {
        for (size_t n = 0; n < 256; n += 3) {
            size_t i = m / 64, g = m / 4 % 16, j = n / 128, h = n / 4 % 32;
            size_t s = (i * 2 + j) * 512 + g * 32 + h;
            g_assert_cmpuint(result_offset(&layout, m, n), ==, s * 32 + (m % 4 * 4 + n % 4) * 2);
        }
    }
}

static void result_round_trip(void) {
    for (unsigned trial = 0; trial < 100; trial++) {
        struct result_layout layout;
        result_layout_init(&layout, some(1, 90), some(1, 90), some(1, 9), some(1, 9));
        size_t elements = layout.m * layout.n;
        g_autofree uint16_t *rows = random_halves(elements), *back = g_new0(uint16_t, elements);
        g_autofree uint8_t *image = g_malloc(result_bytes(&layout));
        result_tile(&layout, rows, image);
        result_untile(&layout, image, back);
        g_assert_cmpmem(rows, elements * 2, back, elements * 2);
    }
}

static void other_orders_round_trip(void) {
    for (unsigned trial = 0; trial < 30; trial++) {
        size_t columns = 4 * some(1, 40);
        g_autofree uint16_t *halves = random_halves(columns), *back = g_new0(uint16_t, columns);
        g_autofree uint8_t *image = g_malloc(bias_bytes(columns));
        g_autoptr(GError) error = NULL;
        g_assert_cmpuint(bias_bytes(columns), ==, 8 * columns);
        bias_pack(halves, columns, image);
        g_assert_true(bias_unpack(image, columns, back, &error));
        g_assert_cmpmem(halves, columns * 2, back, columns * 2);
        image[31] ^= 1;
        g_assert_false(bias_unpack(image, columns, back, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        flat_pack(halves, columns, image);
        flat_unpack(image, columns, back);
        g_assert_cmpmem(halves, columns * 2, back, columns * 2);

        struct plane_layout plane;
        plane_layout_init(&plane, some(1, 12), some(1, 12), 32 * some(1, 3), 4 * some(1, 8));
        size_t elements = plane.height * plane.width * plane.channels;
        g_autofree uint16_t *in = random_halves(elements), *out = g_new0(uint16_t, elements);
        g_autofree uint8_t *planes = g_malloc(plane_bytes(&plane));
        plane_pack(&plane, in, planes);
        plane_unpack(&plane, planes, out);
        g_assert_cmpmem(in, elements * 2, out, elements * 2);
    }
}

/* Every tap of every tile of the padded raster reads inside the image, and (0, 0) of tap (1, 1) is the first pixel. */
static void plane_reach(void) {
    struct plane_layout plane;
    plane_layout_init(&plane, 8, 8, 64, 16);
    g_assert_cmpuint(plane.plane, ==, 100);
    g_assert_cmpuint(plane.tail, ==, (5 * 16 + 22 - 100 + 3) / 4);
    g_autofree uint16_t *in = random_halves(8 * 8 * 64);
    g_autofree uint8_t *image = g_malloc(plane_bytes(&plane));
    plane_pack(&plane, in, image);
    size_t tap = (1 * 10 + 1) * 64;
    g_assert_cmphex(image[tap] | image[tap + 1] << 8, ==, in[0]);
    g_assert_cmphex(image[tap + 100 * 64] | image[tap + 100 * 64 + 1] << 8, ==, in[32]);
    for (size_t i = 0; i < 64 * 10; i++)
        g_assert_cmphex(image[i], ==, 0);
}

static void arena_fits_best(void) {
    struct arena arena;
    uint64_t a, b, c, d;
    g_autoptr(GError) error = NULL;
    arena_init(&arena, 0, 0x10000, SPAN_BYTES);
    g_assert_true(arena_take(&arena, 1000, &a, NULL) && arena_take(&arena, 1, &b, NULL));
    g_assert_true(arena_take(&arena, 300, &c, NULL) && arena_take(&arena, 256, &d, NULL));
    g_assert_cmphex(a, ==, 0);
    g_assert_cmphex(b, ==, 0x400);
    g_assert_cmphex(c, ==, 0x500);
    g_assert_cmphex(d, ==, 0x700);
    g_assert_true(arena_give(&arena, a, NULL) && arena_give(&arena, c, NULL));
    g_assert_true(arena_take(&arena, 500, &c, NULL));
    g_assert_cmphex(c, ==, 0x500); /* two quanta free there, four at 0 */
    g_assert_false(arena_take(&arena, 0x10000, &c, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
    g_clear_error(&error);
    g_assert_false(arena_take(&arena, UINT64_MAX, &c, &error));
    g_clear_error(&error);
    g_assert_false(arena_give(&arena, 0x100, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INTERNAL);
    arena_clear(&arena);
}

/* Random taking and giving: spans never overlap, and with everything given back one free span is left. */
static void arena_keeps_books(void) {
    for (unsigned trial = 0; trial < 20; trial++) {
        struct arena arena;
        struct span live[64];
        unsigned count = 0;
        uint64_t quantum = trial % 2 ? VECTOR_SPAN_BYTES : SPAN_BYTES;
        arena_init(&arena, 100, 1 << 18, quantum);
        for (unsigned step = 0; step < 1000; step++) {
            if (count == 64 || (count && some(0, 1))) {
                unsigned victim = some(0, (int)count - 1);
                g_assert_true(arena_give(&arena, live[victim].address, NULL));
                live[victim] = live[--count];
                continue;
            }
            struct span span = {0, some(0, 12000)};
            if (!arena_take(&arena, span.bytes, &span.address, NULL))
                continue;
            g_assert_cmpuint(span.address % quantum, ==, 0);
            g_assert_cmpuint(span.address + span.bytes, <=, 100 + (1 << 18));
            for (unsigned i = 0; i < count; i++)
                g_assert_true(span.address >= live[i].address + MAX(live[i].bytes, 1) ||
                              live[i].address >= span.address + MAX(span.bytes, 1));
            live[count++] = span;
        }
        while (count)
            g_assert_true(arena_give(&arena, live[--count].address, NULL));
        g_assert_cmpuint(arena.free_spans->len, ==, 1);
        arena_clear(&arena);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/layout/operand/packed_order", packed_order);
    g_test_add_func("/layout/operand/padding", padding);
    g_test_add_func("/layout/operand/each_entry_once", each_entry_once);
    g_test_add_func("/layout/operand/round_trip", operand_round_trip);
    g_test_add_func("/layout/operand/converted_places", converted_places);
    g_test_add_func("/layout/result/order", result_order);
    g_test_add_func("/layout/result/round_trip", result_round_trip);
    g_test_add_func("/layout/others/round_trip", other_orders_round_trip);
    g_test_add_func("/layout/plane/reach", plane_reach);
    g_test_add_func("/layout/arena/fits_best", arena_fits_best);
    g_test_add_func("/layout/arena/keeps_books", arena_keeps_books);
    return g_test_run();
}
