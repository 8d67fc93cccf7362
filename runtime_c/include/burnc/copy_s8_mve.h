/* SPDX-License-Identifier: 0BSD */
/* Copies and fills of a few bytes, 16 at a time. */
#ifndef BURNC_COPY_S8_MVE_H
#define BURNC_COPY_S8_MVE_H

#include <stdint.h>
#include "burnc/mve.h"

static inline void burnc_copy_s8_mve(int8_t *to, const int8_t *from, int32_t count) {
#if BURNC_MVE
    for (; count > 0; count -= 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)count);
        vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
        to += 16;
        from += 16;
    }
#else
    for (; count > 0; --count) {
        *to++ = *from++;
    }
#endif
}

static inline void burnc_fill_s8_mve(int8_t *to, int8_t value, int32_t count) {
#if BURNC_MVE
    for (; count > 0; count -= 16) {
        vstrbq_p_s8(to, vdupq_n_s8(value), vctp8q((uint32_t)count));
        to += 16;
    }
#else
    for (; count > 0; --count) {
        *to++ = value;
    }
#endif
}

#endif
