/* The 256-bit memory word, which is also a flit's payload and a bus beat inside the mesh (noc-and-memory §1.3).
 * Bit b of the word is bit b % 64 of w[b / 64]; byte i in memory is bits [8i+7 : 8i]. */
#pragma once

#include <stdint.h>

enum {
    WORD_BYTES = 32,
    WORD_BITS = 256,
};

struct word256 {
    uint64_t w[4];
};

/* Mask of the low `width` bits, width 0..64. */
static inline uint64_t bit_mask(unsigned width) {
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Bits [low+width-1 : low] of the word, width 1..64. */
static inline uint64_t word_get(const struct word256 *word, unsigned low, unsigned width) {
    unsigned lane = low / 64, shift = low % 64;
    uint64_t value = word->w[lane] >> shift;
    if (shift + width > 64)
        value |= word->w[lane + 1] << (64 - shift);
    return value & bit_mask(width);
}

/* Replaces bits [low+width-1 : low] by the low `width` bits of value, width 1..64. */
static inline void word_set(struct word256 *word, unsigned low, unsigned width, uint64_t value) {
    unsigned lane = low / 64, shift = low % 64;
    uint64_t mask = bit_mask(width);
    value &= mask;
    word->w[lane] = (word->w[lane] & ~(mask << shift)) | (value << shift);
    if (shift + width > 64) {
        unsigned spill = 64 - shift;
        word->w[lane + 1] = (word->w[lane + 1] & ~(mask >> spill)) | (value >> spill);
    }
}
