/* SPDX-License-Identifier: 0BSD */
/* A resident bootloader: starts the sealed application, or takes a new one from a host (docs/flashing.md). It lies at
   the start of flash and writes only behind itself. */
#include <stdbool.h>
#include <stdint.h>

#include "burnc_boot.h"
#include "burnc_messages.h"
#include "burnc_port.h"
#include "burnc_seal.h"

#define BOOTLOADER_VERSION 1u
#define PAYLOAD_BYTES 1024u
#define MOST_ERASED_AT_ONCE 65536u

enum { INFO = 0x41, ERASE = 0x42, WRITE = 0x43, CRC = 0x44, SEAL = 0x45, BOOT = 0x46 };
enum { HARNESS_REQUESTS_END = 0x40 };
enum { START_APPLICATION = 0, STAY_IN_BOOTLOADER = 1 };

#define ADDRESS_BYTES 4u
#define BUFFER_BYTES BURNC_FRAME_ENCODED_BYTES(BURNC_MESSAGE_HEADER_BYTES + ADDRESS_BYTES + PAYLOAD_BYTES)

static uint8_t buffer[BUFFER_BYTES];

static void put_info(void) {
    burnc_seal seal;
    const bool sealed = burnc_seal_read(&seal);
    burnc_reply_put16(BOOTLOADER_VERSION);
    burnc_reply_put_text(BURNC_BOARD);
    burnc_reply_put32(BURNC_FLASH_BASE);
    burnc_reply_put32(BURNC_FLASH_BYTES);
    burnc_reply_put32(BURNC_FLASH_SECTOR_BYTES);
    burnc_reply_put32(BURNC_FLASH_PAGE_BYTES);
    burnc_reply_put32(BURNC_APPLICATION_BASE);
    burnc_reply_put32(BURNC_FLASH_END);
    burnc_reply_put32(MOST_ERASED_AT_ONCE);
    burnc_reply_put16(PAYLOAD_BYTES);
    burnc_reply_put8(sealed ? 1u : 0u);
    burnc_reply_put32(sealed ? seal.begin : 0u);
    burnc_reply_put32(sealed ? seal.bytes : 0u);
    burnc_reply_put32(sealed ? seal.crc : 0u);
}

static bool is_multiple(uint32_t address, uint32_t bytes, uint32_t unit) {
    return address % unit == 0u && bytes % unit == 0u && bytes != 0u;
}

static bool erase(uint32_t address, uint32_t bytes) {
    if (!burnc_seal_is_writable(address, bytes) || !is_multiple(address, bytes, BURNC_FLASH_SECTOR_BYTES) ||
        bytes > MOST_ERASED_AT_ONCE) {
        return false;
    }
    burnc_seal_break();
    burnc_boot_flash_erase(address - BURNC_FLASH_BASE, bytes);
    return true;
}

/* Programming the same bytes a second time changes nothing, so a repeated request does no harm. */
static bool write_pages(uint32_t address, const uint8_t *data, uint32_t bytes) {
    if (!burnc_seal_is_writable(address, bytes) || !is_multiple(address, bytes, BURNC_FLASH_PAGE_BYTES) ||
        bytes > PAYLOAD_BYTES) {
        return false;
    }
    burnc_seal_break();
    burnc_boot_flash_program(address - BURNC_FLASH_BASE, data, bytes);
    return true;
}

/* Serves the request in buffer[0..count) where its arguments are good. All of them bear repeating. */
static bool serve(uint32_t count) {
    const uint32_t type = buffer[0];
    const uint32_t sequence = buffer[1];
    const uint32_t body = count - BURNC_MESSAGE_HEADER_BYTES;
    const uint32_t first = body >= 4u ? burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES) : 0u;
    const uint32_t second = body >= 8u ? burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES + 4u) : 0u;
    const bool is_range = body == 8u && burnc_seal_is_writable(first, second);
    bool boots = false;
    switch (type) {
    case INFO: /* the body is the host's business, so that every version can read what this one is */
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        put_info();
        break;
    case ERASE:
        if (body != 8u || !erase(first, second)) {
            return false;
        }
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        break;
    case WRITE: {
        const uint32_t bytes = body - ADDRESS_BYTES;
        if (body <= ADDRESS_BYTES ||
            !write_pages(first, buffer + BURNC_MESSAGE_HEADER_BYTES + ADDRESS_BYTES, bytes)) {
            return false;
        }
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        burnc_reply_put32(burnc_crc32(burnc_seal_flash(first), bytes));
        break;
    }
    case CRC:
        if (!is_range) {
            return false;
        }
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        burnc_reply_put32(burnc_crc32(burnc_seal_flash(first), second));
        break;
    case SEAL: {
        const burnc_seal seal = {first, second,
                                 body == 16u ? burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES + 8u) : 0u,
                                 body == 16u ? burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES + 12u) : 0u};
        if (body != 16u || !burnc_seal_write(&seal)) {
            return false;
        }
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        break;
    }
    case BOOT:
        if (body != 1u || buffer[BURNC_MESSAGE_HEADER_BYTES] > STAY_IN_BOOTLOADER) {
            return false;
        }
        boots = true;
        if (buffer[BURNC_MESSAGE_HEADER_BYTES] == STAY_IN_BOOTLOADER) {
            (void)burnc_port_request_bootloader();
        }
        burnc_reply_begin(type + BURNC_REPLY, sequence);
        break;
    default: /* requests to the application: the host learns that there is none */
        burnc_reply_error(sequence,
                          type < HARNESS_REQUESTS_END ? BURNC_IN_BOOTLOADER : BURNC_UNKNOWN_COMMAND);
        return true;
    }
    burnc_reply_send();
    if (boots) {
        burnc_port_flush();
        burnc_port_reboot();
    }
    return true;
}

static void receive(uint32_t count, uint32_t crc) {
    const uint32_t sequence = buffer[1];
    (void)crc; /* nothing here is harmed by repeating */
    if (!serve(count)) {
        burnc_reply_error(sequence, BURNC_BAD_ARGUMENTS);
    }
}

int main(void) {
    burnc_seal seal;
    burnc_boot_init();
    if (!burnc_boot_stay_requested() && burnc_seal_read(&seal)) {
        burnc_boot_start(seal.vectors);
    }
    burnc_port_init();
    burnc_messages_serve(buffer, BUFFER_BYTES, receive);
    return 0;
}
