/* SPDX-License-Identifier: 0BSD */
/* Fully connected layer, int8, for cores with many registers. Weights and constants are those of burnc_dot_4x4_s8, the
   zero point of x in the bias. x is [batch][depth], y [batch][out_channels]; they must not overlap. */
#ifndef BURNC_FULLY_CONNECTED_4X4_S8_H
#define BURNC_FULLY_CONNECTED_4X4_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_fully_connected_4x4_s8_params {
    int32_t batch;
    int32_t taps;
    int32_t out_channels;
    int32_t output_zero_point;
    int32_t activation_min;
    int32_t activation_max;
    const int8_t *weights;
    const int32_t *constants;
} burnc_fully_connected_4x4_s8_params;

void burnc_fully_connected_4x4_s8(const burnc_fully_connected_4x4_s8_params *params, const int8_t *x,
                                  int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
