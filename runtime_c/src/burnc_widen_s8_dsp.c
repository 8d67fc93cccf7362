/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_widen_s8_dsp.S, for every core that does not run that. */
#include "burnc/widen_s8_dsp.h"

#if !BURNC_DSP_ASSEMBLY

uint32_t *burnc_widen_s8_dsp(uint32_t *columns, const int8_t *x, uint32_t count) {
    uint32_t k;
    for (k = 0; k < count; ++k) {
        const uint32_t half = (uint32_t)x[k] & 0xffffu;
        if ((k & 3u) == 0u) {
            columns[0] = 0u;
            columns[1] = 0u;
        }
        columns[k & 1u] |= half << (8u * (k & 2u));
        if ((k & 3u) == 3u || k + 1u == count) {
            columns += 4;
        }
    }
    return columns;
}

#endif
