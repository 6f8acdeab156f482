/* The one-lane operations are written without branches, so that the sixteen lanes of a tile go through the compiler's
 * vectoriser, and are inlined into each caller with the hardware's width as a constant. */
#include "model/numeric/fp22.h"

#include "model/numeric/clones.h"

#include <math.h>
#include <string.h>

enum {
    BIAS = 63,
    GUARD_BITS = 8, /* below the fraction, while adding */
    EXPONENT_TOP = 127,
    PEER_BITS_ABOVE = 8, /* sign and exponent of a word */
    MERGE_SHIFT_MAX = 30,
    FP16_TOP = 0x7bff,
    FP16_BIAS_GAP = 48,
    FLOAT_BIAS = 127,
    FLOAT_FRACTION = 23,
};

/* Runs `call` with the width of the hardware as a compile-time constant where it is that. */
#define FOR_WIDTH(width, call)                                                                                         \
    do {                                                                                                               \
        if ((width) == FP22_WIDTH) {                                                                                   \
            enum {                                                                                                     \
                W = FP22_WIDTH                                                                                         \
            };                                                                                                         \
            call;                                                                                                      \
        } else {                                                                                                       \
            const unsigned W = (width);                                                                                \
            call;                                                                                                      \
        }                                                                                                              \
    } while (0)

/* Rounds 0 < value < 2^26 to width+1 significant bits, to nearest even. Returns leading-one position << width |
 * fraction, a carry already in the position. The float conversion only finds the leading one: the two lowest bits of a
 * value too long for a float are first folded into one, which is far below the rounding bit, so it is exact. */
ALWAYS_INLINE uint32_t round_significand(uint32_t value, unsigned width) {
    uint32_t folded = (value & ~3u) | (uint32_t)((value & 3) != 0) << 2;
    float exact = (float)(int32_t)(value >> 24 ? folded : value);
    uint32_t bits;
    memcpy(&bits, &exact, sizeof bits);
    unsigned drop = FLOAT_FRACTION - width;
    bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
    return (bits >> drop) - ((uint32_t)FLOAT_BIAS << width);
}

ALWAYS_INLINE uint32_t normalise_lane(int32_t value, int32_t exponent, unsigned width) {
    uint32_t magnitude = (uint32_t)(value < 0 ? -value : value);
    uint32_t word = round_significand(magnitude, width) + ((uint32_t)(exponent + BIAS) << width);
    word &= (128u << width) - 1;
    uint32_t sign = (uint32_t)(value < 0) << (width + 7);
    return magnitude == 0 || word >> width == 0 ? 0 : word | sign;
}

ALWAYS_INLINE uint32_t add_lane(uint32_t tile, uint32_t incoming, unsigned width) {
    const uint32_t sign_bit = 128u << width, magnitude_mask = sign_bit - 1;
    const uint32_t one = 1u << width, fraction_mask = one - 1;
    uint32_t m_tile = tile & magnitude_mask, m_in = incoming & magnitude_mask;
    uint32_t m_x = m_tile >= m_in ? m_tile : m_in, m_y = m_tile >= m_in ? m_in : m_tile;
    uint32_t sign = (m_tile >= m_in ? tile : incoming) & sign_bit;

    uint32_t distance = (m_x >> width) - (m_y >> width);
    uint32_t shift = distance < width + 1 + GUARD_BITS ? distance : width + 1 + GUARD_BITS;
    uint32_t x = (one | (m_x & fraction_mask)) << GUARD_BITS, y = (one | (m_y & fraction_mask)) << GUARD_BITS;
    uint32_t y_aligned = y >> shift;
    uint32_t lost = y_aligned << shift != y;
    uint32_t sum = (tile ^ incoming) & sign_bit ? x - y_aligned : x + y_aligned;

    /* Bits are lost only at distances that leave the sum's leading one high, so bit 0 lies below the rounding bit. */
    uint32_t rounded = round_significand(sum | lost, width);
    int32_t exponent = (int32_t)(m_x >> width) + (int32_t)(rounded >> width) - (int32_t)(width + GUARD_BITS);
    uint32_t result = sign | (uint32_t)exponent << width | (rounded & fraction_mask);
    result = exponent >= EXPONENT_TOP ? sign | magnitude_mask : result;
    result = sum == 0 || exponent <= 0 ? 0 : result;

    result = m_in >> width == 0 ? tile : result;
    result = m_tile >> width == 0 ? incoming : result;
    return m_x >> width == 0 ? 0 : result;
}

