/* Between E8M15 and the formats a program keeps in memory, all as bit patterns. Follows golden README section 9 and
 * compute-units §7.2. Rounding is to nearest, ties to even; unlike the cluster's FP16 output, the one here has
 * subnormals. */
#pragma once

#include <stdint.h>

/* Exact; subnormals are normalised, a NaN keeps its payload and is not made quiet. */
uint32_t e8m15_from_f16(uint16_t half);

/* Subnormals become signed zero, rounding past the top infinity, a NaN quiet. */
uint32_t e8m15_from_f32(uint32_t single);

/* A finite value too large becomes +-65504, infinity stays, a NaN becomes quiet. */
uint16_t e8m15_to_f16(uint32_t x);

/* Exact; exponent 0 becomes signed zero. */
uint32_t e8m15_to_f32(uint32_t x);

/* An accumulator word of 14 fraction bits. Its exponent 127, a finite number there, is read as infinity or NaN. */
uint32_t e8m15_from_fp22(uint32_t word);

double e8m15_to_double(uint32_t x);
