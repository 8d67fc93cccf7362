/* SPDX-License-Identifier: 0BSD */
/* The starts of the blocks, or words for the activations, are made once and serve all outputs. */
#include "burnc/fully_connected_s8_m0.h"
#include "burnc/dot_quads_s8_m0.h"
#include "burnc/memory.h"

#include <stddef.h>

static void burnc_fully_connected_s8_m0_starts(const burnc_fully_connected_s8_m0_params *params,
                                               const int8_t *x, uint32_t *starts) {
    int32_t k;
    for (k = 0; k < params->blocks; ++k) {
        const int8_t *const end = x + params->block;
        int32_t sum = 0;
        while (x != end) {
            sum += *x++;
        }
        starts[k] = 32768u - (uint32_t)sum * (128u + (128u << 16));
    }
}

static void burnc_fully_connected_s8_m0_words(int32_t taps, const int8_t *x, uint32_t *words) {
    uint32_t *const end = words + taps;
    while (words != end) {
        *words++ = (uint32_t)*x++;
    }
}

/* The same as burnc_dot_quads_s8_m0 where x is no place to read words from. */
static void burnc_fully_connected_s8_m0_bytes(const burnc_fully_connected_s8_m0_params *params,
                                              const int8_t *x, burnc_dot_quads_s8_m0_job *job) {
    static const uint8_t shifts[4] = {0u, 16u, 8u, 24u};
    const int32_t taps = params->blocks * params->block;
    for (; job->groups != 0u; --job->groups) {
        uint32_t o;
        for (o = 0; o < 4u; ++o) {
            uint32_t sum = *job->offsets++ + ((o & 1u) == 0u ? (uint32_t)params->blocks << 15 : 0u);
            int32_t i;
            for (i = 0; i < taps; ++i) {
                sum += (uint32_t)x[i] * (((job->weights[i] >> shifts[o]) & 255u) - 128u);
            }
            *job->y++ = burnc_scale_sum_s8_m0(job->scale, sum);
        }
        job->weights += taps;
    }
}

/* Where the layer is: groups that are left, and outputs behind the last whole group. */
typedef struct burnc_fully_connected_s8_m0_place {
    const int8_t *x;
    int32_t groups;
    int32_t rest;
} burnc_fully_connected_s8_m0_place;

static void burnc_fully_connected_s8_m0_call(const burnc_fully_connected_s8_m0_params *params,
                                             const burnc_fully_connected_s8_m0_place *place,
                                             burnc_dot_quads_s8_m0_job *job, int32_t groups) {
    job->groups = (uint32_t)groups;
    if (groups == 0) {
        return;
    }
    if (params->is_wide != 0 || ((uintptr_t)place->x & 3u) == 0u) {
        burnc_dot_quads_s8_m0(job);
    } else {
        burnc_fully_connected_s8_m0_bytes(params, place->x, job);
    }
}

/* The next groups; of the last one not all outputs may exist. */
static void burnc_fully_connected_s8_m0_next(const burnc_fully_connected_s8_m0_params *params,
                                             burnc_fully_connected_s8_m0_place *place,
                                             burnc_dot_quads_s8_m0_job *job, int32_t groups) {
    const int32_t cut = place->rest != 0 && groups == place->groups ? 1 : 0;
    place->groups -= groups;
    burnc_fully_connected_s8_m0_call(params, place, job, groups - cut);
    if (cut != 0) {
        int8_t four[4] = {0, 0, 0, 0};
        int8_t *const y = job->y;
        job->y = four;
        burnc_fully_connected_s8_m0_call(params, place, job, 1);
        burnc_memcpy(y, four, (size_t)place->rest);
    }
}

static void burnc_fully_connected_s8_m0_row(const burnc_fully_connected_s8_m0_params *params, const int8_t *x,
                                            int8_t *y, const uint32_t *scratch) {
    const int32_t taps = params->blocks * params->block;
    const uint32_t *single = params->single;
    burnc_fully_connected_s8_m0_place place;
    burnc_dot_quads_s8_m0_job job;
    place.x = x;
    place.groups = (params->out_channels + 3) >> 2;
    place.rest = params->out_channels & 3;
    job.weights = params->weights;
    job.x = params->is_wide != 0 ? scratch : (const uint32_t *)(const void *)x;
    job.x_end = params->is_wide != 0 ? scratch + taps : (const uint32_t *)(const void *)(x + taps);
    job.starts = params->is_wide != 0 ? NULL : scratch;
    job.block = (uint32_t)params->block;
    job.scale = params->scale;
    job.offsets = params->offset;
    job.y = y;
    while (place.groups != 0) {
        burnc_fully_connected_s8_m0_next(params, &place, &job, (int32_t)*single++);
        if (place.groups != 0) {
            const uint32_t *const offsets = job.offsets;
            uint32_t sums[4];
            uint32_t count;
            burnc_memcpy(sums, offsets, sizeof sums);
            for (count = *single++; count != 0u; --count) {
                const uint32_t tap = *single++;
                sums[tap >> 24] += (uint32_t)x[(tap >> 8) & 0xffffu] * (((tap & 255u) ^ 128u) - 128u);
            }
            job.offsets = sums;
            burnc_fully_connected_s8_m0_next(params, &place, &job, 1);
            job.offsets = offsets + 4;
        }
    }
}

void burnc_fully_connected_s8_m0(const burnc_fully_connected_s8_m0_params *params, const int8_t *x, int8_t *y,
                                 uint32_t *scratch) {
    int32_t row;
    for (row = 0; row < params->batch; ++row) {
        if (params->is_wide != 0) {
            burnc_fully_connected_s8_m0_words(params->blocks * params->block, x, scratch);
        } else {
            burnc_fully_connected_s8_m0_starts(params, x, scratch);
        }
        burnc_fully_connected_s8_m0_row(params, x, y, scratch);
        x += params->depth;
        y += params->out_channels;
    }
}
