/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_sums_1x4_s8.S, for every core that does not run that. */
#include "burnc/sums_4x4_s8.h"

#if !BURNC_SUMS_4X4_S8_ASSEMBLY

void burnc_sums_1x4_s8(uint32_t *sums, const int32_t *start, const int8_t *row, const int8_t *weights,
                       int32_t taps) {
    int32_t k;
    for (k = 0; k < 4; ++k) {
        uint32_t sum = (uint32_t)start[k];
        int32_t i;
        for (i = 0; i < taps; ++i) {
            sum += (uint32_t)(row[i] * weights[4 * i + k]);
        }
        sums[k] = sum;
    }
}

#endif
