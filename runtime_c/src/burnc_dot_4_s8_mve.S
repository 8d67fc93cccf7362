/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_4_s8_mve for the M-profile vector extension; the header describes what it computes.

   While sums are made:
     r1, r3  next taps of both rows   r5  next weights   r7  chunks left   r9  constants   r11  channels left
     r0, r2, r4, r6  sums of four channels for the first row   r8, r10, r12, lr  for the second (VMLADAVA takes even ones)
     q0, q1  taps   q2..q5  weights
   In the epilogue:
     q0  sums, then results   q1  halves below zero   q2, q3  multipliers and shifts   q6, q7  the limits
     r7  zero point   r3  where results go */
#if defined(__ARM_FEATURE_MVE) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#define BURNC_ROW 0
#define BURNC_SECOND 4
#define BURNC_CHUNKS 8
#define BURNC_ZERO_POINT 12
#define BURNC_Y 16
#define BURNC_SECOND_Y 20
#define BURNC_FRAME 24
#define BURNC_SAVED 100 /* by push and vpush, with the padding between them */

    .syntax unified
    .thumb

    .macro weights_and_taps
    vldrb.8 q0, [r1], #16
    vldrb.8 q2, [r5], #16
    vldrb.8 q3, [r5], #16
    vldrb.8 q4, [r5], #16
    vldrb.8 q5, [r5], #16
    vmladava.s8 r0, q0, q2
    vmladava.s8 r2, q0, q3
    vmladava.s8 r4, q0, q4
    vmladava.s8 r6, q0, q5
    .endm

/* q0 has four sums. */
    .macro finish at
    vqrdmulh.s32 q0, q0, q2
    vand    q1, q0, q3
    vshr.s32 q1, q1, #31
    vqadd.s32 q0, q0, q1
    vrshl.s32 q0, q0, q3
    vadd.i32 q0, q0, r7
    vmax.s32 q0, q0, q6
    vmin.s32 q0, q0, q7
    ldr     r3, [sp, #\at]
    vpst
    vstrbt.32 q0, [r3], #4
    str     r3, [sp, #\at]
    .endm

    .macro begin
    ldrd    r0, r2, [r9]
    ldrd    r4, r6, [r9, #8]
    ldr     r1, [sp, #BURNC_ROW]
    ldr     r7, [sp, #BURNC_CHUNKS]
    .endm

    .macro begin_epilogue
    vldrw.32 q2, [r9, #16]
    vldrw.32 q3, [r9, #32]
    ldr     r7, [sp, #BURNC_ZERO_POINT]
    vctp.32 r11
    .endm

    .macro finish_first
    vmov    q0[2], q0[0], r0, r4
    vmov    q0[3], q0[1], r2, r6
    finish  BURNC_Y
    adds    r9, r9, #48
    subs    r11, r11, #4
    .endm

    .section .text.burnc_dot_4_s8_mve, "ax", %progbits
    .global burnc_dot_4_s8_mve
    .type burnc_dot_4_s8_mve, %function
    .thumb_func
burnc_dot_4_s8_mve:
    push    {r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub     sp, sp, #4
    vpush   {d8, d9, d10, d11, d12, d13, d14, d15}
    ldr     r4, [sp, #BURNC_SAVED + 4]
    sub     sp, sp, #BURNC_FRAME
    strd    r1, r2, [sp, #BURNC_ROW]
    strd    r3, r4, [sp, #BURNC_Y]
    ldr     r5, [r0]
    ldr     r6, [r0, #8]
    strd    r5, r6, [sp, #BURNC_CHUNKS]
    ldr     r11, [r0, #4]
    ldrd    r6, r7, [r0, #12]
    vdup.32 q6, r6
    vdup.32 q7, r7
    ldrd    r5, r9, [r0, #20]
    cmp     r1, r2
    beq     .Lone_row
.Ltwo_rows:
    begin
    ldr     r3, [sp, #BURNC_SECOND]
    mov     r8, r0
    mov     r10, r2
    mov     r12, r4
    mov     lr, r6
1:
    vldrb.8 q1, [r3], #16
    weights_and_taps
    vmladava.s8 r8, q1, q2
    vmladava.s8 r10, q1, q3
    vmladava.s8 r12, q1, q4
    vmladava.s8 lr, q1, q5
    subs    r7, r7, #1
    bne     1b
    begin_epilogue
    vmov    q0[2], q0[0], r8, r12
    vmov    q0[3], q0[1], r10, lr
    finish  BURNC_SECOND_Y
    finish_first
    bgt     .Ltwo_rows
    b       .Lend
.Lone_row:
    begin
1:
    weights_and_taps
    subs    r7, r7, #1
    bne     1b
    begin_epilogue
    finish_first
    bgt     .Lone_row
.Lend:
    add     sp, sp, #BURNC_FRAME
    vpop    {d8, d9, d10, d11, d12, d13, d14, d15}
    add     sp, sp, #4
    pop     {r4, r5, r6, r7, r8, r9, r10, r11, pc}
    .size burnc_dot_4_s8_mve, . - burnc_dot_4_s8_mve

#endif
