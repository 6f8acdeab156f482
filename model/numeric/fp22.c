/* Eight lanes at a time in the compiler's vector types, without branches, and inlined into each caller with the
 * hardware's width as a constant: LOAD and ADD are most of what a cluster computes. */
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
    PARTIAL_BITS = 26, /* of a scaled block sum, or of two merged ones */
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

/* Eight lanes as the compiler's vectors. Integers are unsigned, as shifts and wrapping sums need them. */
typedef uint32_t lanes __attribute__((vector_size(32)));
typedef int32_t signed_lanes __attribute__((vector_size(32)));
typedef float float_lanes __attribute__((vector_size(32)));
typedef uint16_t half_lanes __attribute__((vector_size(16)));

enum {
    LANES = sizeof(lanes) / sizeof(uint32_t),
    HALVES = FP22_LANES / LANES, /* vectors that make a tile */
};

ALWAYS_INLINE void load_lanes(lanes *to, const void *from) {
    memcpy(to, from, sizeof *to);
}

#define TO_FLOAT(x) __builtin_convertvector((signed_lanes)(x), float_lanes)
#define TO_LANES(x) ((lanes) __builtin_convertvector((x), signed_lanes))

/* All ones where a < b, for numbers less than 2^31 apart. (A comparison operator would do, but of vectors longer than
 * the machine's the compiler works it out lane by lane.) */
#define LESS(a, b) ((lanes)((signed_lanes)((a) - (b)) >> 31))
#define IS_ZERO(x) LESS(x, 1u)

/* yes where the mask is all ones, no where it is zero. */
#define PICK(mask, yes, no) (((lanes)(mask) & (yes)) | (~(lanes)(mask) & (no)))

/* Rounds *value, 0 < value < 2^value_bits <= 2^26, to width+1 significant bits, to nearest even, and leaves
 * leading-one position << width | fraction, a carry already in the position. The float conversion only finds the
 * leading one: of a value too long for a float the two lowest bits, which are far below the rounding bit, are first
 * folded into one, so it is exact. A value of 0 gives a number the caller has to discard. */
ALWAYS_INLINE void round_significand(lanes *value, unsigned value_bits, unsigned width) {
    if (value_bits > FLOAT_FRACTION + 1) {
        lanes folded = (*value & ~3u) | (~IS_ZERO(*value & 3) & 4);
        *value = PICK(LESS(*value, 2u << FLOAT_FRACTION), *value, folded);
    }
    unsigned drop = FLOAT_FRACTION - width;
    lanes bits = (lanes)TO_FLOAT(*value);
    bits += ((1u << (drop - 1)) - 1) + ((bits >> drop) & 1);
    *value = (bits >> drop) - ((uint32_t)FLOAT_BIAS << width);
}

/* *word holds the signed value on entry. */
ALWAYS_INLINE void normalise_lanes(lanes *word, const lanes *exponent, unsigned width) {
    lanes negative = LESS(*word, 0u);
    lanes magnitude = (*word ^ negative) - negative, rounded = magnitude;
    round_significand(&rounded, PARTIAL_BITS, width);
    rounded = (rounded + ((*exponent + BIAS) << width)) & ((128u << width) - 1);
    lanes zero = IS_ZERO(magnitude) | IS_ZERO(rounded >> width);
    *word = (rounded | (negative & (128u << width))) & ~zero;
}

ALWAYS_INLINE void add_lanes(lanes *tile, const lanes *incoming, unsigned width) {
    const uint32_t one = 1u << width, sign_bit = one << 7;
    lanes m_tile = *tile & (sign_bit - 1), m_in = *incoming & (sign_bit - 1);
    lanes tile_is_y = LESS(m_tile, m_in);
    lanes m_x = PICK(tile_is_y, m_in, m_tile), m_y = PICK(tile_is_y, m_tile, m_in);
    lanes sign = PICK(tile_is_y, *incoming, *tile) & sign_bit;
    lanes subtract = ~IS_ZERO((*tile ^ *incoming) & sign_bit);

    /* y is shifted down by multiplying with a power of two: its width+1 bits stay exact in a float, and the baseline
     * instruction set has no shift with a distance of its own for every lane. */
    lanes distance = (m_x >> width) - (m_y >> width);
    distance = PICK(LESS(distance, width + 1 + GUARD_BITS), distance, width + 1 + GUARD_BITS);
    lanes x = (one | (m_x & (one - 1))) << GUARD_BITS, y = (one | (m_y & (one - 1))) << GUARD_BITS;
    float_lanes y_scaled = TO_FLOAT(y) * (float_lanes)((FLOAT_BIAS - distance) << FLOAT_FRACTION);
    lanes y_aligned = TO_LANES(y_scaled);
    lanes lost = LESS((lanes)TO_FLOAT(y_aligned), (lanes)y_scaled) & 1;
    lanes sum = x + ((y_aligned ^ subtract) - subtract);

    /* Bits are lost only at distances that leave the sum's leading one high, so bit 0 lies below the rounding bit. */
    lanes rounded = sum | lost;
    round_significand(&rounded, width + 2 + GUARD_BITS, width);
    lanes exponent = (m_x >> width) + (rounded >> width) - (width + GUARD_BITS);
    lanes result = sign | (exponent << width) | (rounded & (one - 1));
    result = PICK(LESS(exponent, (uint32_t)EXPONENT_TOP), result, sign | (sign_bit - 1));
    result &= ~(IS_ZERO(sum) | LESS(exponent, 1u));

    result = PICK(IS_ZERO(m_in >> width), *tile, result);
    result = PICK(IS_ZERO(m_tile >> width), *incoming, result);
    *tile = result & ~IS_ZERO(m_x >> width);
}

