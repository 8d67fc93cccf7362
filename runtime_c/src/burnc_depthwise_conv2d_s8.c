/* SPDX-License-Identifier: 0BSD */
/* One output channel of one pixel at a time: its taps are read straight from NHWC, a channel row apart. Where the window
   hangs over an edge, the taps outside add zero_point * weight, since the bias assumes that every tap is there. */
#include "burnc/depthwise_conv2d_s8.h"
#include "burnc/fixed_point.h"

/* One output pixel; x is its image. */
static void burnc_depthwise_conv2d_s8_pixel(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x,
                                            int8_t *y, int32_t origin_h, int32_t origin_w) {
    const burnc_window *window = &params->window;
    const burnc_taps rows = burnc_taps_inside(origin_h, window->dilation_h, window->kernel_h, window->in_h);
    const burnc_taps columns =
        burnc_taps_inside(origin_w, window->dilation_w, window->kernel_w, window->in_w);
    const int32_t whole = rows.begin == 0 && rows.end == window->kernel_h && columns.begin == 0 &&
                          columns.end == window->kernel_w;
    const int32_t channels = params->in_channels * params->channel_multiplier;
    const int32_t step = window->dilation_w * params->in_channels;
    const int32_t row_step = window->dilation_h * window->in_w * params->in_channels;
    const int32_t zero_point = params->input_zero_point;
    int32_t offset = ((origin_h + rows.begin * window->dilation_h) * window->in_w + origin_w +
                      columns.begin * window->dilation_w) *
                     params->in_channels;
    int32_t left = params->channel_multiplier;
    int32_t o;
    for (o = 0; o < channels; ++o) {
        uint32_t acc = (uint32_t)params->bias[o];
        const int8_t *w = params->weights + o;
        int32_t scaled;
        int32_t k;
        if (whole) {
            const int8_t *x_row = x + offset;
            for (k = window->kernel_h; k > 0; --k) {
                const int8_t *tap = x_row;
                int32_t m;
                for (m = window->kernel_w; m > 0; --m) {
                    acc += (uint32_t)(*tap * *w);
                    tap += step;
                    w += channels;
                }
                x_row += row_step;
            }
        } else {
            const int8_t *x_row = x + offset;
            for (k = 0; k < window->kernel_h; ++k) {
                const int32_t row_inside = k >= rows.begin && k < rows.end;
                const int8_t *tap = x_row;
                int32_t m;
                for (m = 0; m < window->kernel_w; ++m) {
                    int32_t value = zero_point;
                    if (row_inside && m >= columns.begin && m < columns.end) {
                        value = *tap;
                        tap += step;
                    }
                    acc += (uint32_t)(value * *w);
                    w += channels;
                }
                x_row += row_inside ? row_step : 0;
            }
        }
        scaled = burnc_requantize((int32_t)acc, params->multiplier[o], params->shift[o]);
        *y++ = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point), params->activation_min,
                                   params->activation_max);
        if (--left == 0) {
            left = params->channel_multiplier;
            ++offset;
        }
    }
}

void burnc_depthwise_conv2d_s8(const burnc_depthwise_conv2d_s8_params *params, const int8_t *x, int8_t *y) {
    const burnc_window *window = &params->window;
    const int32_t image = window->in_h * window->in_w * params->in_channels;
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t origin_h = -window->pad_top;
        int32_t h;
        for (h = 0; h < window->out_h; ++h) {
            int32_t origin_w = -window->pad_left;
            int32_t w;
            for (w = 0; w < window->out_w; ++w) {
                burnc_depthwise_conv2d_s8_pixel(params, x, y, origin_h, origin_w);
                y += params->in_channels * params->channel_multiplier;
                origin_w += window->stride_w;
            }
            origin_h += window->stride_h;
        }
        x += image;
    }
}
