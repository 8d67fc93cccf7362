/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_pairs_s8_m0 for ARMv6-M; the header describes what it computes, docs/kernels.md why it is exact.

   While a group's sums are made:
     r0  next block            r2  32768 - 128 * (A0 + A1), r3 A0, r4 A1
     r1  next weights          r5  weight, then product      r6  sum of the block      r7  end of the blocks
     r8, r10, r12  sums of the upper halves, channels 0, 1, 2: the second row, exact
     r9, r11, lr   sums of the whole words; less (upper sum << 16) they are the first row
   In the epilogue:
     r0  next constants        r2..r6  a channel's constants, r2 and r7 then the two rows' sums   r1  scratch
   On the stack: +0 job, +4 y0, +8 y1. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

/* Fields of the job; packed, weights, low_start and packed_end lead it in this order. */
#define BURNC_WEIGHTS 4
#define BURNC_CONSTANTS 16
#define BURNC_IS_SIGNED 20
#define BURNC_GROUPS 24
#define BURNC_Y0 28
#define BURNC_Y1 32

    .syntax unified

/* One block, one channel: 11 cycles for 4 MACs. */
    .macro channel at, high, low
    ldrb    r5, [r1, #\at]
    muls    r5, r3, r5
    adds    r6, r2, r5
    ldrb    r5, [r1, #\at + 1]
    muls    r5, r4, r5
    adds    r6, r6, r5
    add     \low, r6
    asrs    r6, r6, #16
    add     \high, r6
    .endm

    .macro block at
    ldmia   r0!, {r2, r3, r4}
    channel \at, r8, r9
    channel \at + 2, r10, r11
    channel \at + 4, r12, lr
    .endm

/* \sum becomes 0 where it is negative, the limit in r3 where it is above. */
    .macro limit sum
    cmp     \sum, r3
    bls     1f
    asrs    r1, \sum, #31
    movs    \sum, r3
    bics    \sum, r1
1:
    .endm

    .macro store sum, row, index
    lsrs    \sum, \sum, #24
    ldr     r1, [sp, #\row]
    strb    \sum, [r1, #\index]
    .endm

    .macro scale_and_store sum, row, index
    movs    r1, \sum
    muls    r1, r3, r1
    lsrs    r1, r5                  /* by its lowest byte */
    muls    \sum, r4, \sum
    adds    \sum, \sum, r1
    adds    \sum, \sum, r6
    store   \sum, \row, \index
    .endm

    .macro scale_signed_and_store sum, row, index, zero, minus_step
    movs    r1, \sum
    muls    r1, r3, r1
    lsrs    r1, r5
    cmp     \sum, \zero
    muls    \sum, r4, \sum          /* leaves the carry alone */
    bcs     1f
    add     \sum, \minus_step
1:
    adds    \sum, \sum, r1
    adds    \sum, \sum, r6
    store   \sum, \row, \index
    .endm

/* r2 holds the offset: the two rows' sums plus that go to r7 and r2. */
    .macro two_sums high, low
    mov     r1, \high
    lsls    r7, r1, #16
    mov     r1, \low
    subs    r7, r1, r7
    adds    r7, r7, r2
    add     r2, \high
    .endm

    .macro finish index, high, low
    ldmia   r0!, {r2-r6}
    two_sums \high, \low
    limit   r7
    limit   r2
    lsrs    r3, r5, #8
    scale_and_store r7, 4, \index
    scale_and_store r2, 8, \index
    .endm

/* The sums' registers, free by then, take zero and -step. */
    .macro finish_signed index, high, low
    ldmia   r0!, {r2}
    two_sums \high, \low
    ldmia   r0!, {r1, r3-r6}
    mov     \high, r1
    ldmia   r0!, {r1}
    mov     \low, r1
    limit   r7
    limit   r2
    lsrs    r3, r5, #8
    scale_signed_and_store r7, 4, \index, \high, \low
    scale_signed_and_store r2, 8, \index, \high, \low
    .endm

    .section .text.burnc_dot_pairs_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_dot_pairs_s8_m0
    .type   burnc_dot_pairs_s8_m0, %function
burnc_dot_pairs_s8_m0:
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, #12
    str     r0, [sp, #0]
    ldr     r1, [r0, #BURNC_Y0]
    str     r1, [sp, #4]
    ldr     r1, [r0, #BURNC_Y1]
    str     r1, [sp, #8]

.Lgroup:
    ldr     r5, [sp, #0]
    ldmia   r5!, {r0, r1, r2, r7}
    movs    r3, #0
    mov     r8, r3
    mov     r10, r3
    mov     r12, r3
    mov     r9, r2
    mov     r11, r2
    mov     lr, r2
.Lblocks:
    block   0
    block   6
    block   12
    block   18
    adds    r1, #24
    cmp     r0, r7
    bne     .Lblocks

    ldr     r5, [sp, #0]
    str     r1, [r5, #BURNC_WEIGHTS]
    ldr     r0, [r5, #BURNC_CONSTANTS]
    ldr     r5, [r5, #BURNC_IS_SIGNED]
    cmp     r5, #0
    beq     .Lunsigned
    b       .Lsigned
.Lunsigned:
    finish  0, r8, r9
    finish  1, r10, r11
    finish  2, r12, lr
.Lnext:
    ldr     r5, [sp, #0]
    str     r0, [r5, #BURNC_CONSTANTS]
    ldr     r1, [sp, #4]
    adds    r1, #3
    str     r1, [sp, #4]
    ldr     r1, [sp, #8]
    adds    r1, #3
    str     r1, [sp, #8]
    ldr     r1, [r5, #BURNC_GROUPS]
    subs    r1, #1
    str     r1, [r5, #BURNC_GROUPS]
    beq     .Ldone
    b       .Lgroup
.Ldone:
    add     sp, #12
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}

.Lsigned:
    finish_signed 0, r8, r9
    finish_signed 1, r10, r11
    finish_signed 2, r12, lr
    b       .Lnext
    .size   burnc_dot_pairs_s8_m0, . - burnc_dot_pairs_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
