/* SPDX-License-Identifier: 0BSD */
#include "burnc_frames.h"

#include <stdbool.h>

#define COBS_LONGEST_RUN 254u

uint32_t burnc_crc32(const uint8_t *bytes, uint32_t count) {
    /* Half a byte at a time: 64 bytes of table instead of a kilobyte. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
    };
    uint32_t crc = 0xffffffffu;
    for (uint32_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = table[crc & 15u] ^ (crc >> 4);
        crc = table[crc & 15u] ^ (crc >> 4);
    }
    return ~crc;
}

/* Decodes in place, which works because the output is never ahead of the input. */
static bool cobs_decode(uint8_t *bytes, uint32_t count, uint32_t *decoded) {
    uint32_t in = 0;
    uint32_t out = 0;
    while (in < count) {
        const uint32_t code = bytes[in++];
        const uint32_t run = code - 1u;
        if (code == 0u || run > count - in) {
            return false;
        }
        for (uint32_t i = 0; i < run; i++) {
            bytes[out++] = bytes[in++];
        }
        if (run < COBS_LONGEST_RUN && in < count) {
            bytes[out++] = 0u;
        }
    }
    *decoded = out;
    return true;
}

burnc_frame_status burnc_frame_open(uint8_t *bytes, uint32_t count, uint32_t *payload_count, uint32_t *crc) {
    uint32_t decoded = 0;
    if (!cobs_decode(bytes, count, &decoded) || decoded < BURNC_FRAME_CRC_BYTES) {
        return BURNC_FRAME_BAD_COBS;
    }
    const uint32_t payload = decoded - BURNC_FRAME_CRC_BYTES;
    uint32_t stored = 0;
    for (uint32_t i = 0; i < BURNC_FRAME_CRC_BYTES; i++) {
        stored |= (uint32_t)bytes[payload + i] << (8u * i);
    }
    if (stored != burnc_crc32(bytes, payload)) {
        return BURNC_FRAME_BAD_CRC;
    }
    *payload_count = payload;
    *crc = stored;
    return BURNC_FRAME_OK;
}

static void cobs_send(const uint8_t *bytes, uint32_t count, void (*put)(uint8_t byte)) {
    uint32_t at = 0;
    bool more = true;
    while (more) {
        uint32_t run = 0;
        while (at + run < count && run < COBS_LONGEST_RUN && bytes[at + run] != 0u) {
            run++;
        }
        put((uint8_t)(run + 1u));
        for (uint32_t i = 0; i < run; i++) {
            put(bytes[at + i]);
        }
        at += run;
        more = at < count;
        if (more && run < COBS_LONGEST_RUN) {
            at++; /* the zero that the code byte stands for; one at the very end still needs an empty run */
        }
    }
}

void burnc_frame_send(uint8_t *payload, uint32_t count, void (*put)(uint8_t byte)) {
    const uint32_t crc = burnc_crc32(payload, count);
    for (uint32_t i = 0; i < BURNC_FRAME_CRC_BYTES; i++) {
        payload[count + i] = (uint8_t)(crc >> (8u * i));
    }
    cobs_send(payload, count + BURNC_FRAME_CRC_BYTES, put);
    put(0u);
}