/* Words to FP16 in the low halves; *cut gets all ones where the largest stands for a larger one. The magnitude is the
 * exponent, not yet cut to FP16's range, over a fraction of 10 bits. */
ALWAYS_INLINE void emit_lanes(lanes *word, lanes *cut, unsigned width) {
    lanes magnitude = *word & ((128u << width) - 1), rounded;
    unsigned drop = width > 10 ? width - 10 : 0;
    if (drop)
        rounded = (magnitude + ((1u << drop >> 1) - 1) + (magnitude >> drop & 1)) >> drop;
    else
        rounded = magnitude << ((10 - width) & 7);
    rounded -= FP16_BIAS_GAP * 1024;
    lanes some = ~IS_ZERO(magnitude >> width);
    *cut = LESS((uint32_t)FP16_TOP, rounded) & some;
    lanes half = PICK(LESS(rounded, 1024u), rounded & 0, PICK(*cut, (rounded & 0) + FP16_TOP, rounded));
    *word = (half | (*word >> (width + 7) & 1) << 15) & some;
}

ALWAYS_INLINE struct fp22_partial scaled(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor) {
    return (struct fp22_partial){part * ((8 + (sa & 7)) * (8 + (sb & 7))), (sa >> 3) + (sb >> 3) - anchor - 6};
}

uint32_t fp22_normalise(int32_t part, uint8_t sa, uint8_t sb, uint8_t anchor, unsigned width) {
    return fp22_normalise_partial(scaled(part, sa, sb, anchor), width);
}

uint32_t fp22_normalise_partial(struct fp22_partial partial, unsigned width) {
    lanes word = {(uint32_t)partial.value}, exponent = {(uint32_t)partial.exponent};
    normalise_lanes(&word, &exponent, width);
    return word[0];
}

uint32_t fp22_add(uint32_t tile, uint32_t incoming, unsigned width) {
    lanes sum = {tile}, other = {incoming};
    add_lanes(&sum, &other, width);
    return sum[0];
}

uint16_t fp22_emit(uint32_t word, unsigned width) {
    lanes half = {word}, cut;
    emit_lanes(&half, &cut, width);
    return (uint16_t)half[0];
}

double fp22_to_double(uint32_t word, unsigned width) {
    int exponent = (int)(word >> width & 127);
    if (exponent == 0)
        return 0.0;
    double significand = (double)((1u << width) | (word & ((1u << width) - 1)));
    double magnitude = ldexp(significand, exponent - BIAS - (int)width);
    return word >> (width + 7) & 1 ? -magnitude : magnitude;
}

/* Sixteen partials, values and exponents apart. */
struct tile_partials {
    lanes value[HALVES];
    lanes exponent[HALVES];
};

ALWAYS_INLINE void scale_tile(struct tile_partials *out, const int32_t sums[16], const uint8_t sa[4],
                              const uint8_t sb[4], uint8_t anchor) {
    lanes column = {sb[0], sb[1], sb[2], sb[3], sb[0], sb[1], sb[2], sb[3]};
    for (unsigned h = 0; h < HALVES; h++) {
        uint32_t upper = sa[2 * h], lower = sa[2 * h + 1];
        lanes row = {upper, upper, upper, upper, lower, lower, lower, lower};
        load_lanes(&out->value[h], &sums[LANES * h]);
        out->value[h] *= (8 + (row & 7)) * (8 + (column & 7));
        out->exponent[h] = (row >> 3) + (column >> 3) - (uint32_t)(anchor + 6);
    }
}

ALWAYS_INLINE void load_tile(uint32_t tile[16], const struct tile_partials *in, unsigned width) {
    for (unsigned h = 0; h < HALVES; h++) {
        lanes word = in->value[h];
        normalise_lanes(&word, &in->exponent[h], width);
        memcpy(&tile[LANES * h], &word, sizeof word);
    }
}

ALWAYS_INLINE void add_tile(uint32_t tile[16], const struct tile_partials *in, unsigned width) {
    for (unsigned h = 0; h < HALVES; h++) {
        lanes sum, incoming = in->value[h];
        load_lanes(&sum, &tile[LANES * h]);
        normalise_lanes(&incoming, &in->exponent[h], width);
        add_lanes(&sum, &incoming, width);
        memcpy(&tile[LANES * h], &sum, sizeof sum);
    }
}

