/* SPDX-License-Identifier: 0BSD */
/* burnc_depthwise_rows_s8_m0 for ARMv6-M; the header describes what it computes.

   r0, r1, r2  last column of the three input rows, this channel     r3  the column, counted in bytes up to 0
   r4  an input, r7 a weight, then the product                    r5  sum of the output that begins in this column
   r6  the sum that is finished     r8  sum of the output that ends in this column     r9  the one between (stride 1),
   or bytes of a column (stride 2)     r10  limit     r11  offset     r12  rounding     lr  multiplier
   On the stack: the channel's weights, fraction and places, and what stands below. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/depthwise_m0_macros.h"

#define BURNC_PLACES 36
#define BURNC_FRACTION 40
#define BURNC_RECORDS 44
#define BURNC_X 48
#define BURNC_ENDS 52
#define BURNC_Y 56
#define BURNC_CHANNELS 60
#define BURNC_ROWS 64
#define BURNC_WIDTH 68
#define BURNC_STRIDE 72
#define BURNC_CHANNELS_LEFT 76
#define BURNC_ROWS_LEFT 80
#define BURNC_ENDS_NOW 84
#define BURNC_Y_NOW 88
#define BURNC_BEGIN 92
#define BURNC_Y_STEP 96
#define BURNC_FRAME 100

    .syntax unified

    .macro product tap, register
    ldr     \register, [sp, #4 * (\tap)]
    muls    \register, r4, \register
    .endm

/* Taps at columns 2, 1 and 0 of the kernel, where they are wanted, of one row of the input. */
    .macro taps row, pointer, second, first, zeroth
    ldrsb   r4, [\pointer, r3]
    .if \second
    product 3 * \row + 2, r7
    add     r8, r7
    .endif
    .if \first
    product 3 * \row + 1, r7
    add     r9, r7
    .endif
    .if \zeroth
    .if \row == 0
    product 0, r5
    .else
    product 3 * \row, r7
    adds    r5, r5, r7
    .endif
    .endif
    .endm

    .macro column second, first, zeroth
    taps    0, r0, \second, \first, \zeroth
    taps    1, r1, \second, \first, \zeroth
    taps    2, r2, \second, \first, \zeroth
    .endm

/* The column between two outputs of stride 2 belongs to one alone, as the last one of stride 1 does. */
    .macro lone_taps at, row, pointer
    ldrsb   r4, [\pointer, r3]
    product 3 * \row + \at, r7
    add     r8, r7
    .endm

