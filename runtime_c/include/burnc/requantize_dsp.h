/* SPDX-License-Identifier: 0BSD */
/* Requantization as one shift of a 64-bit sum, with constants made for it (docs/kernels.md).

   The constants of a channel are {multiplier, rounding lower, rounding upper, places}; the zero point stands in the
   rounding. In the plain form
     y = (sum * multiplier + rounding - (sum < 0 ? 2^31 : 0)) >> (32 + places), within -128..127
   In the general form the shift is 31 + (places & 255), the sign counts where places >> 8 is 0, and the limits are
   the layer's. */
#ifndef BURNC_REQUANTIZE_DSP_H
#define BURNC_REQUANTIZE_DSP_H

#include <stdint.h>
#include "burnc/fixed_point.h"

typedef struct burnc_limits_dsp {
    uint32_t is_general;
    int32_t low;
    int32_t high;
} burnc_limits_dsp;

static inline int8_t burnc_requantize_dsp(uint32_t sum, const uint32_t *constants,
                                          const burnc_limits_dsp *limits) {
    const uint64_t product = (uint64_t)((int64_t)(int32_t)sum * (int32_t)constants[0]);
    const uint64_t rounding = ((uint64_t)constants[2] << 32) + constants[1];
    const uint32_t sign = (sum >> 31) != 0u && (constants[3] >> 8) == 0u ? 0x80000000u : 0u;
    const uint64_t total = product + rounding - sign;
    const int32_t places = (int32_t)(constants[3] & 255u);
    const int32_t scaled = (int32_t)(uint32_t)(total >> (limits->is_general != 0u ? 31 : 32));
    return (int8_t)burnc_clamp(burnc_asr(scaled, places), limits->low, limits->high);
}

#endif
