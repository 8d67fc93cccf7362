/* SPDX-License-Identifier: 0BSD */
/* What convolutions have in common whose pixels go together in pairs (burnc/dot_pairs_s8_m0.h). `fixed` lists outputs that do
   not depend on the input, {channel << 8 | byte}. */
#ifndef BURNC_PAIRS_LAYER_S8_M0_H
#define BURNC_PAIRS_LAYER_S8_M0_H

#include "burnc/dot_pairs_s8_m0.h"

typedef struct burnc_pairs_layer_s8_m0_params {
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
} burnc_pairs_layer_s8_m0_params;

#endif