/* To the next column; the flags say whether it was the last. */
    .macro next_column
    ldr     r7, [sp, #BURNC_CHANNELS]
    adds    r3, r3, r7
    .endm

/* The byte of the sum in r6. A sum out of the range goes through label \clamp, which comes back to \back. */
    .macro requantize clamp, back
    add     r6, r11
    cmp     r6, r10
    bhi     \clamp
\back:
    ldr     r4, [sp, #BURNC_FRACTION]
    muls    r4, r6, r4
    ldr     r7, [sp, #BURNC_PLACES]
    lsrs    r4, r7
    mov     r7, lr
    muls    r6, r7, r6
    adds    r6, r6, r4
    add     r6, r12
    lsrs    r6, r6, #24
    .endm

    .macro clamped back
    asrs    r4, r6, #31
    mov     r6, r10
    bics    r6, r4
    b       \back
    .endm

    .section .text.burnc_depthwise_rows_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_depthwise_rows_s8_m0
    .type   burnc_depthwise_rows_s8_m0, %function
burnc_depthwise_rows_s8_m0:
    push_registers
    sub     sp, #BURNC_FRAME
    add     r1, sp, #BURNC_RECORDS
    ldmia   r0!, {r2-r7}
    stmia   r1!, {r2-r7}
    ldmia   r0!, {r4-r5}
    stmia   r1!, {r4-r5}
    ldr     r6, [sp, #BURNC_CHANNELS]  /* r4 holds the width, r5 the stride */
    str     r6, [sp, #BURNC_CHANNELS_LEFT]
    movs    r7, r4
    muls    r7, r6, r7
    str     r7, [sp, #BURNC_Y_STEP]
    subs    r4, #1
    muls    r4, r5, r4
    adds    r4, #2
    muls    r4, r6, r4
    rsbs    r4, r4, #0
    str     r4, [sp, #BURNC_BEGIN]

.Lchannel:
    ldr     r0, [sp, #BURNC_RECORDS]
    ldmia   r0!, {r1-r3}
    mov     r4, sp
    unpack  r1, r1
    unpack  r2, r2
    unpack  r3, r3
    lsls    r3, r3, #8
    orrs    r2, r3
    stmia   r4!, {r1-r2}
    ldmia   r0!, {r1-r4}
    str     r0, [sp, #BURNC_RECORDS]
    mov     r11, r1
    mov     r10, r2
    mov     lr, r3
    mov     r12, r4
    ldr     r1, [sp, #BURNC_ROWS]
    str     r1, [sp, #BURNC_ROWS_LEFT]
    ldr     r1, [sp, #BURNC_ENDS]
    str     r1, [sp, #BURNC_ENDS_NOW]
    ldr     r1, [sp, #BURNC_Y]
    str     r1, [sp, #BURNC_Y_NOW]

.Lrow:
    ldr     r4, [sp, #BURNC_ENDS_NOW]
    ldmia   r4!, {r0-r2}
    ldr     r3, [sp, #BURNC_X]
    adds    r0, r0, r3
    adds    r1, r1, r3
    adds    r2, r2, r3
    ldr     r3, [sp, #BURNC_BEGIN]
    subs    r4, #8
    ldr     r5, [sp, #BURNC_STRIDE]
    cmp     r5, #1
    beq     .Lstride1
    b       .Lstride2

.Lstride1:
    str     r4, [sp, #BURNC_ENDS_NOW]
    column  0, 0, 1
    next_column
    mov     r9, r5
    column  0, 1, 1
    mov     r8, r9
    mov     r9, r5
    next_column
    ldr     r4, [sp, #BURNC_Y_NOW]
    ldr     r5, [sp, #BURNC_Y_STEP]
    adds    r4, r4, r5
    subs    r4, r4, r7
    str     r4, [sp, #BURNC_Y_NOW]  /* the row's last output, which ends in the last column */
.Lcolumn:
    column  1, 1, 1
    mov     r6, r8
    mov     r8, r9
    mov     r9, r5
    requantize .Lclamp, .Lrange
    ldr     r7, [sp, #BURNC_Y_NOW]
    strb    r6, [r7, r3]
    next_column
    bne     .Lcolumn
    lone_taps 2, 0, r0
    lone_taps 2, 1, r1
    lone_taps 2, 2, r2
    mov     r6, r8
    requantize .Lclamp_last, .Lrange_last
    ldr     r7, [sp, #BURNC_Y_NOW]
    strb    r6, [r7]
    ldr     r4, [sp, #BURNC_CHANNELS]
    adds    r7, r7, r4
    str     r7, [sp, #BURNC_Y_NOW]
    b       .Lnext_row
.Lclamp:
    clamped .Lrange
.Lclamp_last:
    clamped .Lrange_last

.Lstride2:
    adds    r4, #4
    str     r4, [sp, #BURNC_ENDS_NOW]
    ldr     r7, [sp, #BURNC_CHANNELS]
    mov     r9, r7
    column  0, 0, 1
.Lcolumns:
    mov     r8, r5
    add     r3, r9
    lone_taps 1, 0, r0
    lone_taps 1, 1, r1
    lone_taps 1, 2, r2
    add     r3, r9
    column  1, 0, 1
    mov     r6, r8
    requantize .Lclamp2, .Lrange2
    ldr     r7, [sp, #BURNC_Y_NOW]
    strb    r6, [r7]
    add     r7, r9
    str     r7, [sp, #BURNC_Y_NOW]
    cmp     r3, #0
    bne     .Lcolumns
    b       .Lnext_row
.Lclamp2:
    clamped .Lrange2

.Lnext_row:
    ldr     r4, [sp, #BURNC_ROWS_LEFT]
    subs    r4, #1
    str     r4, [sp, #BURNC_ROWS_LEFT]
    beq     1f
    b       .Lrow
1:
    ldr     r4, [sp, #BURNC_X]
    adds    r4, #1
    str     r4, [sp, #BURNC_X]
    ldr     r4, [sp, #BURNC_Y]
    adds    r4, #1
    str     r4, [sp, #BURNC_Y]
    ldr     r4, [sp, #BURNC_CHANNELS_LEFT]
    subs    r4, #1
    str     r4, [sp, #BURNC_CHANNELS_LEFT]
    beq     1f
    b       .Lchannel
1:
    add     sp, #BURNC_FRAME
    pop_registers
    .size   burnc_depthwise_rows_s8_m0, . - burnc_depthwise_rows_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
