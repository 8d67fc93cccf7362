/* SPDX-License-Identifier: 0BSD */
/* The exponent moves from bias 15 to bias 127; a denormal half is a whole number of 2**-24. */
#include "burnc/float16.h"
#include "burnc/float_bits.h"

float burnc_float_of_half(uint16_t half) {
    const uint32_t sign = ((uint32_t)half & 0x8000u) << 16;
    const uint32_t magnitude = (uint32_t)half & 0x7fffu;
    uint32_t bits;
    if (magnitude >= 0x7c00u) {
        bits = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
    } else if (magnitude >= 0x400u) {
        bits = (magnitude << 13) + (112u << 23);
    } else {
        bits = burnc_float_bits((float)magnitude * (1.0f / 16777216.0f));
    }
    return burnc_float_from_bits(sign | bits);
}
