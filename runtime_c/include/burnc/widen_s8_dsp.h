/* SPDX-License-Identifier: 0BSD */
/* int8 to int16 in the order in which SXTB16 makes them: of {x0, x1, x2, x3} come the words {x0, x2} and {x1, x3}, the
   first in the lower half. They are stored beside those of another row: columns move on by four words a block. A last
   block of less than four has zeros. */
#ifndef BURNC_WIDEN_S8_DSP_H
#define BURNC_WIDEN_S8_DSP_H

#include <stdint.h>
#include "burnc/dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns where the next block goes. x may lie at any address. */
uint32_t *burnc_widen_s8_dsp(uint32_t *columns, const int8_t *x, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
