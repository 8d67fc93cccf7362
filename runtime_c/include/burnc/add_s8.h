/* SPDX-License-Identifier: 0BSD */
/* Element-wise sum of two int8 tensors of `count` elements, TFLM's ADD:
     scaled_i = requantize((x_i - zero_point_i) << left_shift, multiplier_i, shift_i)
     y = clamp(requantize(scaled_1 + scaled_2, output_multiplier, output_shift) + output_zero_point)
   left_shift is 20 for int8. The multipliers are those that TFLM prepares: with s = 2 * max(scale_1,
   scale_2), scale_i / s and s / (2^left_shift * output_scale). y may be x1 or x2. */
#ifndef BURNC_ADD_S8_H
#define BURNC_ADD_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_add_s8_params {
    int32_t count;
    int32_t left_shift;
    int32_t input1_zero_point;
    int32_t input1_multiplier;
    int32_t input1_shift;
    int32_t input2_zero_point;
    int32_t input2_multiplier;
    int32_t input2_shift;
    int32_t output_zero_point;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t activation_min;
    int32_t activation_max;
} burnc_add_s8_params;

void burnc_add_s8(const burnc_add_s8_params *params, const int8_t *x1, const int8_t *x2, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
