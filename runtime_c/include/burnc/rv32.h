/* SPDX-License-Identifier: 0BSD */
/* Whether the functions ending in _rv32 are those in assembly, for RISC-V with 32 registers of 32 bits and
   multiplication. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#ifndef BURNC_RV32_H
#define BURNC_RV32_H

#if defined(__riscv_mul) && (__riscv_xlen == 32) && !defined(__riscv_32e) && defined(__ELF__) &&             \
    !defined(BURNC_NO_ASSEMBLY)
#define BURNC_RV32_ASSEMBLY 1
#else
#define BURNC_RV32_ASSEMBLY 0
#endif

#endif
