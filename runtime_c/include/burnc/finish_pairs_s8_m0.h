/* SPDX-License-Identifier: 0BSD */
/* The outputs of a few pixels of a convolution whose windows are packed in pairs (burnc/dot_pairs_s8_m0.h): pixel 0
   with 1, 2 with 3 and so on; an odd last one is packed with itself. Outputs that do not depend on the input
   are written from a list of {channel << 8 | byte}. */
#ifndef BURNC_FINISH_PAIRS_S8_M0_H
#define BURNC_FINISH_PAIRS_S8_M0_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_pairs_layer_s8_m0 {
    int32_t out_channels;
    int32_t blocks;        /* of a pair: a multiple of four ... */
    int32_t code_words;    /* ... or, with straight-line code for weights, words of a pair, else 0 */
    int32_t triples;       /* groups of three channels ... */
    int32_t doubles;       /* ... and of two behind them */
    int32_t channel_bytes; /* of a channel's constants */
    int32_t fixed_count;
    const uint8_t *weights;    /* [triples][blocks][3][2], [doubles][blocks][2][2]: w + 128. Or code. */
    const uint32_t *constants; /* for each group its head, then those of its channels */
    const uint32_t *fixed;     /* [fixed_count] */
} burnc_pairs_layer_s8_m0;

/* y is [pixels][out_channels]. */
void burnc_finish_pairs_s8_m0(const burnc_pairs_layer_s8_m0 *layer, const uint32_t *packed, int32_t pixels,
                              int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
