/* The cluster's operand format: an entry is four lanes (rows of A or columns of B) of 32 K elements, each an int7, with
 * one E5M3 scale a lane. Quantiser and word layout follow golden README section 1, block products section 2;
 * the place of an element in a word is compute-units §1.4. */
#pragma once

#include "model/word.h"

#include <stdint.h>

enum {
    MXFP7_LANES = 4,
    MXFP7_BLOCK = 32, /* K elements that share a scale */
    MXFP7_WORDS = 4,  /* words of an entry; word w carries k = 8w..8w+7 */
};

enum mxfp7_packing {
    MXFP7_ROWS,    /* converter mode 0, the A side: a lane's eight elements side by side */
    MXFP7_COLUMNS, /* converter mode 1, the B side: the four lanes of one k side by side */
};

struct mxfp7_entry {
    int8_t q[MXFP7_LANES][MXFP7_BLOCK]; /* -64..63; the quantiser makes -63..63 */
    uint8_t scale[MXFP7_LANES];         /* {E[4:0], M[2:0]}: 2^(E-20) * (1 + M/8) */
};

/* FP16 block to entry. Infinities and NaNs are ordinary numbers of exponent field 31 to the hardware. */
void mxfp7_quantise(const uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK], struct mxfp7_entry *entry);

/* Every word carries all four scales. */
void mxfp7_pack(const struct mxfp7_entry *entry, enum mxfp7_packing packing, struct word256 words[MXFP7_WORDS]);

/* The scales are those of word 0. */
void mxfp7_unpack(const struct word256 words[MXFP7_WORDS], enum mxfp7_packing packing, struct mxfp7_entry *entry);

/* Puts word `index` (0..3) in its place and leaves the rest of the entry as it is; word 0 also sets the scales. */
void mxfp7_place(struct mxfp7_entry *entry, enum mxfp7_packing packing, unsigned index, const struct word256 *word);

/* The value of element q under scale byte `scale`; exact. */
double mxfp7_decode(int8_t q, uint8_t scale);

/* sums[4i+j] = sum over k of a->q[i][k] * b->q[j][k], exact, |sum| <= 131072. */
void mxfp7_block_dot(const struct mxfp7_entry *a, const struct mxfp7_entry *b, int32_t sums[16]);
