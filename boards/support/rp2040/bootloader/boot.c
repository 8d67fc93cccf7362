/* SPDX-License-Identifier: 0BSD */
/* The bootloader's way into a program, and out of it through the watchdog's scratch registers (port.c writes them). */
#include "burnc_boot.h"
#include "rp2040.h"

void burnc_boot_init(void) {
    rp2040_clocks_init();
}

bool burnc_boot_stay_requested(void) {
    const bool requested = RP2040_REG(WATCHDOG_SCRATCH0) == RP2040_STAY_REQUEST &&
                           RP2040_REG(WATCHDOG_SCRATCH1) == ~RP2040_STAY_REQUEST;
    RP2040_REG(WATCHDOG_SCRATCH0) = 0u;
    return requested;
}

void burnc_boot_start(uint32_t vectors) {
    const uint32_t stack = RP2040_REG(vectors);
    const uint32_t entry = RP2040_REG(vectors + 4u);
    RP2040_REG(SCB_VTOR) = vectors;
    __asm__ volatile("msr msp, %0\n"
                     "bx %1\n"
                     :
                     : "r"(stack), "r"(entry)
                     : "memory");
    for (;;) {
    }
}
