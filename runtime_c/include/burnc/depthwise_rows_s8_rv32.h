/* SPDX-License-Identifier: 0BSD */
/* A few rows of a depthwise 3x3 convolution with stride 1 or 2, int8, for RV32IM. Each input is loaded once for all
   outputs of its row that it belongs to (docs/kernels.md). A channel's record is nine bytes of weights,
   one of places, one of left, one of nothing, then the words bias, multiplier and rounding (requantize_rv32.h; the step
   is 0). */
#ifndef BURNC_DEPTHWISE_ROWS_S8_RV32_H
#define BURNC_DEPTHWISE_ROWS_S8_RV32_H

#include <stdint.h>
#include "burnc/requantize_rv32.h"
#include "burnc/rv32.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_depthwise_rows_s8_rv32_job {
    const int8_t *const *lines; /* input rows; output row i takes stride * i + 0, 1, 2 */
    const uint32_t *records;    /* [channels][6] */
    int8_t *y;                  /* [rows][width][channels] */
    const int8_t *padding;      /* a pixel of padding */
    uint32_t channels;
    uint32_t rows;   /* of the output, at least 1 */
    uint32_t width;  /* of the output, at least 2 */
    uint32_t stride; /* 1 or 2 */
    uint32_t before; /* 1 where the first window begins one column before the line */
    uint32_t behind; /* 1 where the last window ends one column behind it */
    burnc_limits_rv32 limits;
} burnc_depthwise_rows_s8_rv32_job;

void burnc_depthwise_rows_s8_rv32(const burnc_depthwise_rows_s8_rv32_job *job);

#ifdef __cplusplus
}
#endif

#endif
