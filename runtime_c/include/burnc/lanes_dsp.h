/* SPDX-License-Identifier: 0BSD */
/* What SXTB16 and SMLAD compute, in C: for the twins of the assembly. */
#ifndef BURNC_LANES_DSP_H
#define BURNC_LANES_DSP_H

#include <stdint.h>

/* The 16 bits of a word that begin at bit `at`, with their sign. */
static inline int32_t burnc_half_dsp(uint32_t word, uint32_t at) {
    return (int32_t)(((word >> at) & 0xffffu) ^ 0x8000u) - 0x8000;
}

static inline int32_t burnc_byte_dsp(uint32_t word, uint32_t at) {
    return (int32_t)(((word >> at) & 0xffu) ^ 0x80u) - 0x80;
}

/* One row of a column that burnc_widen_s8_dsp made, times a channel's weights, which come every `stride` words. */
static inline uint32_t burnc_dot_lanes_dsp(uint32_t sum, const uint32_t *column, const uint32_t *weights,
                                           uint32_t stride, uint32_t blocks) {
    for (; blocks != 0u; --blocks) {
        uint32_t k;
        for (k = 0; k < 4u; ++k) {
            const int32_t a = burnc_half_dsp(column[k & 1u], 8u * (k & 2u));
            sum += (uint32_t)(a * burnc_byte_dsp(*weights, 8u * k));
        }
        column += 4;
        weights += stride;
    }
    return sum;
}

#endif
