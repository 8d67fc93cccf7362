/* SPDX-License-Identifier: 0BSD */
/* Inner products of one row of activations with many rows of int8 weights, for cores that multiply two pairs of 16-bit
   numbers at once (SMLAD): four output channels ride together.

   The column is what burnc_widen_s8_dsp makes. The weights of four channels are {w0, w1, w2, w3} of each, for each block
   of four taps. Constants of four channels are their biases, then those of requantize_dsp.h for each. Channels that fill up
   the last four are not stored. */
#ifndef BURNC_DOT_1X4_S8_DSP_H
#define BURNC_DOT_1X4_S8_DSP_H

#include <stdint.h>
#include "burnc/dsp.h"
#include "burnc/requantize_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_dot_1x4_s8_dsp_job {
    const uint32_t *column;
    uint32_t blocks; /* even, at least 2 */
    const uint32_t *weights;
    const uint32_t *constants;
    int8_t *y;
    uint32_t channels; /* at least 1 */
    burnc_limits_dsp limits;
} burnc_dot_1x4_s8_dsp_job;

void burnc_dot_1x4_s8_dsp(const burnc_dot_1x4_s8_dsp_job *job);

#ifdef __cplusplus
}
#endif

#endif
