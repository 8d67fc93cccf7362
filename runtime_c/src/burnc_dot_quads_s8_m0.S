/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_quads_s8_m0 for ARMv6-M; the header describes what it computes, docs/kernels.md why it is exact.

   r0  next weights     r1  four activations     r2  0x00ff00ff     r3  a tap's weights, then product
   r4  activation       r5  sum of the odd bytes                    r6  sum of the whole words     r7  scratch
   r8  next activations     lr  next start     r9, r10  upper halves and whole words of the odd bytes' blocks
   r11, r12  the same of the even bytes'     on the stack: end of the activations, block, job

   Without starts: r1  next activations, r2 and r3 two of them     r4, r5  a tap's weights, then products
   r6, r7  sums     r8  32768     lr  end of the activations     r9 to r12 as above, outputs 2 and 3 for odd bytes */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#define BURNC_WEIGHTS 0
#define BURNC_SCALE 20
#define BURNC_OFFSETS 24
#define BURNC_Y 28
#define BURNC_GROUPS 32

    .syntax unified

    .macro next_activations
    mov     r4, r8
    ldmia   r4!, {r1}
    mov     r8, r4
    .endm

/* Of the activation in r4: 8 cycles for 4 MACs. */
    .macro multiply
    ldmia   r0!, {r3}
    lsrs    r7, r3, #8
    ands    r7, r2
    muls    r7, r4, r7
    adds    r5, r5, r7
    muls    r3, r4, r3
    adds    r6, r6, r3
    .endm

    .macro first_two
    sxtb    r4, r1
    multiply
    lsls    r4, r1, #16
    asrs    r4, r4, #24
    multiply
    .endm

    .macro last_two
    lsls    r4, r1, #8
    asrs    r4, r4, #24
    multiply
    asrs    r4, r1, #24
    multiply
    .endm

    .macro four
    next_activations
    first_two
    last_two
    .endm

    .macro begin_block
    mov     r4, lr
    ldmia   r4!, {r5}
    mov     lr, r4
    lsls    r6, r5, #8
    adds    r6, r6, r5
    .endm

    .macro end_block
    lsls    r7, r5, #8
    subs    r6, r6, r7
    add     r10, r5
    asrs    r5, r5, #16
    add     r9, r5
    add     r12, r6
    asrs    r6, r6, #16
    add     r11, r6
    .endm

/* Two taps: 17 cycles for 8 MACs. */
    .macro wide_taps
    ldmia   r1!, {r2, r3}
    ldmia   r0!, {r4, r5}
    muls    r4, r2, r4
    adds    r6, r6, r4
    muls    r5, r2, r5
    adds    r7, r7, r5
    ldmia   r0!, {r4, r5}
    muls    r4, r3, r4
    adds    r6, r6, r4
    muls    r5, r3, r5
    adds    r7, r7, r5
    .endm

    .macro wide_block taps
    mov     r6, r8
    mov     r7, r8
    .rept \taps / 2
    wide_taps
    .endr
    asrs    r2, r6, #16
    add     r11, r2
    add     r12, r6
    asrs    r3, r7, #16
    add     r9, r3
    add     r10, r7
    cmp     r1, lr
    .endm

/* The byte of \sum: r8 limit, r9 multiplier, r10 fraction, r11 places, r12 rounding, lr zero, r6 step, r7 the
   place of the outputs. */
    .macro scale sum, at
    cmp     \sum, r8
    bls     1f
    asrs    r4, \sum, #31
    mov     \sum, r8
    bics    \sum, r4
1:
    mov     r4, r10
    muls    r4, \sum, r4
    mov     r5, r11
    lsrs    r4, r5
    mov     r5, r9
    cmp     \sum, lr
    muls    \sum, r5, \sum          /* leaves the carry alone */
    bcs     1f
    subs    \sum, \sum, r6
