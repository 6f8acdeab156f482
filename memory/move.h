/* Register write lists for typical moves of the memory mover (noc-and-memory §8.8). A move is what ends with one GO; a
 * region larger than a 16-bit count is cut into several moves, to be issued one after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "memory/walker.h"

enum {
    MOVE_WRITES_MAX = 40, /* two walkers of 15, index, pitch, seed, immediate, command */
    MOVE_COUNT_MAX = 65535,
    MOVE_INDEXES_MAX = 2048, /* a gather's index buffer */
};

enum move_side {
    MOVE_SOURCE,
    MOVE_DESTINATION,
};

struct register_write {
    unsigned offset;
    uint64_t value;
};

struct move {
    unsigned count;
    struct register_write writes[MOVE_WRITES_MAX];
};

/* ---- pieces ---- */

void move_write(struct move *move, unsigned offset, uint64_t value);
/* Header, live dimensions and both bounds of a walker. id and mode are those of a transform, source only. */
void move_walker(struct move *move, enum move_side side, const struct walker *walker, unsigned id, unsigned mode);
/* The command register, with GO and coalesced writes. */
void move_command(struct move *move, unsigned mode, unsigned width);

/* ---- whole moves, appended to an array of struct move; addresses are bytes, lengths 256-bit words ---- */

GArray *moves_new(void);
void moves_copy(GArray *moves, uint64_t source, uint64_t destination, uint64_t words);
void moves_fill(GArray *moves, uint64_t destination, uint64_t words, unsigned width, uint32_t immediate);
void moves_generate(GArray *moves, uint64_t destination, uint64_t words, uint64_t seed);
/* destination[c][r] = source[r][c]; an element is element_words words. */
void moves_transpose(GArray *moves, uint64_t source, uint64_t destination, unsigned rows, unsigned columns,
                     unsigned element_words);

struct move_image {
    unsigned height, width, pixel_words;
};

/* The image with `border` pixels of the fill word around it. */
void moves_pad(GArray *moves, uint64_t source, uint64_t destination, struct move_image image, unsigned border,
               unsigned width, uint32_t immediate);

struct move_window {
    unsigned height, width, stride, pad;
};

/* One row of window pixels for every output pixel, outside the image the fill word. */
void moves_im2col(GArray *moves, uint64_t source, uint64_t destination, struct move_image image,
                  struct move_window window, unsigned width, uint32_t immediate);
/* Row i of the destination = row_words words at table + indexes[i] * pitch. */
void moves_gather(GArray *moves, uint64_t table, uint32_t pitch, unsigned row_words, uint64_t indexes, uint64_t count,
                  uint64_t destination);

/* The row-major matrix [rows][columns] as `parts` blocks of columns / parts columns, one behind the other: what a
 * tensor split by rows needs to be split by columns. parts divides columns. One move a block. */
void moves_reshard(GArray *moves, uint64_t source, uint64_t destination, unsigned rows, unsigned columns,
                   unsigned element_words, unsigned parts);

struct move_geometry {
    unsigned in_beats, out_words; /* of the occupant */
};

/* Contiguous entries through transform `id`. */
void moves_convert(GArray *moves, uint64_t source, uint64_t destination, uint64_t entries,
                   struct move_geometry geometry, unsigned id, unsigned mode);

struct move_options {
    bool coalesce;
    unsigned burst_code; /* 0: 128 words, v: 2^(v-1) */
    unsigned width;      /* element width of the fill word: 0 byte, 1 half, 2 whole, 3 faults */
};

/* Puts the options into the command of every move. */
void moves_set_options(GArray *moves, const struct move_options *options);
