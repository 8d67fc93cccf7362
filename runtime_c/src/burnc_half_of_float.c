/* SPDX-License-Identifier: 0BSD */
/* The mantissa is shifted to the place of the half's last bit, and what falls off rounds to nearest, ties to even. A
   carry runs into the exponent, which is the next number, and over the largest one into infinity. */
#include "burnc/float16.h"
#include "burnc/float_bits.h"

uint16_t burnc_half_of_float(float x) {
    const uint32_t bits = burnc_float_bits(x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t kept, lost, half_unit, shift;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= 0x47800000u) { /* 65536 */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x33000000u) { /* 2**-25, half of the least denormal */
        return (uint16_t)sign;
    }
    if (magnitude >= 0x38800000u) { /* 2**-14, the least normal half */
        shift = 13u;
        kept = magnitude - (112u << 23);
    } else {
        shift = 126u - (magnitude >> 23);
        kept = (magnitude & 0x007fffffu) | 0x00800000u;
    }
    half_unit = 1u << (shift - 1u);
    lost = kept & ((half_unit << 1) - 1u);
    kept >>= shift;
    kept += (lost > half_unit || (lost == half_unit && (kept & 1u) != 0u)) ? 1u : 0u;
    return (uint16_t)(sign | kept);
}