1:
    adds    \sum, \sum, r4
    add     \sum, r12
    lsrs    \sum, \sum, #24
    strb    \sum, [r7, #\at]
    .endm

    .section .text.burnc_dot_quads_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_dot_quads_s8_m0
    .type   burnc_dot_quads_s8_m0, %function
burnc_dot_quads_s8_m0:
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    movs    r7, r0
.Lgroup:
    ldmia   r7!, {r0, r1, r3, r5, r6}
    subs    r7, #20
    mov     r8, r1
    mov     lr, r3
    push    {r5, r6, r7}
    movs    r1, r3
    movs    r3, #0
    mov     r9, r3
    mov     r10, r3
    mov     r11, r3
    mov     r12, r3
    movs    r2, #255
    lsls    r3, r2, #16
    orrs    r2, r3
    cmp     r1, #0
    bne     1f
    b       .Lwide
1:
    cmp     r6, #4
    bhi     1f
    beq     .Lfours
    b       .Ltwos
1:
    cmp     r6, #8
    bhi     1f
    b       .Leights
1:
    cmp     r6, #16
    bhi     .Lmany
    b       .Lsixteens

.Lfours:
    begin_block
    four
    end_block
    ldr     r7, [sp, #0]
    cmp     r8, r7
    bne     .Lfours
    b       .Lend

.Lmany:
    begin_block
    ldr     r7, [sp, #4]
.Lsixteen:
    push    {r7}
    four
    four
    four
    four
    pop     {r7}
    subs    r7, #16
    beq     1f
    b       .Lsixteen
1:
    end_block
    ldr     r7, [sp, #0]
    cmp     r8, r7
    beq     1f
    b       .Lmany
1:
    b       .Lend

.Lsixteens:
    begin_block
    four
    four
    four
    four
    end_block
    ldr     r7, [sp, #0]
    cmp     r8, r7
    beq     1f
    b       .Lsixteens
1:
    b       .Lend

.Ltwos:
    next_activations
    begin_block
    first_two
    end_block
    begin_block
    last_two
    end_block
    ldr     r7, [sp, #0]
    cmp     r8, r7
    bne     .Ltwos
    b       .Lend

.Leights:
    begin_block
    four
    four
    end_block
    ldr     r7, [sp, #0]
    cmp     r8, r7
    bne     .Leights


.Lend:
    pop     {r5, r6, r7}
    str     r0, [r7, #BURNC_WEIGHTS]
    mov     r1, r11
    lsls    r0, r1, #16
    mov     r2, r12
    subs    r0, r2, r0
    mov     r3, r9
    lsls    r2, r3, #16
    mov     r4, r10
    subs    r2, r4, r2
    ldr     r4, [r7, #BURNC_OFFSETS]
    ldmia   r4!, {r5, r6}
    adds    r0, r0, r5
    adds    r1, r1, r6
    ldmia   r4!, {r5, r6}
    adds    r2, r2, r5
    adds    r3, r3, r6
    str     r4, [r7, #BURNC_OFFSETS]
    ldr     r4, [r7, #BURNC_SCALE]
    push    {r7}
    ldr     r7, [r7, #BURNC_Y]
    ldmia   r4!, {r5, r6}
    mov     r8, r5
    mov     r9, r6
    ldmia   r4!, {r5, r6}
    mov     r10, r5
    mov     r11, r6
    ldmia   r4!, {r5, r6}
    mov     r12, r5
    mov     lr, r6
    ldr     r6, [r4]
    scale   r0, 0
    scale   r1, 1
    scale   r2, 2
    scale   r3, 3
    adds    r6, r7, #4
    pop     {r7}
    str     r6, [r7, #BURNC_Y]
    ldr     r6, [r7, #BURNC_GROUPS]
    subs    r6, #1
    str     r6, [r7, #BURNC_GROUPS]
    beq     1f
    b       .Lgroup
1:
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}

.Lwide:
    mov     r1, r8
    mov     lr, r5
    movs    r4, #128
    lsls    r4, r4, #8
    mov     r8, r4
    cmp     r6, #8
    bhi     1f
    beq     .Lwide8
    cmp     r6, #4
    beq     .Lwide4
.Lwide2:
    wide_block 2
    bne     .Lwide2
    b       .Lend
.Lwide4:
    wide_block 4
    bne     .Lwide4
    b       .Lend
.Lwide8:
    wide_block 8
    bne     .Lwide8
    b       .Lend
1:
    cmp     r6, #16
    bhi     .Lwide32
.Lwide16:
    wide_block 16
    bne     .Lwide16
    b       .Lend
.Lwide32:
    wide_block 32
    beq     1f
    b       .Lwide32
1:
    b       .Lend
    .size   burnc_dot_quads_s8_m0, . - burnc_dot_quads_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
