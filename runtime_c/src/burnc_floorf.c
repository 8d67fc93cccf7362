/* SPDX-License-Identifier: 0BSD */
/* The fraction's bits are cleared in place; for a negative number with a fraction, one unit is added to the
   magnitude first (a carry into the exponent is the right next power of two). */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_floorf(float x) {
    uint32_t bits = burnc_float_bits(x);
    const int32_t exponent = (int32_t)((bits >> 23) & 0xffu) - 127;
    if (exponent >= 23) {
        return exponent == 128 ? x + x : x;
    }
    if (exponent < 0) {
        if ((bits & 0x7fffffffu) == 0u) {
            return x;
        }
        return (bits >> 31) != 0u ? -1.0f : 0.0f;
    }
    if ((bits & (0x007fffffu >> exponent)) != 0u) {
        if ((bits >> 31) != 0u) {
            bits += 0x00800000u >> exponent;
        }
        bits &= ~(0x007fffffu >> exponent);
    }
    return burnc_float_from_bits(bits);
}
