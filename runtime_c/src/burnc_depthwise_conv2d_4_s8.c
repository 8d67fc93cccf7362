/* SPDX-License-Identifier: 0BSD */
/* Each tap is four loads of inputs, four of weights, four multiplications and four additions. */
#include "burnc/depthwise_conv2d_4_s8.h"
#include "burnc/depthwise_taps_s8.h"
#include "burnc/fixed_point.h"

/* One output pixel, whose taps' inputs lie `distance` behind the list. */
static void burnc_depthwise_conv2d_4_s8_pixel(const burnc_depthwise_conv2d_4_s8_params *params,
                                              const int8_t *const *taps, const int8_t *const *end,
                                              int32_t distance, int8_t *y) {
    const int32_t behind = distance + params->channels;
    const int32_t *constants = params->constants;
    const int8_t *w = params->weights;
    for (; distance != behind; distance += 4) {
        const int8_t *const *tap = taps;
        uint32_t sums[4];
        uint32_t a = (uint32_t)constants[0];
        uint32_t b = (uint32_t)constants[1];
        uint32_t c = (uint32_t)constants[2];
        uint32_t d = (uint32_t)constants[3];
        int32_t k;
        do {
            const int8_t *const x = *tap++ + distance;
            a += (uint32_t)(x[0] * w[0]);
            b += (uint32_t)(x[1] * w[1]);
            c += (uint32_t)(x[2] * w[2]);
            d += (uint32_t)(x[3] * w[3]);
            w += 4;
        } while (tap != end);
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
        for (k = 0; k < 4; ++k) {
            const int32_t scaled = burnc_requantize((int32_t)sums[k], constants[4 + k], constants[8 + k]);
            *y++ = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point),
                                       params->activation_min, params->activation_max);
        }
        constants += 12;
    }
}

void burnc_depthwise_conv2d_4_s8(const burnc_depthwise_conv2d_4_s8_params *params, const int8_t *x, int8_t *y,
                                 int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const int8_t *taps[BURNC_DEPTHWISE_TAPS];
    int32_t n;
    int32_t row;
    for (n = 0; n < params->channels; ++n) {
        scratch[n] = (int8_t)params->input_zero_point;
    }
    for (n = 0; n < window->batch; ++n) {
        for (row = 0; row < window->out_h; ++row) {
            const int32_t top = row * window->stride_h - window->pad_top;
            int32_t at = 0;
            while (at < window->out_w) {
                const int32_t left = at * window->stride_w - window->pad_left;
                const int8_t **const end =
                    burnc_depthwise_list_taps(window, params->channels, x, top, left, scratch, taps);
                int32_t pixels = burnc_depthwise_run(window, top, left, window->out_w - at);
                int32_t distance = 0;
                at += pixels;
                for (; pixels > 0; --pixels) {
                    burnc_depthwise_conv2d_4_s8_pixel(params, taps, end, distance, y);
                    distance += window->stride_w * params->channels;
                    y += params->channels;
                }
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
