/* SPDX-License-Identifier: 0BSD */
/* Two pixels are packed once and then meet all weights. An odd last pixel goes with itself. */
#include "burnc/conv1x1_s8_m0.h"
#include "burnc/dot_pairs_s8_m0.h"

static void burnc_conv1x1_s8_m0_pack(const burnc_conv1x1_s8_m0_params *params, const int8_t *first,
                                     const int8_t *second, uint32_t *packed) {
    const int32_t odd = params->in_channels & 1;
    const int32_t whole = params->in_channels - odd;
    uint32_t *const end = packed + 3 * params->blocks;
    int32_t i;
    for (i = 0; i < whole; i += 2) {
        const uint32_t a0 = (uint32_t)first[i] + ((uint32_t)second[i] << 16);
        const uint32_t a1 = (uint32_t)first[i + 1] + ((uint32_t)second[i + 1] << 16);
        packed[0] = 32768u - ((a0 + a1) << 7);
        packed[1] = a0;
        packed[2] = a1;
        packed += 3;
    }
    for (; packed != end; packed += 3) {
        const int32_t here = i < whole + odd ? 1 : 0;
        const uint32_t a0 = here ? (uint32_t)first[i] + ((uint32_t)second[i] << 16) : 0u;
        packed[0] = 32768u - (a0 << 7);
        packed[1] = a0;
        packed[2] = 0u;
        i += here;
    }
}

void burnc_conv1x1_s8_m0(const burnc_conv1x1_s8_m0_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch) {
    const int32_t depth = params->in_channels;
    const int32_t channels = params->out_channels;
    const int32_t groups = channels / 3;
    int32_t pixel;
    for (pixel = 0; pixel < params->pixels; pixel += 2) {
        const int32_t both = pixel + 1 < params->pixels ? 1 : 0;
        burnc_dot_pairs_s8_m0_job job;
        burnc_conv1x1_s8_m0_pack(params, x, x + (both ? depth : 0), scratch);
        job.packed = scratch;
        job.packed_end = scratch + 3 * params->blocks;
        job.weights = params->weights;
        job.constants = params->constants;
        job.is_signed = (uint32_t)params->is_signed;
        job.y0 = y;
        job.y1 = y + (both ? channels : 0);
        job.groups = (uint32_t)groups;
        job.low_start = 0u - ((uint32_t)params->blocks << 15);
        burnc_dot_pairs_s8_m0(&job);
        if (3 * groups != channels) {
            job.y0 = y + channels - 3;
            job.y1 = job.y0 + (both ? channels : 0);
            job.groups = 1u;
            burnc_dot_pairs_s8_m0(&job);
        }
        x += 2 * depth;
        y += 2 * channels;
    }
}
