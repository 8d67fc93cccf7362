/* SPDX-License-Identifier: 0BSD */
/* Windows of whole words are widened from where they lie, others by way of a copy. */
#include "burnc/conv2d_s8_rv32.h"
#include <stddef.h>
#include "burnc/copy_window_s8.h"
#include "burnc/dot_4x4_s8_rv32.h"

/* From a + 128 (0 to 255) in both halves to a + 129 and a. */
#define BURNC_CONV2D_S8_RV32_SHIFT 0xff800001u

typedef struct burnc_conv2d_s8_rv32_place {
    const burnc_conv2d_s8_rv32_params *params;
    burnc_copy_window_s8_image image;
    int32_t top;
    int32_t left;
    int8_t *copy;
} burnc_conv2d_s8_rv32_place;

static uint32_t *burnc_conv2d_s8_rv32_widen_word(uint32_t *column, uint32_t word) {
    word ^= 0x80808080u;
    column[0] = (word & 0x00ff00ffu) + BURNC_CONV2D_S8_RV32_SHIFT;
    column[4] = ((word >> 8) & 0x00ff00ffu) + BURNC_CONV2D_S8_RV32_SHIFT;
    return column + 8;
}

/* `taps` bytes, a multiple of 4, from an address that is one of a word. */
static uint32_t *burnc_conv2d_s8_rv32_widen(uint32_t *column, const int8_t *x, int32_t taps) {
    const uint32_t *word = (const uint32_t *)(const void *)x;
    const uint32_t *const end = word + taps / 4;
    while (word != end) {
        column = burnc_conv2d_s8_rv32_widen_word(column, *word++);
    }
    return column;
}

static uint32_t *burnc_conv2d_s8_rv32_pad(uint32_t *column, int32_t zero_point, int32_t taps) {
    const uint32_t word = ((uint32_t)zero_point & 255u) * 0x01010101u;
    for (; taps > 0; taps -= 4) {
        column = burnc_conv2d_s8_rv32_widen_word(column, word);
    }
    return column;
}

/* The window where pixels are whole words. */
static void burnc_conv2d_s8_rv32_words(const burnc_conv2d_s8_rv32_place *place, uint32_t *column) {
    const burnc_window *const w = place->image.window;
    const int32_t depth = place->image.channels;
    const int32_t has_whole_rows = place->left >= 0 && place->left + w->kernel_w <= w->in_w ? 1 : 0;
    int32_t y = place->top;
    int32_t k;
    for (k = 0; k < w->kernel_h; ++k) {
        const int32_t at = (y * w->in_w + place->left) * depth;
        if (y < 0 || y >= w->in_h) {
            column = burnc_conv2d_s8_rv32_pad(column, place->image.zero_point, w->kernel_w * depth);
        } else if (has_whole_rows != 0) {
            column = burnc_conv2d_s8_rv32_widen(column, place->image.x + at, w->kernel_w * depth);
        } else {
            int32_t l;
            for (l = 0; l < w->kernel_w; ++l) {
                column = place->left + l >= 0 && place->left + l < w->in_w
                             ? burnc_conv2d_s8_rv32_widen(column, place->image.x + (at + l * depth), depth)
                             : burnc_conv2d_s8_rv32_pad(column, place->image.zero_point, depth);
            }
        }
        y += w->dilation_h;
    }
}

static void burnc_conv2d_s8_rv32_column(const burnc_conv2d_s8_rv32_place *place, uint32_t *column) {
    if (place->copy == NULL) {
        burnc_conv2d_s8_rv32_words(place, column);
    } else {
        burnc_copy_window_s8(&place->image, place->top, place->left, place->copy);
        (void)burnc_conv2d_s8_rv32_widen(column, place->copy, 2 * place->params->words);
    }
}

