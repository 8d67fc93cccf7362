/* SPDX-License-Identifier: 0BSD */
/* Inner products of two rows of activations with many rows of int8 weights, for cores with the M-profile vector
   extension (Cortex-M55): 16 taps in one instruction, four output channels ride together. docs/kernels.md has the idea.

   Rows are filled up to whole chunks of 16 taps. The weights are 16 taps of each of four channels, chunk by chunk, zero
   where they fill up. Constants of four channels are their biases, multipliers and (negative) shifts. Rounding is TFLM's;
   channels that fill up the last four are not stored. A single row comes twice, with one y. */
#ifndef BURNC_DOT_4_S8_MVE_H
#define BURNC_DOT_4_S8_MVE_H

#include <stdint.h>
#include "burnc/mve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_dot_4_s8_mve_layer {
    int32_t chunks; /* at least 1 */
    int32_t out_channels;
    burnc_output_mve output;
    const int8_t *weights;    /* [ceil(O / 4)][chunks][4][16] */
    const int32_t *constants; /* [ceil(O / 4)][3][4] */
} burnc_dot_4_s8_mve_layer;

void burnc_dot_4_s8_mve(const burnc_dot_4_s8_mve_layer *layer, const int8_t *row, const int8_t *second,
                        int8_t *y, int8_t *second_y);

#ifdef __cplusplus
}
#endif

#endif
