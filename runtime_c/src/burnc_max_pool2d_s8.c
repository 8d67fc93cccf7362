/* SPDX-License-Identifier: 0BSD */
/* One channel of one window at a time, over the taps inside the input. */
#include "burnc/fixed_point.h"
#include "burnc/max_pool2d_s8.h"

static void burnc_max_pool2d_s8_pixel(const burnc_max_pool2d_s8_params *params, const int8_t *x, int8_t *y,
                                      int32_t origin_h, int32_t origin_w) {
    const burnc_window *window = &params->window;
    const burnc_taps rows = burnc_taps_inside(origin_h, window->dilation_h, window->kernel_h, window->in_h);
    const burnc_taps columns =
        burnc_taps_inside(origin_w, window->dilation_w, window->kernel_w, window->in_w);
    const int32_t step = window->dilation_w * params->channels;
    int32_t c;
    for (c = 0; c < params->channels; ++c) {
        int32_t largest = INT8_MIN;
        int32_t k;
        for (k = rows.begin; k < rows.end; ++k) {
            const int32_t h = origin_h + k * window->dilation_h;
            int32_t offset =
                (h * window->in_w + origin_w + columns.begin * window->dilation_w) * params->channels + c;
            int32_t m;
            for (m = columns.begin; m < columns.end; ++m) {
                largest = x[offset] > largest ? x[offset] : largest;
                offset += step;
            }
        }
        *y++ = (int8_t)burnc_clamp(largest, params->activation_min, params->activation_max);
    }
}

void burnc_max_pool2d_s8(const burnc_max_pool2d_s8_params *params, const int8_t *x, int8_t *y) {
    const burnc_window *window = &params->window;
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t h;
        for (h = 0; h < window->out_h; ++h) {
            int32_t w;
            for (w = 0; w < window->out_w; ++w) {
                burnc_max_pool2d_s8_pixel(params, x, y, h * window->stride_h - window->pad_top,
                                          w * window->stride_w - window->pad_left);
                y += params->channels;
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
