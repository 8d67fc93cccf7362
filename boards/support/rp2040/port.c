/* SPDX-License-Identifier: 0BSD */
/* The port interface: start, bytes over UART or USB, clock rate, reboot. An answer goes out the way that the last byte
   came in; before there was one, over the UART. */
#include "burnc_port.h"
#include "rp2040.h"
#include "usb_serial.h"

#define WATCHDOG_TRIGGER (1u << 31)
#define PSM_ALL_BUT_OSCILLATORS 0x1fffcu

static uint8_t over_usb;

void burnc_port_init(void) {
    rp2040_clocks_init();
    burnc_port_cycles_restart();
    rp2040_uart_init();
    rp2040_release(RESETS_USB);
    rp2040_usb_init();
}

int burnc_port_getc(void) {
    int byte = rp2040_uart_getc();
    if (byte >= 0) {
        over_usb = 0u;
        return byte;
    }
    byte = rp2040_usb_getc();
    if (byte >= 0) {
        over_usb = 1u;
    }
    return byte;
}

void burnc_port_putc(uint8_t byte) {
    if (over_usb != 0u) {
        rp2040_usb_putc(byte);
    } else {
        rp2040_uart_putc(byte);
    }
}

void burnc_port_flush(void) {
    if (over_usb != 0u) {
        rp2040_usb_flush();
    } else {
        rp2040_uart_flush();
    }
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

/* A program whose vectors lie elsewhere than at the start of flash was started by a resident bootloader; the
   bootloader itself (built with its size) asks too. */
int burnc_port_request_bootloader(void) {
#ifndef BURNC_BOOTLOADER_BYTES
    if (RP2040_REG(SCB_VTOR) == RP2040_FIRST_VECTORS) {
        return 0;
    }
#endif
    RP2040_REG(WATCHDOG_SCRATCH0) = RP2040_STAY_REQUEST;
    RP2040_REG(WATCHDOG_SCRATCH1) = ~RP2040_STAY_REQUEST;
    return 1;
}
