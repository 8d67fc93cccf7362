/* SPDX-License-Identifier: 0BSD */
/* Two taps of eight channels are eight instructions and three for their sum. */
#include "burnc/depthwise_conv2d_s8_mve.h"
#include "burnc/copy_s8_mve.h"
#include "burnc/depthwise_taps_s8.h"

#if BURNC_MVE

/* One output pixel; `count` taps, an even number, whose inputs lie `distance` behind the list. */
static void burnc_depthwise_conv2d_s8_mve_pixel(const burnc_depthwise_conv2d_s8_mve_params *params,
                                                const int8_t *const *taps, int32_t count, int32_t distance,
                                                int8_t *y) {
    const burnc_output_mve output = params->output;
    const int32_t end = distance + params->channels;
    const int32_t *constants = params->constants;
    const int8_t *w = params->weights;
    for (; distance != end; distance += 8) {
        int32x4_t even = vldrwq_s32(constants);
        int32x4_t odd = vldrwq_s32(constants + 12);
        int16x8_t results = vdupq_n_s16(0);
        const int8_t *const *tap = taps;
        const int8_t *const *const last = taps + count;
        do {
            int16x8_t sums = vmulq_s16(vldrbq_s16(tap[0] + distance), vldrbq_s16(w));
            sums = vaddq_s16(sums, vmulq_s16(vldrbq_s16(tap[1] + distance), vldrbq_s16(w + 8)));
            even = vaddq_s32(even, vmovlbq_s16(sums));
            odd = vaddq_s32(odd, vmovltq_s16(sums));
            w += 16;
            tap += 2;
        } while (tap != last);
        even = burnc_requantize_mve(even, vldrwq_s32(constants + 4), vldrwq_s32(constants + 8), &output);
        odd = burnc_requantize_mve(odd, vldrwq_s32(constants + 16), vldrwq_s32(constants + 20), &output);
        results = vmovntq_s32(vmovnbq_s32(results, even), odd);
        vstrbq_s16(y, results);
        y += 8;
        constants += 24;
    }
}

#else

#include "burnc/fixed_point.h"

static void burnc_depthwise_conv2d_s8_mve_pixel(const burnc_depthwise_conv2d_s8_mve_params *params,
                                                const int8_t *const *taps, int32_t count, int32_t distance,
                                                int8_t *y) {
    int32_t at;
    for (at = 0; at < params->channels; ++at) {
        const int32_t *const constants = params->constants + (at / 8 * 2 + at % 2) * 12 + at % 8 / 2;
        const int8_t *const w = params->weights + at / 8 * count * 8 + at % 8;
        uint32_t sum = (uint32_t)constants[0];
        int32_t scaled;
        int32_t k;
        for (k = 0; k < count; ++k) {
            sum += (uint32_t)(taps[k][distance + at] * w[8 * k]);
        }
        scaled = burnc_requantize((int32_t)sum, constants[4], constants[8]);
        y[at] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output.zero_point), params->output.low,
                                    params->output.high);
    }
}

#endif

void burnc_depthwise_conv2d_s8_mve(const burnc_depthwise_conv2d_s8_mve_params *params, const int8_t *x,
                                   int8_t *y, int8_t *scratch) {
    const burnc_window *const window = &params->window;
    const int8_t *taps[BURNC_DEPTHWISE_TAPS + 1];
    int32_t n;
    int32_t row;
    burnc_fill_s8_mve(scratch, (int8_t)params->input_zero_point, params->channels);
    for (n = 0; n < window->batch; ++n) {
        for (row = 0; row < window->out_h; ++row) {
            const int32_t top = row * window->stride_h - window->pad_top;
            int32_t at = 0;
            while (at < window->out_w) {
                const int32_t left = at * window->stride_w - window->pad_left;
                const int8_t **end =
                    burnc_depthwise_list_taps(window, params->channels, x, top, left, scratch, taps);
                int32_t pixels = burnc_depthwise_run(window, top, left, window->out_w - at);
                int32_t distance = 0;
                if (((end - taps) & 1) != 0) { /* a partner whose weights are zero */
                    *end = end[-1];
                    ++end;
                }
                at += pixels;
                for (; pixels > 0; --pixels) {
                    burnc_depthwise_conv2d_s8_mve_pixel(params, taps, (int32_t)(end - taps), distance, y);
                    distance += window->stride_w * params->channels;
                    y += params->channels;
                }
            }
        }
        x += window->in_h * window->in_w * params->channels;
    }
}
