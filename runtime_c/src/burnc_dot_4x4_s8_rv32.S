/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_4x4_s8_rv32 for RV32IM; the header describes what it computes. 56 instructions for 32 MACs.

   s0..s3, s4..s7, s8..s11, a4..a7  sums of pixels 0 to 3   a3  job
   While sums are made:
     a0  next columns   a1  next weights, then the columns   a2  end of the columns, then counts of extras
     t0..t3  activations of the pixels   t4  a weight, then next extras   t5  a product   t6  extras left   ra  a product
   In the epilogue:
     a0..a2, ra  outputs of the pixels   t0..t2, t6  multiplier, rounding, places, left   t3, t4  limits   t5  a result
     with signs a3 is the step, and the job's address is on the stack, below what is saved. */
#include "burnc/rv32.h"
#if BURNC_RV32_ASSEMBLY

#define BURNC_COLUMNS 0
#define BURNC_COLUMN_BYTES 4
#define BURNC_QUADS 8
#define BURNC_WEIGHTS 12
#define BURNC_EXTRAS 16
#define BURNC_CONSTANTS 20
#define BURNC_CHANNELS 24
#define BURNC_Y 28
#define BURNC_DISTANCES 32
#define BURNC_STEP 44
#define BURNC_LOW 48
#define BURNC_HIGH 52
#define BURNC_IS_SIGNED 56

#define BURNC_JOB 0
#define BURNC_SAVED 4
#define BURNC_FRAME 64

    .macro product activation, sum
    mul     t5, t4, \activation
    srai    t5, t5, 16
    add     \sum, \sum, t5
    .endm

    .macro channel at, first, second, third, fourth
    lw      t4, \at(a1)
    product t0, \first
    product t1, \second
    product t2, \third
    product t3, \fourth
    .endm

/* Two taps. */
    .macro word at
    lw      t0, \at(a0)
    lw      t1, \at + 4(a0)
    lw      t2, \at + 8(a0)
    lw      t3, \at + 12(a0)
    channel \at, s0, s4, s8, a4
    channel \at + 4, s1, s5, s9, a5
    channel \at + 8, s2, s6, s10, a6
    channel \at + 12, s3, s7, s11, a7
    .endm

    .macro extras at, first, second, third, fourth
    lhu     t6, \at(a2)
    beqz    t6, 9f
8:
    lhu     t0, 0(t4)
    lh      t5, 2(t4)
    add     t0, t0, a1
    lh      t1, 4(t0)
    lh      t2, 8(t0)
    lh      t3, 12(t0)
    lh      t0, 0(t0)
    mul     t1, t1, t5
    mul     t2, t2, t5
    mul     t3, t3, t5
    mul     t0, t0, t5
    add     \first, \first, t0
    add     \second, \second, t1
    add     \third, \third, t2
    add     \fourth, \fourth, t3
    addi    t4, t4, 4
    addi    t6, t6, -1
    bnez    t6, 8b
9:
    .endm

    .macro scale sum
    sll     t5, \sum, t6
    mulh    t5, t5, t0
    add     t5, t5, t1
    .endm

    .macro store at, y
    sra     t5, t5, t2
    bge     t5, t3, 8f
    mv      t5, t3
8:
    ble     t5, t4, 9f
    mv      t5, t4
9:
    sb      t5, \at(\y)
    .endm

    .macro constants at
    lw      t6, BURNC_CONSTANTS(a3)
    lw      t0, 16 + 16 * \at(t6)
    lw      t1, 20 + 16 * \at(t6)
    lbu     t2, 24 + 16 * \at(t6)
    .endm

    .macro finish at, first, second, third, fourth
    constants \at
    lbu     t6, 25 + 16 * \at(t6)
    scale   \first
    store   \at, a0
    scale   \second
    store   \at, a1
    scale   \third
    store   \at, a2
    scale   \fourth
    store   \at, ra
    .endm

    .macro scale_signed sum
    scale   \sum
    bgez    \sum, 7f
    sub     t5, t5, a3
7:
    .endm

    .macro finish_signed at, first, second, third, fourth
    constants \at
    lw      a3, 28 + 16 * \at(t6)
    lbu     t6, 25 + 16 * \at(t6)
    scale_signed \first
    store   \at, a0
    scale_signed \second
    store   \at, a1
    scale_signed \third
    store   \at, a2
    scale_signed \fourth
    store   \at, ra
    lw      a3, BURNC_JOB(sp)
    .endm

/* Leaves if there are no more channels than this many. */
    .macro last count
    lw      t5, BURNC_CHANNELS(a3)
    addi    t5, t5, -\count
    beqz    t5, .Lnext
    .endm

    .section .text.burnc_dot_4x4_s8_rv32, "ax", @progbits
    .globl  burnc_dot_4x4_s8_rv32
    .type   burnc_dot_4x4_s8_rv32, @function
