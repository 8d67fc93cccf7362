/* SPDX-License-Identifier: 0BSD */
/* The smaller and the larger of two numbers. A NaN in the first place stays. */
#ifndef BURNC_MIN_MAX_H
#define BURNC_MIN_MAX_H

#include <stdint.h>

static inline int32_t burnc_min_s32(int32_t a, int32_t b) {
    return b < a ? b : a;
}

static inline int32_t burnc_max_s32(int32_t a, int32_t b) {
    return a < b ? b : a;
}

static inline float burnc_min_f32(float a, float b) {
    return b < a ? b : a;
}

static inline float burnc_max_f32(float a, float b) {
    return a < b ? b : a;
}

#endif
