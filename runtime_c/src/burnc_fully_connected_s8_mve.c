/* SPDX-License-Identifier: 0BSD */
/* A row of whole chunks is read in place, any other out of a copy that zeros fill up. */
#include "burnc/fully_connected_s8_mve.h"
#include "burnc/copy_s8_mve.h"

void burnc_fully_connected_s8_mve(const burnc_fully_connected_s8_mve_params *params, const int8_t *x,
                                  int8_t *y, int8_t *scratch) {
    const burnc_dot_4_s8_mve_layer layer = {params->chunks, params->out_channels, params->output,
                                            params->weights, params->constants};
    const int32_t in_place = params->depth == 16 * params->chunks ? 1 : 0;
    int32_t row;
    burnc_fill_s8_mve(scratch, 0, 16 * params->chunks);
    for (row = 0; row < params->batch; ++row) {
        if (in_place == 0) {
            burnc_copy_s8_mve(scratch, x, params->depth);
        }
        burnc_dot_4_s8_mve(&layer, in_place != 0 ? x : scratch, in_place != 0 ? x : scratch, y, y);
        x += params->depth;
        y += params->out_channels;
    }
}
