/* SPDX-License-Identifier: 0BSD */
/* With one output a channel, four neighbouring channels go together: first the part of the window inside the
   input, then up to four strips outside, whose taps see the zero point because the bias assumes that every
   tap is there. The last block steps back to end at the last channel, so that nothing is read beyond it.
   Other shapes go channel by channel. */
#include <stdbool.h>

#include "burnc/depthwise_conv2d_s8.h"
#include "burnc/fixed_point.h"
#include "burnc/patch4_s8.h"

/* One output pixel: which taps lie inside, and the input offset of the first of them. */
typedef struct burnc_depthwise_conv2d_s8_pixel {
    burnc_taps rows;
    burnc_taps columns;
    int32_t offset;
} burnc_depthwise_conv2d_s8_pixel;

static int8_t burnc_depthwise_conv2d_s8_output(const burnc_depthwise_conv2d_s8_params *params, uint32_t acc,
                                               int32_t o) {
    const int32_t scaled = burnc_requantize((int32_t)acc, params->multiplier[o], params->shift[o]);
    return (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point), params->activation_min,
                               params->activation_max);
}

/* Adds zero_point * weight for rows x columns taps outside; w points at the first. */
static void burnc_depthwise_conv2d_s8_outside(const burnc_depthwise_conv2d_s8_params *params, uint32_t *acc,
                                              const int8_t *w, int32_t rows, int32_t columns) {
    if (rows > 0 && columns > 0) {
        const int8_t value = (int8_t)params->input_zero_point;
        const int8_t x[4] = {value, value, value, value};
        const int32_t w_row_step = params->window.kernel_w * params->in_channels;
        const burnc_patch patch = {rows, columns, 0, 0, params->in_channels, w_row_step};
        burnc_patch4_s8(acc, x, w, &patch);
    }
}

/* Needs channel_multiplier 1 and four channels or more. */
static void burnc_depthwise_conv2d_s8_by_four(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x,
                                              int8_t *y, const burnc_depthwise_conv2d_s8_pixel *pixel) {
    const burnc_window *window = &params->window;
    const int32_t channels = params->in_channels;
    const int32_t w_row = window->kernel_w * channels;
    const int32_t rows = pixel->rows.end - pixel->rows.begin;
    const int32_t columns = pixel->columns.end - pixel->columns.begin;
    const burnc_patch inside = {
        rows,     columns, window->dilation_w * channels, window->dilation_h * window->in_w * channels,
        channels, w_row};
    int32_t o = 0;
    while (o < channels) {
        uint32_t acc[4];
        const int8_t *w = params->weights;
        int32_t c;
        o = o + 4 <= channels ? o : channels - 4;
        for (c = 0; c < 4; ++c) {
            acc[c] = (uint32_t)params->bias[o + c];
        }
        w += o + pixel->rows.begin * w_row;
        if (rows > 0 && columns > 0) {
            burnc_patch4_s8(acc, x + pixel->offset + o, w + pixel->columns.begin * channels, &inside);
        }
        if (rows < window->kernel_h || columns < window->kernel_w) {
            const int32_t above = pixel->rows.begin;
            const int32_t below = window->kernel_h - pixel->rows.end;
            const int32_t right = window->kernel_w - pixel->columns.end;
            burnc_depthwise_conv2d_s8_outside(params, acc, w - above * w_row, above, window->kernel_w);
            burnc_depthwise_conv2d_s8_outside(params, acc, w, rows, pixel->columns.begin);
            burnc_depthwise_conv2d_s8_outside(params, acc, w + pixel->columns.end * channels, rows, right);
            burnc_depthwise_conv2d_s8_outside(params, acc, w + rows * w_row, below, window->kernel_w);
        }
        for (c = 0; c < 4; ++c) {
            y[o] = burnc_depthwise_conv2d_s8_output(params, acc[c], o);
            ++o;
        }
    }
}

static void burnc_depthwise_conv2d_s8_by_one(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x,
                                             int8_t *y, const burnc_depthwise_conv2d_s8_pixel *pixel) {
    const burnc_window *window = &params->window;
    const int32_t channels = params->in_channels * params->channel_multiplier;
    int32_t offset = pixel->offset;
    int32_t left = params->channel_multiplier;
    int32_t o;
    for (o = 0; o < channels; ++o) {
        uint32_t acc = (uint32_t)params->bias[o];
        const int8_t *w = params->weights + o;
        int32_t row = offset;
        int32_t h;
        for (h = 0; h < window->kernel_h; ++h) {
            const bool inside = h >= pixel->rows.begin && h < pixel->rows.end;
            int32_t tap = row;
            int32_t k;
            for (k = 0; k < window->kernel_w; ++k) {
                int32_t value = params->input_zero_point;
                if (inside && k >= pixel->columns.begin && k < pixel->columns.end) {
                    value = x[tap];
                    tap += window->dilation_w * params->in_channels;
                }
                acc += (uint32_t)(value * *w);
                w += channels;
            }
            row += inside ? window->dilation_h * window->in_w * params->in_channels : 0;
        }
        y[o] = burnc_depthwise_conv2d_s8_output(params, acc, o);
        if (--left == 0) {
            left = params->channel_multiplier;
            ++offset;
        }
    }
}

void burnc_depthwise_conv2d_s8(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x, int8_t *y) {
    const burnc_window *window = &params->window;
    const bool by_four = params->channel_multiplier == 1 && params->in_channels >= 4;
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t origin_h = -window->pad_top;
        int32_t h;
        for (h = 0; h < window->out_h; ++h) {
            int32_t origin_w = -window->pad_left;
            int32_t w;
            for (w = 0; w < window->out_w; ++w) {
                burnc_depthwise_conv2d_s8_pixel pixel;
                pixel.rows = burnc_taps_inside(origin_h, window->dilation_h, window->kernel_h, window->in_h);
                pixel.columns =
                    burnc_taps_inside(origin_w, window->dilation_w, window->kernel_w, window->in_w);
                pixel.offset = ((origin_h + pixel.rows.begin * window->dilation_h) * window->in_w + origin_w +
                                pixel.columns.begin * window->dilation_w) *
                               params->in_channels;
                if (by_four) {
                    burnc_depthwise_conv2d_s8_by_four(params, x, y, &pixel);
                } else {
                    burnc_depthwise_conv2d_s8_by_one(params, x, y, &pixel);
                }
                y += params->in_channels * params->channel_multiplier;
                origin_w += window->stride_w;
            }
            origin_h += window->stride_h;
        }
        x += window->in_h * window->in_w * params->in_channels;
    }
}
