/* SPDX-License-Identifier: 0BSD */
/* Macros of the assembly for Cortex-M0 and M0+ that make a byte of a sum: r3 limit or fraction, r4 multiplier, r5 places,
   r6 rounding, r7 scratch. */
#ifndef BURNC_SCALE_M0_MACROS_H
#define BURNC_SCALE_M0_MACROS_H
/* clang-format off */
#ifdef __ASSEMBLER__

/* \sum becomes its byte; a negative one has that of 0. */
    .macro limit_and_scale sum, limit
    cmp     \sum, \limit
    bls     2f
    asrs    r7, \sum, #31
    beq     1f
    lsrs    \sum, r6, #24
    b       3f
1:
    mov     \sum, \limit
2:
    scale   \sum
3:
    .endm

/* \sum becomes 0 where it is negative, the limit in r3 where it is above. */
    .macro limit sum
    cmp     \sum, r3
    bls     1f
    asrs    r7, \sum, #31
    movs    \sum, r3
    bics    \sum, r7
1:
    .endm

    .macro scale sum
    movs    r7, \sum
    muls    r7, r3, r7
    lsrs    r7, r5                  /* by its lowest byte */
    muls    \sum, r4, \sum
    adds    \sum, \sum, r7
    adds    \sum, \sum, r6
    lsrs    \sum, \sum, #24
    .endm

    .macro scale_signed sum, zero, minus_step
    movs    r7, \sum
    muls    r7, r3, r7
    lsrs    r7, r5
    cmp     \sum, \zero
    muls    \sum, r4, \sum          /* leaves the carry alone */
    bcs     1f
    add     \sum, \minus_step
1:
    adds    \sum, \sum, r7
    adds    \sum, \sum, r6
    lsrs    \sum, \sum, #24
    .endm

#endif
/* clang-format on */
#endif
