/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_2x2_s8_dsp for ARMv7E-M and ARMv8-M with DSP; the header describes what it computes.

   r3, r4  sums of the first channel, rows 0 and 1, then results   r5, r6  of the second
   While sums are made:
     r0  next columns   r1  next weights   r7, r8  the first row's activations   r9, r10  the second row's
     r2, r11  the first channel's weights   r12, lr  the second channel's
   In the epilogue:
     r0  next columns   r1  next constants   r2  mask, before that scratch   r7..r12, lr  requantization, then places of outputs
   On the stack: a copy of the job, of which y and pairs move on; blocks have given way to the code's entry. */
#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/requantize_dsp_macros.h"

#define BURNC_WEIGHTS 4
#define BURNC_ENTRY 8
#define BURNC_CONSTANTS 12
#define BURNC_Y 16
#define BURNC_DISTANCE 20
#define BURNC_STEP 24
#define BURNC_SECOND 28
#define BURNC_PAIRS 32
#define BURNC_FORM 36
#define BURNC_LOW 40
#define BURNC_WEIGHTS_END 48
#define BURNC_FRAME 52

    .syntax unified
    .thumb

/* 10 instructions of 4 bytes for 16 MACs. */
    .macro block
    ldm.w   r0!, {r7, r8, r9, r10}
    ldm.w   r1!, {r2, r11, r12, lr}
    smlad   r3, r2, r7, r3
    smlad   r3, r11, r8, r3
    smlad   r4, r2, r9, r4
    smlad   r4, r11, r10, r4
    smlad   r5, r12, r7, r5
    smlad   r5, lr, r8, r5
    smlad   r6, r12, r9, r6
    smlad   r6, lr, r10, r6
    .endm

    .macro general first, second
    ldm     r1!, {r7, r8, r9, r10}
    sbfx    r2, r10, #8, #1
    mvn     r2, r2
    requantize_general \first, r2
    requantize_general \second, r2
    ldrd    r8, r9, [sp, #BURNC_LOW]
    clamp   \first, r8, r9
    clamp   \second, r8, r9
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
    add     r7, r2, r3, lsl #4
    str     r7, [sp, #BURNC_WEIGHTS_END]
    rsb     r3, r3, #0
    and     r3, r3, #7
    add     r3, r3, r3, lsl #2
    adr     r7, .Lblocks
    add     r3, r7, r3, lsl #3
    orr     r3, r3, #1
    stm     r12!, {r1, r2, r3, r4, r5, r6}
    mov     r8, r1
    ldm     r0, {r1, r2, r3, r4, r5, r6}
    stm     r12, {r1, r2, r3, r4, r5, r6}
    mov     r0, r8
.Lpair:
    ldr     r1, [sp, #BURNC_CONSTANTS]
    ldrd    r3, r5, [r1]
    mov     r4, r3
    mov     r6, r5
    ldrd    r1, r2, [sp, #BURNC_WEIGHTS]
    bx      r2
    .balign 4
.Lblocks:
    block
    block
    block
    block
    block
    block
    block
    block
    ldr     r2, [sp, #BURNC_WEIGHTS_END]
    cmp     r1, r2
    bne     .Lblocks
    ldr     r1, [sp, #BURNC_CONSTANTS]
    adds    r1, r1, #8
    ldr     r2, [sp, #BURNC_FORM]
    cbnz    r2, .Lother
    ldm     r1!, {r7, r8, r9, r10}
    requantize r3
    requantize r4
    ldm     r1!, {r7, r8, r9, r10}
    requantize r5
    requantize r6
.Lstore:
    ldrd    r11, r12, [sp, #BURNC_Y]
    ldrd    r7, r8, [sp, #BURNC_STEP]
    add     lr, r11, r12
    strb    r6, [lr, r8]
    strb    r4, [lr]
    strb    r5, [r11, r8]
    strb    r3, [r11]
    add     lr, lr, r7
    str     lr, [sp, #BURNC_Y]
    ldr     r2, [sp, #BURNC_PAIRS]
    subs    r2, r2, #1
    str     r2, [sp, #BURNC_PAIRS]
    bne     .Lpair
    add     sp, sp, #BURNC_FRAME
    pop     {r4, r5, r6, r7, r8, r9, r10, r11, pc}
.Lother:
    cmp     r2, #2
    beq     .Lgeneral
    ldm     r1!, {r7, r8, r9, r10}
    requantize_wide r3
    requantize_wide r4
    ldm     r1!, {r7, r8, r9, r10}
    requantize_wide r5
    requantize_wide r6
    b       .Lstore
.Lgeneral:
    general r3, r4
    general r5, r6
    b       .Lstore
    .size burnc_dot_2x2_s8_dsp, . - burnc_dot_2x2_s8_dsp

#endif
