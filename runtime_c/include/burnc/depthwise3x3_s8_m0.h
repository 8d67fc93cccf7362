/* SPDX-License-Identifier: 0BSD */
/* Depthwise 3x3 convolution, int8, for Cortex-M0 and M0+: channels == filters, stride 1 or 2 in both directions, no
   dilation, at least two output columns. Records are those of burnc_depthwise_rows_s8_m0. `scratch` holds
   (rows_at_once - 1) * stride + 3 words, and behind them as many lines of
   ((out_w - 1) * stride + 3) * channels bytes. Input rows are copied there before the output rows that need them are
   written, so y may lie over x as far as later rows are not overwritten. */
#ifndef BURNC_DEPTHWISE3X3_S8_M0_H
#define BURNC_DEPTHWISE3X3_S8_M0_H

#include "burnc/pad_row_s8.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise3x3_s8_m0_params {
    burnc_window window;
    burnc_pad_row_s8_params row; /* (out_w - 1) * stride + 3 columns */
    int32_t rows_at_once;        /* output rows that are made together */
    const uint32_t *records;
} burnc_depthwise3x3_s8_m0_params;

void burnc_depthwise3x3_s8_m0(const burnc_depthwise3x3_s8_m0_params *params, const int8_t *x, int8_t *y,
                              uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
