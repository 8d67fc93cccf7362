/* SPDX-License-Identifier: 0BSD */
/* Inner products of pairs of rows of activations with two rows of weights, for cores that multiply two pairs of 16-bit
   numbers at once (SMLAD). docs/kernels.md has the idea.

   Four taps make a block. The columns of a pair hold, for each block, {a0, a2}, {a1, a3} of the first row and the same of
   the second, 16 bits each, the first of two in the lower half: what burnc_widen_s8_dsp makes. The weights of the
   two channels are widened in the same way. Constants are {bias, bias}, then those of requantize_dsp.h for each. */
#ifndef BURNC_DOT_2X2_S8_DSP_H
#define BURNC_DOT_2X2_S8_DSP_H

#include <stdint.h>
#include "burnc/dsp.h"
#include "burnc/requantize_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. Outputs that share a place are those of the first row and channel. */
typedef struct burnc_dot_2x2_s8_dsp_job {
    const uint32_t *columns; /* [pairs][blocks][4] */
    const uint32_t *weights; /* [blocks][4] */
    uint32_t blocks;         /* at least 1 */
    const uint32_t *constants;
    int8_t *y;         /* the first row's first output */
    uint32_t distance; /* from there to the second row's; 0 where the rows are one */
    uint32_t step;     /* from the second row's output to the next pair's */
    uint32_t second;   /* 1, or 0 where there is no second channel */
    uint32_t pairs;    /* at least 1 */
    burnc_limits_dsp limits;
} burnc_dot_2x2_s8_dsp_job;

void burnc_dot_2x2_s8_dsp(const burnc_dot_2x2_s8_dsp_job *job);

#ifdef __cplusplus
}
#endif

#endif
