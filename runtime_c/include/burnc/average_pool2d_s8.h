/* SPDX-License-Identifier: 0BSD */
/* Average pooling, int8 NHWC, TFLM's rounding on the raw values, with C's truncating division:
     acc > 0 ? (acc + n / 2) / n : (acc - n / 2) / n
   n counts the taps inside the input. With count_include_pad it counts also those in the padding, which
   reaches pad_bottom and pad_right beyond the input and holds zero_point (ONNX; a tap beyond the padding
   never counts). Without it, zero_point, pad_bottom and pad_right are ignored. A window with n == 0 gives 0
   clamped. Input and output have the same scale and zero point. x and y must not overlap. */
#ifndef BURNC_AVERAGE_POOL2D_S8_H
#define BURNC_AVERAGE_POOL2D_S8_H

#include <stdint.h>
#include "burnc/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_average_pool2d_s8_params {
    burnc_window window;
    int32_t channels;
    int32_t count_include_pad; /* 0 or 1 */
    int32_t pad_bottom;
    int32_t pad_right;
    int32_t zero_point;
    int32_t activation_min;
    int32_t activation_max;
} burnc_average_pool2d_s8_params;

void burnc_average_pool2d_s8(const burnc_average_pool2d_s8_params *params, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
