/* SPDX-License-Identifier: 0BSD */
#include "burnc/depthwise3x3_pairs_s8_m0.h"

void burnc_depthwise3x3_pairs_s8_m0(const burnc_depthwise3x3_pairs_s8_m0_params *params, const int8_t *x,
                                    int8_t *y, uint32_t *plane) {
    int32_t i;
    for (i = 0; i < params->batch; ++i) {
        burnc_depthwise_pairs_s8_m0(params->layer, x, y, plane);
        x += params->x_bytes;
        y += params->y_bytes;
    }
}
