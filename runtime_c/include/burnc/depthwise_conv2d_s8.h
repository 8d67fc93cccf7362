/* SPDX-License-Identifier: 0BSD */
/* Depthwise convolution, int8 NHWC: output channel o sees input channel o / channel_multiplier.
     y = clamp(requantize(bias[o] + sum x * w) + output_zero_point)
   Weights are [kernel_h][kernel_w][O] with O = in_channels * channel_multiplier, zero point 0. bias[o] must
   already hold bias - input_zero_point * sum(weights of o), mod 2^32 (with bias 0 when the model has none),
   so that the inner loop multiplies raw int8 values. Padding is exact: a tap outside the input counts as
   input_zero_point. Rounding is TFLM's (burnc_requantize). x is [batch][in_h][in_w][in_channels], y
   [batch][out_h][out_w][O]; they must not overlap. */
#ifndef BURNC_DEPTHWISE_CONV2D_S8_H
#define BURNC_DEPTHWISE_CONV2D_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise_conv2d_s8_params {
    burnc_window window;
    int32_t in_channels;
    int32_t channel_multiplier;
    int32_t input_zero_point;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;
    const int32_t *bias;       /* [O], zero point folded in; never null */
    const int32_t *multiplier; /* [O] */
    const int8_t *shift;       /* [O], positive shifts left */
} burnc_depthwise_conv2d_s8_params;

void burnc_depthwise_conv2d_s8(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
