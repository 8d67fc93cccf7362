/* SPDX-License-Identifier: 0BSD */
/* y = (clamp(x1 * multiplier1 + x2 * multiplier2 + constant, 0, limit) >> shift) + low, elementwise. Sums and differences of int8 tensors come to that where the generator has proven it for every pair of
   values (docs/kernels.md). y may be x1 or x2, or start below either. */
#ifndef BURNC_ADD_LINEAR_S8_H
#define BURNC_ADD_LINEAR_S8_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_ADD_LINEAR_S8_ASSEMBLY 1
#else
#define BURNC_ADD_LINEAR_S8_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_add_linear_s8_params {
    uint32_t count; /* at least 1 */
    uint32_t multiplier1;
    uint32_t multiplier2;
    uint32_t constant;
    uint32_t limit;
    uint32_t shift;
    uint32_t low;
} burnc_add_linear_s8_params;

void burnc_add_linear_s8(const burnc_add_linear_s8_params *params, const int8_t *x1, const int8_t *x2,
                         int8_t *y);

#ifdef __cplusplus
}
#endif

#endif
