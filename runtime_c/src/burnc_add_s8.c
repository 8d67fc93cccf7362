/* SPDX-License-Identifier: 0BSD */
/* Both inputs are brought to twice the larger scale with left_shift bits to spare, added, and brought to the
   output's. */
#include "burnc/add_s8.h"
#include "burnc/fixed_point.h"

void burnc_add_s8(const burnc_add_s8_params *params, const int8_t *x1, const int8_t *x2, int8_t *y) {
    int32_t i;
    for (i = 0; i < params->count; ++i) {
        const int32_t first = burnc_wrap_shl(x1[i] - params->input1_zero_point, params->left_shift);
        const int32_t second = burnc_wrap_shl(x2[i] - params->input2_zero_point, params->left_shift);
        const int32_t sum =
            burnc_wrap_add(burnc_requantize(first, params->input1_multiplier, params->input1_shift),
                           burnc_requantize(second, params->input2_multiplier, params->input2_shift));
        const int32_t scaled = burnc_requantize(sum, params->output_multiplier, params->output_shift);
        y[i] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point), params->activation_min,
                                   params->activation_max);
    }
}
