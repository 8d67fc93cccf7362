/* SPDX-License-Identifier: 0BSD */
/* A few rows of a depthwise 3x3 convolution with stride 1 or 2, int8, for Cortex-M0 and M0+. Its input rows lie in a
   buffer, padded to (width - 1) * stride + 3 columns. Each input is loaded once for all outputs of its row that it
   belongs to (docs/kernels.md).

   A channel's record is {w00, w01, w02 and places, w10, w11, w12 and the low byte of fraction, w20, w21, w22 and
   its high byte} from the lowest byte upwards, then the words offset, limit, multiplier, rounding. From a sum they make
     t = clamp(sum + offset, 0, limit);  y = (t * multiplier + (t * fraction >> places) + rounding) >> 24  */
#ifndef BURNC_DEPTHWISE_ROWS_S8_M0_H
#define BURNC_DEPTHWISE_ROWS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DEPTHWISE_ROWS_S8_M0_ASSEMBLY 1
#else
#define BURNC_DEPTHWISE_ROWS_S8_M0_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_depthwise_rows_s8_m0_job {
    const uint32_t *records; /* [channels][7] */
    const int8_t *x;         /* the buffer of padded rows */
    const uint32_t
        *ends; /* where in the buffer each input row ends; output row i takes rows stride * i + 0, 1, 2 */
    int8_t *y; /* [rows][width][channels] */
    uint32_t channels;
    uint32_t rows;   /* of the output, at least 1 */
    uint32_t width;  /* of the output, at least 2 */
    uint32_t stride; /* 1 or 2 */
} burnc_depthwise_rows_s8_m0_job;

void burnc_depthwise_rows_s8_m0(const burnc_depthwise_rows_s8_m0_job *job);

#ifdef __cplusplus
}
#endif

#endif
