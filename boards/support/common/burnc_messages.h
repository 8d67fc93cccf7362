/* SPDX-License-Identifier: 0BSD */
/* Requests from a host and replies to it (docs/protocol.md), over burnc_port.h. One buffer serves both directions: a
   request is decoded in place, and its reply is written over it. */
#ifndef BURNC_MESSAGES_H
#define BURNC_MESSAGES_H

#include <stdint.h>

#include "burnc_frames.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every payload begins with its type and a sequence number. */
#define BURNC_MESSAGE_HEADER_BYTES 2u

/* Added to a request's type. */
#define BURNC_REPLY 0x80u

/* Why a request was not served. */
enum {
    BURNC_BAD_FRAME = 1,
    BURNC_BAD_CRC = 2,
    BURNC_UNKNOWN_COMMAND = 3,
    BURNC_BAD_ARGUMENTS = 4,
    BURNC_NO_SESSION = 5,
    BURNC_NO_BOOTLOADER = 6,
    BURNC_IN_BOOTLOADER = 7
};

/* Serves a request: its payload is the first `count` bytes of the buffer. `crc` is the checksum of all of it. */
typedef void (*burnc_server)(uint32_t count, uint32_t crc);

/* Receives requests for ever. Damaged ones are answered here, all others handed on. The buffer holds the longest
   payload as BURNC_FRAME_ENCODED_BYTES counts it, and every reply with four bytes to spare. */
void burnc_messages_serve(uint8_t *buffer, uint32_t capacity, burnc_server serve);

/* Little-endian numbers of the request, from the beginning of its payload. */
uint32_t burnc_request_get16(uint32_t at);
uint32_t burnc_request_get32(uint32_t at);

/* A reply is begun, filled and sent. A text is cut after 96 bytes. */
void burnc_reply_begin(uint32_t type, uint32_t sequence);
void burnc_reply_put8(uint32_t value);
void burnc_reply_put16(uint32_t value);
void burnc_reply_put32(uint32_t value);
void burnc_reply_put_text(const char *text);
void burnc_reply_send(void);

/* Sends an error instead. */
void burnc_reply_error(uint32_t sequence, uint32_t code);

#ifdef __cplusplus
}
#endif

#endif
