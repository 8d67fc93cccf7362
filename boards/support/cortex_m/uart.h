/* SPDX-License-Identifier: 0BSD */
/* The board's UART, 8N1, polled. The board's file says which: BURNC_UART_CMSDK or BURNC_UART_NRF51 is its address. */
#ifndef BURNC_UART_H
#define BURNC_UART_H

#include <stdint.h>

void burnc_uart_init(void);
int burnc_uart_getc(void); /* -1 when there is no byte */
void burnc_uart_putc(uint8_t byte);
void burnc_uart_flush(void);

#endif
