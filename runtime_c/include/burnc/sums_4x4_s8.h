/* SPDX-License-Identifier: 0BSD */
/* The sums of burnc_dot_4x4_s8: four rows of activations, or one, times four channels of weights. */
#ifndef BURNC_SUMS_4X4_S8_H
#define BURNC_SUMS_4X4_S8_H

#include <stdint.h>

/* Whether the functions are those in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__riscv_mul) && (__riscv_xlen == 32) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_SUMS_4X4_S8_ASSEMBLY 1
#else
#define BURNC_SUMS_4X4_S8_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* sums[4 * row + channel] = start[channel] + the inner product, mod 2^32; weights are [taps][4], taps at least 1. */
void burnc_sums_4x4_s8(uint32_t *sums, const int32_t *start, const int8_t *const rows[4],
                       const int8_t *weights, int32_t taps);

/* The same for one row. */
void burnc_sums_1x4_s8(uint32_t *sums, const int32_t *start, const int8_t *row, const int8_t *weights,
                       int32_t taps);

#ifdef __cplusplus
}
#endif

#endif
