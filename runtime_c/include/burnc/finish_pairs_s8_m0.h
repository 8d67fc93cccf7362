/* SPDX-License-Identifier: 0BSD */
/* The outputs of a few pixels of a convolution whose windows are packed in pairs (burnc/dot_pairs_s8_m0.h): pixel 0
   with 1, 2 with 3 and so on; an odd last one is packed with itself. Outputs that do not depend on the input
   are written from a list of {channel << 8 | byte}. */
#ifndef BURNC_FINISH_PAIRS_S8_M0_H
#define BURNC_FINISH_PAIRS_S8_M0_H

#include "burnc/pairs_layer_s8_m0.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y is [pixels][out_channels]. */
void burnc_finish_pairs_s8_m0(const burnc_pairs_layer_s8_m0_params *layer, const uint32_t *packed,
                              int32_t pixels, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
