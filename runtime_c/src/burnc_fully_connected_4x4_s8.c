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
    int32_t left = params->batch;
    while (left > 0) {
        int32_t count = 0;
        int32_t k;
        do {
            rows[count] = x;
            x += params->taps;
            ++count;
            --left;
        } while (count < 4 && left > 0);
        for (k = count; k < 4; ++k) {
            rows[k] = rows[count - 1];
        }
        burnc_dot_4x4_s8(&layer, rows, count, y);
        y += count * params->out_channels;
    }
}