/* Exponent (not yet cut to FP16's range) << 10 | fraction, sign apart. */
ALWAYS_INLINE int32_t emit_magnitude(uint32_t word, unsigned width) {
    uint32_t magnitude = word & ((128u << width) - 1);
    unsigned drop = width > 10 ? width - 10 : 0;
    uint32_t half = drop ? (1u << drop >> 1) - 1 + (magnitude >> drop & 1) : 0;
    uint32_t rounded = width >= 10 ? (magnitude + half) >> drop : magnitude << ((10 - width) & 7);
    return (int32_t)rounded - FP16_BIAS_GAP * 1024;
}

ALWAYS_INLINE uint32_t emit_lane(uint32_t word, unsigned width) {
    int32_t magnitude = emit_magnitude(word, width);
    uint32_t sign = (word >> (width + 7) & 1) << 15;
    uint32_t cut = magnitude > FP16_TOP ? FP16_TOP : (uint32_t)magnitude;
    uint32_t half = sign | (magnitude < 1024 ? 0 : cut);
    return (word >> width & 127) == 0 ? 0 : half;
}

ALWAYS_INLINE struct fp22_partial scaled(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor) {
    return (struct fp22_partial){part * ((8 + (sa & 7)) * (8 + (sb & 7))), (sa >> 3) + (sb >> 3) - anchor - 6};
}

uint32_t fp22_normalise(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor, unsigned width) {
    return fp22_normalise_partial(scaled(part, sa, sb, anchor), width);
}

uint32_t fp22_normalise_partial(struct fp22_partial partial, unsigned width) {
    return normalise_lane(partial.value, partial.exponent, width);
}

uint32_t fp22_add(uint32_t tile, uint32_t incoming, unsigned width) {
    return add_lane(tile, incoming, width);
}

uint16_t fp22_emit(uint32_t word, unsigned width) {
    return (uint16_t)emit_lane(word, width);
}

double fp22_to_double(uint32_t word, unsigned width) {
    int exponent = (int)(word >> width & 127);
    if (exponent == 0)
        return 0.0;
    double significand = (double)((1u << width) | (word & ((1u << width) - 1)));
    double magnitude = ldexp(significand, exponent - BIAS - (int)width);
    return word >> (width + 7) & 1 ? -magnitude : magnitude;
}

/* Sixteen partials, values and exponents apart, as the vectoriser wants them. */
struct tile_partials {
    int32_t value[FP22_LANES];
    int32_t exponent[FP22_LANES];
};

ALWAYS_INLINE void scale_tile(struct tile_partials *out, const int32_t sums[16], const uint8_t sa[4],
                              const uint8_t sb[4], uint8_t anchor) {
    for (unsigned i = 0; i < 4; i++) {
        int32_t mantissa = 8 + (sa[i] & 7), exponent = (sa[i] >> 3) - anchor - 6;
        for (unsigned j = 0; j < 4; j++) {
            out->value[4 * i + j] = sums[4 * i + j] * (mantissa * (8 + (sb[j] & 7)));
            out->exponent[4 * i + j] = exponent + (sb[j] >> 3);
        }
    }
}

ALWAYS_INLINE void load_lanes(uint32_t tile[16], const struct tile_partials *in, unsigned width) {
    for (unsigned l = 0; l < FP22_LANES; l++)
        tile[l] = normalise_lane(in->value[l], in->exponent[l], width);
}

ALWAYS_INLINE void add_lanes(uint32_t tile[16], const struct tile_partials *in, unsigned width) {
    for (unsigned l = 0; l < FP22_LANES; l++)
        tile[l] = add_lane(tile[l], normalise_lane(in->value[l], in->exponent[l], width), width);
}

ALWAYS_INLINE void add_word_lanes(uint32_t tile[16], const uint32_t incoming[16], unsigned width) {
    for (unsigned l = 0; l < FP22_LANES; l++)
        tile[l] = add_lane(tile[l], incoming[l], width);
}

