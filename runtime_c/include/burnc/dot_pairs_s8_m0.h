/* SPDX-License-Identifier: 0BSD */
/* Inner products of two rows of activations with many rows of int8 weights, for cores without wide multiplies
   or SIMD (Cortex-M0, M0+): one multiply does two MACs. The idea and its proof are in docs/kernels.md.

   The activations a of the first row and b of the second ride in one word, a + (b << 16) mod 2^32. Two taps make a
   block: the words {32768 - 128 * (A0 + A1), A0, A1}. A weight w is stored as the byte w + 128; the first word of
   the block takes the 128 back. So a block's sum is 32768 + w0*A0 + w1*A1 exactly, and its halves do not disturb
   each other as long as |w0| + |w1| <= 255.

   Output channels go in groups of three. For each block the weights are {w0, w1} of the three channels. From a sum a
   channel's constants {offset, limit, multiplier, fraction << 8 | places, rounding} make
     t = clamp(sum + offset, 0, limit);  y = (t * multiplier + (t * fraction >> places) + rounding) >> 24
   Where is_signed is 1 they are {offset, zero, limit, multiplier, fraction << 8 | places, rounding, -step}, and -step
   is added before the shift where t < zero. */
#ifndef BURNC_DOT_PAIRS_S8_M0_H
#define BURNC_DOT_PAIRS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DOT_PAIRS_S8_M0_ASSEMBLY 1
#else
#define BURNC_DOT_PAIRS_S8_M0_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the offsets of these fields. */
typedef struct burnc_dot_pairs_s8_m0_job {
    const uint32_t *packed; /* blocks of three words, a multiple of four of them */
    const uint8_t *weights; /* moves on behind what was used */
    uint32_t low_start;     /* -32768 * blocks mod 2^32 */
    const uint32_t *packed_end;
    const uint32_t *constants; /* moves on, too */
    uint32_t is_signed;
    uint32_t groups; /* at least 1; counts down to 0 */
    int8_t *y0;      /* three outputs of a group for the first row, those of the next group behind them */
    int8_t *y1;      /* the same for the second row; may be y0 where the rows are equal */
} burnc_dot_pairs_s8_m0_job;

void burnc_dot_pairs_s8_m0(burnc_dot_pairs_s8_m0_job *job);

#ifdef __cplusplus
}
#endif

#endif
