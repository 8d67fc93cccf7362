/* SPDX-License-Identifier: 0BSD */
/* The bits of a float as an integer and back, without aliasing or unions (C++). */
#ifndef BURNC_FLOAT_BITS_H
#define BURNC_FLOAT_BITS_H

#include <stdint.h>
#include "burnc/memory.h"

static inline uint32_t burnc_float_bits(float x) {
    uint32_t bits;
    burnc_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float burnc_float_from_bits(uint32_t bits) {
    float x;
    burnc_memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
