/* SPDX-License-Identifier: 0BSD */
/* Element-wise product of two int8 tensors of `count` elements, TFLM's MUL:
     y = clamp(requantize((x1 - zero_point_1) * (x2 - zero_point_2), multiplier, shift) + output_zero_point)
   multiplier and shift hold scale_1 * scale_2 / output_scale, which may exceed 1. y may be x1 or x2. */
#ifndef BURNC_MUL_S8_H
#define BURNC_MUL_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_mul_s8_params {
    int32_t count;
    int32_t input1_zero_point;
    int32_t input2_zero_point;
    int32_t output_zero_point;
    int32_t multiplier;
    int32_t shift; /* positive shifts left */
    int32_t activation_min;
    int32_t activation_max;
} burnc_mul_s8_params;

void burnc_mul_s8(const burnc_mul_s8_params *params, const int8_t *x1, const int8_t *x2, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
