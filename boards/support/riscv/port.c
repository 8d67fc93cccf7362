/* SPDX-License-Identifier: 0BSD */
/* The port interface of QEMU's `virt` machine: a 16550 UART, and a test device that resets. There is no cycle counter:
   the emulator counts instructions. */
#include "burnc_port.h"

#define UART_REG(offset) (*(volatile uint8_t *)(uintptr_t)(0x10000000u + (offset)))
#define DATA 0u
#define LINE_STATUS 5u
#define RECEIVED 0x01u
#define TRANSMITTER_EMPTY 0x20u
#define FIFO_CONTROL 2u
#define LINE_CONTROL 3u
#define FIFO_ON 1u
#define EIGHT_BITS 3u

#define TEST_DEVICE (*(volatile uint32_t *)(uintptr_t)0x00100000u)
#define RESET 0x7777u

void burnc_port_init(void) {
    UART_REG(LINE_CONTROL) = EIGHT_BITS;
    UART_REG(FIFO_CONTROL) = FIFO_ON;
    (void)UART_REG(DATA); /* QEMU looks for bytes from outside when the last one was taken */
}

int burnc_port_getc(void) {
    return (UART_REG(LINE_STATUS) & RECEIVED) == 0u ? -1 : (int)UART_REG(DATA);
}

void burnc_port_putc(uint8_t byte) {
    burnc_port_flush();
    UART_REG(DATA) = byte;
}

void burnc_port_flush(void) {
    while ((UART_REG(LINE_STATUS) & TRANSMITTER_EMPTY) == 0u) {
    }
}

uint64_t burnc_port_cycles(void) {
    return 0u;
}

void burnc_port_cycles_restart(void) {
}

uint32_t burnc_port_clock_hz(void) {
    return BURNC_CLOCK_HZ;
}

void burnc_port_reboot(void) {
    TEST_DEVICE = RESET;
    for (;;) {
    }
}
