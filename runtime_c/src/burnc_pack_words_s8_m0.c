/* SPDX-License-Identifier: 0BSD */
/* The same as burnc_pack_words_s8_m0.S, for every core that does not run that. */
#include "burnc/pack_words_s8_m0.h"

#if !BURNC_PACK_WORDS_S8_M0_ASSEMBLY

uint32_t *burnc_pack_words_s8_m0(uint32_t *packed, const int8_t *a, const int8_t *b, uint32_t count,
                                 uint32_t rows, uint32_t row_step) {
    uint32_t i;
    for (; rows != 0u; --rows) {
        for (i = 0; i < count; ++i) {
            *packed++ = (uint32_t)a[i] + ((uint32_t)b[i] << 16);
        }
        a += row_step;
        b += row_step;
    }
    return packed;
}

#endif
