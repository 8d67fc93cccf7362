/* SPDX-License-Identifier: 0BSD */
/* Convolution, int8 NHWC, one group, for cores with many registers: the windows of four output pixels meet all weights
   (burnc_dot_4x4_s8). Taps are in the order of OHWI. Padding counts as the input's zero point, which stands in the bias.
   Scratch: four windows. x and y must not overlap. */
#ifndef BURNC_CONV2D_4X4_S8_H
#define BURNC_CONV2D_4X4_S8_H

#include <stdint.h>
#include "burnc/dot_4x4_s8.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_4x4_s8_params {
    burnc_window window;
    int32_t in_channels;
    int32_t input_zero_point;
    int32_t taps;
    int32_t out_channels;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights; /* as burnc_dot_4x4_s8 takes them */
    const int32_t *constants;
} burnc_conv2d_4x4_s8_params;

void burnc_conv2d_4x4_s8(const burnc_conv2d_4x4_s8_params *params, const int8_t *x, int8_t *y,
                         int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
