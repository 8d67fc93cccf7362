/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_dot_1x4_s8_dsp.S, for every core that does not run that. */
#include "burnc/dot_1x4_s8_dsp.h"

#if !BURNC_DSP_ASSEMBLY

#include "burnc/lanes_dsp.h"

void burnc_dot_1x4_s8_dsp(const burnc_dot_1x4_s8_dsp_job *job) {
    const uint32_t *constants = job->constants;
    const uint32_t *weights = job->weights;
    uint32_t at;
    for (at = 0; at < job->channels; ++at) {
        const uint32_t k = at & 3u;
        const uint32_t sum = burnc_dot_lanes_dsp(constants[k], job->column, weights + k, 4u, job->blocks);
        job->y[at] = burnc_requantize_dsp(sum, constants + 4u + 4u * k, &job->limits);
        if (k == 3u) {
            constants += 20;
            weights += 4u * job->blocks;
        }
    }
}

#endif