burnc_dot_4x4_s8_rv32:
    addi    sp, sp, -BURNC_FRAME
    sw      ra, BURNC_SAVED(sp)
    sw      s0, BURNC_SAVED + 4(sp)
    sw      s1, BURNC_SAVED + 8(sp)
    sw      s2, BURNC_SAVED + 12(sp)
    sw      s3, BURNC_SAVED + 16(sp)
    sw      s4, BURNC_SAVED + 20(sp)
    sw      s5, BURNC_SAVED + 24(sp)
    sw      s6, BURNC_SAVED + 28(sp)
    sw      s7, BURNC_SAVED + 32(sp)
    sw      s8, BURNC_SAVED + 36(sp)
    sw      s9, BURNC_SAVED + 40(sp)
    sw      s10, BURNC_SAVED + 44(sp)
    sw      s11, BURNC_SAVED + 48(sp)
    sw      a0, BURNC_JOB(sp)
    mv      a3, a0
.Lquad:
    lw      t0, BURNC_CONSTANTS(a3)
    lw      a0, BURNC_COLUMNS(a3)
    lw      a1, BURNC_WEIGHTS(a3)
    lw      a2, BURNC_COLUMN_BYTES(a3)
    add     a2, a2, a0
    lw      s0, 0(t0)
    lw      s1, 4(t0)
    lw      s2, 8(t0)
    lw      s3, 12(t0)
    mv      s4, s0
    mv      s5, s1
    mv      s6, s2
    mv      s7, s3
    mv      s8, s0
    mv      s9, s1
    mv      s10, s2
    mv      s11, s3
    mv      a4, s0
    mv      a5, s1
    mv      a6, s2
    mv      a7, s3
1:
    word    0
    word    16
    addi    a0, a0, 32
    addi    a1, a1, 32
    bne     a0, a2, 1b
    lw      a2, BURNC_EXTRAS(a3)
    beqz    a2, .Lfinish
    lw      a1, BURNC_COLUMNS(a3)
    addi    t4, a2, 8
    extras  0, s0, s4, s8, a4
    extras  2, s1, s5, s9, a5
    extras  4, s2, s6, s10, a6
    extras  6, s3, s7, s11, a7
.Lfinish:
    sw      a0, BURNC_COLUMNS(a3)
    lw      a0, BURNC_Y(a3)
    lw      a1, BURNC_DISTANCES(a3)
    lw      a2, BURNC_DISTANCES + 4(a3)
    lw      ra, BURNC_DISTANCES + 8(a3)
    lw      t0, BURNC_STEP(a3)
    add     a1, a1, a0
    add     a2, a2, a1
    add     ra, ra, a2
    add     t0, t0, ra
    sw      t0, BURNC_Y(a3)
    lw      t3, BURNC_LOW(a3)
    lw      t4, BURNC_HIGH(a3)
    lw      t0, BURNC_IS_SIGNED(a3)
    bnez    t0, .Lsigned
    finish 0, s0, s4, s8, a4
    last    1
    finish 1, s1, s5, s9, a5
    last    2
    finish 2, s2, s6, s10, a6
    last    3
    finish 3, s3, s7, s11, a7
.Lnext:
    lw      t0, BURNC_QUADS(a3)
    addi    t0, t0, -1
    sw      t0, BURNC_QUADS(a3)
    bnez    t0, .Lquad
    lw      ra, BURNC_SAVED(sp)
    lw      s0, BURNC_SAVED + 4(sp)
    lw      s1, BURNC_SAVED + 8(sp)
    lw      s2, BURNC_SAVED + 12(sp)
    lw      s3, BURNC_SAVED + 16(sp)
    lw      s4, BURNC_SAVED + 20(sp)
    lw      s5, BURNC_SAVED + 24(sp)
    lw      s6, BURNC_SAVED + 28(sp)
    lw      s7, BURNC_SAVED + 32(sp)
    lw      s8, BURNC_SAVED + 36(sp)
    lw      s9, BURNC_SAVED + 40(sp)
    lw      s10, BURNC_SAVED + 44(sp)
    lw      s11, BURNC_SAVED + 48(sp)
    addi    sp, sp, BURNC_FRAME
    ret
.Lsigned:
    finish_signed 0, s0, s4, s8, a4
    last    1
    finish_signed 1, s1, s5, s9, a5
    last    2
    finish_signed 2, s2, s6, s10, a6
    last    3
    finish_signed 3, s3, s7, s11, a7
    j       .Lnext
    .size   burnc_dot_4x4_s8_rv32, . - burnc_dot_4x4_s8_rv32

#endif
