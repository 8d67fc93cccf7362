/* SPDX-License-Identifier: 0BSD */
/* Depthwise 3x3 convolution, int8 NHWC, for RV32IM: stride 1 or 2, no dilation, as many filters as channels, at least two
   output columns, windows that hang over the left and right edges by one column at most. Scratch: a row of the input.
   x and y must not overlap. */
#ifndef BURNC_DEPTHWISE3X3_S8_RV32_H
#define BURNC_DEPTHWISE3X3_S8_RV32_H

#include <stdint.h>
#include "burnc/requantize_rv32.h"
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_depthwise3x3_s8_rv32_params {
    burnc_window window;
    int32_t channels;
    int32_t input_zero_point;
    burnc_limits_rv32 limits;
    const uint32_t *records; /* as burnc_depthwise_rows_s8_rv32 takes them */
} burnc_depthwise3x3_s8_rv32_params;

void burnc_depthwise3x3_s8_rv32(const burnc_depthwise3x3_s8_rv32_params *params, const int8_t *x, int8_t *y,
                                int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
