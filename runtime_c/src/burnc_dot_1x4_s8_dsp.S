/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_1x4_s8_dsp for ARMv7E-M and ARMv8-M with DSP; the header describes what it computes.

   While sums are made:
     r0  next of the column   r1  next weights   r2  blocks left   r3..r6  sums of four channels
     r7..r10  a block of weights of each          r11, r12  four activations   lr  two widened weights
   In the epilogue:
     r0  next constants       r1  y, before that a mask            r3..r6  sums, then results
     r7..r12, lr  requantization
   On the stack: a copy of the job, of which weights, constants, y and channels move on. */
#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/requantize_dsp_macros.h"

#define BURNC_COLUMN 0
#define BURNC_WEIGHTS 8
#define BURNC_CONSTANTS 12
#define BURNC_Y 16
#define BURNC_CHANNELS 20
#define BURNC_FORM 24
#define BURNC_LOW 28
#define BURNC_FRAME 36

    .syntax unified
    .thumb

    .macro channel weights, sum
    sxtb16  lr, \weights
    smlad   \sum, lr, r11, \sum
    sxtb16  \weights, \weights, ror #8
    smlad   \sum, \weights, r12, \sum
    .endm

/* 18 instructions for 16 MACs. */
    .macro block
    ldrd    r11, r12, [r0], #16
    ldm     r1!, {r7, r8, r9, r10}
    channel r7, r3
    channel r8, r4
    channel r9, r5
    channel r10, r6
    .endm

    .section .text.burnc_dot_1x4_s8_dsp, "ax", %progbits
    .global burnc_dot_1x4_s8_dsp
    .type burnc_dot_1x4_s8_dsp, %function
    .thumb_func
burnc_dot_1x4_s8_dsp:
    push    {r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub     sp, sp, #BURNC_FRAME
    mov     r12, sp
    ldm     r0!, {r1, r2, r3, r4, r5, r6}
    stm     r12!, {r1, r2, r3, r4, r5, r6}
    ldm     r0, {r1, r2, r3}
    stm     r12, {r1, r2, r3}
.Lfour_channels:
    ldr     r0, [sp, #BURNC_CONSTANTS]
    ldm     r0!, {r3, r4, r5, r6}
    str     r0, [sp, #BURNC_CONSTANTS]
    ldrd    r0, r2, [sp, #BURNC_COLUMN]
    ldr     r1, [sp, #BURNC_WEIGHTS]
1:
    block
    block
    subs    r2, r2, #2
    bne     1b
    str     r1, [sp, #BURNC_WEIGHTS]
    ldr     r0, [sp, #BURNC_CONSTANTS]
    requantize_four BURNC_FORM, BURNC_LOW, r1
    str     r0, [sp, #BURNC_CONSTANTS]
    ldrd    r1, r2, [sp, #BURNC_Y]
    strb    r3, [r1], #1
    cmp     r2, #2
    blt     4f
    strb    r4, [r1], #1
    beq     4f
    strb    r5, [r1], #1
    cmp     r2, #4
    blt     4f
    strb    r6, [r1], #1
    subs    r2, r2, #4
    strd    r1, r2, [sp, #BURNC_Y]
    bne     .Lfour_channels
4:
    add     sp, sp, #BURNC_FRAME
    pop     {r4, r5, r6, r7, r8, r9, r10, r11, pc}
    .size burnc_dot_1x4_s8_dsp, . - burnc_dot_1x4_s8_dsp

#endif
