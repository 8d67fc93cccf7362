/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_depthwise_rows_s8_rv32.S, for every core that does not run that. */
#include "burnc/depthwise_rows_s8_rv32.h"

#if !BURNC_RV32_ASSEMBLY

static uint32_t burnc_depthwise_rows_s8_rv32_sum(const burnc_depthwise_rows_s8_rv32_job *job,
                                                 const int8_t *const *lines, uint32_t column,
                                                 uint32_t channel) {
    const uint32_t *const record = job->records + 6u * channel;
    const uint32_t columns = (job->width - 1u) * job->stride + 3u;
    uint32_t sum = record[3];
    uint32_t k;
    for (k = 0; k < 9u; ++k) {
        const uint32_t at = column + k % 3u;
        const uint32_t is_padding = at < job->before || at + job->behind >= columns ? 1u : 0u;
        const int8_t *const x =
            is_padding != 0u ? job->padding : lines[k / 3u] + (at - job->before) * job->channels;
        const uint32_t byte = (record[k / 4u] >> (8u * (k % 4u))) & 255u;
        sum += (uint32_t)x[channel] * ((byte ^ 128u) - 128u);
    }
    return sum;
}

void burnc_depthwise_rows_s8_rv32(const burnc_depthwise_rows_s8_rv32_job *job) {
    uint32_t channel;
    for (channel = 0; channel < job->channels; ++channel) {
        const uint32_t *const record = job->records + 6u * channel;
        const uint32_t constants[4] = {record[4], record[5], (record[2] >> 8) & 0xffffu, 0u};
        int8_t *y = job->y + channel;
        uint32_t row;
        for (row = 0; row < job->rows; ++row) {
            const int8_t *const *const lines = job->lines + row * job->stride;
            uint32_t at;
            for (at = 0; at < job->width; ++at) {
                const uint32_t sum = burnc_depthwise_rows_s8_rv32_sum(job, lines, at * job->stride, channel);
                *y = burnc_requantize_rv32(sum, constants, &job->limits);
                y += job->channels;
            }
        }
    }
}

#endif
