/* SPDX-License-Identifier: 0BSD */
/* Pointwise convolution like burnc_conv1x1_s8, for Cortex-M0 and M0+: pixels go together in pairs through
   burnc_dot_pairs_s8_m0, whose header describes weights and constants. `blocks` is in_channels / 2, rounded up to
   a multiple of four; taps beyond in_channels have weight 0. With straight-line code
   for weights a pair is all its taps without such padding, code_words of them. `scratch` is 12 * blocks * chunk bytes, or
   4 * code_words * chunk. 2 * chunk pixels are read whole before they are written, so y may lie over x as far as later pixels are not overwritten. */
#ifndef BURNC_CONV1X1_S8_M0_H
#define BURNC_CONV1X1_S8_M0_H

#include "burnc/pairs_layer_s8_m0.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_conv1x1_s8_m0_params {
    int32_t pixels;
    int32_t in_channels;
    int32_t chunk; /* pairs that are packed before their outputs are written */
    const burnc_pairs_layer_s8_m0_params *layer;
} burnc_conv1x1_s8_m0_params;

void burnc_conv1x1_s8_m0(const burnc_conv1x1_s8_m0_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
