/* SPDX-License-Identifier: 0BSD */
/* The same sums as burnc_depthwise_pairs_s8_m0.S, for every core that does not run that. */
#include "burnc/depthwise_pairs_s8_m0.h"

#if !BURNC_DEPTHWISE_PAIRS_S8_M0_ASSEMBLY

typedef struct burnc_depthwise_pairs_s8_m0_sums {
    uint32_t upper; /* b's, exact */
    uint32_t whole;
} burnc_depthwise_pairs_s8_m0_sums;

static uint32_t burnc_depthwise_pairs_s8_m0_asr(uint32_t word, uint32_t places) {
    return (word >> places) | (0u - ((word >> 31) << (32u - places)));
}

/* One run of the input, or of padding, goes into the plane. */
static void burnc_depthwise_pairs_s8_m0_pack(const burnc_depthwise_pairs_s8_m0_params *layer, const int8_t *x,
                                             int32_t run, uint32_t *to) {
    const uint32_t padding = (uint32_t)layer->padding;
    uint32_t i;
    if ((uint32_t)run >= layer->in_runs) {
        for (i = 0; i < layer->length + 2u; ++i) {
            *to++ = padding + (padding << 16);
        }
        return;
    }
    x += (uint32_t)run * layer->x_run;
    if (layer->pad_before != 0u) {
        *to++ = padding + ((uint32_t)x[layer->x_shift - layer->x_step] << 16);
    }
    for (i = 0; i < layer->whole_pairs; ++i) {
        *to++ = (uint32_t)*x + ((uint32_t)x[layer->x_shift] << 16);
        x += layer->x_step;
    }
    if (layer->pad_after != 0u) {
        *to++ = (uint32_t)*x + (padding << 16);
    }
}

/* Byte k of a word as a signed number, sign bits above it. */
static uint32_t burnc_depthwise_pairs_s8_m0_weight(uint32_t word, uint32_t k) {
    const uint32_t byte = (word >> (8u * k)) & 255u;
    return (byte ^ 128u) - 128u;
}

/* Sums of the pair whose windows begin at `words`, in blocks of `taps`. */
static burnc_depthwise_pairs_s8_m0_sums burnc_depthwise_pairs_s8_m0_sum(const uint32_t *record, uint32_t taps,
                                                                        const uint32_t *words, uint32_t run) {
    burnc_depthwise_pairs_s8_m0_sums sums = {0u, 0u};
    uint32_t block = 32768u;
    uint32_t k;
    for (k = 0; k < 9u; ++k) {
        block += burnc_depthwise_pairs_s8_m0_weight(record[k / 3u], k % 3u) * words[k / 3u * run + k % 3u];
        if (k == 8u || k % taps == taps - 1u) {
            sums.upper += burnc_depthwise_pairs_s8_m0_asr(block, 16u);
            sums.whole += block - 32768u;
            block = 32768u;
        }
    }
    return sums;
}

static int8_t burnc_depthwise_pairs_s8_m0_scale(uint32_t sum, const uint32_t *record) {
    const uint32_t fraction = (record[1] >> 24) + ((record[2] >> 24) << 8);
    uint32_t t = sum + record[3];
    uint32_t scaled;
    if (t > record[4]) {
        t = (t >> 31) != 0u ? 0u : record[4];
    }
    scaled = t * record[5] + ((t * fraction) >> ((record[0] >> 24) & 127u)) + record[6];
    return (int8_t)((int32_t)((scaled >> 24) ^ 128u) - 128);
}

static void burnc_depthwise_pairs_s8_m0_run(const burnc_depthwise_pairs_s8_m0_params *layer,
                                            const uint32_t *record, const uint32_t *words, int8_t *y) {
    const uint32_t taps = (record[0] >> 31) != 0u ? 2u : 3u;
    uint32_t i;
    for (i = 0; i < layer->length; ++i) {
        const burnc_depthwise_pairs_s8_m0_sums sums =
            burnc_depthwise_pairs_s8_m0_sum(record, taps, words + i, layer->length + 2u);
        y[0] = burnc_depthwise_pairs_s8_m0_scale(sums.whole - (sums.upper << 16), record);
        y[layer->y_shift] = burnc_depthwise_pairs_s8_m0_scale(sums.upper, record);
        y += layer->y_step;
    }
}

void burnc_depthwise_pairs_s8_m0(const burnc_depthwise_pairs_s8_m0_params *layer, const int8_t *x, int8_t *y,
                                 uint32_t *plane) {
    const uint32_t words = layer->length + 2u;
    uint32_t channel;
    for (channel = 0; channel < layer->channels; ++channel) {
        int32_t packed = layer->first_run;
        uint32_t row = 0u; /* of the plane, that the next run goes to */
        uint32_t run = 0u;
        while (run < layer->out_runs) {
            const uint32_t left = layer->out_runs - run;
            const uint32_t runs = left < layer->runs_at_once ? left : layer->runs_at_once;
            uint32_t i;
            for (; row < runs + 2u; ++row) {
                burnc_depthwise_pairs_s8_m0_pack(layer, x + channel, packed, plane + row * words);
                ++packed;
            }
            for (i = 0; i < runs; ++i) {
                burnc_depthwise_pairs_s8_m0_run(layer, layer->records + 7u * channel, plane + i * words,
                                                y + channel + run * layer->y_run);
                ++run;
            }
            for (i = 0; i < 2u * words; ++i) {
                plane[i] = plane[runs * words + i];
            }
            row = 2u;
        }
    }
}

#endif
