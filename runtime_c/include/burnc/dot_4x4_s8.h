/* SPDX-License-Identifier: 0BSD */
/* Inner products of four rows of activations with many rows of int8 weights, for cores with many registers and no vectors
   (RISC-V): sixteen sums ride together, so that each number is loaded once for four multiplications.

   The weights are those of four channels tap by tap, zero where channels fill up the last four. Constants of four
   channels are their biases, multipliers and shifts. Rounding is TFLM's; channels that fill up the last four are not
   stored. Less than four rows come with the last of them again. */
#ifndef BURNC_DOT_4X4_S8_H
#define BURNC_DOT_4X4_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_dot_4x4_s8_layer {
    int32_t taps; /* at least 1 */
    int32_t out_channels;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;    /* [ceil(O / 4)][taps][4] */
    const int32_t *constants; /* [ceil(O / 4)][3][4] */
} burnc_dot_4x4_s8_layer;

/* The outputs of row k begin at y + k * out_channels; only the first `count` rows are stored. */
void burnc_dot_4x4_s8(const burnc_dot_4x4_s8_layer *layer, const int8_t *const rows[4], int32_t count,
                      int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
