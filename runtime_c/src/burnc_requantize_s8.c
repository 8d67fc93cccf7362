/* SPDX-License-Identifier: 0BSD */
#include "burnc/fixed_point.h"
#include "burnc/requantize_s8.h"

void burnc_requantize_s8(const burnc_requantize_s8_params *params, const int8_t *x, int8_t *y) {
    int32_t i;
    for (i = 0; i < params->count; ++i) {
        const int32_t scaled =
            burnc_requantize(x[i] - params->input_zero_point, params->multiplier, params->shift);
        y[i] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point), params->activation_min,
                                   params->activation_max);
    }
}
