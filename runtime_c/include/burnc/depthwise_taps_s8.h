/* SPDX-License-Identifier: 0BSD */
/* The taps of depthwise convolutions as pointers. Those outside the image point at a pixel of zero points; where none is
   outside, a run of output pixels shares the list, and the distance from it grows. */
#ifndef BURNC_DEPTHWISE_TAPS_S8_H
#define BURNC_DEPTHWISE_TAPS_S8_H

#include <stdint.h>
#include "burnc/window.h"

/* Of a kernel, at most. */
enum { BURNC_DEPTHWISE_TAPS = 40 };

/* Lists the taps of the output pixel whose window begins at row `top`, column `left`; returns the list's end. */
static inline const int8_t **burnc_depthwise_list_taps(const burnc_window *window, int32_t channels,
                                                       const int8_t *image, int32_t top, int32_t left,
                                                       const int8_t *zeros, const int8_t **taps) {
    int32_t y = top;
    int32_t k;
    int32_t l;
    for (k = 0; k < window->kernel_h; ++k) {
        int32_t x = left;
        for (l = 0; l < window->kernel_w; ++l) {
            const int32_t inside = y >= 0 && y < window->in_h && x >= 0 && x < window->in_w ? 1 : 0;
            *taps++ = inside != 0 ? image + (y * window->in_w + x) * channels : zeros;
            x += window->dilation_w;
        }
        y += window->dilation_h;
    }
    return taps;
}

static inline int32_t burnc_depthwise_is_inside(int32_t begin, int32_t kernel, int32_t dilation,
                                                int32_t size) {
    return begin >= 0 && begin + (kernel - 1) * dilation < size ? 1 : 0;
}

/* How many output pixels, at most `left_over`, may share the list of the one at `top` and `left`: at least one. */
static inline int32_t burnc_depthwise_run(const burnc_window *window, int32_t top, int32_t left,
                                          int32_t left_over) {
    int32_t pixels = 0;
    if (burnc_depthwise_is_inside(top, window->kernel_h, window->dilation_h, window->in_h) != 0) {
        while (pixels < left_over &&
               burnc_depthwise_is_inside(left, window->kernel_w, window->dilation_w, window->in_w) != 0) {
            left += window->stride_w;
            ++pixels;
        }
    }
    return pixels == 0 ? 1 : pixels;
}

#endif
