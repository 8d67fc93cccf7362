/* SPDX-License-Identifier: 0BSD */
/* A chunk of pixels is packed once and then meets all weights. */
#include "burnc/conv1x1_s8_m0.h"
#include "burnc/finish_pairs_s8_m0.h"
#include "burnc/pack_pairs_s8_m0.h"
#include "burnc/pack_words_s8_m0.h"

/* Packs one pair and fills its last blocks. */
static uint32_t *burnc_conv1x1_s8_m0_pack(const burnc_conv1x1_s8_m0_params *params, uint32_t *packed,
                                          const int8_t *first, const int8_t *second) {
    uint32_t *const end = packed + 3 * params->layer->blocks;
    if (params->layer->code_words != 0) {
        return burnc_pack_words_s8_m0(packed, first, second, (uint32_t)params->in_channels, 1u, 0u);
    }
    packed = burnc_pack_pairs_s8_m0(packed, first, second, (uint32_t)params->in_channels, 1u, 0u);
    while (packed != end) {
        packed[0] = 32768u;
        packed[1] = 0u;
        packed[2] = 0u;
        packed += 3;
    }
    return packed;
}

void burnc_conv1x1_s8_m0(const burnc_conv1x1_s8_m0_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch) {
    const int32_t depth = params->in_channels;
    int32_t left = params->pixels;
    while (left > 0) {
        const int32_t pixels = left < 2 * params->chunk ? left : 2 * params->chunk;
        uint32_t *packed = scratch;
        int32_t pixel;
        for (pixel = 0; pixel < pixels; pixel += 2) {
            const int32_t both = pixel + 1 < pixels ? depth : 0;
            packed = burnc_conv1x1_s8_m0_pack(params, packed, x, x + both);
            x += depth + both;
        }
        burnc_finish_pairs_s8_m0(params->layer, scratch, pixels, y);
        y += pixels * params->layer->out_channels;
        left -= pixels;
    }
}
