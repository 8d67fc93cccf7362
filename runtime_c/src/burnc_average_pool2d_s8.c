/* SPDX-License-Identifier: 0BSD */
/* Sums one channel of one window at a time over the taps inside the input; counted padding joins as a
   product. */
#include "burnc/average_pool2d_s8.h"
#include "burnc/fixed_point.h"

/* A sum of `count` elements that lie `step` apart. */
static int32_t burnc_average_pool2d_s8_sum(const int8_t *x, int32_t count, int32_t step) {
    int32_t sum = 0;
    const int8_t *behind = x + step;
    const int32_t two = 2 * step;
    for (; count >= 4; count -= 4) {
        int32_t i = 0;
        sum += x[i];
        sum += behind[i];
        i += two;
        sum += x[i];
        sum += behind[i];
        x += 2 * two;
        behind += 2 * two;
    }
    for (; count > 0; --count) {
        sum += *x;
        x += step;
    }
    return sum;
}

static void burnc_average_pool2d_s8_pixel(const burnc_average_pool2d_s8_params *params, const int8_t *x,
                                          int8_t *y, int32_t origin_h, int32_t origin_w) {
    const burnc_window *window = &params->window;
    const burnc_taps rows = burnc_taps_inside(origin_h, window->dilation_h, window->kernel_h, window->in_h);
    const burnc_taps columns =
        burnc_taps_inside(origin_w, window->dilation_w, window->kernel_w, window->in_w);
    const int32_t inside = (rows.end - rows.begin) * (columns.end - columns.begin);
    const int32_t step = window->dilation_w * params->channels;
    const int32_t row_step = window->dilation_h * window->in_w * params->channels;
    /* rows that follow each other without a gap are one */
    const int32_t is_whole = row_step == (columns.end - columns.begin) * step;
    const int32_t row_taps = is_whole ? inside : columns.end - columns.begin;
    const int32_t row_count = is_whole ? 1 : rows.end - rows.begin;
    int32_t count = inside;
    int32_t padding = 0;
    int32_t c;
    if (params->count_include_pad) {
        /* the same window in coordinates of the padded input */
        const burnc_taps padded_rows =
            burnc_taps_inside(origin_h + window->pad_top, window->dilation_h, window->kernel_h,
                              window->pad_top + window->in_h + params->pad_bottom);
        const burnc_taps padded_columns =
            burnc_taps_inside(origin_w + window->pad_left, window->dilation_w, window->kernel_w,
                              window->pad_left + window->in_w + params->pad_right);
        count = (padded_rows.end - padded_rows.begin) * (padded_columns.end - padded_columns.begin);
        padding = (count - inside) * params->zero_point;
    }
    x += ((origin_h + rows.begin * window->dilation_h) * window->in_w + origin_w +
          columns.begin * window->dilation_w) *
         params->channels;
    for (c = 0; c < params->channels; ++c) {
        int32_t acc = padding;
        int32_t offset = c;
        int32_t k;
        for (k = 0; k < row_count; ++k) {
            acc += burnc_average_pool2d_s8_sum(x + offset, row_taps, step);
            offset += row_step;
        }
        if (count > 0) {
            acc = (acc > 0 ? acc + count / 2 : acc - count / 2) / count;
        }
        *y++ = (int8_t)burnc_clamp(acc, params->activation_min, params->activation_max);
    }
}

void burnc_average_pool2d_s8(const burnc_average_pool2d_s8_params *params, const int8_t *x, int8_t *y) {
    const burnc_window *window = &params->window;
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t h;
        for (h = 0; h < window->out_h; ++h) {
            int32_t w;
            for (w = 0; w < window->out_w; ++w) {
                burnc_average_pool2d_s8_pixel(params, x, y, h * window->stride_h - window->pad_top,
                                              w * window->stride_w - window->pad_left);
                y += params->channels;
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
