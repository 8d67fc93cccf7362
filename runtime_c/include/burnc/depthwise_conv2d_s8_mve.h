/* SPDX-License-Identifier: 0BSD */
/* Depthwise convolution, int8 NHWC, as many outputs as inputs, a multiple of eight, for cores with the M-profile vector
   extension. Eight channels go together; the products of two taps are added in 16 bits, so their weights may not both be
   -128. Padding counts as the input's zero point, which stands in the bias. Scratch: a byte a channel. x and y must not
   overlap. */
#ifndef BURNC_DEPTHWISE_CONV2D_S8_MVE_H
#define BURNC_DEPTHWISE_CONV2D_S8_MVE_H

#include <stdint.h>
#include "burnc/mve.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise_conv2d_s8_mve_params {
    burnc_window window;
    int32_t channels;
    int32_t input_zero_point;
    burnc_output_mve output;
    const int8_t
        *weights; /* [channels / 8][kernel_h * kernel_w][8], with a tap of zeros where those are odd */
    const int32_t *constants; /* [channels / 8][2: even, odd][3: bias, multiplier, shift][4] */
} burnc_depthwise_conv2d_s8_mve_params;

void burnc_depthwise_conv2d_s8_mve(const burnc_depthwise_conv2d_s8_mve_params *params, const int8_t *x,
                                   int8_t *y, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
