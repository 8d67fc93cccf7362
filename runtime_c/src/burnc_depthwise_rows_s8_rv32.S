/* SPDX-License-Identifier: 0BSD */
/* burnc_depthwise_rows_s8_rv32 for RV32IM; the header describes what it computes. A column of the input belongs to as
   many outputs as it is wide: with stride 1 it ends one, goes on with the next and begins the one after.

   s0..s8  weights   s9  bias   s10, s11  multiplier, rounding   a6, a7  places, left
   a0..a2  next inputs of three lines   a3..a5  sums   ra  y   t0  an input   t3  a product   t1  outputs left
   t2  is there padding behind   t4, t5  limits   t6  channels
   On the stack: job, channel, rows left, next lines, then what is saved. */
#include "burnc/rv32.h"
#if BURNC_RV32_ASSEMBLY

#define BURNC_LINES 0
#define BURNC_RECORDS 4
#define BURNC_Y 8
#define BURNC_PADDING 12
#define BURNC_CHANNELS 16
#define BURNC_ROWS 20
#define BURNC_WIDTH 24
#define BURNC_STRIDE 28
#define BURNC_BEFORE 32
#define BURNC_BEHIND 36
#define BURNC_LOW 40
#define BURNC_HIGH 44

#define BURNC_JOB 0
#define BURNC_CHANNEL 4
#define BURNC_ROWS_LEFT 8
#define BURNC_NEXT_LINES 12
#define BURNC_SAVED 16
#define BURNC_FRAME 80

    .macro load line
    lb      t0, 0(\line)
    add     \line, \line, t6
    .endm

/* Adds the input times a weight to a sum. */
    .macro to sum, weight
    mul     t3, t0, \weight
    add     \sum, \sum, t3
    .endm

/* The first product of an output. */
    .macro begin sum, weight
    mul     t3, t0, \weight
    add     \sum, s9, t3
    .endm

/* A column for one output that begins; `from` is the weights' first register. */
    .macro first_column sum
    load    a0
    begin   \sum, s0
    load    a1
    to      \sum, s3
    load    a2
    to      \sum, s6
    .endm

    .macro column_for_two old, new
    load    a0
    to      \old, s1
    begin   \new, s0
    load    a1
    to      \old, s4
    to      \new, s3
    load    a2
    to      \old, s7
    to      \new, s6
    .endm

/* The sum a3 becomes an output. */
    .macro finish
    sll     a3, a3, a7
    mulh    a3, a3, s10
    add     a3, a3, s11
    sra     a3, a3, a6
    bge     a3, t4, 8f
    mv      a3, t4
8:
    ble     a3, t5, 9f
    mv      a3, t5
9:
    sb      a3, 0(ra)
    add     ra, ra, t6
    .endm

/* Lines that hold padding alone, at this channel. */
    .macro pad
    lw      a0, BURNC_JOB(sp)
    lw      t3, BURNC_CHANNEL(sp)
    lw      a0, BURNC_PADDING(a0)
    add     a0, a0, t3
    mv      a1, a0
    mv      a2, a0
    .endm

    .section .text.burnc_depthwise_rows_s8_rv32, "ax", @progbits
    .globl  burnc_depthwise_rows_s8_rv32
    .type   burnc_depthwise_rows_s8_rv32, @function
burnc_depthwise_rows_s8_rv32:
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
    sw      zero, BURNC_CHANNEL(sp)
    lw      t4, BURNC_LOW(a0)
    lw      t5, BURNC_HIGH(a0)
    lw      t6, BURNC_CHANNELS(a0)
.Lchannel:
    lw      a0, BURNC_JOB(sp)
    lw      t1, BURNC_CHANNEL(sp)
    lw      t0, BURNC_RECORDS(a0)
    lw      ra, BURNC_Y(a0)
    slli    t3, t1, 4
    slli    t2, t1, 3
    add     t3, t3, t2
    add     t0, t0, t3
    add     ra, ra, t1
    lb      s0, 0(t0)
    lb      s1, 1(t0)
    lb      s2, 2(t0)
    lb      s3, 3(t0)
    lb      s4, 4(t0)
    lb      s5, 5(t0)
    lb      s6, 6(t0)
    lb      s7, 7(t0)
    lb      s8, 8(t0)
    lbu     a6, 9(t0)
    lbu     a7, 10(t0)
    lw      s9, 12(t0)
    lw      s10, 16(t0)
    lw      s11, 20(t0)
    lw      t0, BURNC_LINES(a0)
    lw      t1, BURNC_ROWS(a0)
.Lrow:
    sw      t1, BURNC_ROWS_LEFT(sp)
    lw      a0, BURNC_JOB(sp)
    lw      t3, BURNC_STRIDE(a0)
    slli    t2, t3, 2
    add     t2, t2, t0
    sw      t2, BURNC_NEXT_LINES(sp)
    lw      t1, BURNC_WIDTH(a0)
    lw      t2, BURNC_BEHIND(a0)
    sub     t1, t1, t2
    lw      a5, BURNC_BEFORE(a0)
    lw      a4, BURNC_CHANNEL(sp)
    lw      a0, 0(t0)
    lw      a1, 4(t0)
    lw      a2, 8(t0)
    add     a0, a0, a4
    add     a1, a1, a4
    add     a2, a2, a4
    addi    t3, t3, -1
    beqz    a5, 1f
    lw      a5, BURNC_JOB(sp)
    lw      a5, BURNC_PADDING(a5)
    add     a5, a5, a4
    lb      t0, 0(a5)
    mv      a5, t3
    begin   a3, s0
    to      a3, s3
    to      a3, s6
    bnez    a5, .Ltwo
    j       .Lone
1:
    mv      a5, t3
    first_column a3
    bnez    a5, .Ltwo

/* Stride 1. */
.Lone:
    column_for_two a3, a4
2:
    load    a0
    to      a3, s2
    to      a4, s1
    begin   a5, s0
    load    a1
    to      a3, s5
    to      a4, s4
    to      a5, s3
    load    a2
    to      a3, s8
    to      a4, s7
    to      a5, s6
    finish
    mv      a3, a4
    mv      a4, a5
    addi    t1, t1, -1
    bnez    t1, 2b
    beqz    t2, .Lrow_done
    pad
    li      t1, 1
    li      t2, 0
    j       2b

/* Stride 2. */
.Ltwo:
    load    a0
    to      a3, s1
    load    a1
    to      a3, s4
    load    a2
    to      a3, s7
    beqz    t1, 4f
3:
    load    a0
    to      a3, s2
    begin   a4, s0
    load    a1
    to      a3, s5
    to      a4, s3
    load    a2
    to      a3, s8
    to      a4, s6
    finish
    mv      a3, a4
    addi    t1, t1, -1
    bgtz    t1, .Ltwo
    bnez    t1, .Lrow_done
    bnez    t2, .Ltwo
    j       .Lrow_done
4:
    pad
    j       3b

.Lrow_done:
    lw      t0, BURNC_NEXT_LINES(sp)
    lw      t1, BURNC_ROWS_LEFT(sp)
    addi    t1, t1, -1
    bnez    t1, .Lrow
    lw      t1, BURNC_CHANNEL(sp)
    addi    t1, t1, 1
    sw      t1, BURNC_CHANNEL(sp)
    bne     t1, t6, .Lchannel
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
    .size   burnc_depthwise_rows_s8_rv32, . - burnc_depthwise_rows_s8_rv32

#endif
