/* SPDX-License-Identifier: 0BSD */
/* The starts of the blocks are made once and serve all outputs. */
#include "burnc/fully_connected_s8_m0.h"
#include "burnc/dot_quads_s8_m0.h"

static void burnc_fully_connected_s8_m0_starts(const burnc_fully_connected_s8_m0_params *params,
                                               const int8_t *x, uint32_t *starts) {
    int32_t k;
    for (k = 0; k < params->blocks; ++k) {
        const int8_t *const end = x + params->block;
        uint32_t sum = 0u;
        while (x != end) {
            sum += (uint32_t)*x++;
        }
        sum <<= 7;
        starts[k] = 32768u - sum - (sum << 16);
    }
}

/* The same as burnc_dot_quads_s8_m0 where x is no place to read words from. */
static void burnc_fully_connected_s8_m0_bytes(const burnc_fully_connected_s8_m0_params *params,
                                              const int8_t *x, burnc_dot_quads_s8_m0_job *job) {
    const int32_t taps = params->blocks * params->block;
    const uint32_t excess = (uint32_t)params->blocks << 15;
    int32_t i;
    job->sums[0] += excess;
    job->sums[2] += excess;
    for (i = 0; i < taps; ++i) {
        const uint32_t w = job->weights[i];
        const uint32_t a = (uint32_t)x[i];
        job->sums[0] += a * ((w & 255u) - 128u);
        job->sums[1] += a * (((w >> 16) & 255u) - 128u);
        job->sums[2] += a * (((w >> 8) & 255u) - 128u);
        job->sums[3] += a * ((w >> 24) - 128u);
    }
    for (i = 0; i < 4; ++i) {
        job->y[i] = burnc_scale_sum_s8_m0(job->scale, job->sums[i]);
    }
}

static void burnc_fully_connected_s8_m0_row(const burnc_fully_connected_s8_m0_params *params, const int8_t *x,
                                            int8_t *y, const uint32_t *starts) {
    const int32_t taps = params->blocks * params->block;
    const int32_t is_aligned = ((uintptr_t)x & 3u) == 0u ? 1 : 0;
    const uint32_t *const s = params->scale;
    const burnc_scale_s8_m0 scale = {s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
    const uint32_t *single = params->single;
    const uint32_t *offset = params->offset;
    burnc_dot_quads_s8_m0_job job;
    int32_t left = params->out_channels;
    job.weights = params->weights;
    job.x = (const uint32_t *)(const void *)x;
    job.x_end = (const uint32_t *)(const void *)(x + taps);
    job.starts = starts;
    job.block = (uint32_t)params->block;
    job.scale = &scale;
    while (left > 0) {
        uint32_t count = *single++;
        job.sums[0] = offset[0];
        job.sums[1] = offset[1];
        job.sums[2] = offset[2];
        job.sums[3] = offset[3];
        for (; count != 0u; --count) {
            const uint32_t tap = *single++;
            job.sums[tap >> 24] += (uint32_t)x[(tap >> 8) & 0xffffu] * (((tap & 255u) ^ 128u) - 128u);
        }
        if (is_aligned != 0) {
            burnc_dot_quads_s8_m0(&job);
        } else {
            burnc_fully_connected_s8_m0_bytes(params, x, &job);
        }
        y[0] = job.y[0];
        if (left >= 4) {
            y[1] = job.y[1];
            y[2] = job.y[2];
            y[3] = job.y[3];
        } else {
            int32_t k;
            for (k = 1; k < left; ++k) {
                y[k] = job.y[k];
            }
        }
        offset += 4;
        y += 4;
        left -= 4;
        job.weights += taps;
    }
}

void burnc_fully_connected_s8_m0(const burnc_fully_connected_s8_m0_params *params, const int8_t *x, int8_t *y,
                                 uint32_t *scratch) {
    int32_t row;
    for (row = 0; row < params->batch; ++row) {
        burnc_fully_connected_s8_m0_starts(params, x, scratch);
        burnc_fully_connected_s8_m0_row(params, x, y, scratch);
        x += params->depth;
        y += params->out_channels;
    }
}
