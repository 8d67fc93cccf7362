/* SPDX-License-Identifier: 0BSD */
#include "burnc_seal.h"

#include "burnc_boot.h"
#include "burnc_frames.h"

#define SEAL_OFFSET (BURNC_BOOTLOADER_BYTES - BURNC_FLASH_SECTOR_BYTES)
#define SEAL_MAGIC 0x6c616573u /* "seal" */
#define LEAST_APPLICATION_BYTES 8u

/* As it lies in flash: `crc` covers the words before it, so that a half-written record is none. */
typedef struct {
    uint32_t magic;
    burnc_seal seal;
    uint32_t crc;
} record;

#define CHECKED_BYTES (sizeof(record) - sizeof(uint32_t))

const uint8_t *burnc_seal_flash(uint32_t address) {
    return (const uint8_t *)(uintptr_t)address;
}

static uint32_t word_at(uint32_t address) {
    return *(const volatile uint32_t *)(uintptr_t)address;
}

static void read_record(record *to) {
    const uint8_t *const from = burnc_seal_flash(BURNC_FLASH_BASE + SEAL_OFFSET);
    for (uint32_t i = 0; i < sizeof *to; i++) {
        ((uint8_t *)to)[i] = from[i];
    }
}

bool burnc_seal_is_writable(uint32_t address, uint32_t bytes) {
    return address >= BURNC_APPLICATION_BASE && address <= BURNC_FLASH_END &&
           bytes <= BURNC_FLASH_END - address;
}

/* Whether the record describes an application that can be started: its vector table lies inside and begins with a
   stack in RAM and a Thumb address inside. */
static bool is_startable(const burnc_seal *seal) {
    if (!burnc_seal_is_writable(seal->begin, seal->bytes) || seal->bytes < LEAST_APPLICATION_BYTES) {
        return false;
    }
    const uint32_t end = seal->begin + seal->bytes;
    if (seal->vectors < seal->begin || seal->vectors > end - LEAST_APPLICATION_BYTES ||
        (seal->vectors & 0xffu) != 0u) {
        return false;
    }
    const uint32_t stack = word_at(seal->vectors);
    const uint32_t entry = word_at(seal->vectors + 4u);
    return stack > BURNC_RAM_BASE && stack <= BURNC_RAM_BASE + BURNC_RAM_BYTES && (stack & 3u) == 0u &&
           (entry & 1u) != 0u && entry > seal->begin && entry < end &&
           burnc_crc32(burnc_seal_flash(seal->begin), seal->bytes) == seal->crc;
}

static bool is_intact(const record *stored) {
    return stored->magic == SEAL_MAGIC && stored->crc == burnc_crc32((const uint8_t *)stored, CHECKED_BYTES);
}

static bool is_same(const burnc_seal *a, const burnc_seal *b) {
    return a->begin == b->begin && a->bytes == b->bytes && a->vectors == b->vectors && a->crc == b->crc;
}

bool burnc_seal_read(burnc_seal *seal) {
    record stored;
    read_record(&stored);
    *seal = stored.seal;
    return is_intact(&stored) && is_startable(&stored.seal);
}

void burnc_seal_break(void) {
    const uint8_t *const from = burnc_seal_flash(BURNC_FLASH_BASE + SEAL_OFFSET);
    for (uint32_t i = 0; i < BURNC_FLASH_PAGE_BYTES; i++) {
        if (from[i] != 0xffu) {
            burnc_boot_flash_erase(SEAL_OFFSET, BURNC_FLASH_SECTOR_BYTES);
            return;
        }
    }
}

bool burnc_seal_write(const burnc_seal *seal) {
    union {
        record content;
        uint8_t bytes[BURNC_FLASH_PAGE_BYTES];
    } page;
    if (!is_startable(seal)) {
        return false;
    }
    record stored;
    read_record(&stored);
    if (is_intact(&stored) && is_same(&stored.seal, seal)) {
        return true;
    }
    burnc_seal_break();
    for (uint32_t i = 0; i < sizeof page.bytes; i++) {
        page.bytes[i] = 0xffu;
    }
    page.content.magic = SEAL_MAGIC;
    page.content.seal = *seal;
    page.content.crc = burnc_crc32(page.bytes, CHECKED_BYTES);
    burnc_boot_flash_program(SEAL_OFFSET, page.bytes, sizeof page.bytes);
    return true;
}
