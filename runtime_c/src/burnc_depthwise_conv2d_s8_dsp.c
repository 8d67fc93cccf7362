/* SPDX-License-Identifier: 0BSD */
/* Taps outside the image are read from a pixel of zero points. Where none is outside, a run of output pixels shares the
   list of taps: the distance from it grows. */
#include "burnc/depthwise_conv2d_s8_dsp.h"
#include <stddef.h>
#include "burnc/depthwise_rows_s8_dsp.h"

/* The taps of the output pixel whose window begins at row `top`, column `left`. */
static void burnc_depthwise_conv2d_s8_dsp_taps(const burnc_depthwise_conv2d_s8_dsp_params *params,
                                               const int8_t *image, int32_t top, int32_t left,
                                               const int8_t *zeros, const int8_t **taps) {
    const burnc_window *const window = &params->window;
    const int32_t count = window->kernel_h * window->kernel_w;
    int32_t y = top;
    int32_t k;
    int32_t l;
    for (k = 0; k < window->kernel_h; ++k) {
        int32_t x = left;
        for (l = 0; l < window->kernel_w; ++l) {
            const int32_t inside = y >= 0 && y < window->in_h && x >= 0 && x < window->in_w ? 1 : 0;
            *taps++ = inside != 0 ? image + (y * window->in_w + x) * params->channels : zeros;
            x += window->dilation_w;
        }
        y += window->dilation_h;
    }
    if ((count & 1) != 0) { /* a partner whose weights are zero */
        *taps++ = zeros;
    }
    taps[0] = NULL;
    taps[1] = NULL;
}

static int32_t burnc_depthwise_conv2d_s8_dsp_is_inside(int32_t begin, int32_t kernel, int32_t dilation,
                                                       int32_t size) {
    return begin >= 0 && begin + (kernel - 1) * dilation < size ? 1 : 0;
}

void burnc_depthwise_conv2d_s8_dsp(const burnc_depthwise_conv2d_s8_dsp_params *params, const int8_t *x,
                                   int8_t *y, int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const int8_t *taps[BURNC_DEPTHWISE_DSP_TAPS + 3];
    burnc_depthwise_rows_s8_dsp_job job;
    int32_t n;
    int32_t row;
    int32_t at;
    for (n = 0; n < params->channels; ++n) {
        scratch[n] = (int8_t)params->input_zero_point;
    }
    job.taps = taps;
    job.weights = params->weights;
    job.constants = params->constants;
    job.constants_end = params->constants + params->channels / 4 * 20;
    job.y = y;
    job.step = (uint32_t)((window->stride_w - 1) * params->channels);
    job.limits = params->limits;
    job.has_nine = window->kernel_h * window->kernel_w == 9 ? 1u : 0u;
    for (n = 0; n < window->batch; ++n) {
        for (row = 0; row < window->out_h; ++row) {
            const int32_t top = row * window->stride_h - window->pad_top;
            const int32_t is_inside = burnc_depthwise_conv2d_s8_dsp_is_inside(
                top, window->kernel_h, window->dilation_h, window->in_h);
            int32_t left = -window->pad_left;
            for (at = 0; at < window->out_w; at += (int32_t)job.pixels) {
                job.pixels = 0u;
                burnc_depthwise_conv2d_s8_dsp_taps(params, x, top, left, scratch, taps);
                do {
                    ++job.pixels;
                    left += window->stride_w;
                } while (is_inside != 0 && at + (int32_t)job.pixels < window->out_w &&
                         left - window->stride_w >= 0 &&
                         burnc_depthwise_conv2d_s8_dsp_is_inside(left, window->kernel_w, window->dilation_w,
                                                                 window->in_w) != 0);
                burnc_depthwise_rows_s8_dsp(&job);
                job.y += (int32_t)job.pixels * params->channels;
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
