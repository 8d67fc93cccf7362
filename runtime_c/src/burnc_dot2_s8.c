/* SPDX-License-Identifier: 0BSD */
/* An activation is loaded once for two multiplies. The three pointers, the index, both sums and two operands
   just fit the eight low registers of a Cortex-M0+: a step is 11 cycles for two MACs. Its own function, so
   that the caller's variables do not compete for them. */
#include "burnc/dot2_s8.h"
#include "burnc/step.h"

void burnc_dot2_s8(uint32_t *acc, const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t n) {
    uint32_t sum0 = acc[0];
    uint32_t sum1 = acc[1];
    int32_t i = 0;
    const int32_t odd = n & 3;
#define BURNC_MAC2()                                                                                         \
    do {                                                                                                     \
        const int32_t value = x[i];                                                                          \
        sum0 += (uint32_t)(value * w0[i]);                                                                   \
        sum1 += (uint32_t)(value * w1[i]);                                                                   \
        ++i;                                                                                                 \
        BURNC_STEP(i, sum0, sum1);                                                                           \
    } while (0)
    while (i < odd) {
        BURNC_MAC2();
    }
    /* from here i runs up to zero, which needs no register to compare with */
    x += n;
    w0 += n;
    w1 += n;
    i -= n;
    while (i != 0) {
        BURNC_MAC2();
        BURNC_MAC2();
        BURNC_MAC2();
        BURNC_MAC2();
    }
#undef BURNC_MAC2
    acc[0] = sum0;
    acc[1] = sum1;
}
