/* SPDX-License-Identifier: 0BSD */
/* A row that lies inside the image is copied at once. */
#include "burnc/copy_window_s8.h"

static int8_t *burnc_copy_window_s8_bytes(int8_t *to, const int8_t *from, int32_t count) {
    int8_t *const end = to + count;
    while (to != end) {
        *to++ = *from++;
    }
    return to;
}

static int8_t *burnc_copy_window_s8_padding(int8_t *to, int32_t zero_point, int32_t count) {
    int8_t *const end = to + count;
    while (to != end) {
        *to++ = (int8_t)zero_point;
    }
    return to;
}

void burnc_copy_window_s8(const burnc_copy_window_s8_image *image, int32_t top, int32_t left, int8_t *to) {
    const burnc_window *const w = image->window;
    const int32_t channels = image->channels;
    const int32_t has_whole_rows = w->dilation_w == 1 && left >= 0 && left + w->kernel_w <= w->in_w ? 1 : 0;
    int32_t k;
    for (k = 0; k < w->kernel_h; ++k) {
        if (top < 0 || top >= w->in_h) {
            to = burnc_copy_window_s8_padding(to, image->zero_point, w->kernel_w * channels);
        } else if (has_whole_rows != 0) {
            to = burnc_copy_window_s8_bytes(to, image->x + (top * w->in_w + left) * channels,
                                            w->kernel_w * channels);
        } else {
            int32_t x = left;
            int32_t l;
            for (l = 0; l < w->kernel_w; ++l) {
                to = x >= 0 && x < w->in_w
                         ? burnc_copy_window_s8_bytes(to, image->x + (top * w->in_w + x) * channels, channels)
                         : burnc_copy_window_s8_padding(to, image->zero_point, channels);
                x += w->dilation_w;
            }
        }
        top += w->dilation_h;
    }
}
