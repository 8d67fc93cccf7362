/* SPDX-License-Identifier: 0BSD */
/* Whether kernels use the M-profile vector extension, in assembly or by intrinsics; each has plain C beside it. Define
   BURNC_NO_ASSEMBLY to have the C everywhere. */
#ifndef BURNC_MVE_H
#define BURNC_MVE_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_MVE 1
#else
#define BURNC_MVE 0
#endif

typedef struct burnc_output_mve {
    int32_t zero_point;
    int32_t low;
    int32_t high;
} burnc_output_mve;

#if BURNC_MVE

#include <arm_mve.h>

/* TFLM's two roundings of four sums, zero point and limits. Shifts are negative or 0: where one is not 0, halves below zero
   are pulled down by one first, since VRSHL takes halves up. */
static inline int32x4_t burnc_requantize_mve(int32x4_t sums, int32x4_t multiplier, int32x4_t shift,
                                             const burnc_output_mve *output) {
    int32x4_t scaled = vqrdmulhq_s32(sums, multiplier);
    scaled = vqaddq_s32(scaled, vshrq_n_s32(vandq_s32(scaled, shift), 31));
    scaled = vaddq_n_s32(vrshlq_s32(scaled, shift), output->zero_point);
    scaled = vmaxq_s32(scaled, vdupq_n_s32(output->low));
    return vminq_s32(scaled, vdupq_n_s32(output->high));
}

#endif

#endif
