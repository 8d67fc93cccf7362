/* SPDX-License-Identifier: 0BSD */
/* Convolution like burnc_conv2d_s8 with one group, for Cortex-M0 and M0+: output pixels go together in pairs through
   burnc_dot_pairs_s8_m0, whose header describes weights and constants. A window is packed row by row: the
   kernel_w * row.channels taps of each of its rows, and one of weight 0 where they are odd. `blocks` is what
   that makes, rounded up to a multiple of four with taps of weight 0. With straight-line code
   for weights a pair is all its taps without such padding, code_words of them. `scratch` is 12 * blocks * chunk bytes, or
   4 * code_words * chunk, and behind them 2 * kernel_w * row.channels. 2 * chunk pixels are read whole before they are
   written, so y may lie over x as far as windows of later pixels are not overwritten.

   With padded_rows the input is copied first, row by row, to where those last bytes would be, with padding around it:
   padded_rows * row.columns * row.channels of them. `window` then says what windows find there. */
#ifndef BURNC_CONV2D_S8_M0_H
#define BURNC_CONV2D_S8_M0_H

#include "burnc/pad_row_s8.h"
#include "burnc/pairs_layer_s8_m0.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv2d_s8_m0_params {
    burnc_window window;
    burnc_pad_row_s8_params row;
    int32_t padded_rows;     /* of all windows together, or 0 */
    int32_t padded_rows_top; /* how many of them lie above the input */
    int32_t chunk;           /* pairs that are packed before their outputs are written */
    const burnc_pairs_layer_s8_m0_params *layer;
} burnc_conv2d_s8_m0_params;

void burnc_conv2d_s8_m0(const burnc_conv2d_s8_m0_params *params, const int8_t *x, int8_t *y,
                        uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
