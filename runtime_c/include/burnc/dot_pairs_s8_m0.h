/* SPDX-License-Identifier: 0BSD */
/* Inner products of pairs of rows of activations with many rows of int8 weights, for cores without wide multiplies
   or SIMD (Cortex-M0, M0+): one multiply does two MACs. The idea and its proof are in docs/kernels.md.

   The activations a of a pair's first row and b of its second ride in one word, a + (b << 16) mod 2^32. Two taps make a
   block: the words {32768 - 128 * (A0 + A1), A0, A1}. A weight w is stored as the byte w + 128; the first word of
   the block takes the 128 back. So a block's sum is 32768 + w0*A0 + w1*A1 exactly, and its halves do not disturb
   each other as long as |w0| + |w1| <= 255.

   Output channels go in groups: first `triples` groups of three, then `doubles` of two. For each block the weights
   are {w0, w1} of the group's channels. A group's constants begin with a word: the distance of its first output from
   that of the group before in the upper half, that of its third and its second output from the first in the two
   bytes below. Then each channel has {low offset, offset, limit, multiplier, fraction << 8 | places, rounding}; from a
   sum they make
     t = clamp(sum + offset, 0, limit);  y = (t * multiplier + (t * fraction >> places) + rounding) >> 24
   With channel_bytes 32 they are {low offset, offset, zero, -step, limit, multiplier, fraction << 8 | places, rounding}
   and -step is added before the shift where t < zero. The low offset is the offset, what takes back the 32768s of all
   blocks, and offset << 16.

   With is_code the weights are straight-line code for each group, one behind the other, that takes the words A alone
   (codegen/straight_line.py); where the function below is C, they are the bytes w + 128, all of a tap's
   channels together. */
#ifndef BURNC_DOT_PAIRS_S8_M0_H
#define BURNC_DOT_PAIRS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly, and which weights it takes where they are code. Define
   BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DOT_PAIRS_S8_M0_ASSEMBLY 1
#define BURNC_PAIR_WEIGHTS(code, numbers) (code)
#else
#define BURNC_DOT_PAIRS_S8_M0_ASSEMBLY 0
#define BURNC_PAIR_WEIGHTS(code, numbers) (numbers)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_dot_pairs_s8_m0_job {
    const uint32_t *packed;     /* the pairs, one behind the other; at least one */
    const uint32_t *packed_end; /* behind the last */
    uint32_t pair_bytes;        /* 12 * blocks, blocks a multiple of four; with code 4 * taps */
    const uint8_t *weights;
    const uint32_t *constants;
    uint32_t is_code;
    uint32_t channel_bytes; /* of its constants: 24 or 32 */
    uint32_t triples;
    uint32_t doubles;
    uint32_t double_bytes; /* of the weights of a group of two: 4 * blocks */
    int8_t *y;     /* where the distance of the first group counts from, for the first pair's first row */
    uint32_t row;  /* distance of the outputs of a pair's second row; 0 where the rows are equal */
    uint32_t step; /* distance of the next pair's outputs from those of the second row */
} burnc_dot_pairs_s8_m0_job;

void burnc_dot_pairs_s8_m0(const burnc_dot_pairs_s8_m0_job *job);

#ifdef __cplusplus
}
#endif

#endif
