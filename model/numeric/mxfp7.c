/* Block quantiser, operand words and the exact K=32 products. */
#include "model/numeric/mxfp7.h"

#include "model/numeric/clones.h"

#include <math.h>

enum {
    K_PER_WORD = MXFP7_BLOCK / MXFP7_WORDS,
    ELEMENT_BITS = 7,
    SCALE_BIAS = 20,
    SCALE_MIN = -20,
    SCALE_MAX = 11,
    HIDDEN_ONE = 1024,
    LARGEST_Q = 63,
};

/* An FP16 magnitude as the quantiser sees it: sig * 2^(exponent - 25). */
struct magnitude {
    int exponent;
    uint32_t sig;
};

static struct magnitude magnitude_of(uint16_t half) {
    int field = half >> 10 & 31;
    uint32_t fraction = half & 1023;
    if (field)
        return (struct magnitude){field, HIDDEN_ONE + fraction};
    return (struct magnitude){1, fraction};
}

struct lane_scale {
    int exponent;
    uint32_t m8; /* 8 + M */
};

/* The smallest scale whose 63rd multiple still reaches the lane's largest element. */
static struct lane_scale choose_scale(const uint16_t lane[MXFP7_BLOCK]) {
    uint16_t largest = 0;
    for (unsigned k = 0; k < MXFP7_BLOCK; k++) {
        uint16_t bits = lane[k] & 0x7fff;
        largest = bits > largest ? bits : largest;
    }
    struct magnitude peak = magnitude_of(largest);
    if (peak.sig == 0)
        return (struct lane_scale){0, 8};
    while (peak.sig < HIDDEN_ONE) {
        peak.sig <<= 1;
        peak.exponent--;
    }
    uint32_t c = (peak.sig + 2 * LARGEST_Q - 1) / (2 * LARGEST_Q); /* 9..17 */
    struct lane_scale scale = {peak.exponent - 21, c};
    if (c > 15)
        scale = (struct lane_scale){peak.exponent - 20, c == 16 ? 8 : 9};
    if (scale.exponent < SCALE_MIN)
        scale.exponent = SCALE_MIN;
    if (scale.exponent > SCALE_MAX)
        scale.exponent = SCALE_MAX;
    return scale;
}

static int8_t quantise_element(uint16_t half, struct lane_scale scale) {
    /* 4096 * 8 / m8; the hardware's table has 2520 where rounding would give 2521. */
    static const uint32_t reciprocal[8] = {4096, 3641, 3277, 2979, 2731, 2520, 2341, 2185};
    struct magnitude x = magnitude_of(half);
    int t = 21 + scale.exponent - x.exponent;
    if (x.sig == 0 || t > 7)
        return 0;
    if (t < 0) /* no element lies above the peak; kept so that the shift below is always defined */
        return half & 0x8000 ? -LARGEST_Q : LARGEST_Q;
    uint32_t product = (x.sig * reciprocal[scale.m8 - 8]) >> (15 + t);
    uint32_t q = (product >> 1) + (product & 1);
    q = q > LARGEST_Q ? LARGEST_Q : q;
    return (int8_t)(half & 0x8000 ? -(int)q : (int)q);
}

void mxfp7_quantise(const uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK], struct mxfp7_entry *entry) {
    for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
        struct lane_scale scale = choose_scale(lanes[lane]);
        entry->scale[lane] = (uint8_t)((scale.exponent + SCALE_BIAS) << 3 | (int)(scale.m8 & 7));
        for (unsigned k = 0; k < MXFP7_BLOCK; k++)
            entry->q[lane][k] = quantise_element(lanes[lane][k], scale);
    }
}

/* Lowest bit of an element in its word; slots count down from the top. */
static unsigned element_bit(enum mxfp7_packing packing, unsigned lane, unsigned k) {
    unsigned slot = packing == MXFP7_ROWS ? K_PER_WORD * lane + k % K_PER_WORD : MXFP7_LANES * (k % K_PER_WORD) + lane;
    return WORD_BITS - ELEMENT_BITS * (slot + 1);
}

