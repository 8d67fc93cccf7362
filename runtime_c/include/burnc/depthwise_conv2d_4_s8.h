/* SPDX-License-Identifier: 0BSD */
/* Depthwise convolution, int8 NHWC, as many outputs as inputs, a multiple of four, for cores with many registers: four
   channels ride together. Padding counts as the input's zero point, which stands in the bias. Scratch: a byte a channel. x
   and y must not overlap. */
#ifndef BURNC_DEPTHWISE_CONV2D_4_S8_H
#define BURNC_DEPTHWISE_CONV2D_4_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise_conv2d_4_s8_params {
    burnc_window window;
    int32_t channels;
    int32_t input_zero_point;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;    /* [channels / 4][kernel_h * kernel_w][4] */
    const int32_t *constants; /* [channels / 4][3][4]: biases, multipliers, shifts; TFLM's rounding */
} burnc_depthwise_conv2d_4_s8_params;

void burnc_depthwise_conv2d_4_s8(const burnc_depthwise_conv2d_4_s8_params *params, const int8_t *x, int8_t *y,
                                 int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
