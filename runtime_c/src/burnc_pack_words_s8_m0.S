/* SPDX-License-Identifier: 0BSD */
/* burnc_pack_words_s8_m0 for ARMv6-M: 9 cycles a word, four at a time.

   r0  next word     r1, r2  behind the rows' last elements     r3  minus the elements that are left
   r4, r5, r6  words     r7  scratch     r12  minus the elements of a row     lr  row_step
   On the stack, behind what is saved: the rows that are left. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#define BURNC_ROWS 20
#define BURNC_ROW_STEP 24

    .syntax unified

    .macro pack word
    ldrsb   \word, [r1, r3]
    ldrsb   r7, [r2, r3]
    lsls    r7, r7, #16
    adds    \word, \word, r7
    adds    r3, #1
    .endm

    .section .text.burnc_pack_words_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_pack_words_s8_m0
    .type   burnc_pack_words_s8_m0, %function
burnc_pack_words_s8_m0:
    push    {r4-r7, lr}
    adds    r1, r1, r3
    adds    r2, r2, r3
    rsbs    r3, r3, #0
    beq     .Ldone
    mov     r12, r3
    ldr     r4, [sp, #BURNC_ROW_STEP]
    mov     lr, r4
.Lsingle:
    lsls    r4, r3, #30             /* one at a time until a multiple of four is left */
    beq     .Lfour
    pack    r4
    stmia   r0!, {r4}
    cmp     r3, #0
    bne     .Lsingle
    b       .Lnext_row
.Lfour:
    pack    r4
    pack    r5
    pack    r6
    stmia   r0!, {r4-r6}
    pack    r4
    stmia   r0!, {r4}
    cmp     r3, #0
    bne     .Lfour
.Lnext_row:
    ldr     r4, [sp, #BURNC_ROWS]
    subs    r4, #1
    beq     .Ldone
    str     r4, [sp, #BURNC_ROWS]
    add     r1, lr
    add     r2, lr
    mov     r3, r12
    b       .Lsingle
.Ldone:
    pop     {r4-r7, pc}
    .size   burnc_pack_words_s8_m0, . - burnc_pack_words_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
