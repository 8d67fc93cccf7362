/* SPDX-License-Identifier: 0BSD */
/* The rest of the port interface: start, clock rate, reboot. */
#include "burnc_port.h"
#include "rp2040.h"

#define WATCHDOG_TRIGGER (1u << 31)
#define PSM_ALL_BUT_OSCILLATORS 0x1fffcu

void burnc_port_init(void) {
    rp2040_clocks_init();
    rp2040_uart_init();
    rp2040_cycles_init();
}

uint32_t burnc_port_clock_hz(void) {
    return RP2040_CLOCK_HZ;
}

void burnc_port_reboot(void) {
    RP2040_REG(PSM_WATCHDOG_SELECT) = PSM_ALL_BUT_OSCILLATORS;
    RP2040_REG(WATCHDOG_SCRATCH4) = 0u; /* no entry vector for the boot ROM: boot from flash */
    RP2040_SET(WATCHDOG_CTRL) = WATCHDOG_TRIGGER;
    for (;;) {
    }
}
