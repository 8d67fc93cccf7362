/* SPDX-License-Identifier: 0BSD */
/* Four output pixels times up to four channels, int8, for RV32IM: one multiply does two MACs of a sum. The idea and its
   proof are in docs/kernels.md.

   Activations of two taps a, b are a word a + 129 + (b << 16), their weights v, w a word w + (v << 16), all mod 2^32.
   The upper half of the product, with its sign, is v * (a + 129) + w * b - (w < 0 ? 1 : 0), as long as that fits.
   What a v is too large by follows as an extra; the bias takes back the 129s and the ones.

   Extras are four half-words, how many each channel has, then for each {bytes from the start of the columns to the word
   of the first pixel, weight of its lower half}. Constants are four biases, then those of requantize_rv32.h of each. */
#ifndef BURNC_DOT_4X4_S8_RV32_H
#define BURNC_DOT_4X4_S8_RV32_H

#include <stdint.h>
#include "burnc/requantize_rv32.h"
#include "burnc/rv32.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. Columns and y move on, quads comes to 0. */
typedef struct burnc_dot_4x4_s8_rv32_job {
    const uint32_t *columns; /* [quads][words][4]: four pixels side by side */
    uint32_t column_bytes;   /* 16 * words; words are even */
    uint32_t quads;          /* at least 1 */
    const uint32_t *weights; /* [words][4]: four channels side by side */
    const uint16_t *extras;  /* or NULL */
    const uint32_t *constants;
    uint32_t channels; /* 1 to 4 */
    int8_t *y;
    uint32_t distances[3]; /* from a pixel's outputs to the next pixel's */
    uint32_t step;         /* from the last pixel's outputs to the next quad's first */
    burnc_limits_rv32 limits;
    uint32_t is_signed; /* 0 where every step of the constants is 0 */
} burnc_dot_4x4_s8_rv32_job;

void burnc_dot_4x4_s8_rv32(burnc_dot_4x4_s8_rv32_job *job);

#ifdef __cplusplus
}
#endif

#endif
