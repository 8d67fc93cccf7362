/* SPDX-License-Identifier: 0BSD */
/* burnc_depthwise_pairs_s8_m0 for ARMv6-M; the header describes what it computes, docs/kernels.md why it is exact.

   While sums are made, of two pairs of outputs that follow each other in a run:
     r0  next words of the plane     r1-r4  four of them, then products     r5  a weight     r6, r7  sums of the block
     r8, r10  sums of the upper halves     r9, r11  sums of the whole words
     r12  from the last word taken of a run to the first of the next     lr  32768, where a block begins
   In the epilogue:
     r6, r1  outputs of the first pair, r7, r2 of the second     r3  fraction, r4 places, r5 multiplier, r0 scratch
     r8  what r0 was     r9  limit     r10  rounding
   On the stack: the channel's weights and constants, and what stands below. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)

#include "burnc/depthwise_m0_macros.h"
#include "burnc/depthwise_pairs_m0_macros.h"

#define BURNC_OFFSET 36 /* from here on in the order of the epilogue */
#define BURNC_LOW 40
#define BURNC_LIMIT 44
#define BURNC_ROUNDING 48
#define BURNC_FRACTION 52
#define BURNC_PLACES 56
#define BURNC_MULTIPLIER 60
#define BURNC_LOW_OF_ONE 64
#define BURNC_Y_NOW 68
#define BURNC_Y_SHIFT 72
#define BURNC_Y_STEP 76
#define BURNC_BACK 80
#define BURNC_END 84
#define BURNC_SUMS 88
#define BURNC_PLANE_NOW 92
#define BURNC_Y_RUN_NOW 96
#define BURNC_RUNS_NOW 100 /* that are to be made from the plane as it is */
#define BURNC_RUNS_LEFT 104
#define BURNC_INPUT_RUN 108 /* the next that goes into the plane, -1 one of padding before the first */
#define BURNC_X_NOW 112     /* behind the whole pairs of that */
#define BURNC_CHANNELS_LEFT 116
#define BURNC_RECORDS 120
#define BURNC_LAYER 124 /* the arguments, x and y moving on */
#define BURNC_X 128
#define BURNC_Y 132
#define BURNC_PLANE 136
#define BURNC_FRAME 140

    .syntax unified

    .section .text.burnc_depthwise_pairs_s8_m0, "ax", %progbits
    .balign 4
    .thumb
    .thumb_func
    .globl  burnc_depthwise_pairs_s8_m0
    .type   burnc_depthwise_pairs_s8_m0, %function
