/* SPDX-License-Identifier: 0BSD */
/* Fully connected layer, int8, for cores with the DSP extension. Weights and constants are those of
   burnc_dot_1x4_s8_dsp, the zero point of x in the bias. x is [batch][depth], y [batch][out_channels]; scratch: 16 bytes
   a block. x and y must not overlap. */
#ifndef BURNC_FULLY_CONNECTED_S8_DSP_H
#define BURNC_FULLY_CONNECTED_S8_DSP_H

#include <stdint.h>
#include "burnc/requantize_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_fully_connected_s8_dsp_params {
    int32_t batch;
    int32_t depth;
    int32_t out_channels;
    int32_t blocks; /* of four taps, an even number */
    burnc_limits_dsp limits;
    const uint32_t *weights;   /* [ceil(O / 4)][blocks][4] */
    const uint32_t *constants; /* [ceil(O / 4)][20] */
} burnc_fully_connected_s8_dsp_params;

void burnc_fully_connected_s8_dsp(const burnc_fully_connected_s8_dsp_params *params, const int8_t *x,
                                  int8_t *y, uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
