/* SPDX-License-Identifier: 0BSD */
/* Inner products of two rows of activations with many rows of int8 weights, for cores that multiply two pairs of
   16-bit numbers at once (SMLAD): two rows and two output channels ride together. docs/kernels.md has the idea.

   Four taps make a block. The columns hold, for each block, {a0, a2}, {a1, a3} of the first row and the same of the
   second, 16 bits each, the first of two in the lower half: what burnc_widen_s8_dsp makes. The weights of two
   channels are {w0, w1, w2, w3} of the first and of the second, for each block. Constants of two channels are
   {bias, bias}, then those of requantize_dsp.h for each. An odd last channel has a second one that is not stored. */
#ifndef BURNC_DOT_2X2_S8_DSP_H
#define BURNC_DOT_2X2_S8_DSP_H

#include <stdint.h>
#include "burnc/dsp.h"
#include "burnc/requantize_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_dot_2x2_s8_dsp_job {
    const uint32_t *columns;
    uint32_t blocks; /* even, at least 2 */
    const uint32_t *weights;
    const uint32_t *constants;
    const uint32_t *constants_end; /* behind the last pair of channels that are both stored */
    int8_t *y;                     /* the first row's outputs */
    uint32_t distance;             /* from there to the second row's; 0 where the rows are one */
    burnc_limits_dsp limits;
    uint32_t is_odd;
} burnc_dot_2x2_s8_dsp_job;

void burnc_dot_2x2_s8_dsp(const burnc_dot_2x2_s8_dsp_job *job);

#ifdef __cplusplus
}
#endif

#endif
