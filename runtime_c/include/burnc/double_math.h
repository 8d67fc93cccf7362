/* SPDX-License-Identifier: 0BSD */
/* What float_math.h and float_bits.h are to floats, for doubles. */
#ifndef BURNC_DOUBLE_MATH_H
#define BURNC_DOUBLE_MATH_H

#include <stdint.h>
#include "burnc/memory.h"

static inline uint64_t burnc_double_bits(double x) {
    uint64_t bits;
    burnc_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double burnc_double_from_bits(uint64_t bits) {
    double x;
    burnc_memcpy(&x, &bits, sizeof x);
    return x;
}

#ifdef __cplusplus
extern "C" {
#endif

double burnc_fmod(double x, double y);   /* as burnc_fmodf */
uint16_t burnc_half_of_double(double x); /* as burnc_half_of_float, rounded once */

#ifdef __cplusplus
}
#endif

#endif
