/* SPDX-License-Identifier: 0BSD */
/* The UART of Nordic's nRF51 (nRF51 Series Reference Manual, chapter 29). */
#include "uart.h"

#ifdef BURNC_UART_NRF51

#define REG(offset) (*(volatile uint32_t *)(uintptr_t)(BURNC_UART_NRF51 + (offset)))
#define START_RX 0x000u
#define START_TX 0x008u
#define RX_READY 0x108u
#define TX_READY 0x11cu
#define ENABLE 0x500u
#define PIN_TX 0x50cu
#define PIN_RX 0x514u
#define RX_DATA 0x518u
#define TX_DATA 0x51cu
#define BAUD_RATE 0x524u
#define UART_ON 4u
#define UART_CLOCK_HZ 16000000u

/* baud x 2^32 / clock, of which the peripheral takes the upper 20 bits. */
#define BAUD_VALUE (((((uint64_t)BURNC_UART_BAUD << 32) / UART_CLOCK_HZ) + 0x800u) & 0xfffff000u)

static uint8_t has_sent;

void burnc_uart_init(void) {
    REG(PIN_TX) = BURNC_UART_NRF51_TX;
    REG(PIN_RX) = BURNC_UART_NRF51_RX;
    REG(BAUD_RATE) = (uint32_t)BAUD_VALUE;
    REG(ENABLE) = UART_ON;
    REG(START_RX) = 1u;
    REG(START_TX) = 1u;
}

int burnc_uart_getc(void) {
    if (REG(RX_READY) == 0u) {
        return -1;
    }
    REG(RX_READY) = 0u;
    return (int)(REG(RX_DATA) & 0xffu);
}

void burnc_uart_putc(uint8_t byte) {
    burnc_uart_flush();
    REG(TX_READY) = 0u;
    REG(TX_DATA) = byte;
    has_sent = 1u;
}

void burnc_uart_flush(void) {
    while (has_sent != 0u && REG(TX_READY) == 0u) {
    }
}

#endif
