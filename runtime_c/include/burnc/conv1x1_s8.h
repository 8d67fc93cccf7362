/* SPDX-License-Identifier: 0BSD */
/* Pointwise convolution, int8 NHWC: kernel 1x1, stride 1, no padding, one group, so every pixel is one row.
     y[p][o] = clamp(requantize(bias[o] + sum x[p][i] * w[o][i]) + output_zero_point)
   `pixels` is batch * height * width. Weights are [O][in_channels], zero point 0. bias[o] must already hold
   bias - input_zero_point * sum(weights of o), mod 2^32 (with bias 0 when the model has none), so that the
   inner loop multiplies raw int8 values. Rounding is TFLM's (burnc_requantize). x and y must not overlap. */
#ifndef BURNC_CONV1X1_S8_H
#define BURNC_CONV1X1_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv1x1_s8_params {
    int32_t pixels;
    int32_t in_channels;
    int32_t out_channels;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;
    const int32_t *bias;       /* [O], zero point folded in; never null */
    const int32_t *multiplier; /* [O] */
    const int8_t *shift;       /* [O], positive shifts left */
} burnc_conv1x1_s8_params;

void burnc_conv1x1_s8(const burnc_conv1x1_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
