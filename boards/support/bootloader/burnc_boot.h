/* SPDX-License-Identifier: 0BSD */
/* What a chip family gives the resident bootloader beside burnc_port.h: its flash, and the way into a program. Offsets
   count from the first byte of flash. */
#ifndef BURNC_BOOT_H
#define BURNC_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The board's figures, from its TOML file. The bootloader owns the first BURNC_BOOTLOADER_BYTES of flash. */
#if !defined(BURNC_BOARD) || !defined(BURNC_FLASH_BASE) || !defined(BURNC_FLASH_BYTES) ||                    \
    !defined(BURNC_FLASH_SECTOR_BYTES) || !defined(BURNC_FLASH_PAGE_BYTES) ||                                \
    !defined(BURNC_BOOTLOADER_BYTES) || !defined(BURNC_RAM_BASE) || !defined(BURNC_RAM_BYTES)
#error "the build of the bootloader passes the board's figures"
#endif

#define BURNC_APPLICATION_BASE (BURNC_FLASH_BASE + BURNC_BOOTLOADER_BYTES)
#define BURNC_FLASH_END (BURNC_FLASH_BASE + BURNC_FLASH_BYTES)

/* Brings the clocks up, so that checking an application takes milliseconds. burnc_port_init may follow. */
void burnc_boot_init(void);

/* Whether the program that ran before asked to stay here (burnc_port_request_bootloader). Forgets the request. */
bool burnc_boot_stay_requested(void);

/* Starts the program with that vector table. Does not return. */
void burnc_boot_start(uint32_t vectors);

/* Erase whole sectors to ff; program whole pages, where bits only go from 1 to 0. The flash reads as before
   afterwards. */
void burnc_boot_flash_erase(uint32_t offset, uint32_t bytes);
void burnc_boot_flash_program(uint32_t offset, const uint8_t *data, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
