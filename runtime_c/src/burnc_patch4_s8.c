/* SPDX-License-Identifier: 0BSD */
/* Four sums stay in registers while the two pointers walk over the taps: the walk is paid once for four MACs.
   */
#include "burnc/patch4_s8.h"
#include "burnc/step.h"

void burnc_patch4_s8(uint32_t *acc, const int8_t *x, const int8_t *w, const burnc_patch *patch) {
    uint32_t sum0 = acc[0];
    uint32_t sum1 = acc[1];
    uint32_t sum2 = acc[2];
    uint32_t sum3 = acc[3];
    int32_t row;
    for (row = patch->rows; row > 0; --row) {
        const int8_t *tap = x;
        const int8_t *weight = w;
        int32_t column;
        for (column = patch->columns; column > 0; --column) {
            sum0 += (uint32_t)(tap[0] * weight[0]);
            BURNC_STEP(tap, weight, sum0);
            sum1 += (uint32_t)(tap[1] * weight[1]);
            BURNC_STEP(tap, weight, sum1);
            sum2 += (uint32_t)(tap[2] * weight[2]);
            BURNC_STEP(tap, weight, sum2);
            sum3 += (uint32_t)(tap[3] * weight[3]);
            BURNC_STEP(tap, weight, sum3);
            tap += patch->x_step;
            weight += patch->w_step;
        }
        x += patch->x_row_step;
        w += patch->w_row_step;
    }
    acc[0] = sum0;
    acc[1] = sum1;
    acc[2] = sum2;
    acc[3] = sum3;
}
