/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_2x2_s8_dsp for ARMv7E-M and ARMv8-M with DSP; the header describes what it computes.

   While sums are made:
     r0  next columns       r2  blocks left           r7, r8    the first row's activations
     r1  next weights       r3, r4  sums of the first channel, rows 0 and 1      r9, r10  the second row's
     r11, r12  a block of weights of channel 0 and 1  r5, r6  of the second      lr  two widened weights
   In the epilogue:
     r0  next constants     r1  distance    r2  y     r3..r6  sums, then results     r7..r12, lr  requantization
   On the stack: a copy of the job, of which weights, constants and y move on. */
#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/requantize_dsp_macros.h"

#define BURNC_COLUMNS 0
#define BURNC_WEIGHTS 8
#define BURNC_CONSTANTS 12
#define BURNC_CONSTANTS_END 16
#define BURNC_Y 20
#define BURNC_DISTANCE 24
#define BURNC_IS_GENERAL 28
#define BURNC_LOW 32
#define BURNC_ODD 40
#define BURNC_FRAME 44

    .syntax unified
    .thumb

    .macro channel weights, first, second
    sxtb16  lr, \weights
    smlad   \first, lr, r7, \first
    smlad   \second, lr, r9, \second
    sxtb16  \weights, \weights, ror #8
    smlad   \first, \weights, r8, \first
    smlad   \second, \weights, r10, \second
    .endm

/* 14 instructions for 16 MACs. */
    .macro block
    ldm     r0!, {r7, r8, r9, r10}
    ldrd    r11, r12, [r1], #8
    channel r11, r3, r4
    channel r12, r5, r6
    .endm

/* Both rows of one channel. */
    .macro finish first, second
    ldm     r0!, {r7, r8, r9, r10}
    ldr     r11, [sp, #BURNC_IS_GENERAL]
    cmp     r11, #0
    bne     1f
    requantize \first
    requantize \second
    b       2f
1:
    sbfx    r1, r10, #8, #1
    mvn     r1, r1
    requantize_general \first, r1
    requantize_general \second, r1
    ldrd    r8, r9, [sp, #BURNC_LOW]
    clamp   \first, r8, r9
    clamp   \second, r8, r9
    ldr     r1, [sp, #BURNC_DISTANCE]
2:
    strb    \second, [r2, r1]
    strb    \first, [r2], #1
    .endm

/* The sums of two channels; r0 has their constants. */
    .macro sums
    ldm     r0!, {r3, r5}
    str     r0, [sp, #BURNC_CONSTANTS]
    mov     r4, r3
    mov     r6, r5
    ldrd    r0, r2, [sp, #BURNC_COLUMNS]
    ldr     r1, [sp, #BURNC_WEIGHTS]
1:
    block
    block
    subs    r2, r2, #2
    bne     1b
    str     r1, [sp, #BURNC_WEIGHTS]
    ldr     r0, [sp, #BURNC_CONSTANTS]
    ldrd    r2, r1, [sp, #BURNC_Y]
    .endm

    .section .text.burnc_dot_2x2_s8_dsp, "ax", %progbits
    .global burnc_dot_2x2_s8_dsp
    .type burnc_dot_2x2_s8_dsp, %function
    .thumb_func
burnc_dot_2x2_s8_dsp:
    push    {r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub     sp, sp, #BURNC_FRAME
    mov     r12, sp
    ldm     r0!, {r1, r2, r3, r4, r5, r6}
    stm     r12!, {r1, r2, r3, r4, r5, r6}
    ldm     r0!, {r1, r2, r3, r6, r7}
    stm     r12!, {r1, r2, r3, r6, r7}
    mov     r0, r4
    b       .Lnext
.Lpair:
    sums
    finish  r3, r4
    finish  r5, r6
    str     r2, [sp, #BURNC_Y]
.Lnext:
    ldr     r8, [sp, #BURNC_CONSTANTS_END]
    cmp     r0, r8
    bne     .Lpair
    ldr     r7, [sp, #BURNC_ODD]
    cmp     r7, #0
    beq     .Ldone
    sums
    finish  r3, r4
.Ldone:
    add     sp, sp, #BURNC_FRAME
    pop     {r4, r5, r6, r7, r8, r9, r10, r11, pc}
    .size burnc_dot_2x2_s8_dsp, . - burnc_dot_2x2_s8_dsp

#endif
