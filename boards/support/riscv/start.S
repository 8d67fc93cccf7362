/* SPDX-License-Identifier: 0BSD */
/* Start of the C program on a RISC-V core in machine mode, and its trap handler. */

    .section .vectors, "ax"
    .globl burnc_reset
    .type burnc_reset, @function
burnc_reset:
    .option push
    .option norelax             /* gp is what relaxation would use */
    la gp, __global_pointer$
    .option pop
    la sp, burnc_stack_top
    la t0, burnc_trap
    csrw mtvec, t0
    j burnc_start
    .size burnc_reset, . - burnc_reset

    .text
    .balign 4                   /* mtvec ignores the two lowest bits */
    .globl burnc_trap
    .type burnc_trap, @function
burnc_trap:
    csrr a0, mepc
    mv a1, ra
    csrr a2, mcause
    csrr a3, mtval
    j burnc_fault_report
    .size burnc_trap, . - burnc_trap
