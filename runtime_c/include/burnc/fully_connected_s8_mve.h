/* SPDX-License-Identifier: 0BSD */
/* Fully connected layer, int8, for cores with the M-profile vector extension. Weights and constants are those of
   burnc_dot_4_s8_mve, the zero point of x in the bias. x is [batch][depth], y [batch][out_channels]. Scratch: 16 bytes a
   chunk, for rows that are not whole chunks. x and y must not overlap. */
#ifndef BURNC_FULLY_CONNECTED_S8_MVE_H
#define BURNC_FULLY_CONNECTED_S8_MVE_H

#include <stdint.h>
#include "burnc/dot_4_s8_mve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_fully_connected_s8_mve_params {
    int32_t batch;
    int32_t depth;
    int32_t chunks;
    int32_t out_channels;
    burnc_output_mve output;
    const int8_t *weights;
    const int32_t *constants;
} burnc_fully_connected_s8_mve_params;

void burnc_fully_connected_s8_mve(const burnc_fully_connected_s8_mve_params *params, const int8_t *x,
                                  int8_t *y, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
