/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_dot_4_s8_mve.S, for every core that does not run that. */
#include "burnc/dot_4_s8_mve.h"

#if !BURNC_MVE

#include "burnc/fixed_point.h"

static void burnc_dot_4_s8_mve_row(const burnc_dot_4_s8_mve_layer *layer, const int8_t *row, int8_t *y) {
    int32_t o;
    for (o = 0; o < layer->out_channels; ++o) {
        const int8_t *w = layer->weights + (o / 4 * layer->chunks * 4 + o % 4) * 16;
        const int32_t *const constants = layer->constants + o / 4 * 12 + o % 4;
        uint32_t sum = (uint32_t)constants[0];
        int32_t scaled;
        int32_t k;
        for (k = 0; k < 16 * layer->chunks; ++k) {
            sum += (uint32_t)(row[k] * w[k / 16 * 64 + k % 16]);
        }
        scaled = burnc_requantize((int32_t)sum, constants[4], constants[8]);
        y[o] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, layer->output.zero_point), layer->output.low,
                                   layer->output.high);
    }
}

void burnc_dot_4_s8_mve(const burnc_dot_4_s8_mve_layer *layer, const int8_t *row, const int8_t *second,
                        int8_t *y, int8_t *second_y) {
    if (second != row) {
        burnc_dot_4_s8_mve_row(layer, second, second_y);
    }
    burnc_dot_4_s8_mve_row(layer, row, y);
}

#endif
