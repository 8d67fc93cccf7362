/* SPDX-License-Identifier: 0BSD */
/* What a board offers to firmware: bytes in and out, a cycle counter, a reboot, stack figures. Each chip family in
   boards/support implements it; firmware includes this header and defines int main(void). */
#ifndef BURNC_PORT_H
#define BURNC_PORT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts clocks, the serial link and the cycle counter. Call it first in main. */
void burnc_port_init(void);

/* The next byte from the host, or -1 if there is none yet. Never waits. */
int burnc_port_getc(void);

/* Sends one byte to the host; waits while the transmitter is full. */
void burnc_port_putc(uint8_t byte);

/* Waits until all bytes have left the chip. */
void burnc_port_flush(void);

/* CPU cycles since burnc_port_init or the last restart, as seen by core 0. Interrupts must be enabled. */
uint64_t burnc_port_cycles(void);

/* Counts from zero again: a measurement that starts here meets the counter's own interrupts at the same places. */
void burnc_port_cycles_restart(void);

/* The CPU clock in hertz. */
uint32_t burnc_port_clock_hz(void);

/* Starts the board afresh, as after power-on. Does not return. */
void burnc_port_reboot(void);

/* Has the next reboot end in the resident bootloader (docs/flashing.md) instead of the program. Returns 0, and does
   nothing, where there is none; boards that never have one need not implement it. */
int burnc_port_request_bootloader(void);

/* Starts entry, which must not return, on a second core, with a stack of its own. Call it once after a start, and only
   on boards that have one; the others need not implement it. */
void burnc_port_start_second_core(void (*entry)(void));

/* How many bytes of its stack the second core has ever used; 0 before it was started. */
uint32_t burnc_port_second_stack_used(void);

/* Fills the unused stack with a pattern, and later tells how many bytes of it were ever used since. */
void burnc_port_stack_paint(void);
uint32_t burnc_port_stack_used(void);

/* Bytes between the end of static data and the top of the stack: the most that the stack can grow. */
uint32_t burnc_port_stack_size(void);

#ifdef __cplusplus
}
#endif

#endif
