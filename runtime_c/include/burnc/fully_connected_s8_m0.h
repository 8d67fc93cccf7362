/* SPDX-License-Identifier: 0BSD */
/* Fully connected layer like burnc_fully_connected_s8 with one multiplier for all outputs, for Cortex-M0 and M0+: four
   outputs go together through burnc_dot_quads_s8_m0, whose header describes the weights.

   Of each row of weights the first blocks * block taps go that way. What is left of the row, and what is too much
   for a block (docs/kernels.md), follows as single taps.
   `scratch` has a word for each block, or, where weights are wide (two words a tap), for each tap of them. */
#ifndef BURNC_FULLY_CONNECTED_S8_M0_H
#define BURNC_FULLY_CONNECTED_S8_M0_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_fully_connected_s8_m0_params {
    int32_t batch;
    int32_t depth;
    int32_t out_channels;
    int32_t is_wide;
    int32_t block;
    int32_t blocks;          /* of a row; at least 1, a whole number of words where block is 2 */
    uint32_t scale[7];       /* burnc_scale_sum_s8_m0 takes it */
    const uint32_t *weights; /* [groups of four][blocks * block], [2] too where they are wide */
    const uint32_t *offset;  /* [groups of four][4]: bias, and what makes a sum one that `scale` can take */
    const uint32_t
        *single; /* a number of groups without any, a count for the group behind them, that many words
                                {output << 24 | tap << 8 | byte}, and so on until all groups are told */
} burnc_fully_connected_s8_m0_params;

void burnc_fully_connected_s8_m0(const burnc_fully_connected_s8_m0_params *params, const int8_t *x, int8_t *y,
                                 uint32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
