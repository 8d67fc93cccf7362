/* SPDX-License-Identifier: 0BSD */
/* The same sums as burnc_depthwise_rows_s8_m0.S, for every core that does not run that. */
#include "burnc/depthwise_rows_s8_m0.h"

#if !BURNC_DEPTHWISE_ROWS_S8_M0_ASSEMBLY

/* Byte k of a word as a signed number, sign bits above it. */
static uint32_t burnc_depthwise_rows_s8_m0_weight(uint32_t word, uint32_t k) {
    const uint32_t byte = (word >> (8u * k)) & 255u;
    return (byte ^ 128u) - 128u;
}

static int8_t burnc_depthwise_rows_s8_m0_requantize(uint32_t sum, const uint32_t *record) {
    const uint32_t fraction = (record[1] >> 24) + ((record[2] >> 24) << 8);
    uint32_t t = sum + record[3];
    uint32_t scaled;
    if (t > record[4]) {
        t = (t >> 31) != 0u ? 0u : record[4];
    }
    scaled = t * record[5] + ((t * fraction) >> (record[0] >> 24)) + record[6];
    return (int8_t)((int32_t)((scaled >> 24) ^ 128u) - 128);
}

void burnc_depthwise_rows_s8_m0(const burnc_depthwise_rows_s8_m0_job *job) {
    const uint32_t line = ((job->width - 1u) * job->stride + 2u) * job->channels;
    uint32_t channel;
    for (channel = 0; channel < job->channels; ++channel) {
        const uint32_t *const record = job->records + 7u * channel;
        int8_t *y = job->y + channel;
        uint32_t row;
        for (row = 0; row < job->rows; ++row) {
            const uint32_t *const ends = job->ends + row * job->stride;
            uint32_t at = channel;
            uint32_t column;
            for (column = 0; column < job->width; ++column) {
                uint32_t sum = 0u;
                uint32_t k;
                for (k = 0; k < 9u; ++k) {
                    const int8_t *const x = job->x + (ends[k / 3u] - line) + at + (k % 3u) * job->channels;
                    sum += (uint32_t)*x * burnc_depthwise_rows_s8_m0_weight(record[k / 3u], k % 3u);
                }
                *y = burnc_depthwise_rows_s8_m0_requantize(sum, record);
                y += job->channels;
                at += job->stride * job->channels;
            }
        }
    }
}

#endif
