/* SPDX-License-Identifier: 0BSD */
/* Convolution, int8 NHWC, one group, for cores with the M-profile vector extension: each window meets all weights
   (burnc_dot_4_s8_mve), out of a copy where it is not one row of whole chunks already.

   Taps are in the order of OHWI. Padding counts as the input's zero point, which stands in the bias. Scratch: 32 bytes a
   chunk. x and y must not overlap. */
#ifndef BURNC_CONV2D_S8_MVE_H
#define BURNC_CONV2D_S8_MVE_H

#include <stdint.h>
#include "burnc/dot_4_s8_mve.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_s8_mve_params {
    burnc_window window;
    int32_t in_channels;
    int32_t input_zero_point;
    int32_t chunks;
    int32_t out_channels;
    burnc_output_mve output;
    const int8_t *weights;
    const int32_t *constants;
} burnc_conv2d_s8_mve_params;

void burnc_conv2d_s8_mve(const burnc_conv2d_s8_mve_params *params, const int8_t *x, int8_t *y,
                         int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