VECTOR_CLONES void fp22_tile_load(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4],
                                  uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    scale_tile(&partials, sums, sa, sb, anchor);
    FOR_WIDTH(width, load_lanes(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_add(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4],
                                 uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    scale_tile(&partials, sums, sa, sb, anchor);
    FOR_WIDTH(width, add_lanes(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_add_words(uint32_t tile[16], const uint32_t incoming[16], unsigned width) {
    FOR_WIDTH(width, add_word_lanes(tile, incoming, W));
}

unsigned fp22_tile_emit(const uint32_t tile[16], unsigned width, struct word256 *out) {
    unsigned cut = 0;
    *out = (struct word256){{0}};
    for (unsigned l = 0; l < FP22_LANES; l++) {
        out->w[l / 4] |= (uint64_t)emit_lane(tile[l], width) << (16 * (l % 4));
        cut += emit_magnitude(tile[l], width) > FP16_TOP;
    }
    return cut;
}

unsigned fp22_tile_wraps(const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4], uint8_t anchor,
                         unsigned width) {
    unsigned wraps = 0;
    for (unsigned l = 0; l < FP22_LANES; l++) {
        struct fp22_partial partial = scaled(sums[l], sa[l / 4], sb[l % 4], anchor);
        if (partial.value == 0)
            continue;
        uint32_t magnitude = (uint32_t)(partial.value < 0 ? -partial.value : partial.value);
        int32_t field = (int32_t)(round_significand(magnitude, width) >> width) + partial.exponent + BIAS;
        wraps += field < 0 || field > EXPONENT_TOP;
    }
    return wraps;
}

void fp22_tile_to_granules(const uint32_t tile[16], unsigned width, struct word256 granules[2]) {
    unsigned bits = width + PEER_BITS_ABOVE;
    granules[0] = granules[1] = (struct word256){{0}};
    for (unsigned l = 0, at = 0; l < FP22_LANES; l++, at += bits) {
        unsigned granule = at / WORD_BITS, low = at % WORD_BITS;
        unsigned here = low + bits > WORD_BITS ? WORD_BITS - low : bits;
        word_set(&granules[granule], low, here, tile[l]);
        if (here < bits)
            word_set(&granules[granule + 1], 0, bits - here, tile[l] >> here);
    }
}

void fp22_tile_from_granules(const struct word256 granules[2], unsigned width, uint32_t tile[16]) {
    unsigned bits = width + PEER_BITS_ABOVE;
    for (unsigned l = 0, at = 0; l < FP22_LANES; l++, at += bits) {
        unsigned granule = at / WORD_BITS, low = at % WORD_BITS;
        unsigned here = low + bits > WORD_BITS ? WORD_BITS - low : bits;
        tile[l] = (uint32_t)word_get(&granules[granule], low, here);
        if (here < bits)
            tile[l] |= (uint32_t)word_get(&granules[granule + 1], 0, bits - here) << here;
    }
}

/* Truncation is of the magnitude. A sum stays below 2^26, so the hardware's step for one of 31 bits never acts. */
ALWAYS_INLINE struct fp22_partial merge_lane(struct fp22_partial first, struct fp22_partial second) {
    int32_t distance = second.exponent - first.exponent;
    int32_t down_first = distance > 0 ? distance : 0, down_second = distance < 0 ? -distance : 0;
    down_first = down_first > MERGE_SHIFT_MAX ? MERGE_SHIFT_MAX : down_first;
    down_second = down_second > MERGE_SHIFT_MAX ? MERGE_SHIFT_MAX : down_second;
    int32_t m_first = (first.value < 0 ? -first.value : first.value) >> down_first;
    int32_t m_second = (second.value < 0 ? -second.value : second.value) >> down_second;
    int32_t value = (first.value < 0 ? -m_first : m_first) + (second.value < 0 ? -m_second : m_second);
    return (struct fp22_partial){value, distance >= 0 ? second.exponent : first.exponent};
}

struct fp22_partial fp22_pair_merge(struct fp22_partial first, struct fp22_partial second) {
    return merge_lane(first, second);
}

ALWAYS_INLINE void merge_tile(struct tile_partials *out, const struct fp22_scaled_block *first,
                              const struct fp22_scaled_block *second, uint8_t anchor) {
    struct tile_partials x, y;
    scale_tile(&x, first->sums, first->sa, first->sb, anchor);
    scale_tile(&y, second->sums, second->sa, second->sb, anchor);
    for (unsigned l = 0; l < FP22_LANES; l++) {
        struct fp22_partial merged = merge_lane((struct fp22_partial){x.value[l], x.exponent[l]},
                                                (struct fp22_partial){y.value[l], y.exponent[l]});
        out->value[l] = merged.value;
        out->exponent[l] = merged.exponent;
    }
}

void fp22_tile_merge(const struct fp22_scaled_block *first, const struct fp22_scaled_block *second, uint8_t anchor,
                     struct fp22_partial merged[16]) {
    struct tile_partials partials;
    merge_tile(&partials, first, second, anchor);
    for (unsigned l = 0; l < FP22_LANES; l++)
        merged[l] = (struct fp22_partial){partials.value[l], partials.exponent[l]};
}

VECTOR_CLONES void fp22_tile_pair_load(uint32_t tile[16], const struct fp22_scaled_block *first,
                                       const struct fp22_scaled_block *second, uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    merge_tile(&partials, first, second, anchor);
    FOR_WIDTH(width, load_lanes(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_pair_add(uint32_t tile[16], const struct fp22_scaled_block *first,
                                      const struct fp22_scaled_block *second, uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    merge_tile(&partials, first, second, anchor);
    FOR_WIDTH(width, add_lanes(tile, &partials, W));
}
