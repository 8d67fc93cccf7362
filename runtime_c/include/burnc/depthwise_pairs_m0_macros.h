/* SPDX-License-Identifier: 0BSD */
/* Macros of burnc_depthwise_pairs_s8_m0.S, whose registers they take. */
#ifndef BURNC_DEPTHWISE_PAIRS_M0_MACROS_H
#define BURNC_DEPTHWISE_PAIRS_M0_MACROS_H
/* clang-format off */
#ifdef __ASSEMBLER__

/* Fields of the layer. */
#define BURNC_LAYER_RECORDS 0
#define BURNC_LAYER_CHANNELS 4
#define BURNC_LAYER_RUNS_AT_ONCE 8
#define BURNC_LAYER_IN_RUNS 12
#define BURNC_LAYER_OUT_RUNS 16
#define BURNC_LAYER_LENGTH 20
#define BURNC_LAYER_WHOLE_PAIRS 24
#define BURNC_LAYER_FIRST_RUN 28
#define BURNC_LAYER_PAD_BEFORE 32
#define BURNC_LAYER_PAD_AFTER 36
#define BURNC_LAYER_X_STEP 40
#define BURNC_LAYER_X_RUN 44
#define BURNC_LAYER_X_SHIFT 48
#define BURNC_LAYER_Y_STEP 52
#define BURNC_LAYER_Y_RUN 56
#define BURNC_LAYER_Y_SHIFT 60
#define BURNC_LAYER_PADDING 64

    .macro pack_pair
    ldrsb   r5, [r1, r3]
    ldrsb   r6, [r2, r3]
    lsls    r6, r6, #16
    adds    r5, r5, r6
    stmia   r0!, {r5}
    adds    r3, r3, r4
    .endm

/* Sum and whole words of one of the two pairs go to its wide sums; \how is mov for a channel's first block. */
    .macro end_block how, sum, high, whole
    asrs    r1, \sum, #16
    \how    \high, r1
    \how    \whole, \sum
    mov     \sum, lr
    .endm

    .macro end_blocks how
    end_block \how, r6, r8, r9
    end_block \how, r7, r10, r11
    .endm

/* The three taps of one run of the kernel; blocks end behind tap \end where there is one. */
    .macro taps run, how, end
    ldmia   r0!, {r1-r4}
    ldr     r5, [sp, #12 * (\run)]
    muls    r1, r5, r1
    adds    r6, r6, r1
    muls    r5, r2, r5
    adds    r7, r7, r5
    .if \end == 0
    end_blocks \how
    .endif
    ldr     r5, [sp, #12 * (\run) + 4]
    muls    r2, r5, r2
    adds    r6, r6, r2
    muls    r5, r3, r5
    adds    r7, r7, r5
    .if \end == 1
    end_blocks \how
    .endif
    ldr     r5, [sp, #12 * (\run) + 8]
    muls    r3, r5, r3
    adds    r6, r6, r3
    muls    r5, r4, r5
    adds    r7, r7, r5
    .if \end == 2
    end_blocks \how
    .endif
    .endm

/* The same for one pair. */
    .macro tap_of_one at, word
    ldr     r5, [sp, #4 * (\at)]
    muls    r5, \word, r5
    adds    r6, r6, r5
    .endm

/* \sum, with its offset, becomes its byte; one out of the range goes by way of \aside, which comes back to \back. */
    .macro scale sum, aside
    cmp     \sum, r9
    bhi     \aside
\aside\()_scale:
    movs    r0, \sum
    muls    r0, r3, r0
    lsrs    r0, r4
    muls    \sum, r5, \sum
    adds    \sum, \sum, r0
    add     \sum, r10
    lsrs    \sum, \sum, #24
\aside\()_done:
    .endm

/* A negative sum has the result of 0. */
    .macro out_of_range sum, aside
\aside:
    asrs    r0, \sum, #31
    beq     1f
    mov     \sum, r10
    lsrs    \sum, \sum, #24
    b       \aside\()_done
1:
    mov     \sum, r9
    b       \aside\()_scale
    .endm

/* r0 at the channel's limit; then all that scaling needs. */
    .macro load_scale
    ldmia   r0!, {r3, r4}
    mov     r9, r3
    mov     r10, r4
    ldmia   r0!, {r3-r5}
    .endm

#endif
/* clang-format on */
#endif
