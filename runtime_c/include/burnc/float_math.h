/* SPDX-License-Identifier: 0BSD */
/* Float functions for chips whose compiler brings no math library. Single precision throughout, no tables,
   the same bits on every CPU when compiled with -ffp-contract=off. Errors: expf, logf, tanhf, erff within 2
   ulp (denormal results included); the others exact. NaN gives NaN; infinities and signed zeros as in C99 annex
   F. */
#ifndef BURNC_FLOAT_MATH_H
#define BURNC_FLOAT_MATH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

float burnc_expf(float x);
float burnc_logf(float x); /* -inf at 0, NaN below */
float burnc_tanhf(float x);
float burnc_erff(float x);
float burnc_fmodf(float x, float y); /* exact, with the sign of x; NaN for an infinite x or y = 0 */
float burnc_sqrtf(float x);          /* correctly rounded; NaN below 0, -0 at -0 */
float burnc_floorf(float x);
float burnc_roundf(float x); /* halves away from zero */
float burnc_rintf(float x);  /* halves to even, whatever the rounding mode */

#ifdef __cplusplus
}
#endif

#endif
