/* SPDX-License-Identifier: 0BSD */
/* Convolution, int8 NHWC, one group, for RV32IM (burnc_dot_4x4_s8_rv32). The windows of a chunk of output pixels are
   widened to columns, then meet four channels at a time, whose weights are widened once for the chunk.

   Weights are [channels / 4][taps / 4][4] words, of four taps of a channel the bytes {w2, w3, w0, w1} + 128 from the
   lowest upwards. Taps are in the order of OHWI, zeros fill up the last four of both. Extras are the records of
   burnc_dot_4x4_s8_rv32, one behind the other, each of which begins with the number of its half-words, the count
   included; groups without extras have a 0.
   Scratch: words are half the taps, rounded up to a multiple of 2; 16 bytes each for weights and for each four pixels of
   a chunk, then a window of bytes. y may lie over x as far as it does not reach windows of
   later chunks. */
#ifndef BURNC_CONV2D_S8_RV32_H
#define BURNC_CONV2D_S8_RV32_H

#include <stdint.h>
#include "burnc/requantize_rv32.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_s8_rv32_params {
    burnc_window window;
    int32_t in_channels;
    int32_t out_channels;
    int32_t words;
    int32_t chunk; /* pixels, a multiple of 4 */
    int32_t input_zero_point;
    burnc_limits_rv32 limits;
    int32_t is_signed;
    const uint32_t *weights;
    const uint16_t *extras;
    const uint32_t *constants;
} burnc_conv2d_s8_rv32_params;

void burnc_conv2d_s8_rv32(const burnc_conv2d_s8_rv32_params *params, const int8_t *x, int8_t *y,
                          uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
