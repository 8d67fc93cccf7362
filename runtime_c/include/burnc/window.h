/* SPDX-License-Identifier: 0BSD */
/* The sliding window that convolutions and pools share, over an NHWC tensor. Output row oh looks at input
   rows oh * stride_h - pad_top + k * dilation_h for k in [0, kernel_h); columns likewise. Padding at the
   bottom and right follows from the output size. Pads may be negative (a crop). */
#ifndef BURNC_WINDOW_H
#define BURNC_WINDOW_H

#include <stdint.h>

typedef struct burnc_window {
    int32_t batch;
    int32_t in_h;
    int32_t in_w;
    int32_t out_h;
    int32_t out_w;
    int32_t kernel_h;
    int32_t kernel_w;
    int32_t stride_h;
    int32_t stride_w;
    int32_t dilation_h;
    int32_t dilation_w;
    int32_t pad_top;
    int32_t pad_left;
} burnc_window;

/* A range [begin, end) of kernel taps. */
typedef struct burnc_taps {
    int32_t begin;
    int32_t end;
} burnc_taps;

/* The taps k of `kernel` for which origin + k * dilation lies in [0, size). Empty ranges have begin == end.
   No division: a window hangs over an edge by few taps. */
static inline burnc_taps burnc_taps_inside(int32_t origin, int32_t dilation, int32_t kernel, int32_t size) {
    burnc_taps taps = {0, kernel};
    int32_t first = origin;
    int32_t last = origin + (kernel - 1) * dilation;
    while (taps.begin < kernel && first < 0) {
        ++taps.begin;
        first += dilation;
    }
    while (taps.end > taps.begin && last >= size) {
        --taps.end;
        last -= dilation;
    }
    return taps;
}

/* Whether each output pixel looks at the input pixel in its own place alone. */
static inline int32_t burnc_window_is_pointwise(const burnc_window *window) {
    return window->kernel_h * window->kernel_w == 1 && window->stride_h * window->stride_w == 1 &&
                   window->in_h == window->out_h && window->in_w == window->out_w && window->pad_top == 0 &&
                   window->pad_left == 0
               ? 1
               : 0;
}

#endif
