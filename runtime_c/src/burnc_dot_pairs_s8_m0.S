/* SPDX-License-Identifier: 0BSD */
/* burnc_dot_pairs_s8_m0 for ARMv6-M; the header describes what it computes, docs/kernels.md why it is exact.

   While a pair's sums are made:
     r0  next block            r2  32768 - 128 * (A0 + A1), r3 A0, r4 A1
     r1  next weights          r5  weight, then product      r6  sum of the block      r7  end of the pair
     r8, r10, r12  sums of the upper halves, channels 0, 1, 2: the second row, exact
     r9, r11, lr   sums of the whole words; less (upper sum << 16) they are the first row
   Straight-line code takes r3 32768, r1 and r2 two taps, r4 a product, r5 to r7 the sums of the three channels' blocks; it
   leaves the last channel's whole words in r7, where the next code begins in lr, and r0 behind the pair.
   In the epilogue:
     r0  next constants        r1..r6  a channel's constants, r1 and r2 then the two rows' sums   r7  scratch
   On the stack: the job's fields, those of groups moving on, and what follows them below. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/scale_m0_macros.h"

#define BURNC_PACKED 0
#define BURNC_PACKED_END 4
#define BURNC_PAIR_BYTES 8
#define BURNC_WEIGHTS 12
#define BURNC_CONSTANTS 16
#define BURNC_IS_CODE 20
#define BURNC_CHANNEL_BYTES 24
#define BURNC_TRIPLES 28
#define BURNC_DOUBLES 32
#define BURNC_DOUBLE_BYTES 36
#define BURNC_Y 40
#define BURNC_ROW 44
#define BURNC_STEP 48
#define BURNC_Y_NOW 52
#define BURNC_SECOND 56
#define BURNC_THIRD 60
#define BURNC_PACKED_NOW 64
#define BURNC_LOOP 68
#define BURNC_RETURN 72 /* codegen/straight_line.py knows it */
#define BURNC_NEXT_CODE 76
#define BURNC_FINISH 80
#define BURNC_FRAME 84
#define BURNC_UNSIGNED_BYTES 24

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

    .macro block3 at
    ldmia   r0!, {r2, r3, r4}
    channel \at, r8, r9
    channel \at + 2, r10, r11
    channel \at + 4, r12, lr
    .endm

    .macro block2 at
    ldmia   r0!, {r2, r3, r4}
    channel \at, r8, r9
    channel \at + 2, r10, r11
    .endm

    .macro begin_pair
    ldr     r1, [sp, #BURNC_WEIGHTS]
    ldr     r7, [sp, #BURNC_PAIR_BYTES]
    adds    r7, r7, r0
    movs    r3, #0
    mov     r8, r3
    mov     r9, r3
    mov     r10, r3
    mov     r11, r3
    .endm

    .macro end_pair
    str     r0, [sp, #BURNC_PACKED_NOW]
    to_finish
    .endm

    .macro to_finish
    ldr     r0, [sp, #BURNC_CONSTANTS]
    ldr     r5, [sp, #BURNC_FINISH]
    bx      r5
    .endm

    .macro finish_two finish
    \finish r8, r9
    store_first
    \finish r10, r11
    store_at BURNC_SECOND
    .endm

    .macro finish_three finish
    finish_two \finish
    \finish r12, lr
    store_at BURNC_THIRD
    .endm

/* The two rows' sums, with their offsets, in r1 and r2. */
    .macro two_sums high, low
    add     r1, \low
    add     r2, \high
    lsls    r7, r2, #16
    subs    r1, r1, r7
    .endm

    .macro store_first
    ldr     r3, [sp, #BURNC_Y_NOW]
    strb    r1, [r3, #0]
    ldr     r4, [sp, #BURNC_ROW]
    strb    r2, [r3, r4]
    .endm

/* Leaves the place of the second row's first output in r3. */
    .macro store_at slot
    ldr     r3, [sp, #BURNC_Y_NOW]
    ldr     r5, [sp, #\slot]
    strb    r1, [r3, r5]
    ldr     r4, [sp, #BURNC_ROW]
    adds    r3, r3, r4
    strb    r2, [r3, r5]
    .endm

    .macro finish high, low
    ldmia   r0!, {r1-r6}
    two_sums \high, \low
    mov     \high, r3
    lsrs    r3, r5, #8
    limit_and_scale r1, \high
    limit_and_scale r2, \high
    .endm

/* The sums' registers, free by then, take zero and -step. */
    .macro finish_signed high, low
    ldmia   r0!, {r1-r4}
    two_sums \high, \low
    mov     \high, r3
    mov     \low, r4
    ldmia   r0!, {r3-r6}
    limit   r1
    limit   r2
    lsrs    r3, r5, #8
    scale_signed r1, \high, \low
    scale_signed r2, \high, \low
    .endm

/* Reads the head of a group's constants and goes to the group's first pair: \blocks or \code. */
    .macro begin_group blocks, code, back, finish, signed
    ldr     r0, [sp, #BURNC_CONSTANTS]
    ldmia   r0!, {r1}
    str     r0, [sp, #BURNC_CONSTANTS]
    uxtb    r2, r1
    str     r2, [sp, #BURNC_SECOND]
    lsls    r2, r1, #16
    lsrs    r2, r2, #24
    str     r2, [sp, #BURNC_THIRD]
    lsrs    r1, r1, #16
    ldr     r2, [sp, #BURNC_Y]
    adds    r2, r2, r1
    str     r2, [sp, #BURNC_Y]
    str     r2, [sp, #BURNC_Y_NOW]
    ldr     r0, [sp, #BURNC_PACKED]
    adr     r1, \back 
    adds    r1, #1
    str     r1, [sp, #BURNC_RETURN]
    adr     r1, \finish 
    ldr     r2, [sp, #BURNC_CHANNEL_BYTES]
    cmp     r2, #BURNC_UNSIGNED_BYTES
    beq     3f
    adr     r1, \signed 
3:
    adds    r1, #1
    str     r1, [sp, #BURNC_FINISH]
    adr     r1, \blocks 
    ldr     r2, [sp, #BURNC_IS_CODE]
    cmp     r2, #0
    beq     1f
    adr     r1, \code 
1:
    adds    r1, #1
    str     r1, [sp, #BURNC_LOOP]
    bx      r1
    .endm

/* r3 holds the second row's first output. */
    .macro next_pair
    ldr     r4, [sp, #BURNC_STEP]
    adds    r3, r3, r4
    str     r3, [sp, #BURNC_Y_NOW]
    movs    r2, r0
    ldr     r0, [sp, #BURNC_PACKED_NOW]
    ldr     r1, [sp, #BURNC_PACKED_END]
    cmp     r0, r1
    beq     1f
    ldr     r1, [sp, #BURNC_LOOP]
    bx      r1
1:
    str     r2, [sp, #BURNC_CONSTANTS]
    ldr     r1, [sp, #BURNC_WEIGHTS]
    ldr     r2, [sp, #BURNC_IS_CODE]
    cmp     r2, #0
    bne     2f
    .endm

    .macro run_code
    movs    r3, #128
    lsls    r3, r3, #8
    ldr     r4, [sp, #BURNC_WEIGHTS]
    bx      r4
    .endm

    .macro end_code
    mov     r1, lr
    str     r1, [sp, #BURNC_NEXT_CODE]
    mov     lr, r7
    str     r0, [sp, #BURNC_PACKED_NOW]
    to_finish
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
    sub     sp, #BURNC_FRAME
    mov     r1, sp
    ldmia   r0!, {r2-r7}
    stmia   r1!, {r2-r7}
    ldmia   r0!, {r2-r7}
    stmia   r1!, {r2-r7}
    ldmia   r0!, {r2}
    stmia   r1!, {r2}
    ldr     r1, [sp, #BURNC_IS_CODE]
    cmp     r1, #0
    beq     .Ltriple
    ldr     r1, [sp, #BURNC_WEIGHTS]
    adds    r1, #1                  /* BX wants to know that it is Thumb code */
    str     r1, [sp, #BURNC_WEIGHTS]

.Ltriple:
    ldr     r1, [sp, #BURNC_TRIPLES]
    subs    r1, #1
    bcs     1f
    b       .Ldouble
1:
    str     r1, [sp, #BURNC_TRIPLES]
    begin_group .Lpair3, .Lcode3, .Lback3, .Lfinish3, .Lsigned3
    .balign 4
.Lcode3:
    run_code
    .balign 4
.Lback3:
    end_code
    .balign 4
.Lpair3:
    begin_pair
    mov     r12, r3
    mov     lr, r3
.Lblocks3:
    block3  0
    block3  6
    block3  12
    block3  18
    adds    r1, #24
    cmp     r0, r7
    bne     .Lblocks3

    end_pair
    .balign 4
.Lfinish3:
    finish_three finish
.Lnext3:
    next_pair
    ldr     r2, [sp, #BURNC_PAIR_BYTES]
    lsrs    r2, r2, #1
    adds    r1, r1, r2
    str     r1, [sp, #BURNC_WEIGHTS]
    b       .Ltriple
2:
    ldr     r1, [sp, #BURNC_NEXT_CODE]
    str     r1, [sp, #BURNC_WEIGHTS]
    b       .Ltriple

    .balign 4
.Lsigned3:
    finish_three finish_signed
    b       .Lnext3

.Ldouble:
    ldr     r1, [sp, #BURNC_DOUBLES]
    subs    r1, #1
    bcs     1f
    b       .Ldone
1:
    str     r1, [sp, #BURNC_DOUBLES]
    begin_group .Lpair2, .Lcode2, .Lback2, .Lfinish2, .Lsigned2
    .balign 4
.Lcode2:
    run_code
    .balign 4
.Lback2:
    end_code
    .balign 4
.Lpair2:
    begin_pair
.Lblocks2:
    block2  0
    block2  4
    block2  8
    block2  12
    adds    r1, #16
    cmp     r0, r7
    bne     .Lblocks2

    end_pair
    .balign 4
.Lfinish2:
    finish_two finish
.Lnext2:
    next_pair
    ldr     r2, [sp, #BURNC_DOUBLE_BYTES]
    adds    r1, r1, r2
    str     r1, [sp, #BURNC_WEIGHTS]
    b       .Ldouble
2:
    ldr     r1, [sp, #BURNC_NEXT_CODE]
    str     r1, [sp, #BURNC_WEIGHTS]
    b       .Ldouble

    .balign 4
.Lsigned2:
    finish_two finish_signed
    b       .Lnext2

.Ldone:
    add     sp, #BURNC_FRAME
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}
    .size   burnc_dot_pairs_s8_m0, . - burnc_dot_pairs_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
