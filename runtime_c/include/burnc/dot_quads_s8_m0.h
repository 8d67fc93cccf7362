/* SPDX-License-Identifier: 0BSD */
/* Inner products of one row of activations with four rows of int8 weights, for Cortex-M0 and M0+: one multiply does two
   MACs. The idea and its proof are in docs/kernels.md.

   The weights of a tap are one word, the bytes {w0 + 128, w2 + 128, w1 + 128, w3 + 128} from the lowest upwards. Its
   even bytes, 16 bits apart, times an activation are two products, its odd bytes two more. Blocks of `block` taps
   are summed from a start that takes the 128s back and puts the lower half in the middle of its range:
   (32768 - 128 * sum of a) - (128 * sum of a << 16) mod 2^32. Halves do not disturb each other as long as the sum
   of |w| in a block is at most 255 for each of the four.

   Without starts the weights of a tap are two words, w0 + (w1 << 16) and w2 + (w3 << 16) mod 2^32, each activation is a
   word, and blocks start at 32768. That is quicker and takes twice the flash. */
#ifndef BURNC_DOT_QUADS_S8_M0_H
#define BURNC_DOT_QUADS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DOT_QUADS_S8_M0_ASSEMBLY 1
#else
#define BURNC_DOT_QUADS_S8_M0_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. Weights, offsets and y move on, groups comes to 0. */
typedef struct burnc_dot_quads_s8_m0_job {
    const uint32_t *weights;
    const uint32_t *x;      /* activations, four in a word; without starts one in a word */
    const uint32_t *starts; /* of the blocks, or NULL */
    const uint32_t *x_end;  /* at least one block behind x, a whole number of blocks and of words */
    uint32_t block;         /* 2, 4, 8 or a multiple of 16; without starts 2, 4, 8, 16 or 32 */
    const uint32_t *scale;
    const uint32_t *offsets; /* four for each group; of outputs 0 and 2 less 32768 for each block */
    int8_t *y;
    uint32_t groups; /* of four outputs, at least 1 */
} burnc_dot_quads_s8_m0_job;

/* `scale` is {limit, multiplier, fraction, places, rounding, zero, step}. From a sum these make
   t = clamp(sum, 0, limit) and the byte
   (t * multiplier + (t * fraction >> places) + rounding - (t < zero ? step : 0)) >> 24.  */
static inline int8_t burnc_scale_sum_s8_m0(const uint32_t *scale, uint32_t t) {
    uint32_t scaled;
    if (t > scale[0]) {
        t = (t >> 31) != 0u ? 0u : scale[0];
    }
    scaled = t * scale[1] + ((t * scale[2]) >> scale[3]) + scale[4];
    if (t < scale[5]) {
        scaled -= scale[6];
    }
    return (int8_t)((int32_t)((scaled >> 24) ^ 128u) - 128);
}

void burnc_dot_quads_s8_m0(burnc_dot_quads_s8_m0_job *job);

#ifdef __cplusplus
}
#endif

#endif
