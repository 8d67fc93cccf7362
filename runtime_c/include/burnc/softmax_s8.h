/* SPDX-License-Identifier: 0BSD */
/* Softmax over the last axis of [rows][depth], int8 to int8 with output scale 1/256 and zero point -128, in
   TFLM's fixed point. A probability of 1.0 saturates to 127.
     multiplier, left_shift: min(beta * input_scale * 2^26, 2^31 - 1) as a quantized multiplier >= 1;
     diff_min: -floor(31 * 2^26 / 2^left_shift), the smallest x - max that still adds to the sum.
   depth is at most 4095 (the sum is Q12). y may be x. */
#ifndef BURNC_SOFTMAX_S8_H
#define BURNC_SOFTMAX_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_softmax_s8_params {
    int32_t rows;
    int32_t depth;
    int32_t multiplier;
    int32_t left_shift;
    int32_t diff_min;
} burnc_softmax_s8_params;

void burnc_softmax_s8(const burnc_softmax_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
