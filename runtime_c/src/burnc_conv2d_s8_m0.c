/* SPDX-License-Identifier: 0BSD */
/* A chunk of windows is packed once and then meets all weights. Rows of a window that lie inside the input are
   packed from where they lie; others are put together in a line of the scratch first. */
#include "burnc/conv2d_s8_m0.h"
#include "burnc/finish_pairs_s8_m0.h"
#include "burnc/pack_pairs_s8_m0.h"
#include "burnc/pack_words_s8_m0.h"

#include <stddef.h>

/* Where the window of an output pixel begins. */
typedef struct burnc_conv2d_s8_m0_place {
    int32_t row;
    int32_t column;
} burnc_conv2d_s8_m0_place;

/* The taps of one row of a window: in place, or put together in `line`. */
static const int8_t *burnc_conv2d_s8_m0_line(const burnc_conv2d_s8_m0_params *params, const int8_t *x,
                                             int32_t row, int32_t column, int8_t *line) {
    const burnc_window *const w = &params->window;
    const int32_t depth = params->row.channels;
    const int32_t is_inside = row >= 0 && row < w->in_h;
    int8_t *to = line;
    int32_t k;
    if (is_inside) {
        x += row * w->in_w * depth;
        if (w->dilation_w == 1 && column >= 0 && column + w->kernel_w <= w->in_w) {
            return x + column * depth;
        }
    }
    for (k = 0; k < w->kernel_w; ++k) {
        int8_t *const end = to + depth;
        if (is_inside && column >= 0 && column < w->in_w) {
            const int8_t *from = x + column * depth;
            while (to != end) {
                *to++ = *from++;
            }
        } else {
            while (to != end) {
                *to++ = (int8_t)params->row.zero_point;
            }
        }
        column += w->dilation_w;
    }
    return line;
}

/* The taps of a whole window where they lie, if it is inside the input. */
static const int8_t *burnc_conv2d_s8_m0_window(const burnc_conv2d_s8_m0_params *params, const int8_t *x,
                                               burnc_conv2d_s8_m0_place place) {
    const burnc_window *const w = &params->window;
    const int32_t is_inside = w->dilation_w == 1 && place.row >= 0 && place.column >= 0 &&
                              place.row + (w->kernel_h - 1) * w->dilation_h < w->in_h &&
                              place.column + w->kernel_w <= w->in_w;
    return is_inside ? x + (place.row * w->in_w + place.column) * params->row.channels : NULL;
}

static uint32_t *burnc_conv2d_s8_m0_pack_rows(const burnc_conv2d_s8_m0_params *params, uint32_t *packed,
                                              const int8_t *a, const int8_t *b, int32_t rows) {
    const burnc_window *const w = &params->window;
    const uint32_t taps = (uint32_t)(w->kernel_w * params->row.channels);
    const uint32_t step = (uint32_t)(w->dilation_h * w->in_w * params->row.channels);
    return params->layer->code_words != 0 ? burnc_pack_words_s8_m0(packed, a, b, taps, (uint32_t)rows, step)
                                          : burnc_pack_pairs_s8_m0(packed, a, b, taps, (uint32_t)rows, step);
}

/* Packs the windows of two pixels and fills their last blocks. */
static uint32_t *burnc_conv2d_s8_m0_pack(const burnc_conv2d_s8_m0_params *params, uint32_t *packed,
                                         const int8_t *x, burnc_conv2d_s8_m0_place first,
                                         burnc_conv2d_s8_m0_place second, int8_t *lines) {
    uint32_t *const end = packed + 3 * params->layer->blocks;
    const int8_t *a = burnc_conv2d_s8_m0_window(params, x, first);
    const int8_t *b = burnc_conv2d_s8_m0_window(params, x, second);
    if (a != NULL && b != NULL) {
        packed = burnc_conv2d_s8_m0_pack_rows(params, packed, a, b, params->window.kernel_h);
    } else {
        int8_t *const behind = lines + params->window.kernel_w * params->row.channels;
        int32_t k;
        for (k = 0; k < params->window.kernel_h; ++k) {
            a = burnc_conv2d_s8_m0_line(params, x, first.row, first.column, lines);
            b = burnc_conv2d_s8_m0_line(params, x, second.row, second.column, behind);
            packed = burnc_conv2d_s8_m0_pack_rows(params, packed, a, b, 1);
            first.row += params->window.dilation_h;
            second.row += params->window.dilation_h;
        }
    }
    while (params->layer->code_words == 0 && packed != end) {
        packed[0] = 32768u;
        packed[1] = 0u;
        packed[2] = 0u;
        packed += 3;
    }
    return packed;
}

static burnc_conv2d_s8_m0_place burnc_conv2d_s8_m0_next(const burnc_window *w,
                                                        burnc_conv2d_s8_m0_place place) {
    place.column += w->stride_w;
    if (place.column == w->out_w * w->stride_w - w->pad_left) {
        place.column = -w->pad_left;
        place.row += w->stride_h;
    }
    return place;
}

void burnc_conv2d_s8_m0(const burnc_conv2d_s8_m0_params *params, const int8_t *x, int8_t *y,
                        uint32_t *scratch) {
    const burnc_window *const w = &params->window;
    const int32_t words =
        params->layer->code_words != 0 ? params->layer->code_words : 3 * params->layer->blocks;
    int8_t *const lines = (int8_t *)(scratch + words * params->chunk);
    int32_t n;
    for (n = 0; n < w->batch; ++n) {
        burnc_conv2d_s8_m0_place place = {-w->pad_top, -w->pad_left};
        const int8_t *const image = params->padded_rows != 0 ? lines : x;
        int32_t left = w->out_h * w->out_w;
        int32_t row;
        for (row = 0; row < params->padded_rows; ++row) {
            burnc_pad_row_s8(&params->row, x, row - params->padded_rows_top,
                             lines + row * params->row.columns * params->row.channels);
        }
        while (left > 0) {
            const int32_t pixels = left < 2 * params->chunk ? left : 2 * params->chunk;
            uint32_t *packed = scratch;
            int32_t pixel;
            for (pixel = 0; pixel < pixels; pixel += 2) {
                const burnc_conv2d_s8_m0_place first = place;
                if (pixel + 1 < pixels) {
                    place = burnc_conv2d_s8_m0_next(w, place);
                }
                packed = burnc_conv2d_s8_m0_pack(params, packed, image, first, place, lines);
                place = burnc_conv2d_s8_m0_next(w, place);
            }
            burnc_finish_pairs_s8_m0(params->layer, scratch, pixels, y);
            y += pixels * params->layer->out_channels;
            left -= pixels;
        }
        x += params->row.in_h * params->row.in_w * params->row.channels;
    }
}
