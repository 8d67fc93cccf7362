/* SPDX-License-Identifier: 0BSD */
/* IEEE 754 binary16 as a storage type: a uint16_t holds its bits, and arithmetic is done in float. Conversions to it
   round to nearest, halves to even; what is too large becomes infinity, NaN stays NaN. */
#ifndef BURNC_FLOAT16_H
#define BURNC_FLOAT16_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

float burnc_float_of_half(uint16_t half);
uint16_t burnc_half_of_float(float x);

#ifdef __cplusplus
}
#endif

#endif
