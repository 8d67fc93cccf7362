/* SPDX-License-Identifier: 0BSD */
/* Frames on a serial line (docs/protocol.md): COBS, so that a zero byte only ever ends a frame, around a payload and
   its CRC-32. */
#ifndef BURNC_FRAMES_H
#define BURNC_FRAMES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BURNC_FRAME_CRC_BYTES 4u

/* Bytes of a frame as sent, without its ending zero, for a payload of n bytes. */
#define BURNC_FRAME_ENCODED_BYTES(n) ((n) + BURNC_FRAME_CRC_BYTES + ((n) + BURNC_FRAME_CRC_BYTES) / 254u + 1u)

typedef enum { BURNC_FRAME_OK = 0, BURNC_FRAME_BAD_COBS = 1, BURNC_FRAME_BAD_CRC = 2 } burnc_frame_status;

/* CRC-32 as zlib computes it. */
uint32_t burnc_crc32(const uint8_t *bytes, uint32_t count);

/* Opens a received frame in place: bytes[0..count) is what came before the ending zero. On success the payload is
   bytes[0..*payload_count) and *crc its checksum. */
burnc_frame_status burnc_frame_open(uint8_t *bytes, uint32_t count, uint32_t *payload_count, uint32_t *crc);

/* Sends payload[0..count) as one frame through put. The four bytes behind the payload must exist: they are
   overwritten with the CRC. */
void burnc_frame_send(uint8_t *payload, uint32_t count, void (*put)(uint8_t byte));

#ifdef __cplusplus
}
#endif

#endif
