/* SPDX-License-Identifier: 0BSD */
#include "burnc_messages.h"

#include "burnc_port.h"

#define ERROR_REPLY 0xffu
#define LONGEST_TEXT 96u

static uint8_t *message;
static uint32_t reply_count; /* bytes of the reply that is being written */

uint32_t burnc_request_get16(uint32_t at) {
    return (uint32_t)message[at] | (uint32_t)message[at + 1u] << 8;
}

uint32_t burnc_request_get32(uint32_t at) {
    return burnc_request_get16(at) | burnc_request_get16(at + 2u) << 16;
}

void burnc_reply_begin(uint32_t type, uint32_t sequence) {
    reply_count = 0;
    burnc_reply_put8(type);
    burnc_reply_put8(sequence);
}

void burnc_reply_put8(uint32_t value) {
    message[reply_count] = (uint8_t)value;
    reply_count++;
}

void burnc_reply_put16(uint32_t value) {
    burnc_reply_put8(value);
    burnc_reply_put8(value >> 8);
}

void burnc_reply_put32(uint32_t value) {
    burnc_reply_put16(value);
    burnc_reply_put16(value >> 16);
}

void burnc_reply_put_text(const char *text) {
    uint32_t length = 0;
    while (length < LONGEST_TEXT && text[length] != '\0') {
        length++;
    }
    burnc_reply_put8(length);
    for (uint32_t i = 0; i < length; i++) {
        burnc_reply_put8((uint8_t)text[i]);
    }
}

void burnc_reply_send(void) {
    burnc_frame_send(message, reply_count, burnc_port_putc);
}

void burnc_reply_error(uint32_t sequence, uint32_t code) {
    burnc_reply_begin(ERROR_REPLY, sequence);
    burnc_reply_put8(code);
    burnc_reply_send();
}

static void open_frame(uint32_t received, uint32_t capacity, burnc_server serve) {
    uint32_t count = 0;
    uint32_t crc = 0;
    burnc_frame_status status = BURNC_FRAME_BAD_COBS;
    if (received <= capacity) {
        status = burnc_frame_open(message, received, &count, &crc);
    }
    if (status == BURNC_FRAME_BAD_CRC) {
        burnc_reply_error(0u, BURNC_BAD_CRC);
    } else if (status != BURNC_FRAME_OK || count < BURNC_MESSAGE_HEADER_BYTES) {
        burnc_reply_error(0u, BURNC_BAD_FRAME);
    } else {
        serve(count, crc);
    }
}

void burnc_messages_serve(uint8_t *buffer, uint32_t capacity, burnc_server serve) {
    uint32_t received = 0;
    message = buffer;
    for (;;) {
        const int byte = burnc_port_getc();
        if (byte > 0) {
            if (received < capacity) {
                buffer[received] = (uint8_t)byte;
            }
            if (received <= capacity) {
                received++; /* one past the end marks a frame that is too long */
            }
        } else if (byte == 0) {
            if (received > 0u) {
                open_frame(received, capacity, serve);
            }
            received = 0;
        }
    }
}
