/* SPDX-License-Identifier: 0BSD */
/* The seal: a record in the bootloader's last sector that says which bytes are an application worth starting. It is
   broken before anything is changed and written when all is in place, so that power may fail at any moment. */
#ifndef BURNC_SEAL_H
#define BURNC_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t begin;   /* address of the application's first byte */
    uint32_t bytes;   /* its size */
    uint32_t vectors; /* address of its vector table */
    uint32_t crc;     /* CRC-32 of its bytes */
} burnc_seal;

/* Reads flash at an address. */
const uint8_t *burnc_seal_flash(uint32_t address);

/* Whether the range lies in the part of flash that applications may use. */
bool burnc_seal_is_writable(uint32_t address, uint32_t bytes);

/* Reads the seal; false if there is none, or the application is not the one that was sealed. */
bool burnc_seal_read(burnc_seal *seal);

/* Seals an application; false, and nothing changed, if it does not check out. Sealing the same again writes nothing. */
bool burnc_seal_write(const burnc_seal *seal);

/* Makes the application one that is not started. */
void burnc_seal_break(void);

#ifdef __cplusplus
}
#endif

#endif
