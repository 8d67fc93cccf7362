/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_sums_4x4_s8.S, for every core that does not run that. */
#include "burnc/sums_4x4_s8.h"

#if !BURNC_SUMS_4X4_S8_ASSEMBLY

void burnc_sums_4x4_s8(uint32_t *sums, const int32_t *start, const int8_t *const rows[4],
                       const int8_t *weights, int32_t taps) {
    int32_t row;
    for (row = 0; row < 4; ++row) {
        burnc_sums_1x4_s8(sums + 4 * row, start, rows[row], weights, taps);
    }
}

#endif
