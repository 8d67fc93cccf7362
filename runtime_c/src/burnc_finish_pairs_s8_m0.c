/* SPDX-License-Identifier: 0BSD */
#include "burnc/finish_pairs_s8_m0.h"
#include "burnc/dot_pairs_s8_m0.h"

static void burnc_finish_pairs_s8_m0_fixed(const burnc_pairs_layer_s8_m0_params *layer, int32_t pixels,
                                           int8_t *y) {
    int32_t pixel;
    for (pixel = 0; pixel < pixels; ++pixel) {
        int32_t i;
        for (i = 0; i < layer->fixed_count; ++i) {
            const uint32_t fixed = layer->fixed[i];
            y[fixed >> 8] = (int8_t)((int32_t)((fixed & 255u) ^ 128u) - 128);
        }
        y += layer->out_channels;
    }
}

void burnc_finish_pairs_s8_m0(const burnc_pairs_layer_s8_m0_params *layer, const uint32_t *packed,
                              int32_t pixels, int8_t *y) {
    const int32_t channels = layer->out_channels;
    const int32_t words = layer->code_words != 0 ? layer->code_words : 3 * layer->blocks;
    const int32_t even = pixels & ~1;
    burnc_dot_pairs_s8_m0_job job;
    if (layer->fixed_count != 0) {
        burnc_finish_pairs_s8_m0_fixed(layer, pixels, y);
    }
    job.packed = packed;
    job.packed_end = packed + (even >> 1) * words;
    job.pair_bytes = 4u * (uint32_t)words;
    job.weights = layer->weights;
    job.constants = layer->constants;
    job.is_code = (uint32_t)layer->code_words;
    job.channel_bytes = (uint32_t)layer->channel_bytes;
    job.triples = (uint32_t)layer->triples;
    job.doubles = (uint32_t)layer->doubles;
    job.double_bytes = 4u * (uint32_t)layer->blocks;
    job.y = y;
    job.row = (uint32_t)channels;
    job.step = (uint32_t)channels;
    if (even != 0) {
        burnc_dot_pairs_s8_m0(&job);
    }
    if (even != pixels) {
        job.packed = job.packed_end;
        job.packed_end += words;
        job.y = y + even * channels;
        job.row = 0u;
        burnc_dot_pairs_s8_m0(&job);
    }
}
