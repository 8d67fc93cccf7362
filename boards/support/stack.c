/* SPDX-License-Identifier: 0BSD */
/* How much deeper the stack went: what is free is filled with a pattern, and the lowest word that changed found later. */
#include "burnc_port.h"

#ifdef __riscv
#define READ_STACK_POINTER "mv %0, sp"
#else
#define READ_STACK_POINTER "mov %0, sp"
#endif

#define PATTERN 0xc5a35c3au

extern uint32_t burnc_stack_limit[], burnc_stack_top[];

static uint32_t *painted_end;

void burnc_port_stack_paint(void) {
    uint32_t *top;
    __asm__ volatile(READ_STACK_POINTER : "=r"(top));
    painted_end = top;
    for (uint32_t *word = burnc_stack_limit; word < top; word++) {
        *word = PATTERN;
    }
}

uint32_t burnc_port_stack_used(void) {
    const uint32_t *word = burnc_stack_limit;
    while (word < painted_end && *word == PATTERN) {
        word++;
    }
    return (uint32_t)((uintptr_t)painted_end - (uintptr_t)word);
}

uint32_t burnc_port_stack_size(void) {
    return (uint32_t)((uintptr_t)burnc_stack_top - (uintptr_t)burnc_stack_limit);
}
