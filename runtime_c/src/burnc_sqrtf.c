/* SPDX-License-Identifier: 0BSD */
/* Bit by bit in integers: 25 bits of root, the last for rounding. A square root is never halfway between two
   floats, so that bit alone decides. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_sqrtf(float x) {
    uint32_t bits = burnc_float_bits(x);
    int32_t exponent;
    uint32_t rest;
    uint32_t root = 0u;
    uint32_t root_doubled = 0u;
    uint32_t bit;
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return x + x;
    }
    if ((bits & 0x7fffffffu) == 0u || bits == 0x7f800000u) {
        return x;
    }
    if (bits > 0x7f800000u) {
        return burnc_float_from_bits(0x7fc00000u);
    }
    exponent = (int32_t)(bits >> 23) - 127;
    if (exponent == -127) {
        bits <<= 1;
        while ((bits & 0x00800000u) == 0u) {
            bits <<= 1;
            --exponent;
        }
    }
    rest = (bits & 0x007fffffu) | 0x00800000u;
    if (exponent & 1) {
        rest <<= 1;
        --exponent;
    }
    /* rest is doubled each round instead of shifting the root down: rest < 2^25 + root_doubled throughout */
    rest <<= 1;
    for (bit = 0x01000000u; bit != 0u; bit >>= 1) {
        const uint32_t trial = root_doubled + bit;
        if (trial <= rest) {
            root_doubled = trial + bit;
            rest -= trial;
            root += bit;
        }
        rest <<= 1;
    }
    /* root has 25 bits, the first always set */
    root = (root + 1u) >> 1;
    return burnc_float_from_bits(root + ((uint32_t)(exponent / 2 + 126) << 23));
}
