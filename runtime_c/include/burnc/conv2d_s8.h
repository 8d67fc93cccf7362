/* SPDX-License-Identifier: 0BSD */
/* Convolution, int8 NHWC, any stride, dilation, padding and groups.
     y = clamp(requantize(bias[o] + sum x * w) + output_zero_point)
   Weights are OHWI: [O][kernel_h][kernel_w][group_in_channels], zero point 0; output channel o belongs to
   group o / group_out_channels. bias[o] must already hold bias - input_zero_point * sum(weights of o), mod
   2^32 (with bias 0 when the model has none), so that the inner loop multiplies raw int8 values. Padding is
   exact: a tap outside the input counts as input_zero_point. Rounding is TFLM's (burnc_requantize). x is
   [batch][in_h][in_w][groups * group_in_channels], y [batch][out_h][out_w][groups * group_out_channels]; they
   must not overlap. */
#ifndef BURNC_CONV2D_S8_H
#define BURNC_CONV2D_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_s8_params {
    burnc_window window;
    int32_t groups;
    int32_t group_in_channels;
    int32_t group_out_channels;
    int32_t input_zero_point;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;
    const int32_t *bias;       /* [O], zero point folded in; never null */
    const int32_t *multiplier; /* [O] */
    const int8_t *shift;       /* [O], positive shifts left */
} burnc_conv2d_s8_params;

void burnc_conv2d_s8(const burnc_conv2d_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
