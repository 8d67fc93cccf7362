/* SPDX-License-Identifier: 0BSD */
/* BURNC_STEP ends a step of an unrolled loop: the compiler must have the index and both sums ready there, so it
   cannot hoist later loads into registers that a small core lacks. It changes no value. It is on where only
   eight registers are of use (ARMv6-M, ARMv8-M baseline); elsewhere the compiler orders and vectorizes freely.
   Define BURNC_FEW_REGISTERS yourself to choose. */
#ifndef BURNC_STEP_H
#define BURNC_STEP_H

#ifndef BURNC_FEW_REGISTERS
#if defined(__thumb__) && !defined(__thumb2__)
#define BURNC_FEW_REGISTERS 1
#else
#define BURNC_FEW_REGISTERS 0
#endif
#endif

#if BURNC_FEW_REGISTERS && defined(__GNUC__)
#define BURNC_STEP(index, sum0, sum1) __asm__("" : "+r"(index), "+r"(sum0), "+r"(sum1))
#else
#define BURNC_STEP(index, sum0, sum1) ((void)0)
#endif

#endif
