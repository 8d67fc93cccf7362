/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_add_linear_s8.S, for every core that does not run that. */
#include "burnc/add_linear_s8.h"

#if !BURNC_ADD_LINEAR_S8_ASSEMBLY

void burnc_add_linear_s8(const burnc_add_linear_s8_params *params, const int8_t *x1, const int8_t *x2,
                         int8_t *y) {
    uint32_t i;
    for (i = 0; i < params->count; ++i) {
        uint32_t t =
            (uint32_t)x1[i] * params->multiplier1 + (uint32_t)x2[i] * params->multiplier2 + params->constant;
        if (t > params->limit) {
            t = (t >> 31) != 0u ? 0u : params->limit;
        }
        y[i] = (int8_t)((int32_t)((((t >> params->shift) + params->low) & 255u) ^ 128u) - 128);
    }
}

#endif
