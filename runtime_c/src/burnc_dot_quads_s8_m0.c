/* SPDX-License-Identifier: 0BSD */
/* The same arithmetic as burnc_dot_quads_s8_m0.S, word for word, for every core that does not run that. */
#include "burnc/dot_quads_s8_m0.h"

#if !BURNC_DOT_QUADS_S8_M0_ASSEMBLY

/* A word's upper half with its sign. */
static uint32_t burnc_dot_quads_s8_m0_upper(uint32_t word) {
    return (word >> 16) - ((word >> 15) & 0x10000u);
}

void burnc_dot_quads_s8_m0(burnc_dot_quads_s8_m0_job *job) {
    const int8_t *x = (const int8_t *)job->x;
    const int8_t *const end = (const int8_t *)job->x_end;
    const uint32_t *weights = job->weights;
    const uint32_t *start = job->starts;
    uint32_t word[2] = {0u, 0u}; /* sums of whole words: even bytes, odd bytes */
    uint32_t high[2] = {0u, 0u}; /* and of their upper halves */
    while (x != end) {
        uint32_t all = *start * 257u;
        uint32_t odd = *start++;
        uint32_t i;
        for (i = 0; i < job->block; ++i) {
            const uint32_t a = (uint32_t)*x++;
            all += a * *weights;
            odd += a * ((*weights++ >> 8) & 0x00ff00ffu);
        }
        all -= odd << 8;
        word[0] += all;
        high[0] += burnc_dot_quads_s8_m0_upper(all);
        word[1] += odd;
        high[1] += burnc_dot_quads_s8_m0_upper(odd);
    }
    job->y[0] = burnc_scale_sum_s8_m0(job->scale, job->sums[0] + word[0] - (high[0] << 16));
    job->y[1] = burnc_scale_sum_s8_m0(job->scale, job->sums[1] + high[0]);
    job->y[2] = burnc_scale_sum_s8_m0(job->scale, job->sums[2] + word[1] - (high[1] << 16));
    job->y[3] = burnc_scale_sum_s8_m0(job->scale, job->sums[3] + high[1]);
}

#endif
