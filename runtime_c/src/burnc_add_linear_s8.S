/* SPDX-License-Identifier: 0BSD */
/* burnc_add_linear_s8 for ARMv6-M: 17 cycles an element.

   r0, r1, r2  behind the last elements of x1, x2, y     r3  minus the elements that are left     r4, r5  multipliers
   r6  first element, then the sum     r7  second element, scratch     r8 constant, r9 limit, r10 shift, r11 low */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

    .syntax unified

    .macro element clamp, back
    ldrsb   r6, [r0, r3]
    muls    r6, r4, r6
    ldrsb   r7, [r1, r3]
    muls    r7, r5, r7
    adds    r6, r6, r7
    add     r6, r8
    cmp     r6, r9
    bhi     \clamp
\back:
    mov     r7, r10
    lsrs    r6, r7
    add     r6, r11
    strb    r6, [r2, r3]
    adds    r3, #1
    .endm

    .macro clamped back
    asrs    r7, r6, #31
    mov     r6, r9
    bics    r6, r7
    b       \back
    .endm

    .section .text.burnc_add_linear_s8, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_add_linear_s8
    .type   burnc_add_linear_s8, %function
burnc_add_linear_s8:
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    ldr     r4, [r0, #12]
    mov     r8, r4
    ldr     r4, [r0, #16]
    mov     r9, r4
    ldr     r4, [r0, #20]
    mov     r10, r4
    ldr     r4, [r0, #24]
    mov     r11, r4
    ldmia   r0!, {r4-r6}
    adds    r0, r1, r4
    adds    r1, r2, r4
    adds    r2, r3, r4
    rsbs    r3, r4, #0
    movs    r4, r5
    movs    r5, r6
    lsls    r6, r3, #31
    beq     .Ltwo
    b       .Lone
.Ltwo:
    element .Lclamp_even, .Leven
.Lone:
    element .Lclamp_odd, .Lodd
    bne     .Ltwo
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}
.Lclamp_even:
    clamped .Leven
.Lclamp_odd:
    clamped .Lodd
    .size   burnc_add_linear_s8, . - burnc_add_linear_s8

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
