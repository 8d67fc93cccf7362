/* SPDX-License-Identifier: 0BSD */
/* burnc_pack_pairs_s8_m0 for ARMv6-M: 22 cycles a block.

   r0  next block     r1, r2  behind the rows' last whole block     r3  minus the taps that are left of those
   r4  32768 - 128 * (A0 + A1), r5 A0, r6 A1     r7  scratch     r12  32768     lr  minus the taps of a row's whole blocks
   On the stack: the taps of a row, and behind what is saved the rows that are left. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#define BURNC_COUNT 0
#define BURNC_ROWS 24
#define BURNC_ROW_STEP 28

    .syntax unified

    .macro pack tap
    ldrsb   \tap, [r1, r3]
    ldrsb   r7, [r2, r3]
    lsls    r7, r7, #16
    adds    \tap, \tap, r7
    .endm

/* Stores the block of r5 and r6. */
    .macro store_block
    adds    r4, r5, r6
    lsls    r4, r4, #7
    mov     r7, r12
    subs    r4, r7, r4
    stmia   r0!, {r4-r6}
    .endm

    .section .text.burnc_pack_pairs_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_pack_pairs_s8_m0
    .type   burnc_pack_pairs_s8_m0, %function
burnc_pack_pairs_s8_m0:
    push    {r3-r7, lr}
    movs    r4, #1
    bics    r3, r4
    lsls    r4, r4, #15
    mov     r12, r4
    adds    r1, r1, r3
    adds    r2, r2, r3
    rsbs    r3, r3, #0
    mov     lr, r3
.Lrow:
    cmp     r3, #0
    beq     .Lodd
    lsls    r4, r3, #30             /* an odd number of blocks: the first goes alone */
    bpl     .Lblocks
    pack    r5
    adds    r3, #1
    pack    r6
    adds    r3, #1
    store_block
    cmp     r3, #0
    beq     .Lodd
.Lblocks:
    pack    r5
    adds    r3, #1
    pack    r6
    adds    r3, #1
    store_block
    pack    r5
    adds    r3, #1
    pack    r6
    store_block
    adds    r3, #1
    bne     .Lblocks
.Lodd:
    ldr     r4, [sp, #BURNC_COUNT]
    lsrs    r4, r4, #1
    bcc     .Lnext_row
    pack    r5
    movs    r6, #0
    store_block
.Lnext_row:
    ldr     r4, [sp, #BURNC_ROWS]
    subs    r4, #1
    beq     .Ldone
    str     r4, [sp, #BURNC_ROWS]
    ldr     r4, [sp, #BURNC_ROW_STEP]
    adds    r1, r1, r4
    adds    r2, r2, r4
    mov     r3, lr
    b       .Lrow
.Ldone:
    pop     {r3-r7, pc}
    .size   burnc_pack_pairs_s8_m0, . - burnc_pack_pairs_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
