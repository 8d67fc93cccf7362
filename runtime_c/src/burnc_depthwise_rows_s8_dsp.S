/* SPDX-License-Identifier: 0BSD */
/* burnc_depthwise_rows_s8_dsp for ARMv7E-M and ARMv8-M with DSP; the header describes what it computes.

   While sums are made:
     r0  distance from the taps' first inputs   r1  next weights   r2  next taps   r3..r6  sums of four channels
     r7, r8   channels {0, 2} and {1, 3} of a tap   r9, r10  of its partner
     r11, r12  pointers of the taps, then their weights   lr  two taps of a channel
   In the epilogue:
     r0  next constants   r1  next weights   r2  y, before that a mask   r3..r6  sums, then results
     r7..r12, lr  requantization
   On the stack: a copy of the job, of which y and pixels move on, and what follows it below. */
#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/requantize_dsp_macros.h"

#define BURNC_TAPS 0
#define BURNC_WEIGHTS 4
#define BURNC_CONSTANTS 8
#define BURNC_CONSTANTS_END 12
#define BURNC_Y 16
#define BURNC_PIXELS 20
#define BURNC_STEP 24
#define BURNC_FORM 28
#define BURNC_LOW 32
#define BURNC_HAS_NINE 40
#define BURNC_CONSTANTS_NOW 44
#define BURNC_DISTANCE 48
#define BURNC_FRAME 52

    .syntax unified
    .thumb

/* Two taps whose pointers are in r11 and r12. */
    .macro two_taps
    ldr     r7, [r11, r0]
    ldr     r9, [r12, r0]
    sxtb16  r8, r7, ror #8
    sxtb16  r7, r7
    sxtb16  r10, r9, ror #8
    sxtb16  r9, r9
    ldrd    r11, r12, [r1], #8
    pkhbt   lr, r7, r9, lsl #16
    pkhtb   r9, r9, r7, asr #16
    smlad   r3, lr, r11, r3
    smlad   r5, r9, r12, r5
    ldrd    r11, r12, [r1], #8
    pkhbt   lr, r8, r10, lsl #16
    pkhtb   r10, r10, r8, asr #16
    smlad   r4, lr, r11, r4
    smlad   r6, r10, r12, r6
    .endm

    .macro next_two_taps
    ldrd    r11, r12, [r2], #8
    two_taps
    .endm

    .macro one_tap
    ldr     r11, [r2]
    ldr     r7, [r11, r0]
    ldrd    r11, r12, [r1], #8
    sxtb16  r8, r7, ror #8
    sxtb16  r7, r7
    smlabb  r3, r7, r11, r3
    smlatt  r5, r7, r11, r5
    smlabb  r4, r8, r12, r4
    smlatt  r6, r8, r12, r6
    .endm

    .section .text.burnc_depthwise_rows_s8_dsp, "ax", %progbits
    .global burnc_depthwise_rows_s8_dsp
    .type burnc_depthwise_rows_s8_dsp, %function
    .thumb_func
burnc_depthwise_rows_s8_dsp:
    push    {r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub     sp, sp, #BURNC_FRAME
    mov     r12, sp
    ldm     r0!, {r1, r2, r3, r4, r5, r6}
    stm     r12!, {r1, r2, r3, r4, r5, r6}
    ldm     r0!, {r1, r2, r3, r4, r5}
    stm     r12!, {r1, r2, r3, r4, r5}
    movs    r0, #0
.Lpixel:
    ldrd    r1, r2, [sp, #BURNC_WEIGHTS]
.Lfour_channels:
    ldm     r2!, {r3, r4, r5, r6}
    str     r2, [sp, #BURNC_CONSTANTS_NOW]
    ldr     r2, [sp, #BURNC_TAPS]
    ldr     r11, [sp, #BURNC_HAS_NINE]
    cmp     r11, #0
    beq     .Lany_taps
    next_two_taps
    next_two_taps
    next_two_taps
    next_two_taps
    one_tap
.Lfinish:
    adds    r0, r0, #4
    str     r0, [sp, #BURNC_DISTANCE]
    ldr     r0, [sp, #BURNC_CONSTANTS_NOW]
    requantize_four BURNC_FORM, BURNC_LOW, r2
    ldr     r2, [sp, #BURNC_Y]
    strb    r3, [r2]
    strb    r4, [r2, #1]
    strb    r5, [r2, #2]
    strb    r6, [r2, #3]
    adds    r2, r2, #4
    str     r2, [sp, #BURNC_Y]
    mov     r2, r0
    ldr     r7, [sp, #BURNC_CONSTANTS_END]
    ldr     r0, [sp, #BURNC_DISTANCE]
    cmp     r2, r7
    bne     .Lfour_channels
    ldrd    r3, r4, [sp, #BURNC_PIXELS]
    adds    r0, r0, r4
    subs    r3, r3, #1
    str     r3, [sp, #BURNC_PIXELS]
    bne     .Lpixel
    add     sp, sp, #BURNC_FRAME
    pop     {r4, r5, r6, r7, r8, r9, r10, r11, pc}
.Lany_taps:
    ldrd    r11, r12, [r2], #8
    cmp     r11, #0
    beq     .Lfinish
    two_taps
    b       .Lany_taps
    .size burnc_depthwise_rows_s8_dsp, . - burnc_depthwise_rows_s8_dsp

#endif
