/* SPDX-License-Identifier: 0BSD */
/* Half a unit is added to the magnitude, then the fraction's bits are cleared. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_roundf(float x) {
    uint32_t bits = burnc_float_bits(x);
    const int32_t exponent = (int32_t)((bits >> 23) & 0xffu) - 127;
    if (exponent >= 23) {
        return exponent == 128 ? x + x : x;
    }
    if (exponent < -1) {
        return burnc_float_from_bits(bits & 0x80000000u);
    }
    if (exponent == -1) {
        return burnc_float_from_bits((bits & 0x80000000u) | 0x3f800000u);
    }
    bits += 0x00400000u >> exponent;
    return burnc_float_from_bits(bits & ~(0x007fffffu >> exponent));
}
