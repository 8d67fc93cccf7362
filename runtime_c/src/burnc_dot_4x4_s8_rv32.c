/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_dot_4x4_s8_rv32.S, for every core that does not run that. */
#include "burnc/dot_4x4_s8_rv32.h"

#if !BURNC_RV32_ASSEMBLY

#include <stddef.h>

static uint32_t burnc_dot_4x4_s8_rv32_upper(uint32_t word) {
    return (word >> 16) - ((word >> 15) & 0x10000u);
}

static uint32_t burnc_dot_4x4_s8_rv32_sum(const burnc_dot_4x4_s8_rv32_job *job, uint32_t pixel,
                                          uint32_t channel) {
    const uint32_t *const columns = job->columns + pixel;
    const uint32_t *const weights = job->weights + channel;
    uint32_t sum = job->constants[channel];
    uint32_t k;
    for (k = 0; k < job->column_bytes / 4u; k += 4u) {
        sum += burnc_dot_4x4_s8_rv32_upper(columns[k] * weights[k]);
    }
    if (job->extras != NULL) {
        const uint16_t *extra = job->extras + 4;
        for (k = 0; k < channel; ++k) {
            extra += 2u * job->extras[k];
        }
        for (k = 0; k < job->extras[channel]; ++k) {
            const uint32_t a = columns[extra[0] / 4u] & 0xffffu;
            sum += a * ((extra[1] ^ 32768u) - 32768u);
            extra += 2;
        }
    }
    return sum;
}

void burnc_dot_4x4_s8_rv32(burnc_dot_4x4_s8_rv32_job *job) {
    for (; job->quads != 0u; --job->quads) {
        uint32_t pixel;
        for (pixel = 0; pixel < 4u; ++pixel) {
            uint32_t channel;
            for (channel = 0; channel < job->channels; ++channel) {
                job->y[channel] = burnc_requantize_rv32(burnc_dot_4x4_s8_rv32_sum(job, pixel, channel),
                                                        job->constants + 4u + 4u * channel, &job->limits);
            }
            job->y += pixel < 3u ? job->distances[pixel] : job->step;
        }
        job->columns += job->column_bytes / 4u;
    }
}

#endif
