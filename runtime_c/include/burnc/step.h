/* SPDX-License-Identifier: 0BSD */
/* BURNC_STEP ends a step of an unrolled loop: the compiler must have the index and both sums ready there, so
   it cannot hoist later loads into registers that a small core lacks. It changes no value; other compilers go
   without. */
#ifndef BURNC_STEP_H
#define BURNC_STEP_H

#ifdef __GNUC__
#define BURNC_STEP(index, sum0, sum1) __asm__("" : "+r"(index), "+r"(sum0), "+r"(sum1))
#else
#define BURNC_STEP(index, sum0, sum1) ((void)0)
#endif

#endif
