/* SPDX-License-Identifier: 0BSD */
/* Max pooling, int8 NHWC. Taps outside the input do not count; a window wholly outside gives activation_min.
   Input and output have the same scale and zero point. x and y must not overlap. */
#ifndef BURNC_MAX_POOL2D_S8_H
#define BURNC_MAX_POOL2D_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_max_pool2d_s8_params {
    burnc_window window;
    int32_t channels;
    int32_t activation_min;
    int32_t activation_max;
} burnc_max_pool2d_s8_params;

void burnc_max_pool2d_s8(const burnc_max_pool2d_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