static void burnc_conv2d_s8_rv32_weights(uint32_t *widened, const uint32_t *weights, int32_t words) {
    const uint32_t *const end = weights + 2 * words;
    while (weights != end) {
        int32_t k;
        for (k = 0; k < 4; ++k) {
            const uint32_t word = *weights++;
            widened[k] = (word & 0x00ff00ffu) - 0x00800080u;
            widened[4 + k] = ((word >> 8) & 0x00ff00ffu) - 0x00800080u;
        }
        widened += 8;
    }
}

/* All channels of the pixels whose columns lie behind the room for weights. */
static void burnc_conv2d_s8_rv32_chunk(const burnc_conv2d_s8_rv32_params *params, uint32_t *scratch,
                                       int32_t pixels, int8_t *y) {
    const int32_t channels = params->out_channels;
    const int32_t rest = pixels & 3;
    const uint16_t *extras = params->extras;
    burnc_dot_4x4_s8_rv32_job job;
    int32_t at;
    job.column_bytes = 16u * (uint32_t)params->words;
    job.weights = scratch;
    job.constants = params->constants;
    job.step = (uint32_t)channels;
    job.limits = params->limits;
    job.is_signed = (uint32_t)params->is_signed;
    for (at = 0; at < channels; at += 4) {
        burnc_conv2d_s8_rv32_weights(scratch, params->weights + at / 2 * params->words, params->words);
        job.columns = scratch + 4 * params->words;
        job.extras = extras[0] != 0u ? extras + 1 : NULL;
        job.channels = (uint32_t)(channels - at < 4 ? channels - at : 4);
        job.y = y + at;
        job.quads = (uint32_t)pixels / 4u;
        job.distances[0] = (uint32_t)channels;
        job.distances[1] = (uint32_t)channels;
        job.distances[2] = (uint32_t)channels;
        if (job.quads != 0u) {
            burnc_dot_4x4_s8_rv32(&job);
        }
        if (rest != 0) {
            job.quads = 1u;
            job.distances[0] = (uint32_t)(rest > 1 ? channels : 0);
            job.distances[1] = (uint32_t)(rest > 2 ? channels : 0);
            job.distances[2] = 0u;
            burnc_dot_4x4_s8_rv32(&job);
        }
        extras += 1 + extras[0];
        job.constants += 20;
    }
}

void burnc_conv2d_s8_rv32(const burnc_conv2d_s8_rv32_params *params, const int8_t *x, int8_t *y,
                          uint32_t *scratch) {
    const burnc_window *const w = &params->window;
    uint32_t *const columns = scratch + 4 * params->words;
    const int32_t has_words =
        ((uint32_t)params->in_channels & 3u) == 0u && ((uintptr_t)x & 3u) == 0u && w->dilation_w == 1 ? 1 : 0;
    burnc_conv2d_s8_rv32_place place;
    int32_t n;
    place.params = params;
    place.copy = has_words != 0 ? NULL : (int8_t *)(columns + params->chunk * params->words);
    place.image.window = w;
    place.image.x = x;
    place.image.channels = params->in_channels;
    place.image.zero_point = params->input_zero_point;
    for (n = 0; n < w->batch; ++n) {
        int32_t column = 0;
        int32_t left;
        place.top = -w->pad_top;
        place.left = -w->pad_left;
        for (left = w->out_h * w->out_w; left > 0; left -= params->chunk) {
            const int32_t pixels = left < params->chunk ? left : params->chunk;
            int32_t i;
            for (i = 0; i < ((pixels + 3) & ~3); ++i) { /* the last one again until there are four */
                burnc_conv2d_s8_rv32_column(&place, columns + (i & ~3) * params->words + (i & 3));
                if (i + 1 < left) {
                    place.left += w->stride_w;
                    if (++column == w->out_w) {
                        column = 0;
                        place.left = -w->pad_left;
                        place.top += w->stride_h;
                    }
                }
            }
            burnc_conv2d_s8_rv32_chunk(params, scratch, pixels, y);
            y += pixels * params->out_channels;
        }
        place.image.x += w->in_h * w->in_w * params->in_channels;
    }
}
