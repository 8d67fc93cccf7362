/* SPDX-License-Identifier: 0BSD */
/* Inner products of one int8 row x with two rows of weights, over n >= 0 elements:
     acc[0] += sum x[i] * w0[i],  acc[1] += sum x[i] * w1[i]   (mod 2^32)
   w0 may equal w1. */
#ifndef BURNC_DOT2_S8_H
#define BURNC_DOT2_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void burnc_dot2_s8(uint32_t *acc, const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t n);

#ifdef __cplusplus
}
#endif

#endif
