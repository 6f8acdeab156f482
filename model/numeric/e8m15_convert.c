/* Converters of the vector core. */
#include "model/numeric/e8m15_convert.h"

#include "model/numeric/e8m15.h"
#include "model/numeric/fp16.h"

#include <string.h>

uint32_t e8m15_from_f16(uint16_t half) {
    uint32_t sign = half >> 15, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return e8m15_pack(sign, 255, fraction << 5);
    if (exponent)
        return e8m15_pack(sign, exponent + 112, fraction << 5);
    if (fraction == 0)
        return e8m15_pack(sign, 0, 0);
    uint32_t top = 31 - (uint32_t)__builtin_clz(fraction); /* of a multiple of 2^-24 */
    return e8m15_pack(sign, top + 127 - 24, fraction << (15 - top));
}

uint32_t e8m15_from_f32(uint32_t single) {
    uint32_t sign = single >> 31, exponent = single >> 23 & 255, fraction = single & 0x7fffff;
    if (exponent == 0)
        return e8m15_pack(sign, 0, 0);
    if (exponent == 255)
        return e8m15_pack(sign, 255, fraction ? 0x4000 | (fraction >> 8) : 0);
    /* A carry runs on into the exponent, at the top into that of infinity. */
    uint32_t magnitude = single & 0x7fffffff;
    return sign << 23 | (magnitude + 0x7f + (magnitude >> 8 & 1)) >> 8;
}

uint16_t e8m15_to_f16(uint32_t x) {
    uint32_t sign = x >> 23 & 1, fraction = e8m15_fraction(x);
    if (e8m15_is_nan(x))
        return (uint16_t)(sign << 15 | FP16_INFINITY | 0x200 | (fraction >> 5 & 0x1ff));
    return fp16_from_double_saturating(e8m15_to_double(x));
}

uint32_t e8m15_to_f32(uint32_t x) {
    return (e8m15_exponent(x) ? x & 0xffffff : x & E8M15_SIGN) << 8;
}

uint32_t e8m15_from_fp22(uint32_t word) {
    uint32_t sign = word >> 21 & 1, exponent = word >> 14 & 127, fraction = word & 0x3fff;
    if (exponent == 0)
        return e8m15_pack(sign, 0, 0);
    return e8m15_pack(sign, exponent == 127 ? 255 : exponent + 64, fraction << 1);
}

double e8m15_to_double(uint32_t x) {
    uint32_t bits = e8m15_to_f32(x);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}
