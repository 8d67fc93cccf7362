/* SPDX-License-Identifier: 0BSD */
/* Depthwise inner products of output pixels that lie side by side, int8, for cores that multiply two pairs of 16-bit
   numbers at once (SMLAD): two taps of one channel ride together, four channels follow each other.

   `taps` points, for each tap of the kernel, at the first pixel's input; two further null pointers end the list, whose
   length is even where it is not 9. The weights of four channels are, for each two taps, {w0, w1} of channels 0, 2, 1, 3,
   16 bits each, and for a ninth tap {channel 0, channel 2}, {channel 1, channel 3}. Constants of four channels are their
   biases, then those of requantize_dsp.h for each. */
#ifndef BURNC_DEPTHWISE_ROWS_S8_DSP_H
#define BURNC_DEPTHWISE_ROWS_S8_DSP_H

#include <stdint.h>
#include "burnc/dsp.h"
#include "burnc/requantize_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_depthwise_rows_s8_dsp_job {
    const int8_t *const *taps;
    const uint32_t *weights;
    const uint32_t *constants;
    const uint32_t *constants_end;
    int8_t *y;
    uint32_t pixels; /* at least 1 */
    uint32_t step;   /* from the last channel of a pixel's input to the first of the next one's */
    burnc_limits_dsp limits;
    uint32_t has_nine; /* taps, the last of them without a partner */
} burnc_depthwise_rows_s8_dsp_job;

void burnc_depthwise_rows_s8_dsp(const burnc_depthwise_rows_s8_dsp_job *job);

#ifdef __cplusplus
}
#endif

#endif
