/* SPDX-License-Identifier: 0BSD */
/* Up to four rows of a batch go together. */
#include "burnc/fully_connected_4x4_s8.h"
#include "burnc/dot_4x4_s8.h"

void burnc_fully_connected_4x4_s8(const burnc_fully_connected_4x4_s8_params *params, const int8_t *x,
                                  int8_t *y) {
    const burnc_dot_4x4_s8_layer layer = {
        params->taps,           params->out_channels, params->output_zero_point, params->activation_min,
        params->activation_max, params->weights,      params->constants};
    const int8_t *rows[4];
    int32_t left;
    for (left = params->batch; left > 0; left -= 4) {
        const int32_t count = left < 4 ? left : 4;
        int32_t k;
        for (k = 0; k < 4; ++k) {
            rows[k] = x + (k < count ? k : count - 1) * params->taps;
        }
        burnc_dot_4x4_s8(&layer, rows, count, y);
        x += 4 * params->taps;
        y += 4 * params->out_channels;
    }
}
