/* SPDX-License-Identifier: 0BSD */
/* Macros of the assembly for depthwise layers on Cortex-M0 and M0+. */
#ifndef BURNC_DEPTHWISE_M0_MACROS_H
#define BURNC_DEPTHWISE_M0_MACROS_H
/* clang-format off */
#ifdef __ASSEMBLER__

    .macro push_registers
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    .endm

    .macro pop_registers
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}
    .endm

/* Three weights of word \from go to r4 on, and what stands in its highest byte to \rest. Takes r5 to r7. */
    .macro unpack from, rest
    sxtb    r5, \from
    lsls    r6, \from, #16
    asrs    r6, r6, #24
    lsls    r7, \from, #8
    asrs    r7, r7, #24
    stmia   r4!, {r5-r7}
    lsrs    \rest, \from, #24
    .endm

#endif
/* clang-format on */
#endif
