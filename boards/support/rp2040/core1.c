/* SPDX-License-Identifier: 0BSD */
/* Core 1: launch handshake with the boot ROM, and the FIFOs between the cores. */
#include "burnc_core1.h"
#include "burnc_port.h"
#include "rp2040.h"

#define FIFO_HAS_WORD (1u << 0)
#define FIFO_HAS_ROOM (1u << 1)

#define STACK_WORDS 512u
#define STACK_PATTERN 0xc5a35c3au

static uint32_t second_stack[STACK_WORDS] __attribute__((aligned(8)));

void burnc_fifo_push(uint32_t word) {
    while ((RP2040_REG(SIO_FIFO_ST) & FIFO_HAS_ROOM) == 0u) {
    }
    RP2040_REG(SIO_FIFO_WR) = word;
    __asm__ volatile("sev" ::: "memory");
}

uint32_t burnc_fifo_pop(void) {
    while ((RP2040_REG(SIO_FIFO_ST) & FIFO_HAS_WORD) == 0u) {
        __asm__ volatile("wfe" ::: "memory");
    }
    const uint32_t word = RP2040_REG(SIO_FIFO_RD);
    __asm__ volatile("" ::: "memory");
    return word;
}

static void fifo_drain(void) {
    while ((RP2040_REG(SIO_FIFO_ST) & FIFO_HAS_WORD) != 0u) {
        (void)RP2040_REG(SIO_FIFO_RD);
    }
    __asm__ volatile("sev");
}

void burnc_core1_launch(void (*entry)(void), uint32_t *stack, uint32_t words) {
    /* The boot ROM echoes each word; a wrong echo means that it lost step, and the sequence starts again. */
    const uint32_t sequence[6] = {
        0u, 0u, 1u, RP2040_REG(SCB_VTOR), (uint32_t)(uintptr_t)(stack + words), (uint32_t)(uintptr_t)entry,
    };
    uint32_t sent = 0u;
    while (sent < 6u) {
        if (sequence[sent] == 0u) {
            fifo_drain();
        }
        burnc_fifo_push(sequence[sent]);
        sent = burnc_fifo_pop() == sequence[sent] ? sent + 1u : 0u;
    }
}

void burnc_port_start_second_core(void (*entry)(void)) {
    for (uint32_t i = 0u; i < STACK_WORDS; i++) {
        second_stack[i] = STACK_PATTERN;
    }
    burnc_core1_launch(entry, second_stack, STACK_WORDS);
}

uint32_t burnc_port_second_stack_used(void) {
    uint32_t free = 0u;
    while (free < STACK_WORDS && second_stack[free] == STACK_PATTERN) {
        free++;
    }
    return second_stack[0] == 0u ? 0u : 4u * (STACK_WORDS - free);
}
