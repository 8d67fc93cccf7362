/* SPDX-License-Identifier: 0BSD */
/* The window of an output pixel of a convolution, int8 NHWC, as one row of taps. */
#ifndef BURNC_COPY_WINDOW_S8_H
#define BURNC_COPY_WINDOW_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_copy_window_s8_image {
    const burnc_window *window;
    const int8_t *x;
    int32_t channels;
    int32_t zero_point; /* what padding is */
} burnc_copy_window_s8_image;

/* `top` and `left` are where the window begins, perhaps outside the image. */
void burnc_copy_window_s8(const burnc_copy_window_s8_image *image, int32_t top, int32_t left, int8_t *to);

#ifdef __cplusplus
}
#endif

#endif
