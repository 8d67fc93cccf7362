/* SPDX-License-Identifier: 0BSD */
/* Calls into the RP2040's boot ROM, whose functions are found by a two-letter code. */
#include "rp2040.h"

#define ROM_CODE(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

/* Fixed places in the ROM, named by the linker script: addresses of 16 bits. */
extern const volatile uint16_t burnc_rom_table, burnc_rom_lookup;

typedef uintptr_t (*rom_lookup)(const uint16_t *table, uint32_t code);
typedef void (*rom_usb_loader)(uint32_t activity_pins, uint32_t interfaces_off);

uintptr_t rp2040_rom_function(char first, char second) {
    const rom_lookup lookup = (rom_lookup)(uintptr_t)burnc_rom_lookup;
    return lookup == 0 ? 0u : lookup((const uint16_t *)(uintptr_t)burnc_rom_table, ROM_CODE(first, second));
}

void rp2040_start_usb_loader(void) {
    const rom_usb_loader start = (rom_usb_loader)rp2040_rom_function('U', 'B');
    if (start != 0) {
        start(0u, 0u);
    }
}
