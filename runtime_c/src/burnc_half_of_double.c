/* SPDX-License-Identifier: 0BSD */
/* As burnc_half_of_float, on the bits of a double, so that no double arithmetic is needed. */
#include "burnc/double_math.h"
#include "burnc/memory.h"

uint16_t burnc_half_of_double(double x) {
    uint64_t bits, magnitude, kept, lost, half_unit;
    uint32_t sign, shift, half;
    burnc_memcpy(&bits, &x, sizeof bits);
    sign = (uint32_t)(bits >> 48) & 0x8000u;
    magnitude = bits & UINT64_C(0x7fffffffffffffff);
    if (magnitude > UINT64_C(0x7ff0000000000000)) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= UINT64_C(0x40f0000000000000)) { /* 65536 */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < UINT64_C(0x3e60000000000000)) { /* 2**-25, half of the least denormal */
        return (uint16_t)sign;
    }
    if (magnitude >= UINT64_C(0x3f10000000000000)) { /* 2**-14, the least normal half */
        shift = 42u;
        kept = magnitude - (UINT64_C(1008) << 52);
    } else {
        shift = 1051u - (uint32_t)(magnitude >> 52);
        kept = (magnitude & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    }
    half_unit = UINT64_C(1) << (shift - 1u);
    lost = kept & ((half_unit << 1) - 1u);
    half = (uint32_t)(kept >> shift);
    half += (lost > half_unit || (lost == half_unit && (half & 1u) != 0u)) ? 1u : 0u;
    return (uint16_t)(sign | half);
}
