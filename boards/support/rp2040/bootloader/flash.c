/* SPDX-License-Identifier: 0BSD */
/* Erasing and programming flash through the boot ROM. Meanwhile nothing can be read or run from flash, so this code
   lies in RAM and interrupts are off. */
#include "burnc_boot.h"
#include "rp2040.h"

#define IN_RAM __attribute__((noinline, section(".ramfunc")))
#define BLOCK_BYTES 65536u
#define BLOCK_ERASE_COMMAND 0xd8u

typedef void (*rom_plain)(void);
typedef void (*rom_erase)(uint32_t offset, uint32_t bytes, uint32_t block, uint32_t block_command);
typedef void (*rom_program)(uint32_t offset, const uint8_t *data, uint32_t bytes);

typedef struct {
    rom_plain connect, leave_xip, flush, enter_xip;
    rom_erase erase;
    rom_program program;
} rom_flash;

static rom_flash find_rom(void) {
    const rom_flash rom = {
        .connect = (rom_plain)rp2040_rom_function('I', 'F'),
        .leave_xip = (rom_plain)rp2040_rom_function('E', 'X'),
        .flush = (rom_plain)rp2040_rom_function('F', 'C'),
        .enter_xip = (rom_plain)rp2040_rom_function('C', 'X'),
        .erase = (rom_erase)rp2040_rom_function('R', 'E'),
        .program = (rom_program)rp2040_rom_function('R', 'P'),
    };
    return rom;
}

/* Erases where there is no data. */
IN_RAM static void change(const rom_flash *rom, uint32_t offset, const uint8_t *data, uint32_t bytes) {
    uint32_t masked;
    __asm__ volatile("mrs %0, primask\n"
                     "cpsid i\n"
                     : "=r"(masked)
                     :
                     : "memory");
    rom->connect();
    rom->leave_xip();
    if (data == 0) {
        rom->erase(offset, bytes, BLOCK_BYTES, BLOCK_ERASE_COMMAND);
    } else {
        rom->program(offset, data, bytes);
    }
    rom->flush();
    rom->enter_xip(); /* the same plain 03h reads as boot2.S sets up, somewhat slower; a reboot restores those */
    __asm__ volatile("msr primask, %0" : : "r"(masked) : "memory");
}

void burnc_boot_flash_erase(uint32_t offset, uint32_t bytes) {
    const rom_flash rom = find_rom();
    change(&rom, offset, 0, bytes);
}

void burnc_boot_flash_program(uint32_t offset, const uint8_t *data, uint32_t bytes) {
    const rom_flash rom = find_rom();
    change(&rom, offset, data, bytes);
}