burnc_depthwise_pairs_s8_m0:
    push_registers
    sub     sp, #BURNC_FRAME
    add     r4, sp, #BURNC_LAYER
    stmia   r4!, {r0-r3}
    ldr     r1, [r0, #BURNC_LAYER_CHANNELS]
    str     r1, [sp, #BURNC_CHANNELS_LEFT]
    ldr     r1, [r0, #BURNC_LAYER_RECORDS]
    str     r1, [sp, #BURNC_RECORDS]
    ldr     r1, [r0, #BURNC_LAYER_Y_SHIFT]
    str     r1, [sp, #BURNC_Y_SHIFT]
    ldr     r1, [r0, #BURNC_LAYER_Y_STEP]
    str     r1, [sp, #BURNC_Y_STEP]
    ldr     r1, [r0, #BURNC_LAYER_LENGTH]
    lsls    r1, r1, #2
    subs    r1, #8                  /* the words of a run, less 16 bytes */
    mov     r12, r1
    lsls    r1, r1, #1
    adds    r1, #40
    str     r1, [sp, #BURNC_BACK]

.Lchannel:
    ldr     r7, [sp, #BURNC_LAYER]
    ldr     r0, [r7, #BURNC_LAYER_FIRST_RUN]
    str     r0, [sp, #BURNC_INPUT_RUN]
    ldr     r0, [r7, #BURNC_LAYER_OUT_RUNS]
    str     r0, [sp, #BURNC_RUNS_LEFT]
    ldr     r0, [sp, #BURNC_Y]
    str     r0, [sp, #BURNC_Y_RUN_NOW]
    adds    r0, #1
    str     r0, [sp, #BURNC_Y]
    ldr     r1, [r7, #BURNC_LAYER_WHOLE_PAIRS]
    ldr     r2, [r7, #BURNC_LAYER_X_STEP]
    muls    r1, r2, r1
    ldr     r0, [sp, #BURNC_X]
    adds    r1, r1, r0
    str     r1, [sp, #BURNC_X_NOW]
    adds    r0, #1
    str     r0, [sp, #BURNC_X]
    ldr     r0, [sp, #BURNC_RECORDS]
    ldmia   r0!, {r1-r3}
    mov     r4, sp
    unpack  r1, r1
    unpack  r2, r2
    unpack  r3, r3
    lsls    r3, r3, #8
    orrs    r3, r2                  /* fraction */
    movs    r4, #128
    lsls    r7, r4, #8
    mov     lr, r7
    adr     r5, .Lsums_of_threes
    lsls    r6, r7, #1
    adds    r6, r6, r7              /* 3 * 32768 */
    tst     r1, r4
    beq     1f
    bics    r1, r4
    adr     r5, .Lsums_of_twos
    adds    r6, r6, r7
    adds    r6, r6, r7
1:
    adds    r5, #1
    str     r5, [sp, #BURNC_SUMS]
    str     r3, [sp, #BURNC_FRACTION]
    str     r1, [sp, #BURNC_PLACES]
    ldmia   r0!, {r1-r4}            /* offset, limit, multiplier, rounding */
    str     r0, [sp, #BURNC_RECORDS]
    str     r4, [sp, #BURNC_ROUNDING]
    str     r3, [sp, #BURNC_MULTIPLIER]
    str     r2, [sp, #BURNC_LIMIT]
    str     r1, [sp, #BURNC_OFFSET]
    lsls    r2, r1, #16
    adds    r1, r1, r2
    subs    r6, r1, r6
    str     r6, [sp, #BURNC_LOW]
    lsls    r2, r7, #2
    adds    r2, r2, r7
    subs    r1, r1, r2
    str     r1, [sp, #BURNC_LOW_OF_ONE]

    ldr     r0, [sp, #BURNC_PLANE]
.Lstrip:
    ldr     r7, [sp, #BURNC_LAYER]
    ldr     r1, [r7, #BURNC_LAYER_RUNS_AT_ONCE]
    ldr     r2, [sp, #BURNC_RUNS_LEFT]
    cmp     r1, r2
    bls     1f
    movs    r1, r2
1:
    subs    r2, r2, r1
    str     r2, [sp, #BURNC_RUNS_LEFT]
    str     r1, [sp, #BURNC_RUNS_NOW]
    adds    r1, #2
    mov     r2, r12
    adds    r2, #16
    muls    r1, r2, r1
    ldr     r2, [sp, #BURNC_PLANE]
    str     r2, [sp, #BURNC_PLANE_NOW]
    adds    r1, r1, r2
    mov     r10, r1
    ldr     r1, [r7, #BURNC_LAYER_PADDING]
    mov     r8, r1
    lsls    r1, r1, #16
    mov     r9, r1
    ldr     r4, [r7, #BURNC_LAYER_X_STEP]
    ldr     r3, [r7, #BURNC_LAYER_WHOLE_PAIRS]
    muls    r3, r4, r3
    rsbs    r3, r3, #0
    mov     r11, r3
    ldr     r1, [sp, #BURNC_X_NOW]
    ldr     r2, [r7, #BURNC_LAYER_X_SHIFT]
    adds    r2, r2, r1

/* r1, r2  behind the inputs a and b of the run's whole pairs     r3  up to 0, by r4     r5, r6  scratch     r8  padding, r9 of b
   r10  end of the runs that are packed     r11  where r3 begins */
.Lpack_run:
    ldr     r5, [sp, #BURNC_INPUT_RUN]
    adds    r6, r5, #1
    str     r6, [sp, #BURNC_INPUT_RUN]
    ldr     r6, [r7, #BURNC_LAYER_IN_RUNS]
    cmp     r5, r6
    bcs     .Lpad_run
    mov     r3, r11
    ldr     r5, [r7, #BURNC_LAYER_PAD_BEFORE]
    cmp     r5, #0
    beq     1f
    subs    r3, r3, r4
    ldrsb   r5, [r2, r3]
    lsls    r5, r5, #16
    add     r5, r8
    stmia   r0!, {r5}
    adds    r3, r3, r4
1:
    ldr     r5, [r7, #BURNC_LAYER_WHOLE_PAIRS]
    lsrs    r5, r5, #1
    bcs     3f
2:
    pack_pair
3:
    pack_pair
    bne     2b
    ldr     r5, [r7, #BURNC_LAYER_PAD_AFTER]
    cmp     r5, #0
    beq     4f
    ldrsb   r5, [r1, r3]
    add     r5, r9
    stmia   r0!, {r5}
4:
    ldr     r5, [r7, #BURNC_LAYER_X_RUN]
    adds    r1, r1, r5
    adds    r2, r2, r5
5:
    cmp     r0, r10
    bne     .Lpack_run
    str     r1, [sp, #BURNC_X_NOW]
    b       .Lrun
.Lpad_run:
    mov     r3, r12
    adds    r3, #16
    adds    r3, r3, r0
    mov     r5, r8
    add     r5, r9
6:
    stmia   r0!, {r5}
    cmp     r0, r3
    bne     6b
    b       5b

.Lrun:
    ldr     r7, [sp, #BURNC_LAYER]
    ldr     r0, [sp, #BURNC_PLANE_NOW]
    ldr     r2, [r7, #BURNC_LAYER_LENGTH]
    lsrs    r1, r2, #1
    lsls    r1, r1, #3
    adds    r1, r1, r0
    str     r1, [sp, #BURNC_END]
    adds    r2, #2
    lsls    r2, r2, #2
    adds    r2, r2, r0
    str     r2, [sp, #BURNC_PLANE_NOW]
    ldr     r2, [sp, #BURNC_Y_RUN_NOW]
    str     r2, [sp, #BURNC_Y_NOW]
    ldr     r3, [r7, #BURNC_LAYER_Y_RUN]
    adds    r2, r2, r3
    str     r2, [sp, #BURNC_Y_RUN_NOW]
    b       .Lnext_pairs

    .balign 4
.Lsums_of_threes:
    taps    0, mov, 2
    add     r0, r12
    taps    1, add, 2
    add     r0, r12
    taps    2, add, 3
    b       .Lfinish
    .balign 4
.Lsums_of_twos:
    taps    0, mov, 1
    add     r0, r12
    taps    1, add, 0
    end_blocks add
    add     r0, r12
    taps    2, add, 1
.Lfinish:
    asrs    r1, r6, #16
    add     r1, r8
    add     r6, r9
    asrs    r2, r7, #16
    add     r2, r10
    add     r7, r11
    mov     r8, r0
    add     r0, sp, #BURNC_OFFSET
    ldmia   r0!, {r3, r4}
    adds    r1, r1, r3
    adds    r2, r2, r3
    adds    r6, r6, r4
    adds    r7, r7, r4
    lsls    r3, r1, #16
    subs    r6, r6, r3
    lsls    r3, r2, #16
    subs    r7, r7, r3
    load_scale
    scale   r6, .La
    scale   r1, .Lb
    scale   r7, .Lc
    scale   r2, .Ld
    ldr     r3, [sp, #BURNC_Y_NOW]
    ldr     r4, [sp, #BURNC_Y_SHIFT]
    ldr     r5, [sp, #BURNC_Y_STEP]
    strb    r6, [r3]
    strb    r1, [r3, r4]
    adds    r3, r3, r5
    strb    r7, [r3]
    strb    r2, [r3, r4]
    adds    r3, r3, r5
    str     r3, [sp, #BURNC_Y_NOW]
    mov     r0, r8
    ldr     r3, [sp, #BURNC_BACK]
    subs    r0, r0, r3
.Lnext_pairs:
    ldr     r1, [sp, #BURNC_END]
    cmp     r0, r1
    beq     .Lone
    mov     r6, lr
    mov     r7, lr
    ldr     r1, [sp, #BURNC_SUMS]
    bx      r1
    out_of_range r6, .La
    out_of_range r1, .Lb
    out_of_range r7, .Lc
    out_of_range r2, .Ld

/* A run of odd length has a pair left. */
.Lone:
    ldr     r7, [sp, #BURNC_LAYER]
    ldr     r2, [r7, #BURNC_LAYER_LENGTH]
    lsrs    r2, r2, #1
    bcc     .Lnext_run
    mov     r6, lr
    ldmia   r0!, {r2-r4}
    tap_of_one 0, r2
    tap_of_one 1, r3
    end_block mov, r6, r8, r9
    tap_of_one 2, r4
    add     r0, r12
    adds    r0, #4
    ldmia   r0!, {r2-r4}
    tap_of_one 3, r2
    end_block add, r6, r8, r9
    tap_of_one 4, r3
    tap_of_one 5, r4
    end_block add, r6, r8, r9
    add     r0, r12
    adds    r0, #4
    ldmia   r0!, {r2-r4}
    tap_of_one 6, r2
    tap_of_one 7, r3
    end_block add, r6, r8, r9
    tap_of_one 8, r4
    asrs    r1, r6, #16
    add     r1, r8
    add     r6, r9
    add     r0, sp, #BURNC_LIMIT
    ldr     r3, [sp, #BURNC_OFFSET]
    ldr     r4, [sp, #BURNC_LOW_OF_ONE]
    adds    r1, r1, r3
    adds    r6, r6, r4
    lsls    r3, r1, #16
    subs    r6, r6, r3
    load_scale
    scale   r6, .Le
    scale   r1, .Lf
    ldr     r3, [sp, #BURNC_Y_NOW]
    ldr     r4, [sp, #BURNC_Y_SHIFT]
    strb    r6, [r3]
    strb    r1, [r3, r4]
.Lnext_run:
    ldr     r1, [sp, #BURNC_RUNS_NOW]
    subs    r1, #1
    str     r1, [sp, #BURNC_RUNS_NOW]
    beq     1f
    b       .Lrun
1:
    ldr     r1, [sp, #BURNC_RUNS_LEFT]
    cmp     r1, #0
    beq     2f
    ldr     r0, [sp, #BURNC_PLANE]
    ldr     r1, [sp, #BURNC_PLANE_NOW]
    mov     r3, r12                 /* the last two runs of the input go to the front */
    adds    r3, #16
    lsls    r3, r3, #1
    adds    r3, r3, r0
1:
    ldmia   r1!, {r4, r5}
    stmia   r0!, {r4, r5}
    cmp     r0, r3
    bne     1b
    b       .Lstrip
2:
    ldr     r1, [sp, #BURNC_CHANNELS_LEFT]
    subs    r1, #1
    str     r1, [sp, #BURNC_CHANNELS_LEFT]
    beq     1f
    b       .Lchannel
1:
    add     sp, #BURNC_FRAME
    pop_registers
    out_of_range r6, .Le
    out_of_range r1, .Lf
    .size   burnc_depthwise_pairs_s8_m0, . - burnc_depthwise_pairs_s8_m0

#elif defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
