/* Conversions by integer work on the bit patterns, so that neither the host's rounding mode nor a library matters. */
#include "model/numeric/fp16.h"

#include <string.h>

enum {
    HALF_BIAS = 15,
    HALF_FRACTION = 10,
    DOUBLE_BIAS = 1023,
    DOUBLE_FRACTION = 52,
    DROPPED = DOUBLE_FRACTION - HALF_FRACTION,
};

static double double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double fp16_to_double(uint16_t half) {
    uint64_t sign = (uint64_t)(half >> 15) << 63;
    unsigned exponent = half >> HALF_FRACTION & 31;
    uint64_t fraction = half & 1023;
    if (exponent == 31)
        return double_of_bits(sign | UINT64_C(2047) << DOUBLE_FRACTION | fraction << DROPPED);
    if (exponent == 0) {
        double magnitude = (double)fraction * 0x1p-24;
        return sign ? -magnitude : magnitude;
    }
    uint64_t field = exponent + DOUBLE_BIAS - HALF_BIAS;
    return double_of_bits(sign | field << DOUBLE_FRACTION | fraction << DROPPED);
}

float fp16_to_float(uint16_t half) {
    return (float)fp16_to_double(half);
}

/* Magnitude bits of a finite value; 0x7c00 or more means it is too large. */
static uint32_t round_magnitude(int exponent, uint64_t fraction) {
    if (exponent < -25) /* below half the smallest subnormal; covers the doubles without a leading one too */
        return 0;
    if (exponent > HALF_BIAS)
        return FP16_INFINITY;
    uint64_t significand = fraction | UINT64_C(1) << DOUBLE_FRACTION;
    int subnormal = exponent < 1 - HALF_BIAS ? 1 - HALF_BIAS - exponent : 0;
    int shift = DROPPED + subnormal;
    uint64_t kept = significand >> shift;
    uint64_t half = UINT64_C(1) << (shift - 1);
    uint64_t rest = significand & (2 * half - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The leading one of a normal number adds one to the exponent field by itself, and so does a carry. */
    uint32_t field = subnormal ? 0 : (uint32_t)(exponent + HALF_BIAS - 1);
    return (field << HALF_FRACTION) + (uint32_t)kept;
}

static uint16_t convert(double value, uint32_t too_large) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 63) << 15;
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);
    int field = (int)(bits >> DOUBLE_FRACTION & 2047);
    if (field == 2047) {
        uint32_t payload = fraction ? 0x200 | (uint32_t)(fraction >> DROPPED) : 0;
        return (uint16_t)(sign | FP16_INFINITY | payload);
    }
    uint32_t magnitude = round_magnitude(field - DOUBLE_BIAS, fraction);
    return (uint16_t)(sign | (magnitude >= FP16_INFINITY ? too_large : magnitude));
}

uint16_t fp16_from_double(double value) {
    return convert(value, FP16_INFINITY);
}

uint16_t fp16_from_float(float value) {
    return convert((double)value, FP16_INFINITY);
}

uint16_t fp16_from_double_saturating(double value) {
    return convert(value, FP16_LARGEST);
}
