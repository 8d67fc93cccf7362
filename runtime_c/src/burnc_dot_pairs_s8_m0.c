/* SPDX-License-Identifier: 0BSD */
/* The same arithmetic as burnc_dot_pairs_s8_m0.S, word for word, for every core that does not run that. */
#include "burnc/dot_pairs_s8_m0.h"

#if !BURNC_DOT_PAIRS_S8_M0_ASSEMBLY

/* The byte of a sum that has its offset; `constants` are those behind the offsets. */
static int8_t burnc_dot_pairs_s8_m0_requantize(uint32_t t, const uint32_t *constants, uint32_t is_signed) {
    const uint32_t *const scale = constants + 2u * is_signed;
    uint32_t scaled;
    if (t > scale[0]) {
        t = (t >> 31) != 0u ? 0u : scale[0];
    }
    scaled = t * scale[1] + ((t * (scale[2] >> 8)) >> (scale[2] & 255u)) + scale[3];
    if (is_signed != 0u && t < constants[0]) {
        scaled += constants[1];
    }
    return (int8_t)((int32_t)((scaled >> 24) ^ 128u) -
                    128); /* the bits, which a conversion would leave to the compiler */
}

/* A word's upper half with its sign. */
static uint32_t burnc_dot_pairs_s8_m0_upper(uint32_t word) {
    return (word >> 16) - ((word >> 15) & 0x10000u);
}

/* The two sums of one channel of a group of `channels`, with their offsets. */
static void burnc_dot_pairs_s8_m0_blocks(const uint32_t *packed, const uint32_t *end, const uint8_t *w,
                                         uint32_t channels, const uint32_t *constants, uint32_t sums[2]) {
    uint32_t low = constants[0];
    uint32_t high = constants[1];
    for (; packed != end; packed += 3) {
        const uint32_t sum = packed[0] + packed[1] * w[0] + packed[2] * w[1];
        low += sum;
        high += burnc_dot_pairs_s8_m0_upper(sum);
        w += 2u * channels;
    }
    sums[0] = low - (high << 16);
    sums[1] = high;
}

/* The same from single taps. */
static void burnc_dot_pairs_s8_m0_taps(const uint32_t *packed, const uint32_t *end, const uint8_t *w,
                                       uint32_t channels, const uint32_t *constants, uint32_t sums[2]) {
    sums[0] = constants[1];
    sums[1] = constants[1];
    for (; packed != end; ++packed) {
        const uint32_t low = ((*packed & 0xffffu) ^ 32768u) - 32768u;
        sums[0] += low * (*w - 128u);
        sums[1] += burnc_dot_pairs_s8_m0_upper(*packed - low) * (*w - 128u);
        w += channels;
    }
}

static void burnc_dot_pairs_s8_m0_channel(const burnc_dot_pairs_s8_m0_job *job, const uint32_t *packed,
                                          const uint8_t *weights, uint32_t channel, uint32_t channels,
                                          const uint32_t *constants, int8_t *y) {
    const uint32_t *const end = packed + job->pair_bytes / 4u;
    const uint32_t is_signed = job->channel_bytes == 32u ? 1u : 0u;
    uint32_t sums[2];
    if (job->is_code != 0u) {
        burnc_dot_pairs_s8_m0_taps(packed, end, weights + channel, channels, constants, sums);
    } else {
        burnc_dot_pairs_s8_m0_blocks(packed, end, weights + 2u * channel, channels, constants, sums);
    }
    y[0] = burnc_dot_pairs_s8_m0_requantize(sums[0], constants + 2, is_signed);
    y[job->row] = burnc_dot_pairs_s8_m0_requantize(sums[1], constants + 2, is_signed);
}

void burnc_dot_pairs_s8_m0(const burnc_dot_pairs_s8_m0_job *job) {
    const uint32_t groups = job->triples + job->doubles;
    const uint8_t *weights = job->weights;
    const uint32_t *constants = job->constants;
    int8_t *y = job->y;
    uint32_t group;
    for (group = 0; group < groups; ++group) {
        const uint32_t channels = group < job->triples ? 3u : 2u;
        const uint32_t head = *constants++;
        const uint32_t *packed;
        int8_t *out;
        y += head >> 16;
        out = y;
        for (packed = job->packed; packed != job->packed_end; packed += job->pair_bytes / 4u) {
            uint32_t k;
            for (k = 0; k < channels; ++k) {
                const uint32_t at = k == 0u ? 0u : (head >> (k == 1u ? 0u : 8u)) & 255u;
                burnc_dot_pairs_s8_m0_channel(job, packed, weights, k, channels,
                                              constants + k * (job->channel_bytes / 4u), out + at);
            }
            out += job->row + job->step;
        }
        if (job->is_code != 0u) {
            weights += channels * (job->pair_bytes / 4u);
        } else {
            weights += channels == 3u ? job->pair_bytes / 2u : job->double_bytes;
        }
        constants += channels * (job->channel_bytes / 4u);
    }
}

#endif
