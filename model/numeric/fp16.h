/* IEEE 754 binary16: sign, 5 exponent bits (bias 15), 10 fraction bits, subnormals, infinities, NaNs. It is the format
 * of the programs' data in memory; conversions out are exact, conversions in round once, to nearest, ties to even. */
#pragma once

#include <stdint.h>

enum {
    FP16_INFINITY = 0x7c00,
    FP16_LARGEST = 0x7bff, /* 65504 */
};

double fp16_to_double(uint16_t half);
float fp16_to_float(uint16_t half);

/* A finite value from 65520 on becomes infinity; a NaN stays one, quiet, with the top of its payload. */
uint16_t fp16_from_double(double value);
uint16_t fp16_from_float(float value);

/* As fp16_from_double, but a finite value never leaves +-65504. Infinity stays infinity. */
uint16_t fp16_from_double_saturating(double value);
