/* SPDX-License-Identifier: 0BSD */
/* Rows of a window that lie inside the image are widened from there, others by way of a copy that has the padding. A
   kernel of one tap looks at every pixel in turn and needs no window. A chunk of pixels meets two channels at a time. */
#include "burnc/conv2d_s8_dsp.h"
#include "burnc/dot_2x2_s8_dsp.h"
#include "burnc/widen_s8_dsp.h"

/* Where the convolution stands: the columns of a pixel are ready, or it is the next one's turn. */
typedef struct burnc_conv2d_s8_dsp_place {
    const burnc_conv2d_s8_dsp_params *params;
    const int8_t *image;
    int32_t top;
    int32_t left;
    int8_t *copy;
} burnc_conv2d_s8_dsp_place;

/* Row y of the image as the window sees it, into the copy. */
static void burnc_conv2d_s8_dsp_copy_row(const burnc_conv2d_s8_dsp_place *place, int32_t y) {
    const burnc_window *const window = &place->params->window;
    const int32_t depth = place->params->in_channels;
    const int8_t padding = (int8_t)place->params->input_zero_point;
    int8_t *to = place->copy;
    int32_t l;
    for (l = 0; l < window->kernel_w; ++l) {
        const int32_t x = place->left + l;
        int8_t *const end = to + depth;
        if (y >= 0 && y < window->in_h && x >= 0 && x < window->in_w) {
            const int8_t *from = place->image + (y * window->in_w + x) * depth;
            while (to != end) {
                *to++ = *from++;
            }
        } else {
            while (to != end) {
                *to++ = padding;
            }
        }
    }
}

static void burnc_conv2d_s8_dsp_column(const burnc_conv2d_s8_dsp_place *place, uint32_t *column) {
    const burnc_window *const window = &place->params->window;
    const int32_t depth = place->params->in_channels;
    const uint32_t taps = (uint32_t)(window->kernel_w * depth);
    const int32_t is_inside = place->left >= 0 && place->left + window->kernel_w <= window->in_w ? 1 : 0;
    const int8_t *row = place->image + (place->top * window->in_w + place->left) * depth;
    int32_t y = place->top;
    int32_t k;
    for (k = 0; k < window->kernel_h; ++k) {
        if (is_inside != 0 && y >= 0 && y < window->in_h) {
            column = burnc_widen_s8_dsp(column, row, taps);
        } else {
            burnc_conv2d_s8_dsp_copy_row(place, y);
            column = burnc_widen_s8_dsp(column, place->copy, taps);
        }
        y += window->dilation_h;
        row += window->dilation_h * window->in_w * depth;
    }
}

/* All channels of the pixels whose columns lie behind the room for weights. */
static void burnc_conv2d_s8_dsp_chunk(const burnc_conv2d_s8_dsp_params *params, uint32_t *scratch,
                                      int32_t pixels, int8_t *y) {
    const uint32_t taps = 4u * (uint32_t)params->blocks;
    const int32_t channels = params->out_channels;
    const int8_t *weights = params->weights;
    burnc_dot_2x2_s8_dsp_job job;
    int32_t at;
    job.weights = scratch;
    job.blocks = (uint32_t)params->blocks;
    job.constants = params->constants;
    job.step = (uint32_t)channels;
    job.limits = params->limits;
    for (at = 0; at < channels; at += 2) {
        job.second = at + 1 < channels ? 1u : 0u;
        (void)burnc_widen_s8_dsp(scratch, weights, taps);
        (void)burnc_widen_s8_dsp(scratch + 2, weights + job.second * taps, taps);
        job.columns = scratch + taps;
        job.y = y + at;
        job.distance = (uint32_t)channels;
        job.pairs = (uint32_t)pixels / 2u;
        if (job.pairs != 0u) {
            burnc_dot_2x2_s8_dsp(&job);
        }
        if (((uint32_t)pixels & 1u) != 0u) {
            job.columns += job.pairs * taps;
            job.y += 2u * job.pairs * (uint32_t)channels;
            job.distance = 0u;
            job.pairs = 1u;
            burnc_dot_2x2_s8_dsp(&job);
        }
        weights += 2u * taps;
        job.constants += 10;
    }
}

static void burnc_conv2d_s8_dsp_image(const burnc_conv2d_s8_dsp_params *params, const int8_t *x, int8_t *y,
                                      uint32_t *scratch) {
    const burnc_window *const window = &params->window;
    uint32_t *const columns = scratch + 4 * params->blocks;
    burnc_conv2d_s8_dsp_place place;
    int32_t at = 0;
    int32_t left;
    place.params = params;
    place.image = x;
    place.top = -window->pad_top;
    place.left = -window->pad_left;
    place.copy = (int8_t *)(columns + 2 * params->chunk * params->blocks);
    for (left = window->out_h * window->out_w; left > 0; left -= params->chunk) {
        const int32_t pixels = left < params->chunk ? left : params->chunk;
        int32_t i;
        for (i = 0; i < ((pixels + 1) & ~1); ++i) { /* the last one again where they are odd */
            burnc_conv2d_s8_dsp_column(&place, columns + (i & ~1) * 2 * params->blocks + 2 * (i & 1));
            if (i + 1 < left) {
                place.left += window->stride_w;
                if (++at == window->out_w) {
                    at = 0;
                    place.left = -window->pad_left;
                    place.top += window->stride_h;
                }
            }
        }
        burnc_conv2d_s8_dsp_chunk(params, scratch, pixels, y);
        y += pixels * params->out_channels;
    }
}

static void burnc_conv2d_s8_dsp_pointwise(const burnc_conv2d_s8_dsp_params *params, const int8_t *x,
                                          int8_t *y, uint32_t *scratch) {
    const uint32_t depth = (uint32_t)params->in_channels;
    int32_t left = params->window.batch * params->window.in_h * params->window.in_w;
    for (; left > 0; left -= params->chunk) {
        const int32_t pixels = left < params->chunk ? left : params->chunk;
        uint32_t *columns = scratch + 4 * params->blocks;
        int32_t i;
        for (i = 0; i < pixels; i += 2) {
            (void)burnc_widen_s8_dsp(columns, x, depth);
            x += i + 1 < pixels ? depth : 0u;
            (void)burnc_widen_s8_dsp(columns + 2, x, depth);
            x += depth;
            columns += 4 * params->blocks;
        }
        burnc_conv2d_s8_dsp_chunk(params, scratch, pixels, y);
        y += pixels * params->out_channels;
    }
}

void burnc_conv2d_s8_dsp(const burnc_conv2d_s8_dsp_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch) {
    const burnc_window *const window = &params->window;
    int32_t n;
    if (burnc_window_is_pointwise(window) != 0) {
        burnc_conv2d_s8_dsp_pointwise(params, x, y, scratch);
        return;
    }
    for (n = 0; n < window->batch; ++n) {
        burnc_conv2d_s8_dsp_image(params, x, y, scratch);
        x += window->in_h * window->in_w * params->in_channels;
        y += window->out_h * window->out_w * params->out_channels;
    }
}
