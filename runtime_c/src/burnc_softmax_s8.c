/* SPDX-License-Identifier: 0BSD */
/* exp(x - max) is computed twice, for the sum (Q12) and again for the output: no scratch, and rows are short.
   */
#include "burnc/fixed_point.h"
#include "burnc/softmax_s8.h"

/* exp of beta * scale * difference, Q0; difference <= 0. */
static int32_t burnc_softmax_s8_exp(const burnc_softmax_s8_params *params, int32_t difference) {
    const int32_t shifted = burnc_wrap_shl(difference, params->left_shift);
    return burnc_exp_on_negative_values(burnc_doubling_high_multiply(shifted, params->multiplier));
}

void burnc_softmax_s8(const burnc_softmax_s8_params *params, const int8_t *x, int8_t *y) {
    int32_t row;
    for (row = 0; row < params->rows; ++row) {
        int32_t largest = INT8_MIN;
        int32_t sum = 0;
        int32_t headroom;
        int32_t exponent;
        int32_t reciprocal;
        int32_t i;
        for (i = 0; i < params->depth; ++i) {
            largest = x[i] > largest ? x[i] : largest;
        }
        for (i = 0; i < params->depth; ++i) {
            if (x[i] - largest >= params->diff_min) {
                const int32_t exp_q0 = burnc_softmax_s8_exp(params, x[i] - largest);
                sum = burnc_wrap_add(sum, burnc_rounding_divide_by_pot(exp_q0, 12));
            }
        }
        /* sum = 2^(12 - headroom) * (1 + fraction), in Q12 */
        headroom = burnc_clz((uint32_t)sum);
        exponent = 12 - headroom + 31 - 8;
        reciprocal =
            burnc_one_over_one_plus_x_for_x_in_0_1((int32_t)(((uint32_t)sum << headroom) - 0x80000000u));
        for (i = 0; i < params->depth; ++i) {
            int32_t result = INT8_MIN;
            if (x[i] - largest >= params->diff_min) {
                const int32_t exp_q0 = burnc_softmax_s8_exp(params, x[i] - largest);
                const int32_t product = burnc_doubling_high_multiply(reciprocal, exp_q0);
                result += burnc_rounding_divide_by_pot(product, exponent < 31 ? exponent : 31);
            }
            y[i] = (int8_t)burnc_clamp(result, INT8_MIN, INT8_MAX);
        }
        x += params->depth;
        y += params->depth;
    }
}
