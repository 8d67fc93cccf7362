/* SPDX-License-Identifier: 0BSD */
/* Each row of x is widened once and then meets all weights. */
#include "burnc/fully_connected_s8_dsp.h"
#include "burnc/dot_1x4_s8_dsp.h"
#include "burnc/widen_s8_dsp.h"

void burnc_fully_connected_s8_dsp(const burnc_fully_connected_s8_dsp_params *params, const int8_t *x,
                                  int8_t *y, uint32_t *scratch) {
    const uint32_t *const end = scratch + 4 * params->blocks;
    burnc_dot_1x4_s8_dsp_job job;
    int32_t row;
    job.column = scratch;
    job.blocks = (uint32_t)params->blocks;
    job.weights = params->weights;
    job.constants = params->constants;
    job.channels = (uint32_t)params->out_channels;
    job.limits = params->limits;
    for (row = 0; row < params->batch; ++row) {
        uint32_t *column = burnc_widen_s8_dsp(scratch, x, (uint32_t)params->depth);
        while (column < end) {
            column[0] = 0u;
            column[1] = 0u;
            column += 4;
        }
        job.y = y;
        burnc_dot_1x4_s8_dsp(&job);
        x += params->depth;
        y += params->out_channels;
    }
}
