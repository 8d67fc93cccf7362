/* SPDX-License-Identifier: 0BSD */
/* Packs the rows of two windows, `count` activations each, for straight-line code: the words a + (b << 16) mod 2^32.
   Returns the place behind the last. */
#ifndef BURNC_PACK_WORDS_S8_M0_H
#define BURNC_PACK_WORDS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_PACK_WORDS_S8_M0_ASSEMBLY 1
#else
#define BURNC_PACK_WORDS_S8_M0_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* `rows`, at least one, begin `row_step` bytes apart. */
uint32_t *burnc_pack_words_s8_m0(uint32_t *packed, const int8_t *a, const int8_t *b, uint32_t count,
                                 uint32_t rows, uint32_t row_step);

#ifdef __cplusplus
}
#endif

#endif
