/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_depthwise_rows_s8_dsp.S, for every core that does not run that. */
#include "burnc/depthwise_rows_s8_dsp.h"

#if !BURNC_DSP_ASSEMBLY

#include <stddef.h>
#include "burnc/lanes_dsp.h"

/* Where the weights of channel k (0 to 3) stand among four words for two taps. */
static uint32_t burnc_depthwise_rows_s8_dsp_place(uint32_t k) {
    return (k & 1u) * 2u + k / 2u;
}

static uint32_t burnc_depthwise_rows_s8_dsp_sum(const burnc_depthwise_rows_s8_dsp_job *job, uint32_t sum,
                                                const uint32_t *weights, uint32_t k, uint32_t at) {
    const int8_t *const *taps = job->taps;
    uint32_t pairs = 0;
    for (; job->has_nine != 0u ? pairs < 4u : *taps != NULL; ++pairs) {
        const uint32_t w = weights[burnc_depthwise_rows_s8_dsp_place(k)];
        sum += (uint32_t)(taps[0][at] * burnc_half_dsp(w, 0u));
        sum += (uint32_t)(taps[1][at] * burnc_half_dsp(w, 16u));
        taps += 2;
        weights += 4;
    }
    if (job->has_nine != 0u) {
        sum += (uint32_t)(taps[0][at] * burnc_half_dsp(weights[k & 1u], 8u * (k & 2u)));
    }
    return sum;
}

static uint32_t burnc_depthwise_rows_s8_dsp_words(const burnc_depthwise_rows_s8_dsp_job *job) {
    uint32_t words = 0;
    const int8_t *const *taps = job->taps;
    if (job->has_nine != 0u) {
        return 18u;
    }
    for (; *taps != NULL; taps += 2) {
        words += 4u;
    }
    return words;
}

void burnc_depthwise_rows_s8_dsp(const burnc_depthwise_rows_s8_dsp_job *job) {
    const uint32_t words = burnc_depthwise_rows_s8_dsp_words(job);
    int8_t *y = job->y;
    uint32_t at = 0;
    uint32_t pixel;
    for (pixel = 0; pixel < job->pixels; ++pixel) {
        const uint32_t *weights = job->weights;
        const uint32_t *constants = job->constants;
        for (; constants != job->constants_end; constants += 20) {
            uint32_t k;
            for (k = 0; k < 4u; ++k) {
                const uint32_t sum = burnc_depthwise_rows_s8_dsp_sum(job, constants[k], weights, k, at);
                *y++ = burnc_requantize_dsp(sum, constants + 4u + 4u * k, &job->limits);
                ++at;
            }
            weights += words;
        }
        at += job->step;
    }
}

#endif
