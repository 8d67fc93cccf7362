/* SPDX-License-Identifier: 0BSD */
/* Fully connected layer, int8.
     y[b][o] = clamp(requantize(bias[o] + sum x[b][i] * w[o][i]) + output_zero_point)
   Weights are [O][depth], zero point 0. bias[o] must already hold bias - input_zero_point * sum(weights of
   o), mod 2^32 (with bias 0 when the model has none), so that the inner loop multiplies raw int8 values.
   `per_channel` is 1 when multiplier and shift have O entries, 0 when one entry serves all outputs. Rounding
   is TFLM's (burnc_requantize, twice); LiteRT's own kernel rounds once and may differ by one. x is
   [batch][depth], y [batch][O]; they must not overlap. */
#ifndef BURNC_FULLY_CONNECTED_S8_H
#define BURNC_FULLY_CONNECTED_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_fully_connected_s8_params {
    int32_t batch;
    int32_t depth;
    int32_t out_channels;
    int32_t per_channel;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;
    const int32_t *bias;       /* [O], zero point folded in; never null */
    const int32_t *multiplier; /* [O] or [1] */
    const int8_t *shift;       /* [O] or [1], positive shifts left */
} burnc_fully_connected_s8_params;

void burnc_fully_connected_s8(const burnc_fully_connected_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
