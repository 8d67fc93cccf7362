/* SPDX-License-Identifier: 0BSD */
/* The UART of Arm's Cortex-M System Design Kit: one byte of buffer in each direction. */
#include "uart.h"

#ifdef BURNC_UART_CMSDK

#define REG(offset) (*(volatile uint32_t *)(uintptr_t)(BURNC_UART_CMSDK + (offset)))
#define DATA 0x0u
#define STATE 0x4u
#define CONTROL 0x8u
#define BAUD_DIVIDER 0x10u
#define TRANSMITTER_FULL 1u
#define RECEIVER_FULL 2u
#define ENABLE_BOTH_DIRECTIONS 3u

void burnc_uart_init(void) {
    REG(BAUD_DIVIDER) = BURNC_CLOCK_HZ / BURNC_UART_BAUD;
    REG(CONTROL) = ENABLE_BOTH_DIRECTIONS;
}

int burnc_uart_getc(void) {
    return (REG(STATE) & RECEIVER_FULL) == 0u ? -1 : (int)(REG(DATA) & 0xffu);
}

void burnc_uart_putc(uint8_t byte) {
    burnc_uart_flush();
    REG(DATA) = byte;
}

void burnc_uart_flush(void) {
    while ((REG(STATE) & TRANSMITTER_FULL) != 0u) {
    }
}

#endif
