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

void burnc_dot_pairs_s8_m0(burnc_dot_pairs_s8_m0_job *job) {
    for (; job->groups != 0u; --job->groups) {
        const uint8_t *w = job->weights;
        int32_t channel;
        for (channel = 0; channel < 3; ++channel) {
            const uint32_t *packed = job->packed;
            uint32_t low = job->low_start;
            uint32_t high = 0u;
            w = job->weights + 2 * channel;
            while (packed != job->packed_end) {
                const uint32_t sum = packed[0] + packed[1] * w[0] + packed[2] * w[1];
                low += sum;
                high += (sum >> 16) - ((sum >> 15) & 0x10000u); /* its upper half with its sign */
                packed += 3;
                w += 6;
            }
            low -= high << 16;
            job->y0[channel] = burnc_dot_pairs_s8_m0_byte(
                burnc_dot_pairs_s8_m0_requantize(low, job->constants, job->is_signed));
            job->y1[channel] = burnc_dot_pairs_s8_m0_byte(
                burnc_dot_pairs_s8_m0_requantize(high, job->constants, job->is_signed));
            job->constants += job->is_signed != 0u ? 7 : 5;
        }
        job->weights = w - 4;
        job->y0 += 3;
        job->y1 += 3;
    }
}

#endif
