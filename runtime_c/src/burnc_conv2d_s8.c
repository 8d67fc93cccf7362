/* SPDX-License-Identifier: 0BSD */
/* The taps of one kernel row lie one behind the other in the weights, and (without dilation and groups) in
   the input too: one long inner product a kernel row. Two output channels ride together; an odd last channel
   of a group runs against itself and its twin is dropped. Taps outside the input see the zero point, since
   the bias assumes that every tap is there. */
#include "burnc/conv2d_s8.h"
#include "burnc/dot2_s8.h"
#include "burnc/fixed_point.h"

/* acc += value * (sum w0, sum w1), for n weights that lie outside the input. */
static void burnc_conv2d_s8_outside(uint32_t *acc, int32_t value, const int8_t *w0, const int8_t *w1,
                                    int32_t n) {
    int32_t i;
    for (i = 0; i < n; ++i) {
        acc[0] += (uint32_t)(value * w0[i]);
        acc[1] += (uint32_t)(value * w1[i]);
    }
}

/* One output pixel of one group: `x` is its image at the group's first channel, `first` its first output
   channel. */
static void burnc_conv2d_s8_pixel(const burnc_conv2d_s8_params *params, const int8_t *x, int8_t *y,
                                  int32_t first, int32_t origin_h, int32_t origin_w) {
    const burnc_window *window = &params->window;
    const burnc_taps rows = burnc_taps_inside(origin_h, window->dilation_h, window->kernel_h, window->in_h);
    const burnc_taps columns =
        burnc_taps_inside(origin_w, window->dilation_w, window->kernel_w, window->in_w);
    const int32_t depth = params->group_in_channels;
    const int32_t pixel = params->groups * depth;
    const int32_t row = window->kernel_w * depth;
    const int32_t filter = window->kernel_h * row;
    const int32_t before = columns.begin * depth;
    const int32_t inside = (columns.end - columns.begin) * depth;
    const int32_t run = (params->groups == 1 && window->dilation_w == 1) ? inside : depth;
    const int8_t *w = params->weights + first * filter;
    const int32_t end = first + params->group_out_channels;
    int32_t o = first;
    while (o < end) {
        const int32_t both = o + 1 < end ? 1 : 0;
        const int32_t twin = both ? filter : 0;
        uint32_t acc[2];
        int32_t k;
        acc[0] = (uint32_t)params->bias[o];
        acc[1] = (uint32_t)params->bias[o + both];
        for (k = 0; k < window->kernel_h; ++k) {
            if (k < rows.begin || k >= rows.end) {
                burnc_conv2d_s8_outside(acc, params->input_zero_point, w, w + twin, row);
            } else {
                const int32_t h = origin_h + k * window->dilation_h;
                const int32_t left = origin_w + columns.begin * window->dilation_w;
                int32_t at = (h * window->in_w + left) * pixel;
                const int8_t *ws = w + before;
                int32_t done;
                burnc_conv2d_s8_outside(acc, params->input_zero_point, w, w + twin, before);
                for (done = 0; done < inside; done += run) {
                    burnc_dot2_s8(acc, x + at, ws, ws + twin, run);
                    at += window->dilation_w * pixel;
                    ws += run;
                }
                burnc_conv2d_s8_outside(acc, params->input_zero_point, ws, ws + twin, row - before - inside);
            }
            w += row;
        }
        w += twin;
        for (k = 0; k <= both; ++k) {
            const int32_t scaled = burnc_requantize((int32_t)acc[k], params->multiplier[o], params->shift[o]);
            *y++ = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point),
                                       params->activation_min, params->activation_max);
            ++o;
        }
    }
}

void burnc_conv2d_s8(const burnc_conv2d_s8_params *params, const int8_t *x, int8_t *y) {
    const burnc_window *window = &params->window;
    const int32_t image = window->in_h * window->in_w * params->groups * params->group_in_channels;
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t origin_h = -window->pad_top;
        int32_t h;
        for (h = 0; h < window->out_h; ++h) {
            int32_t origin_w = -window->pad_left;
            int32_t w;
            for (w = 0; w < window->out_w; ++w) {
                int32_t group;
                for (group = 0; group < params->groups; ++group) {
                    burnc_conv2d_s8_pixel(params, x + group * params->group_in_channels, y,
                                          group * params->group_out_channels, origin_h, origin_w);
                    y += params->group_out_channels;
                }
                origin_w += window->stride_w;
            }
            origin_h += window->stride_h;
        }
        x += image;
    }
}
