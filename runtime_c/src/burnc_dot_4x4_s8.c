/* SPDX-License-Identifier: 0BSD */
/* A single row has a loop of its own. */
#include "burnc/dot_4x4_s8.h"
#include "burnc/fixed_point.h"
#include "burnc/sums_4x4_s8.h"

static void burnc_dot_4x4_s8_store(const burnc_dot_4x4_s8_layer *layer, const uint32_t *sums,
                                   const int32_t *constants, int32_t left, int8_t *y) {
    int32_t k;
    for (k = 0; k < 4 && k < left; ++k) {
        const int32_t scaled = burnc_requantize((int32_t)sums[k], constants[4 + k], constants[8 + k]);
        y[k] = (int8_t)burnc_clamp(burnc_wrap_add(scaled, layer->output_zero_point), layer->activation_min,
                                   layer->activation_max);
    }
}

void burnc_dot_4x4_s8(const burnc_dot_4x4_s8_layer *layer, const int8_t *const rows[4], int32_t count,
                      int8_t *y) {
    const int8_t *w = layer->weights;
    const int32_t *constants = layer->constants;
    int32_t left;
    for (left = layer->out_channels; left > 0; left -= 4) {
        uint32_t sums[16];
        int32_t k;
        if (count == 1) {
            burnc_sums_1x4_s8(sums, constants, rows[0], w, layer->taps);
        } else {
            burnc_sums_4x4_s8(sums, constants, rows, w, layer->taps);
        }
        for (k = 0; k < count; ++k) {
            burnc_dot_4x4_s8_store(layer, sums + 4 * k, constants, left, y + k * layer->out_channels);
        }
        constants += 12;
        w += 4 * layer->taps;
        y += 4;
    }
}
