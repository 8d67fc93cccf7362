/* SPDX-License-Identifier: 0BSD */
/* A resident bootloader: starts the sealed application, or takes a new one from a host (docs/flashing.md). It lies at
   the start of flash and writes only behind itself. */
#include <stdbool.h>
#include <stdint.h>

#include "burnc_boot.h"
#include "burnc_frames.h"
#include "burnc_port.h"
#include "burnc_seal.h"

#define BOOTLOADER_VERSION 1u
#define PAYLOAD_BYTES 1024u
#define MOST_ERASED_AT_ONCE 65536u

enum {
    INFO = 0x41,
    ERASE = 0x42,
    WRITE = 0x43,
    CRC = 0x44,
    SEAL = 0x45,
    BOOT = 0x46,
    REPLY = 0x80,
    ERROR_REPLY = 0xff
};
enum { HARNESS_REQUESTS_END = 0x40 };
enum { BAD_FRAME = 1, BAD_CRC = 2, UNKNOWN_COMMAND = 3, BAD_ARGUMENTS = 4, IN_BOOTLOADER = 7 };
enum { START_APPLICATION = 0, STAY_IN_BOOTLOADER = 1 };

#define HEADER_BYTES 2u /* type, sequence number */
#define ADDRESS_BYTES 4u
#define BUFFER_BYTES BURNC_FRAME_ENCODED_BYTES(HEADER_BYTES + ADDRESS_BYTES + PAYLOAD_BYTES)

/* One buffer for both directions: a request is decoded in place, and its reply is written over it. */
static uint8_t buffer[BUFFER_BYTES];
static uint32_t reply_count;

static uint32_t get32(uint32_t at) {
    return (uint32_t)buffer[at] | (uint32_t)buffer[at + 1u] << 8 | (uint32_t)buffer[at + 2u] << 16 |
           (uint32_t)buffer[at + 3u] << 24;
}

static void put8(uint32_t value) {
    buffer[reply_count] = (uint8_t)value;
    reply_count++;
}

static void put16(uint32_t value) {
    put8(value);
    put8(value >> 8);
}

static void put32(uint32_t value) {
    put16(value);
    put16(value >> 16);
}

static void put_text(const char *text, uint32_t length) {
    put8(length);
    for (uint32_t i = 0; i < length; i++) {
        put8((uint8_t)text[i]);
    }
}

static void begin_reply(uint32_t type, uint32_t sequence) {
    reply_count = 0;
    put8(type);
    put8(sequence);
}

static void send_reply(void) {
    burnc_frame_send(buffer, reply_count, burnc_port_putc);
}

static void send_error(uint32_t sequence, uint32_t code) {
    begin_reply(ERROR_REPLY, sequence);
    put8(code);
    send_reply();
}

static void put_info(void) {
    burnc_seal seal;
    const bool sealed = burnc_seal_read(&seal);
    put16(BOOTLOADER_VERSION);
    put_text(BURNC_BOARD, sizeof BURNC_BOARD - 1u);
    put32(BURNC_FLASH_BASE);
    put32(BURNC_FLASH_BYTES);
    put32(BURNC_FLASH_SECTOR_BYTES);
    put32(BURNC_FLASH_PAGE_BYTES);
    put32(BURNC_APPLICATION_BASE);
    put32(BURNC_FLASH_END);
    put32(MOST_ERASED_AT_ONCE);
    put16(PAYLOAD_BYTES);
    put8(sealed ? 1u : 0u);
    put32(sealed ? seal.begin : 0u);
    put32(sealed ? seal.bytes : 0u);
    put32(sealed ? seal.crc : 0u);
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
    const uint32_t body = count - HEADER_BYTES;
    const uint32_t first = body >= 4u ? get32(HEADER_BYTES) : 0u;
    const uint32_t second = body >= 8u ? get32(HEADER_BYTES + 4u) : 0u;
    const bool is_range = body == 8u && burnc_seal_is_writable(first, second);
    bool boots = false;
    switch (type) {
    case INFO: /* the body is the host's business, so that every version can read what this one is */
        begin_reply(type + REPLY, sequence);
        put_info();
        break;
    case ERASE:
        if (body != 8u || !erase(first, second)) {
            return false;
        }
        begin_reply(type + REPLY, sequence);
        break;
    case WRITE: {
        const uint32_t bytes = body - ADDRESS_BYTES;
        if (body <= ADDRESS_BYTES || !write_pages(first, buffer + HEADER_BYTES + ADDRESS_BYTES, bytes)) {
            return false;
        }
        begin_reply(type + REPLY, sequence);
        put32(burnc_crc32(burnc_seal_flash(first), bytes));
        break;
    }
    case CRC:
        if (!is_range) {
            return false;
        }
        begin_reply(type + REPLY, sequence);
        put32(burnc_crc32(burnc_seal_flash(first), second));
        break;
    case SEAL: {
        const burnc_seal seal = {first, second, body == 16u ? get32(HEADER_BYTES + 8u) : 0u,
                                 body == 16u ? get32(HEADER_BYTES + 12u) : 0u};
        if (body != 16u || !burnc_seal_write(&seal)) {
            return false;
        }
        begin_reply(type + REPLY, sequence);
        break;
    }
    case BOOT:
        if (body != 1u || buffer[HEADER_BYTES] > STAY_IN_BOOTLOADER) {
            return false;
        }
        boots = true;
        if (buffer[HEADER_BYTES] == STAY_IN_BOOTLOADER) {
            (void)burnc_port_request_bootloader();
        }
        begin_reply(type + REPLY, sequence);
        break;
    default: /* requests to the application: the host learns that there is none */
        send_error(sequence, type < HARNESS_REQUESTS_END ? IN_BOOTLOADER : UNKNOWN_COMMAND);
        return true;
    }
    send_reply();
    if (boots) {
        burnc_port_flush();
        burnc_port_reboot();
    }
    return true;
}

static void receive_frame(uint32_t received) {
    uint32_t count = 0;
    uint32_t crc = 0;
    burnc_frame_status status = BURNC_FRAME_BAD_COBS;
    if (received <= BUFFER_BYTES) {
        status = burnc_frame_open(buffer, received, &count, &crc);
    }
    if (status == BURNC_FRAME_BAD_CRC) {
        send_error(0u, BAD_CRC);
    } else if (status != BURNC_FRAME_OK || count < HEADER_BYTES) {
        send_error(0u, BAD_FRAME);
    } else {
        const uint32_t sequence = buffer[1];
        if (!serve(count)) {
            send_error(sequence, BAD_ARGUMENTS);
        }
    }
}

static void serve_host(void) {
    uint32_t received = 0;
    for (;;) {
        const int byte = burnc_port_getc();
        if (byte > 0) {
            if (received < BUFFER_BYTES) {
                buffer[received] = (uint8_t)byte;
            }
            if (received <= BUFFER_BYTES) {
                received++; /* one past the end marks a frame that is too long */
            }
        } else if (byte == 0) {
            if (received > 0u) {
                receive_frame(received);
            }
            received = 0;
        }
    }
}

int main(void) {
    burnc_seal seal;
    burnc_boot_init();
    if (!burnc_boot_stay_requested() && burnc_seal_read(&seal)) {
        burnc_boot_start(seal.vectors);
    }
    burnc_port_init();
    serve_host();
    return 0;
}
