/* SPDX-License-Identifier: 0BSD */
/* Depthwise 3x3 convolution, int8, for Cortex-M0 and M0+: channels == filters, stride 1, no dilation, padding of at most
   1 on each side. y may lie where x does, if they are of one shape. */
#ifndef BURNC_DEPTHWISE3X3_PAIRS_S8_M0_H
#define BURNC_DEPTHWISE3X3_PAIRS_S8_M0_H

#include "burnc/depthwise_pairs_s8_m0.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise3x3_pairs_s8_m0_params {
    int32_t batch;
    int32_t x_bytes; /* of an image */
    int32_t y_bytes;
    const burnc_depthwise_pairs_s8_m0_params *layer;
} burnc_depthwise3x3_pairs_s8_m0_params;

void burnc_depthwise3x3_pairs_s8_m0(const burnc_depthwise3x3_pairs_s8_m0_params *params, const int8_t *x,
                                    int8_t *y, uint32_t *plane);

#ifdef __cplusplus
}
#endif

#endif
