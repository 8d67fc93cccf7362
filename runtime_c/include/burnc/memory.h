/* SPDX-License-Identifier: 0BSD */
/* memcpy, memmove and memset without <string.h>, which freestanding clang lacks. GNU-like compilers have them
   built in, so nothing is declared that could clash with a <string.h> in the same translation unit; others
   get the standard prototypes. The firmware (or the compiler's library) still defines the functions. */
#ifndef BURNC_MEMORY_H
#define BURNC_MEMORY_H

#include <stddef.h>

#ifndef __GNUC__
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *destination, const void *source, size_t size);
void *memmove(void *destination, const void *source, size_t size);
void *memset(void *destination, int value, size_t size);
#ifdef __cplusplus
}
#endif
#endif

static inline void burnc_memcpy(void *destination, const void *source, size_t size) {
#ifdef __GNUC__
    (void)__builtin_memcpy(destination, source, size);
#else
    (void)memcpy(destination, source, size);
#endif
}

static inline void burnc_memmove(void *destination, const void *source, size_t size) {
#ifdef __GNUC__
    (void)__builtin_memmove(destination, source, size);
#else
    (void)memmove(destination, source, size);
#endif
}

static inline void burnc_memset(void *destination, int value, size_t size) {
#ifdef __GNUC__
    (void)__builtin_memset(destination, value, size);
#else
    (void)memset(destination, value, size);
#endif
}

#endif
