/* SPDX-License-Identifier: 0BSD */
/* int8 to int8 under another scale and zero point, TFLM's QUANTIZE:
     y = clamp(requantize(x - input_zero_point, multiplier, shift) + output_zero_point)
   multiplier and shift hold input_scale / output_scale. y may be x. */
#ifndef BURNC_REQUANTIZE_S8_H
#define BURNC_REQUANTIZE_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_requantize_s8_params {
    int32_t count;
    int32_t input_zero_point;
    int32_t output_zero_point;
    int32_t multiplier;
    int32_t shift; /* positive shifts left */
    int32_t activation_min;
    int32_t activation_max;
} burnc_requantize_s8_params;

void burnc_requantize_s8(const burnc_requantize_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
