/* SPDX-License-Identifier: 0BSD */
/* burnc_widen_s8_dsp for ARMv7E-M and ARMv8-M with DSP, whose LDR takes any address.
   r0  columns   r1  x   r2  bytes left   r3, r12  a word of x and its widened halves */
#if defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

    .syntax unified
    .thumb

    .macro widen
    ldr     r3, [r1], #4
    sxtb16  r12, r3
    sxtb16  r3, r3, ror #8
    strd    r12, r3, [r0], #16
    .endm

    .section .text.burnc_widen_s8_dsp, "ax", %progbits
    .global burnc_widen_s8_dsp
    .type burnc_widen_s8_dsp, %function
    .thumb_func
burnc_widen_s8_dsp:
    subs    r2, r2, #8
    bmi     2f
1:
    widen
    widen
    subs    r2, r2, #8
    bpl     1b
2:
    adds    r2, r2, #4
    bmi     3f
    widen
    subs    r2, r2, #4
3:
    adds    r2, r2, #4
    beq     5f
    /* One to three bytes. */
    ldrsb   r12, [r1]
    movs    r3, #0
    cmp     r2, #2
    blt     4f
    ldrsb   r3, [r1, #1]
    uxth    r3, r3
    beq     4f
    ldrsb   r2, [r1, #2]
    pkhbt   r12, r12, r2, lsl #16
    strd    r12, r3, [r0], #16
    bx      lr
4:
    uxth    r12, r12
    strd    r12, r3, [r0], #16
5:
    bx      lr
    .size burnc_widen_s8_dsp, . - burnc_widen_s8_dsp

#endif
