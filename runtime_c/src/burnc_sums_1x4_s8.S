/* SPDX-License-Identifier: 0BSD */
/* burnc_sums_1x4_s8 for RV32IM: 13 instructions a tap, for 4 MACs.

   a0  sums   a2  next activations   a3  next weights   a4  taps left over   t6  end of the weights
   t0..t3  sums   t4  an activation   a5..a7, t5  weights, then products */
#if defined(__riscv_mul) && (__riscv_xlen == 32) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

    .macro tap at
    lb      t4, \at(a2)
    lb      a5, 4 * \at(a3)
    lb      a6, 4 * \at + 1(a3)
    lb      a7, 4 * \at + 2(a3)
    lb      t5, 4 * \at + 3(a3)
    mul     a5, a5, t4
    mul     a6, a6, t4
    mul     a7, a7, t4
    mul     t5, t5, t4
    add     t0, t0, a5
    add     t1, t1, a6
    add     t2, t2, a7
    add     t3, t3, t5
    .endm

    .section .text.burnc_sums_1x4_s8, "ax", @progbits
    .globl  burnc_sums_1x4_s8
    .type   burnc_sums_1x4_s8, @function
burnc_sums_1x4_s8:
    lw      t0, 0(a1)
    lw      t1, 4(a1)
    lw      t2, 8(a1)
    lw      t3, 12(a1)
    slli    t6, a4, 2
    add     t6, t6, a3
    andi    a4, a4, 3
    beqz    a4, 2f
1:
    tap     0
    addi    a2, a2, 1
    addi    a3, a3, 4
    addi    a4, a4, -1
    bnez    a4, 1b
2:
    beq     a3, t6, 4f
3:
    tap     0
    tap     1
    tap     2
    tap     3
    addi    a2, a2, 4
    addi    a3, a3, 16
    bne     a3, t6, 3b
4:
    sw      t0, 0(a0)
    sw      t1, 4(a0)
    sw      t2, 8(a0)
    sw      t3, 12(a0)
    ret
    .size   burnc_sums_1x4_s8, . - burnc_sums_1x4_s8

#endif
