/* SPDX-License-Identifier: 0BSD */
/* The port interface over the board's UART. There is no cycle counter: on these boards, which stand for cores under
   an emulator, the emulator counts instructions. */
#include "burnc_port.h"
#include "uart.h"

#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define ENABLE_WITHOUT_INTERRUPT_AT_CPU_CLOCK 5u
#define TICKS_PER_SECOND 100u
#define SCB_AIRCR 0xe000ed0cu
#define RESET_REQUEST 0x05fa0004u

void burnc_port_init(void) {
    burnc_uart_init();
    /* QEMU looks for bytes for some UARTs only when something wakes its main loop: SysTick does that. */
    REG(SYST_RVR) = BURNC_CLOCK_HZ / TICKS_PER_SECOND - 1u;
    REG(SYST_CSR) = ENABLE_WITHOUT_INTERRUPT_AT_CPU_CLOCK;
}

int burnc_port_getc(void) {
    return burnc_uart_getc();
}

void burnc_port_putc(uint8_t byte) {
    burnc_uart_putc(byte);
}

void burnc_port_flush(void) {
    burnc_uart_flush();
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
    REG(SCB_AIRCR) = RESET_REQUEST;
    for (;;) {
    }
}
