/* SPDX-License-Identifier: 0BSD */
/* UART0 on GP0 (out) and GP1 (in), 8N1, polled; both directions have the hardware's 32-byte FIFO. */
#include "rp2040.h"

#define PIN_FUNCTION_UART 2u
#define PAD_INPUT_WITH_PULL_UP 0x5au
#define RECEIVED_DAMAGED 0xf00u
#define RECEIVER_EMPTY (1u << 4)
#define TRANSMITTER_FULL (1u << 5)
#define TRANSMITTER_BUSY (1u << 3)
#define EIGHT_BITS_WITH_FIFO 0x70u
#define ENABLE_BOTH_DIRECTIONS 0x301u

#ifndef BURNC_UART_BAUD
#define BURNC_UART_BAUD 921600u
#endif

/* The divider of 16 x baud in 64ths, rounded. */
#define DIVIDER ((4u * RP2040_CLOCK_HZ + BURNC_UART_BAUD / 2u) / BURNC_UART_BAUD)

void rp2040_uart_init(void) {
    rp2040_release(RESETS_IO_BANK0 | RESETS_PADS_BANK0 | RESETS_UART0);
    RP2040_REG(UART0_IBRD) = DIVIDER >> 6;
    RP2040_REG(UART0_FBRD) = DIVIDER & 63u;
    RP2040_REG(UART0_LCR_H) = EIGHT_BITS_WITH_FIFO;
    RP2040_REG(UART0_CR) = ENABLE_BOTH_DIRECTIONS;
    RP2040_REG(PADS_BANK0_GPIO1) = PAD_INPUT_WITH_PULL_UP; /* an open input must not look like a break */
    RP2040_REG(IO_BANK0_GPIO0_CTRL) = PIN_FUNCTION_UART;
    RP2040_REG(IO_BANK0_GPIO1_CTRL) = PIN_FUNCTION_UART;
}

int rp2040_uart_getc(void) {
    if ((RP2040_REG(UART0_FR) & RECEIVER_EMPTY) != 0u) {
        return -1;
    }
    const uint32_t received = RP2040_REG(UART0_DR);
    return (received & RECEIVED_DAMAGED) != 0u ? -1 : (int)(received & 0xffu);
}

void rp2040_uart_putc(uint8_t byte) {
    while ((RP2040_REG(UART0_FR) & TRANSMITTER_FULL) != 0u) {
    }
    RP2040_REG(UART0_DR) = byte;
}

void rp2040_uart_flush(void) {
    while ((RP2040_REG(UART0_FR) & TRANSMITTER_BUSY) != 0u) {
    }
}
