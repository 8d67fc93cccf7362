/* SPDX-License-Identifier: 0BSD */
/* Depthwise convolution, int8 NHWC, as many outputs as inputs, a multiple of four, for cores with the DSP extension.
   Padding counts as the input's zero point, which stands in the bias. Weights and constants are those of
   burnc_depthwise_rows_s8_dsp. Scratch: a byte a channel. y may lie over x as far as it does
   not reach the windows of later pixels. */
#ifndef BURNC_DEPTHWISE_CONV2D_S8_DSP_H
#define BURNC_DEPTHWISE_CONV2D_S8_DSP_H

#include <stdint.h>
#include "burnc/requantize_dsp.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise_conv2d_s8_dsp_params {
    burnc_window window;
    int32_t channels;
    int32_t input_zero_point;
    burnc_limits_dsp limits;
    const uint32_t *weights;   /* [channels / 4][4 words for two taps, 2 for a ninth] */
    const uint32_t *constants; /* [channels / 4][20] */
} burnc_depthwise_conv2d_s8_dsp_params;

void burnc_depthwise_conv2d_s8_dsp(const burnc_depthwise_conv2d_s8_dsp_params *params, const int8_t *x,
                                   int8_t *y, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
