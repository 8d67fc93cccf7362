/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_dot_2x2_s8_dsp.S, for every core that does not run that. */
#include "burnc/dot_2x2_s8_dsp.h"

#if !BURNC_DSP_ASSEMBLY

#include "burnc/lanes_dsp.h"

static void burnc_dot_2x2_s8_dsp_channel(const burnc_dot_2x2_s8_dsp_job *job, uint32_t bias,
                                         const uint32_t *weights, const uint32_t *constants, int8_t *y) {
    uint32_t sum = burnc_dot_lanes_dsp(bias, job->columns + 2, weights, 2u, job->blocks);
    y[job->distance] = burnc_requantize_dsp(sum, constants, &job->limits);
    sum = burnc_dot_lanes_dsp(bias, job->columns, weights, 2u, job->blocks);
    y[0] = burnc_requantize_dsp(sum, constants, &job->limits);
}

void burnc_dot_2x2_s8_dsp(const burnc_dot_2x2_s8_dsp_job *job) {
    const uint32_t *weights = job->weights;
    const uint32_t *constants = job->constants;
    int8_t *y = job->y;
    for (; constants != job->constants_end; constants += 10) {
        burnc_dot_2x2_s8_dsp_channel(job, constants[0], weights, constants + 2, y);
        burnc_dot_2x2_s8_dsp_channel(job, constants[1], weights + 1, constants + 6, y + 1);
        weights += 2u * job->blocks;
        y += 2;
    }
    if (job->is_odd != 0u) {
        burnc_dot_2x2_s8_dsp_channel(job, constants[0], weights, constants + 2, y);
    }
}

#endif