static unsigned scale_bit(unsigned lane) {
    return 8 * (MXFP7_LANES - 1 - lane);
}

void mxfp7_pack(const struct mxfp7_entry *entry, enum mxfp7_packing packing, struct word256 words[MXFP7_WORDS]) {
    for (unsigned index = 0; index < MXFP7_WORDS; index++) {
        struct word256 *word = &words[index];
        *word = (struct word256){{0}};
        for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
            word_set(word, scale_bit(lane), 8, entry->scale[lane]);
            for (unsigned k = K_PER_WORD * index; k < K_PER_WORD * (index + 1); k++)
                word_set(word, element_bit(packing, lane, k), ELEMENT_BITS, (uint64_t)entry->q[lane][k]);
        }
    }
}

/* Eight elements of 7 bits as eight signed bytes. */
static uint64_t spread_elements(uint64_t x) {
    x = (x & UINT64_C(0x0fffffff)) | (x & UINT64_C(0xfffffff0000000)) << 4;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x3f803f803f803f80)) << 1;
    return x | (x & UINT64_C(0x4040404040404040)) << 1;
}

/* Elements of slots 8 * group to 8 * group + 7, the first in the highest byte. */
static uint64_t slot_elements(const struct word256 *word, unsigned group) {
    return spread_elements(word_get(word, WORD_BITS - ELEMENT_BITS * 8 * (group + 1), ELEMENT_BITS * 8));
}

static int8_t byte_from_top(uint64_t bytes, unsigned n) {
    return (int8_t)(bytes >> (56 - 8 * n));
}

void mxfp7_place(struct mxfp7_entry *entry, enum mxfp7_packing packing, unsigned index, const struct word256 *word) {
    for (unsigned lane = 0; index == 0 && lane < MXFP7_LANES; lane++)
        entry->scale[lane] = (uint8_t)(word->w[0] >> scale_bit(lane));
    for (unsigned group = 0; group < MXFP7_LANES; group++) {
        uint64_t bytes = slot_elements(word, group);
        if (packing == MXFP7_ROWS) { /* a group is a lane */
            for (unsigned k = 0; k < K_PER_WORD; k++)
                entry->q[group][K_PER_WORD * index + k] = byte_from_top(bytes, k);
        } else { /* a group is all lanes of two k */
            for (unsigned e = 0; e < K_PER_WORD; e++)
                entry->q[e % MXFP7_LANES][K_PER_WORD * index + 2 * group + e / MXFP7_LANES] = byte_from_top(bytes, e);
        }
    }
}

void mxfp7_unpack(const struct word256 words[MXFP7_WORDS], enum mxfp7_packing packing, struct mxfp7_entry *entry) {
    for (unsigned index = 0; index < MXFP7_WORDS; index++)
        mxfp7_place(entry, packing, index, &words[index]);
}

double mxfp7_decode(int8_t q, uint8_t scale) {
    return ldexp((double)(q * (8 + (scale & 7))), (scale >> 3) - SCALE_BIAS - 3);
}

/* Products of two int7 fit 16 bits, so widening once lets the sixteen dots run on 16-bit multiply-add. */
VECTOR_CLONES void mxfp7_block_dot(const struct mxfp7_entry *a, const struct mxfp7_entry *b, int32_t sums[16]) {
    int16_t wide_a[MXFP7_LANES][MXFP7_BLOCK], wide_b[MXFP7_LANES][MXFP7_BLOCK];
    for (unsigned lane = 0; lane < MXFP7_LANES; lane++) {
        for (unsigned k = 0; k < MXFP7_BLOCK; k++) {
            wide_a[lane][k] = a->q[lane][k];
            wide_b[lane][k] = b->q[lane][k];
        }
    }
    for (unsigned i = 0; i < MXFP7_LANES; i++) {
        for (unsigned j = 0; j < MXFP7_LANES; j++) {
            int32_t sum = 0;
            for (unsigned k = 0; k < MXFP7_BLOCK; k++)
                sum += wide_a[i][k] * wide_b[j][k];
            sums[4 * i + j] = sum;
        }
    }
}