ALWAYS_INLINE void add_words(uint32_t tile[16], const uint32_t words[16], unsigned width) {
    for (unsigned h = 0; h < HALVES; h++) {
        lanes sum, incoming;
        load_lanes(&sum, &tile[LANES * h]);
        load_lanes(&incoming, &words[LANES * h]);
        add_lanes(&sum, &incoming, width);
        memcpy(&tile[LANES * h], &sum, sizeof sum);
    }
}

VECTOR_CLONES void fp22_tile_load(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4],
                                  uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    scale_tile(&partials, sums, sa, sb, anchor);
    FOR_WIDTH(width, load_tile(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_add(uint32_t tile[16], const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4],
                                 uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    scale_tile(&partials, sums, sa, sb, anchor);
    FOR_WIDTH(width, add_tile(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_add_words(uint32_t tile[16], const uint32_t incoming[16], unsigned width) {
    FOR_WIDTH(width, add_words(tile, incoming, W));
}

ALWAYS_INLINE unsigned emit_tile(const uint32_t tile[16], unsigned width, struct word256 *out) {
    lanes cuts = {0};
    for (unsigned h = 0; h < HALVES; h++) {
        lanes word, cut;
        load_lanes(&word, &tile[LANES * h]);
        emit_lanes(&word, &cut, width);
        half_lanes halves = __builtin_convertvector(word, half_lanes);
        memcpy(&out->w[2 * h], &halves, sizeof halves);
        cuts -= cut;
    }
    unsigned count = 0;
    for (unsigned l = 0; l < LANES; l++)
        count += cuts[l];
    return count;
}

VECTOR_CLONES unsigned fp22_tile_emit(const uint32_t tile[16], unsigned width, struct word256 *out) {
    unsigned cut;
    FOR_WIDTH(width, cut = emit_tile(tile, W, out));
    return cut;
}

unsigned fp22_tile_wraps(const int32_t sums[16], const uint8_t sa[4], const uint8_t sb[4], uint8_t anchor,
                         unsigned width) {
    unsigned wraps = 0;
    for (unsigned l = 0; l < FP22_LANES; l++) {
        struct fp22_partial partial = scaled(sums[l], sa[l / 4], sb[l % 4], anchor);
        lanes significand = {(uint32_t)(partial.value < 0 ? -partial.value : partial.value)};
        if (partial.value == 0)
            continue;
        round_significand(&significand, PARTIAL_BITS, width);
        int32_t field = (int32_t)(significand[0] >> width) + partial.exponent + BIAS;
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
struct fp22_partial fp22_pair_merge(struct fp22_partial first, struct fp22_partial second) {
    int32_t distance = second.exponent - first.exponent;
    int32_t down_first = distance > 0 ? distance : 0, down_second = distance < 0 ? -distance : 0;
    down_first = down_first > MERGE_SHIFT_MAX ? MERGE_SHIFT_MAX : down_first;
    down_second = down_second > MERGE_SHIFT_MAX ? MERGE_SHIFT_MAX : down_second;
    int32_t m_first = (first.value < 0 ? -first.value : first.value) >> down_first;
    int32_t m_second = (second.value < 0 ? -second.value : second.value) >> down_second;
    int32_t value = (first.value < 0 ? -m_first : m_first) + (second.value < 0 ? -m_second : m_second);
    return (struct fp22_partial){value, distance >= 0 ? second.exponent : first.exponent};
}

void fp22_tile_merge(const struct fp22_scaled_block *first, const struct fp22_scaled_block *second, uint8_t anchor,
                     struct fp22_partial merged[16]) {
    for (unsigned l = 0; l < FP22_LANES; l++)
        merged[l] = fp22_pair_merge(scaled(first->sums[l], first->sa[l / 4], first->sb[l % 4], anchor),
                                    scaled(second->sums[l], second->sa[l / 4], second->sb[l % 4], anchor));
}

ALWAYS_INLINE void merge_tile(struct tile_partials *out, const struct fp22_scaled_block *first,
                              const struct fp22_scaled_block *second, uint8_t anchor) {
    struct fp22_partial merged[FP22_LANES];
    fp22_tile_merge(first, second, anchor, merged);
    for (unsigned l = 0; l < FP22_LANES; l++) {
        out->value[l / LANES][l % LANES] = (uint32_t)merged[l].value;
        out->exponent[l / LANES][l % LANES] = (uint32_t)merged[l].exponent;
    }
}

VECTOR_CLONES void fp22_tile_pair_load(uint32_t tile[16], const struct fp22_scaled_block *first,
                                       const struct fp22_scaled_block *second, uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    merge_tile(&partials, first, second, anchor);
    FOR_WIDTH(width, load_tile(tile, &partials, W));
}

VECTOR_CLONES void fp22_tile_pair_add(uint32_t tile[16], const struct fp22_scaled_block *first,
                                      const struct fp22_scaled_block *second, uint8_t anchor, unsigned width) {
    struct tile_partials partials;
    merge_tile(&partials, first, second, anchor);
    FOR_WIDTH(width, add_tile(tile, &partials, W));
}
