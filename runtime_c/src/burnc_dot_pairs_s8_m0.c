/* SPDX-License-Identifier: 0BSD */
/* The same arithmetic as burnc_dot_pairs_s8_m0.S, word for word, for every core that does not run that. */
#include "burnc/dot_pairs_s8_m0.h"

#if !BURNC_DOT_PAIRS_S8_M0_ASSEMBLY

static uint32_t burnc_dot_pairs_s8_m0_requantize(uint32_t sum, const uint32_t *constants,
                                                 uint32_t is_signed) {
    const uint32_t zero = constants[is_signed];
    const uint32_t *const scale = constants + is_signed + 1;
    uint32_t t = sum + constants[0];
    uint32_t scaled;
    if (t > scale[0]) {
        t = (t >> 31) != 0u ? 0u : scale[0];
    }
    scaled = t * scale[1] + ((t * (scale[2] >> 8)) >> (scale[2] & 255u)) + scale[3];
    if (is_signed != 0u && t < zero) {
        scaled += scale[4];
    }
    return scaled >> 24;
}

/* The bits of an int8, which a conversion would leave to the compiler. */
static int8_t burnc_dot_pairs_s8_m0_byte(uint32_t bits) {
    return (int8_t)((int32_t)(bits ^ 128u) - 128);
}

/* One channel of a group of `channels`, for one pair. */
static void burnc_dot_pairs_s8_m0_channel(const burnc_dot_pairs_s8_m0_job *job, const uint32_t *packed,
                                          const uint8_t *w, uint32_t channels, const uint32_t *constants,
                                          int8_t *y) {
    const uint32_t *const end = packed + job->pair_bytes / 4u;
    const uint32_t is_signed = job->channel_bytes == 28u ? 1u : 0u;
    uint32_t low = job->low_start;
    uint32_t high = 0u;
    for (; packed != end; packed += 3) {
        const uint32_t sum = packed[0] + packed[1] * w[0] + packed[2] * w[1];
        low += sum;
        high += (sum >> 16) - ((sum >> 15) & 0x10000u); /* its upper half with its sign */
        w += 2u * channels;
    }
    low -= high << 16;
    y[0] = burnc_dot_pairs_s8_m0_byte(burnc_dot_pairs_s8_m0_requantize(low, constants, is_signed));
    y[job->row] = burnc_dot_pairs_s8_m0_byte(burnc_dot_pairs_s8_m0_requantize(high, constants, is_signed));
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
                burnc_dot_pairs_s8_m0_channel(job, packed, weights + 2u * k, channels,
                                              constants + k * (job->channel_bytes / 4u), out + at);
            }
            out += job->row + job->step;
        }
        weights += channels == 3u ? job->pair_bytes / 2u : job->double_bytes;
        constants += channels * (job->channel_bytes / 4u);
    }
}

#endif
