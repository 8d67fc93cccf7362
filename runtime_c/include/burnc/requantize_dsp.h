/* SPDX-License-Identifier: 0BSD */
/* Requantization with constants made for it (docs/kernels.md); the zero point stands in the rounding.

   In the plain form the constants of a channel are {multiplier, rounding, left, 0}:
     y = clamp((((sum << left) * multiplier >> 32) + rounding) >> 16)
   In the wide form they are {multiplier, rounding lower, rounding upper, places}:
     y = clamp((sum * multiplier + rounding - (sum < 0 ? 2^31 : 0)) >> (32 + places))
   In the general form the shift is 31 + (places & 255), and the sign counts where places >> 8 is 0. The limits of the
   others are those of int8. */
#ifndef BURNC_REQUANTIZE_DSP_H
#define BURNC_REQUANTIZE_DSP_H

#include <stdint.h>
#include "burnc/fixed_point.h"

enum burnc_form_dsp { BURNC_PLAIN_DSP, BURNC_WIDE_DSP, BURNC_GENERAL_DSP };

typedef struct burnc_limits_dsp {
    uint32_t form;
    int32_t low;
    int32_t high;
} burnc_limits_dsp;

static inline uint64_t burnc_product_dsp(uint32_t a, uint32_t b) {
    return (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}

static inline int8_t burnc_requantize_dsp(uint32_t sum, const uint32_t *constants,
                                          const burnc_limits_dsp *limits) {
    int32_t scaled;
    if (limits->form == (uint32_t)BURNC_PLAIN_DSP) {
        const uint32_t upper = (uint32_t)(burnc_product_dsp(sum << constants[2], constants[0]) >> 32);
        scaled = burnc_asr((int32_t)(upper + constants[1]), 16);
    } else {
        const uint64_t rounding = ((uint64_t)constants[2] << 32) + constants[1];
        const uint32_t sign = (sum >> 31) != 0u && (constants[3] >> 8) == 0u ? 0x80000000u : 0u;
        const uint64_t total = burnc_product_dsp(sum, constants[0]) + rounding - sign;
        const uint32_t word = limits->form == (uint32_t)BURNC_WIDE_DSP ? 32u : 31u;
        scaled = burnc_asr((int32_t)(uint32_t)(total >> word), (int32_t)(constants[3] & 255u));
    }
    return (int8_t)burnc_clamp(scaled, limits->low, limits->high);
}

#endif
