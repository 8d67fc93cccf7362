/* SPDX-License-Identifier: 0BSD */
/* A kernel of one tap reads the input in place; other windows are copied together. */
#include "burnc/conv2d_4x4_s8.h"
#include "burnc/copy_window_s8.h"

/* The window of an output pixel: where it lies in the image, or its copy. */
static const int8_t *burnc_conv2d_4x4_s8_row(const burnc_conv2d_4x4_s8_params *params, const int8_t *image,
                                             int32_t row, int32_t column, int8_t *copy) {
    const burnc_window *const window = &params->window;
    const int32_t top = row * window->stride_h - window->pad_top;
    const int32_t left = column * window->stride_w - window->pad_left;
    if (params->taps == params->in_channels && top >= 0 && top < window->in_h && left >= 0 &&
        left < window->in_w) {
        return image + (top * window->in_w + left) * params->in_channels;
    }
    {
        const burnc_copy_window_s8_image from = {window, image, params->in_channels,
                                                 params->input_zero_point};
        burnc_copy_window_s8(&from, top, left, copy);
    }
    return copy;
}

void burnc_conv2d_4x4_s8(const burnc_conv2d_4x4_s8_params *params, const int8_t *x, int8_t *y,
                         int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const burnc_dot_4x4_s8_layer layer = {
        params->taps,           params->out_channels, params->output_zero_point, params->activation_min,
        params->activation_max, params->weights,      params->constants};
    const int8_t *rows[4];
    int32_t n;
    for (n = 0; n < window->batch; ++n) {
        int32_t left = window->out_h * window->out_w;
        int32_t row = 0;
        int32_t column = 0;
        while (left > 0) {
            int32_t count = 0;
            int32_t k;
            do {
                rows[count] = burnc_conv2d_4x4_s8_row(params, x, row, column, scratch + count * params->taps);
                if (++column == window->out_w) {
                    column = 0;
                    ++row;
                }
                ++count;
                --left;
            } while (count < 4 && left > 0);
            for (k = count; k < 4; ++k) {
                rows[k] = rows[count - 1];
            }
            burnc_dot_4x4_s8(&layer, rows, count, y);
            y += count * params->out_channels;
        }
        x += window->in_h * window->in_w * params->in_channels;
    }
}
