/* SPDX-License-Identifier: 0BSD */
/* Four neighbouring channels of a depthwise window at once:
     acc[c] += sum over rows and columns of x[row * x_row_step + column * x_step + c] * w[likewise + c]
   (mod 2^32). rows or columns may be zero. */
#ifndef BURNC_PATCH4_S8_H
#define BURNC_PATCH4_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_patch {
    int32_t rows;
    int32_t columns;
    int32_t x_step;
    int32_t x_row_step;
    int32_t w_step;
    int32_t w_row_step;
} burnc_patch;

void burnc_patch4_s8(uint32_t *acc, const int8_t *x, const int8_t *w, const burnc_patch *patch);

#ifdef __cplusplus
}
#endif

#endif
