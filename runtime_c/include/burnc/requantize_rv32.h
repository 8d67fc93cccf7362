/* SPDX-License-Identifier: 0BSD */
/* Requantization as the upper word of one product, with constants made for it (docs/kernels.md).

   The constants of a channel are {multiplier, rounding, places + (left << 8), step}; the zero point stands in the
   rounding:  y = clamp((((sum << left) * multiplier >> 32) + rounding - (sum < 0 ? step : 0)) >> places) */
#ifndef BURNC_REQUANTIZE_RV32_H
#define BURNC_REQUANTIZE_RV32_H

#include <stdint.h>
#include "burnc/fixed_point.h"

typedef struct burnc_limits_rv32 {
    int32_t low;
    int32_t high;
} burnc_limits_rv32;

static inline int8_t burnc_requantize_rv32(uint32_t sum, const uint32_t *constants,
                                           const burnc_limits_rv32 *limits) {
    const int32_t shifted = (int32_t)(sum << (constants[2] >> 8));
    const uint64_t product = (uint64_t)((int64_t)shifted * (int32_t)constants[0]);
    const uint32_t step = (sum >> 31) != 0u ? constants[3] : 0u;
    const int32_t scaled = (int32_t)((uint32_t)(product >> 32) + constants[1] - step);
    return (int8_t)burnc_clamp(burnc_asr(scaled, (int32_t)(constants[2] & 255u)), limits->low, limits->high);
}

#endif
