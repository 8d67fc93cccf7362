/* SPDX-License-Identifier: 0BSD */
/* burnc_sums_4x4_s8 for RV32IM; the header describes what it computes. 40 instructions a tap, for 16 MACs.

   a0  an activation   a1, t4, t5, t6  weights of the four channels   a2  end of the weights   a3  next weights
   t0..t3  next activations of the rows   ra  a product
   s0..s3, s4..s7, s8..s11, a4..a7  sums of rows 0 to 3. On the stack: sums, then what is saved. */
#if defined(__riscv_mul) && (__riscv_xlen == 32) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

    .macro row at, next, w, x, y, z
    lb      a0, \at(\next)
    mul     ra, a1, a0
    add     \w, \w, ra
    mul     ra, t4, a0
    add     \x, \x, ra
    mul     ra, t5, a0
    add     \y, \y, ra
    mul     ra, t6, a0
    add     \z, \z, ra
    .endm

    .macro tap at
    lb      a1, 4 * \at(a3)
    lb      t4, 4 * \at + 1(a3)
    lb      t5, 4 * \at + 2(a3)
    lb      t6, 4 * \at + 3(a3)
    row     \at, t0, s0, s1, s2, s3
    row     \at, t1, s4, s5, s6, s7
    row     \at, t2, s8, s9, s10, s11
    row     \at, t3, a4, a5, a6, a7
    .endm

    .macro forward taps
    addi    a3, a3, 4 * \taps
    addi    t0, t0, \taps
    addi    t1, t1, \taps
    addi    t2, t2, \taps
    addi    t3, t3, \taps
    .endm

    .section .text.burnc_sums_4x4_s8, "ax", @progbits
    .globl  burnc_sums_4x4_s8
    .type   burnc_sums_4x4_s8, @function
burnc_sums_4x4_s8:
    addi    sp, sp, -64
    sw      a0, 0(sp)
    sw      ra, 4(sp)
    sw      s0, 8(sp)
    sw      s1, 12(sp)
    sw      s2, 16(sp)
    sw      s3, 20(sp)
    sw      s4, 24(sp)
    sw      s5, 28(sp)
    sw      s6, 32(sp)
    sw      s7, 36(sp)
    sw      s8, 40(sp)
    sw      s9, 44(sp)
    sw      s10, 48(sp)
    sw      s11, 52(sp)
    lw      t0, 0(a2)
    lw      t1, 4(a2)
    lw      t2, 8(a2)
    lw      t3, 12(a2)
    slli    a2, a4, 2
    add     a2, a2, a3
    andi    t4, a4, 3
    sw      t4, 56(sp)
    lw      s0, 0(a1)
    lw      s1, 4(a1)
    lw      s2, 8(a1)
    lw      s3, 12(a1)
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
    lw      a1, 56(sp)
    beqz    a1, 2f
1:
    tap     0
    forward 1
    lw      a1, 56(sp)
    addi    a1, a1, -1
    sw      a1, 56(sp)
    bnez    a1, 1b
2:
    beq     a3, a2, 4f
3:
    tap     0
    tap     1
    tap     2
    tap     3
    forward 4
    bne     a3, a2, 3b
4:
    lw      a0, 0(sp)
    sw      s0, 0(a0)
    sw      s1, 4(a0)
    sw      s2, 8(a0)
    sw      s3, 12(a0)
    sw      s4, 16(a0)
    sw      s5, 20(a0)
    sw      s6, 24(a0)
    sw      s7, 28(a0)
    sw      s8, 32(a0)
    sw      s9, 36(a0)
    sw      s10, 40(a0)
    sw      s11, 44(a0)
    sw      a4, 48(a0)
    sw      a5, 52(a0)
    sw      a6, 56(a0)
    sw      a7, 60(a0)
    lw      ra, 4(sp)
    lw      s0, 8(sp)
    lw      s1, 12(sp)
    lw      s2, 16(sp)
    lw      s3, 20(sp)
    lw      s4, 24(sp)
    lw      s5, 28(sp)
    lw      s6, 32(sp)
    lw      s7, 36(sp)
    lw      s8, 40(sp)
    lw      s9, 44(sp)
    lw      s10, 48(sp)
    lw      s11, 52(sp)
    addi    sp, sp, 64
    ret
    .size   burnc_sums_4x4_s8, . - burnc_sums_4x4_s8

#endif
