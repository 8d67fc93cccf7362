/* SPDX-License-Identifier: 0BSD */
/* Two output pixels go together. A kernel of one tap whose channels are whole chunks reads the input in place. */
#include "burnc/conv2d_s8_mve.h"
#include "burnc/copy_s8_mve.h"

/* The window that begins at row `top` and column `left` of the image, row by row. */
static void burnc_conv2d_s8_mve_window(const burnc_conv2d_s8_mve_params *params, const int8_t *image,
                                       int32_t top, int32_t left, int8_t *to) {
    const burnc_window *const window = &params->window;
    const int32_t depth = params->in_channels;
    const int32_t taps = window->kernel_w * depth;
    const int8_t zero = (int8_t)params->input_zero_point;
    const int32_t is_inside =
        left >= 0 && left + (window->kernel_w - 1) * window->dilation_w < window->in_w ? 1 : 0;
    int32_t y = top;
    int32_t k;
    for (k = 0; k < window->kernel_h; ++k) {
        if (is_inside != 0 && y >= 0 && y < window->in_h && window->dilation_w == 1) {
            burnc_copy_s8_mve(to, image + (y * window->in_w + left) * depth, taps);
            to += taps;
        } else {
            int32_t l;
            for (l = 0; l < window->kernel_w; ++l) {
                const int32_t x = left + l * window->dilation_w;
                if (y >= 0 && y < window->in_h && x >= 0 && x < window->in_w) {
                    burnc_copy_s8_mve(to, image + (y * window->in_w + x) * depth, depth);
                } else {
                    burnc_fill_s8_mve(to, zero, depth);
                }
                to += depth;
            }
        }
        y += window->dilation_h;
    }
}

static void burnc_conv2d_s8_mve_pointwise(const burnc_conv2d_s8_mve_params *params,
                                          const burnc_dot_4_s8_mve_layer *layer, const int8_t *x, int8_t *y) {
    int32_t left = params->window.batch * params->window.in_h * params->window.in_w;
    for (; left > 0; left -= 2) {
        const int32_t both = left > 1 ? 1 : 0;
        burnc_dot_4_s8_mve(layer, x, x + both * params->in_channels, y, y + both * params->out_channels);
        x += 2 * params->in_channels;
        y += 2 * params->out_channels;
    }
}

void burnc_conv2d_s8_mve(const burnc_conv2d_s8_mve_params *params, const int8_t *x, int8_t *y,
                         int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const burnc_dot_4_s8_mve_layer layer = {params->chunks, params->out_channels, params->output,
                                            params->weights, params->constants};
    int8_t *const second = scratch + 16 * params->chunks;
    int32_t n;
    if (burnc_window_is_pointwise(window) != 0 && params->in_channels == 16 * params->chunks) {
        burnc_conv2d_s8_mve_pointwise(params, &layer, x, y);
        return;
    }
    burnc_fill_s8_mve(scratch, 0, 32 * params->chunks);
    for (n = 0; n < window->batch; ++n) {
        int32_t left_over = window->out_h * window->out_w;
        int32_t top = -window->pad_top;
        int32_t left = -window->pad_left;
        int32_t at = 0;
        int32_t odd = 0;
        for (; left_over > 0; --left_over) {
            burnc_conv2d_s8_mve_window(params, x, top, left, odd != 0 ? second : scratch);
            left += window->stride_w;
            if (++at == window->out_w) {
                at = 0;
                left = -window->pad_left;
                top += window->stride_h;
            }
            if (odd != 0 || left_over == 1) {
                burnc_dot_4_s8_mve(&layer, scratch, odd != 0 ? second : scratch, y,
                                   y + odd * params->out_channels);
                y += (1 + odd) * params->out_channels;
            }
            odd ^= 1;
        }
        x += window->in_h * window->in_w * params->in_channels;
    }
}
