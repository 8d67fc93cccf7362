/* SPDX-License-Identifier: 0BSD */
/* As roundf, with one less than half a unit added when the integer part is even, so that a tie stays. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_rintf(float x) {
    uint32_t bits = burnc_float_bits(x);
    const int32_t exponent = (int32_t)((bits >> 23) & 0xffu) - 127;
    uint32_t odd;
    if (exponent >= 23) {
        return exponent == 128 ? x + x : x;
    }
    if (exponent < 0) {
        /* only more than one half rounds up to one */
        const uint32_t one = (bits & 0x7fffffffu) > 0x3f000000u ? 0x3f800000u : 0u;
        return burnc_float_from_bits((bits & 0x80000000u) | one);
    }
    /* for exponent 0 this looks at the exponent's last bit, which is set: the integer part is 1 */
    odd = (bits >> (23 - exponent)) & 1u;
    bits += (0x00400000u >> exponent) - 1u + odd;
    return burnc_float_from_bits(bits & ~(0x007fffffu >> exponent));
}
