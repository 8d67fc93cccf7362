/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_dot_2x2_s8_dsp.S, for every core that does not run that. */
#include "burnc/dot_2x2_s8_dsp.h"

#if !BURNC_DSP_ASSEMBLY

#include "burnc/lanes_dsp.h"

static int8_t burnc_dot_2x2_s8_dsp_output(const burnc_dot_2x2_s8_dsp_job *job, const uint32_t *columns,
                                          uint32_t channel) {
    const uint32_t *weights = job->weights + 2u * channel;
    const uint32_t *const end = weights + 4u * job->blocks;
    uint32_t sum = job->constants[channel];
    for (; weights != end; weights += 4) {
        uint32_t k;
        for (k = 0; k < 4u; ++k) {
            const uint32_t at = 8u * (k & 2u);
            sum += (uint32_t)(burnc_half_dsp(columns[k & 1u], at) * burnc_half_dsp(weights[k & 1u], at));
        }
        columns += 4;
    }
    return burnc_requantize_dsp(sum, job->constants + 2u + 4u * channel, &job->limits);
}

void burnc_dot_2x2_s8_dsp(const burnc_dot_2x2_s8_dsp_job *job) {
    const uint32_t *columns = job->columns;
    int8_t *y = job->y;
    uint32_t pair;
    for (pair = 0; pair < job->pairs; ++pair) {
        y[job->distance + job->second] = burnc_dot_2x2_s8_dsp_output(job, columns + 2, 1u);
        y[job->distance] = burnc_dot_2x2_s8_dsp_output(job, columns + 2, 0u);
        y[job->second] = burnc_dot_2x2_s8_dsp_output(job, columns, 1u);
        y[0] = burnc_dot_2x2_s8_dsp_output(job, columns, 0u);
        columns += 4u * job->blocks;
        y += job->distance + job->step;
    }
}

#endif
