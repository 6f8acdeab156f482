/* Where the elements of operands and results lie in memory (workloads §1.2-1.8), and who gets which span.
 *
 * Everything here is byte offsets within an image; FP16 and words are little-endian (element j of a word in bits
 * [16j+15:16j], byte i in bits [8i+7:8i]). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"
#include "model/numeric/mxfp7.h"
#include "model/word.h"

enum {
    ENTRY_FP16_BYTES = 256,      /* 4 lanes x 32 K x 2 bytes */
    ENTRY_CONVERTED_BYTES = 128, /* MXFP7_WORDS words */
    SUBTILE_BYTES = 32,          /* 4 x 4 FP16 */
    SPAN_BYTES = 256,            /* quantum of every span */
    VECTOR_SPAN_BYTES = 2048,    /* quantum where vector cores store */
};

/* An operand [lanes][k] packed for `group` groups a tile and `block` blocks a chunk; lanes and K are padded with zeros
 * to whole tiles and whole chunks (§1.2). `ragged` keeps K at whole blocks only: the last chunk is shorter, as in the
 * reference schedule of planner.h. */
struct operand_layout {
    size_t lanes, k;
    unsigned group, block;
    bool ragged;
    size_t tiles, chunks; /* of the padded operand */
    size_t blocks;        /* 32-deep K blocks, padding included */
};

/* lanes, k, group, block at least 1. */
void operand_layout_init(struct operand_layout *layout, size_t lanes, size_t k, unsigned group, unsigned block,
                         bool ragged);
/* Entries of the whole image. */
size_t operand_entries(const struct operand_layout *layout);
/* Blocks of chunk c: `block`, or fewer in the last of a ragged operand. */
unsigned operand_chunk_blocks(const struct operand_layout *layout, size_t chunk);
/* First entry of (tile, chunk); its entries are the next group * operand_chunk_blocks. */
size_t operand_chunk_first(const struct operand_layout *layout, size_t tile, size_t chunk);
/* Entry that holds element (lane, k); both within the padded operand. */
size_t operand_entry_of(const struct operand_layout *layout, size_t lane, size_t k);
/* Byte of the FP16 element (lane, k). */
size_t operand_fp16_offset(const struct operand_layout *layout, size_t lane, size_t k);
/* Byte of the converted word that holds element (lane, k). */
size_t operand_word_offset(const struct operand_layout *layout, size_t lane, size_t k);

/* [lanes][k] FP16 to the FP16 image of operand_entries * ENTRY_FP16_BYTES bytes, padding included. */
void operand_pack(const struct operand_layout *layout, const uint16_t *rows, uint8_t *image);
void operand_unpack(const struct operand_layout *layout, const uint8_t *image, uint16_t *rows);
/* The quantised entries in image order: `entries` takes operand_entries of them. */
void operand_quantise(const struct operand_layout *layout, const uint16_t *rows, struct mxfp7_entry *entries);
/* FP16 image of `count` entries to the converted one of count * ENTRY_CONVERTED_BYTES bytes (§1.9: entry e becomes
 * entry e); A operands pack by MXFP7_ROWS, B by MXFP7_COLUMNS. */
void image_convert(const uint8_t *image, size_t count, enum mxfp7_packing packing, uint8_t *converted);
/* The entries of a converted image. */
void image_entries(const uint8_t *converted, size_t count, enum mxfp7_packing packing, struct mxfp7_entry *entries);

/* The drained C[m][n] of tiles of gm x gn sub-tiles (§1.6): one word a sub-tile, in sweep order, tile by tile. */
struct result_layout {
    size_t m, n;
    unsigned gm, gn;
    size_t rows, columns; /* tiles down and across: NI, NJ */
};

void result_layout_init(struct result_layout *layout, size_t m, size_t n, unsigned gm, unsigned gn);
size_t result_bytes(const struct result_layout *layout);
/* First byte of tile (i, j). */
size_t result_tile_offset(const struct result_layout *layout, size_t i, size_t j);
/* Byte of element (row, column), both within the padded result. */
size_t result_offset(const struct result_layout *layout, size_t row, size_t column);
/* Drained image to [m][n] rows (un-tiling and crop), and back with zero padding. */
void result_untile(const struct result_layout *layout, const uint8_t *image, uint16_t *rows);
void result_tile(const struct result_layout *layout, const uint16_t *rows, uint8_t *image);

/* Flat: row-major FP16, count elements (§1.7). */
void flat_pack(const uint16_t *elements, size_t count, uint8_t *image);
void flat_unpack(const uint8_t *image, size_t count, uint16_t *elements);

/* Channel bias (§1.7): per four columns one word, its four values repeated on the four rows. columns a multiple of 4.
 */
size_t bias_bytes(size_t columns);
void bias_pack(const uint16_t *bias, size_t columns, uint8_t *image);
/* FS_ERROR_INPUT when the four rows of a word differ. */
bool bias_unpack(const uint8_t *image, size_t columns, uint16_t *bias, GError **error);

/* Convolution plane (§1.7, §5.6): [C/32][plane][32] over the padded raster of (H+2)(W+2) positions, plane a multiple of
 * four positions; `tail` entries of zeros follow. Activations are [height][width][channels], channels a multiple of 32.
 */
struct plane_layout {
    size_t height, width, channels;
    size_t plane; /* positions of one channel block */
    size_t tail;  /* entries behind the last plane, so that the last tile's last tap reads inside */
};

/* `tile_rows` is 4 gm, the positions of a tile. */
void plane_layout_init(struct plane_layout *layout, size_t height, size_t width, size_t channels, size_t tile_rows);
size_t plane_bytes(const struct plane_layout *layout);
void plane_pack(const struct plane_layout *layout, const uint16_t *activations, uint8_t *image);
void plane_unpack(const struct plane_layout *layout, const uint8_t *image, uint16_t *activations);

/* Best-fit allocator of spans of device memory with a coalescing free list (§1.8). */
struct arena {
    uint64_t quantum;
    GArray *free_spans; /* of struct span, by address, no two adjacent */
    GArray *used_spans; /* of struct span, by address */
};

struct span {
    uint64_t address, bytes;
};

/* Manages [base, base + bytes), cut inwards to whole quanta; quantum SPAN_BYTES or VECTOR_SPAN_BYTES. */
void arena_init(struct arena *arena, uint64_t base, uint64_t bytes, uint64_t quantum);
void arena_clear(struct arena *arena);
/* A span of at least `bytes` (0 counts as 1), rounded up to quanta: the smallest free one that fits, the lowest of
 * equals. FS_ERROR_RANGE when none fits. */
bool arena_take(struct arena *arena, uint64_t bytes, uint64_t *address, GError **error);
/* Gives back what arena_take returned; false with FS_ERROR_INTERNAL for any other address. */
bool arena_give(struct arena *arena, uint64_t address, GError **error);
