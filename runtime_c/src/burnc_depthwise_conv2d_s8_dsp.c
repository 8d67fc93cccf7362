/* SPDX-License-Identifier: 0BSD */
/* Lists the taps of each run of output pixels and ends the list as burnc_depthwise_rows_s8_dsp wants it. */
#include "burnc/depthwise_conv2d_s8_dsp.h"
#include <stddef.h>
#include "burnc/depthwise_rows_s8_dsp.h"
#include "burnc/depthwise_taps_s8.h"

void burnc_depthwise_conv2d_s8_dsp(const burnc_depthwise_conv2d_s8_dsp_params *params, const int8_t *x,
                                   int8_t *y, int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const int8_t *taps[BURNC_DEPTHWISE_TAPS + 3];
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
            for (at = 0; at < window->out_w; at += (int32_t)job.pixels) {
                const int32_t left = at * window->stride_w - window->pad_left;
                const int8_t **end =
                    burnc_depthwise_list_taps(window, params->channels, x, top, left, scratch, taps);
                if (((end - taps) & 1) != 0) { /* a partner whose weights are zero */
                    *end++ = scratch;
                }
                end[0] = NULL;
                end[1] = NULL;
                job.pixels = (uint32_t)burnc_depthwise_run(window, top, left, window->out_w - at);
                burnc_depthwise_rows_s8_dsp(&job);
                job.y += (int32_t)job.pixels * params->channels;
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
