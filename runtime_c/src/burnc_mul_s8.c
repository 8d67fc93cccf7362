/* SPDX-License-Identifier: 0BSD */
#include "burnc/fixed_point.h"
#include "burnc/mul_s8.h"

void burnc_mul_s8(const burnc_mul_s8_params *params, const int8_t *x1, const int8_t *x2, int8_t *y) {
    int32_t i;
    for (i = 0; i < params->count; ++i) {
        const int32_t product = (x1[i] - params->input1_zero_point) * (x2[i] - params->input2_zero_point);
        const int32_t scaled = burnc_requantize(product, params->multiplier, params->shift);
        y[i] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point), params->activation_min,
                                   params->activation_max);
    }
}
