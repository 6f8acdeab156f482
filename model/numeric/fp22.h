/* The accumulator's number format and its three operations: a scaled block sum becomes a word (normalise), words are
 * added, and leave as FP16 (emit). Follows golden README sections 3-7 and compute-units §5.
 *
 * FP22 is sign, 7 exponent bits (bias 63), 14 fraction bits with a leading one implied. Exponent 0 is zero whatever
 * the fraction; exponent 127 is an ordinary binade; there are no subnormals, infinities or NaNs. The fraction width is
 * a build parameter of the machine: every function takes it as `width`, FP22_WIDTH_MIN..FP22_WIDTH_MAX, 14 being the
 * hardware's. A word of another width is {sign, exponent[6:0], fraction[width-1:0]}, right-aligned.
 *
 * A tile here is one 4x4 sub-tile, lane 4i+j for row i and column j; `sa[i]` and `sb[j]` are the operands' scale bytes.
 */
#pragma once

#include "model/word.h"

#include <stdint.h>

enum {
    FP22_WIDTH = 14,
    FP22_WIDTH_MIN = 8,
    FP22_WIDTH_MAX = 16,
    FP22_LANES = 16,
    FP22_ANCHOR = 40, /* the anchor at which a word is the product's true value */
};

/* A block sum times both scale mantissas: value * 2^(exponent), less the anchor's share. */
struct fp22_partial {
    int32_t value; /* |value| < 2^26 */
    int32_t exponent;
};

/* |part| <= 131072. The exponent wraps modulo 128 for anchors far from 40; a wrapped exponent of 0 gives the word 0. */
uint32_t fp22_normalise(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor, unsigned width);
uint32_t fp22_normalise_partial(struct fp22_partial partial, unsigned width);

/* Ties in magnitude are resolved for the tile. Below the range the sum is 0, above it +-largest. On subtraction the
 * bits shifted out are not borrowed, so a result may be one unit too large in magnitude, as in the hardware. */
uint32_t fp22_add(uint32_t tile, uint32_t incoming, unsigned width);

/* FP16 without subnormals: too small gives signed zero, too large +-65504. A word of exponent 0 gives +0. */
uint16_t fp22_emit(uint32_t word, unsigned width);

double fp22_to_double(uint32_t word, unsigned width);

/* LOAD and ADD of one K block: tile = normalised sums, tile += normalised sums. */
void fp22_tile_load(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4], uint8_t anchor,
                    unsigned width);
void fp22_tile_add(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4], uint8_t anchor,
                   unsigned width);

/* ADD_PEER: tile += incoming. */
void fp22_tile_add_words(uint32_t tile[16], const uint32_t incoming[16], unsigned width);

/* EMIT: lane l in bits [16l+15:16l]. Returns how many lanes had to be cut to +-65504. */
unsigned fp22_tile_emit(const uint32_t tile[16], unsigned width, struct word256 *out);

/* How many of the sixteen exponents LOAD or ADD would wrap; none with the anchor at 40. */
unsigned fp22_tile_wraps(const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4], uint8_t anchor,
                         unsigned width);

/* SEND: the 16 * (width + 8) bits of the tile, lane 0 lowest, in two granules with zeros above. */
void fp22_tile_to_granules(const uint32_t tile[16], unsigned width, struct word256 granules[2]);
void fp22_tile_from_granules(const struct word256 granules[2], unsigned width, uint32_t tile[16]);

/* The double-rate cluster merges K blocks in pairs before the one rounding (golden README section 6.1): the block with
 * the larger exponent keeps its bits, the other is shifted down and cut without a trace. */
struct fp22_scaled_block {
    const int32_t *sums; /* sixteen */
    const uint8_t *sa;   /* four */
    const uint8_t *sb;   /* four */
};

struct fp22_partial fp22_pair_merge(struct fp22_partial first, struct fp22_partial second);
void fp22_tile_merge(const struct fp22_scaled_block *first, const struct fp22_scaled_block *second, uint8_t anchor,
                     struct fp22_partial merged[16]);
void fp22_tile_pair_load(uint32_t tile[16], const struct fp22_scaled_block *first,
                         const struct fp22_scaled_block *second, uint8_t anchor, unsigned width);
void fp22_tile_pair_add(uint32_t tile[16], const struct fp22_scaled_block *first,
                        const struct fp22_scaled_block *second, uint8_t anchor, unsigned width);
