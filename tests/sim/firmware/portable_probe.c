/* SPDX-License-Identifier: 0BSD */
/* For every board: does one thing for each letter that arrives. The names of probe_run and probe_on_layer are those of
   generated C with a profile, so that the emulator counts the instructions between them. */
#include <stdint.h>

#include "burnc_port.h"

#define WORD(address) (*(volatile uint32_t *)(uintptr_t)(address))

#ifdef __riscv
#define LOOP_OF_100 "li t0, 100\n 1: addi t0, t0, -1\n bnez t0, 1b"
#define LOOP_REGISTER "t0"
#else
#define LOOP_OF_100 ".syntax unified\n movs r3, #100\n 1: subs r3, #1\n bne 1b"
#define LOOP_REGISTER "r3"
#endif

static uint32_t words[2];
static volatile uintptr_t one = 1u; /* which the compiler must not know, or it would load bytes */

void probe_on_layer(uint32_t layer);
void probe_run(void);

static volatile uint32_t bookkeeping;

/* Takes instructions of its own, other ones each time; they are no layer's. */
__attribute__((noinline)) void probe_on_layer(uint32_t layer) {
    for (uint32_t i = 0; i <= 7u * layer; i++) {
        bookkeeping = bookkeeping + 1u;
    }
}

__attribute__((noinline)) void probe_run(void) {
    probe_on_layer(0u);
    probe_on_layer(1u);
    __asm__ volatile(".rept 10\n nop\n .endr");
    probe_on_layer(2u);
    __asm__ volatile(".rept 1000\n nop\n .endr");
    probe_on_layer(3u);
    __asm__ volatile(LOOP_OF_100 : : : LOOP_REGISTER, "cc", "memory");
    probe_on_layer(4u);
    bookkeeping = 0u; /* so that the last call is one, and no jump */
}

static void send_word(uint32_t word) {
    for (uint32_t shift = 0; shift < 32u; shift += 8u) {
        burnc_port_putc((uint8_t)(word >> shift));
    }
}

static void answer(int letter) {
    switch (letter) {
    case 'a':
        send_word(WORD((uintptr_t)words + one));
        break;
    case 'b':
        WORD((uintptr_t)words + 2u * one) = 1u;
        break;
    case 'f':
        send_word(WORD(UNMAPPED));
        break;
    case 'g':
        WORD(UNMAPPED) = 1u;
        break;
#ifndef __riscv
    case 'd': /* udiv r0, r0, r1 */
        __asm__ volatile(".short 0xfbb0, 0xf0f1" : : : "r0");
        break;
#endif
    case 'u':
        __builtin_trap();
    case 'C':
        burnc_port_reboot();
        break;
    case 'D':
        for (;;) {
        }
    case 'p':
        probe_run();
        break;
    default:
        break;
    }
    burnc_port_putc((uint8_t)letter);
}

int main(void) {
    burnc_port_init();
    burnc_port_putc('!');
    for (;;) {
        const int letter = burnc_port_getc();
        if (letter >= 0) {
            answer(letter);
        }
    }
}
