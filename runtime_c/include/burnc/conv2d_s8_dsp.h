/* SPDX-License-Identifier: 0BSD */
/* Convolution, int8 NHWC, one group, for cores with the DSP extension: the windows of a chunk of output pixels are widened
   into columns, which then meet two channels at a time, whose weights are widened once for the chunk
   (burnc_dot_2x2_s8_dsp).

   The kernel_w * in_channels taps of a kernel row are filled with zeros up to blocks of four. Padding counts as the
   input's zero point, which stands in the bias. Scratch: for each block 16 bytes and 8 more a pixel of a chunk, then a row
   of taps. y may lie over x as far as it does not reach windows of
   later chunks. */
#ifndef BURNC_CONV2D_S8_DSP_H
#define BURNC_CONV2D_S8_DSP_H

#include <stdint.h>
#include "burnc/requantize_dsp.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_s8_dsp_params {
    burnc_window window;
    int32_t in_channels;
    int32_t out_channels;
    int32_t blocks;
    int32_t chunk; /* pixels, even */
    int32_t input_zero_point;
    burnc_limits_dsp limits;
    const int8_t *weights;     /* [O][4 * blocks] */
    const uint32_t *constants; /* [ceil(O / 2)][10] */
} burnc_conv2d_s8_dsp_params;

void burnc_conv2d_s8_dsp(const burnc_conv2d_s8_dsp_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
