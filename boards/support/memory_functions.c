/* SPDX-License-Identifier: 0BSD */
/* memcpy, memmove, memset, memcmp for boards without a C library. Words where both sides are aligned, else bytes. */
#include <stddef.h>
#include <stdint.h>

/* gcc would otherwise recognize the loops below and call the very functions that they make up. */
#if defined(__GNUC__) && !defined(__clang__)
#define LOOPS_STAY_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#else
#define LOOPS_STAY_LOOPS
#endif

#define WORD_BYTES 4u

typedef uint32_t __attribute__((may_alias)) word;

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

static int both_aligned(const void *a, const void *b) {
    return (((uintptr_t)a | (uintptr_t)b) & (WORD_BYTES - 1u)) == 0u;
}

LOOPS_STAY_LOOPS void *memcpy(void *to, const void *from, size_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if (both_aligned(to, from)) {
        word *target_word = to;
        const word *source_word = from;
        for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES) {
            *target_word++ = *source_word++;
        }
        target = (unsigned char *)target_word;
        source = (const unsigned char *)source_word;
    }
    while (bytes-- != 0u) {
        *target++ = *source++;
    }
    return to;
}

LOOPS_STAY_LOOPS void *memmove(void *to, const void *from, size_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if ((uintptr_t)to <= (uintptr_t)from || (uintptr_t)to - (uintptr_t)from >= bytes) {
        return memcpy(to, from, bytes); /* it goes upwards, so it reads each byte before it is overwritten */
    }
    while (bytes-- != 0u) {
        target[bytes] = source[bytes];
    }
    return to;
}

LOOPS_STAY_LOOPS void *memset(void *to, int value, size_t bytes) {
    unsigned char *target = to;
    const unsigned char byte = (unsigned char)value;
    if (both_aligned(to, to)) {
        word *target_word = to;
        for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES) {
            *target_word++ = byte * 0x01010101u;
        }
        target = (unsigned char *)target_word;
    }
    while (bytes-- != 0u) {
        *target++ = byte;
    }
    return to;
}

LOOPS_STAY_LOOPS int memcmp(const void *left, const void *right, size_t bytes) {
    const unsigned char *a = left;
    const unsigned char *b = right;
    for (; bytes != 0u; bytes--, a++, b++) {
        if (*a != *b) {
            return *a < *b ? -1 : 1;
        }
    }
    return 0;
}
