/* SPDX-License-Identifier: 0BSD */
/* Every pixel is one row of a matrix product; two output channels ride together. An odd last channel runs
   against itself and its twin is dropped, so that there is one inner loop. */
#include "burnc/conv1x1_s8.h"
#include "burnc/dot2_s8.h"
#include "burnc/fixed_point.h"

void burnc_conv1x1_s8(const burnc_conv1x1_s8_params *params, const int8_t *x, int8_t *y) {
    const int32_t depth = params->in_channels;
    const int32_t channels = params->out_channels;
    int32_t pixel;
    for (pixel = 0; pixel < params->pixels; ++pixel) {
        const int8_t *w = params->weights;
        int32_t o = 0;
        while (o < channels) {
            const int32_t both = o + 1 < channels ? 1 : 0;
            uint32_t acc[2];
            int32_t k;
            acc[0] = (uint32_t)params->bias[o];
            acc[1] = (uint32_t)params->bias[o + both];
            burnc_dot2_s8(acc, x, w, w + (both ? depth : 0), depth);
            for (k = 0; k <= both; ++k) {
                const int32_t scaled =
                    burnc_requantize((int32_t)acc[k], params->multiplier[o], params->shift[o]);
                *y++ = (int8_t)burnc_clamp(burnc_wrap_add(scaled, params->output_zero_point),
                                           params->activation_min, params->activation_max);
                ++o;
            }
            w += 2 * depth;
        }
        x += depth;
    }
}
