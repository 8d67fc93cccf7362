/* SPDX-License-Identifier: 0BSD */
/* Macros of the assembly for cores with the DSP extension: the constants of requantize_dsp.h at work.
   r7 multiplier, r8 rounding, r9 left; in the other forms r8 and r9 rounding, r10 places, r11, r12 the 64-bit
   product, lr the sign. */
#ifndef BURNC_REQUANTIZE_DSP_MACROS_H
#define BURNC_REQUANTIZE_DSP_MACROS_H
/* clang-format off */
#ifdef __ASSEMBLER__

/* \sum becomes the int8 result. */
    .macro requantize sum
    lsl     \sum, \sum, r9
    smmla   \sum, \sum, r7, r8
    ssat    \sum, #8, \sum, asr #16
    .endm

/* The wide form. */
    .macro requantize_wide sum
    asr     lr, \sum, #31
    adds    r11, r8, lr, lsl #31
    adc     r12, r9, lr
    smlal   r11, r12, \sum, r7
    asr     \sum, r12, r10
    ssat    \sum, #8, \sum
    .endm

/* The general form: \mask is 0 where the sign does not count. Limits are applied by `clamp`. */
    .macro requantize_general sum, mask
    and     lr, \mask, \sum, asr #31
    adds    r11, r8, lr, lsl #31
    adc     r12, r9, lr
    smlal   r11, r12, \sum, r7
    lsl     r12, r12, #1
    orr     r12, r12, r11, lsr #31
    asr     \sum, r12, r10
    .endm

    .macro clamp sum, low, high
    cmp     \sum, \low
    it      lt
    movlt   \sum, \low
    cmp     \sum, \high
    it      gt
    movgt   \sum, \high
    .endm

/* The sums r3 to r6 with the constants that r0 points to, in the form and with the limits that the stack holds. */
    .macro requantize_four form, low, mask
    ldr     r7, [sp, #\form]
    cmp     r7, #1
    bhi     1f
    beq     3f
    .irp    sum, r3, r4, r5, r6
    ldm     r0!, {r7, r8, r9, r10}
    requantize \sum
    .endr
    b       2f
3:
    .irp    sum, r3, r4, r5, r6
    ldm     r0!, {r7, r8, r9, r10}
    requantize_wide \sum
    .endr
    b       2f
1:
    .irp    sum, r3, r4, r5, r6
    ldm     r0!, {r7, r8, r9, r10}
    sbfx    \mask, r10, #8, #1
    mvn     \mask, \mask
    requantize_general \sum, \mask
    .endr
    ldrd    r8, r9, [sp, #\low]
    .irp    sum, r3, r4, r5, r6
    clamp   \sum, r8, r9
    .endr
2:
    .endm

#endif

#endif
