/* SPDX-License-Identifier: 0BSD */
/* Does one thing for each letter that arrives; tests/sim sends them one at a time. */
#include <stdint.h>

#include "burnc_core1.h"
#include "burnc_port.h"

#define WORD(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define RAM_CODE __attribute__((noinline, section(".ramfunc")))

#define SYSTICK_CONTROL 0xe000e010u
#define DIVIDEND 0xd0000060u
#define DIVISOR 0xd0000064u
#define QUOTIENT 0xd0000070u
#define SPARE_FLASH 0x100000u

static uint32_t words[64];
static uint32_t core1_stack[128];

static void send_word(uint32_t word) {
    for (uint32_t i = 0; i < 32u; i += 8u) {
        burnc_port_putc((uint8_t)(word >> i));
    }
}

/* --- accesses that a Cortex-M0+ or the RP2040 does not survive --- */

static void load_word(uint32_t address) {
    uint32_t value;
    __asm__ volatile("ldr %0, [%1]" : "=l"(value) : "l"(address) : "memory");
    send_word(value);
}

static void store_word(uint32_t address) {
    __asm__ volatile("str %0, [%0]" : : "l"(address) : "memory");
}

static void load_half(uint32_t address) {
    uint32_t value;
    __asm__ volatile("ldrh %0, [%1]" : "=l"(value) : "l"(address) : "memory");
    send_word(value);
}

static void store_half(uint32_t address) {
    __asm__ volatile("strh %0, [%0]" : : "l"(address) : "memory");
}

static void load_many(uint32_t address) {
    __asm__ volatile("ldmia %0!, {r4, r5}" : "+l"(address) : : "r4", "r5", "memory");
}

static void branch(uint32_t address) {
    __asm__ volatile("blx %0" : : "r"(address) : "lr", "memory");
}

/* --- boot ROM flash functions --- */

typedef void (*plain_function)(void);
typedef void (*erase_function)(uint32_t offset, uint32_t count, uint32_t block, uint32_t command);
typedef void (*program_function)(uint32_t offset, const uint8_t *data, uint32_t count);

typedef struct {
    plain_function connect, exit_xip, flush, enter_xip;
    erase_function erase;
    program_function program;
} flash_rom;

static uintptr_t rom_function(char first, char second) {
    typedef uintptr_t (*lookup_function)(uintptr_t table, uint32_t code);
    const uintptr_t table = *(volatile uint16_t *)0x14u;
    const lookup_function lookup = (lookup_function)(uintptr_t) * (volatile uint16_t *)0x18u;
    return lookup(table, (uint32_t)first | (uint32_t)second << 8);
}

static flash_rom find_flash_rom(void) {
    const flash_rom rom = {
        (plain_function)rom_function('I', 'F'), (plain_function)rom_function('E', 'X'),
        (plain_function)rom_function('F', 'C'), (plain_function)rom_function('C', 'X'),
        (erase_function)rom_function('R', 'E'), (program_function)rom_function('R', 'P'),
    };
    return rom;
}

RAM_CODE static void rewrite_flash(const flash_rom *rom, uint32_t offset, const uint8_t *page) {
    __asm__ volatile("cpsid i" ::: "memory");
    rom->connect();
    rom->exit_xip();
    rom->erase(offset, 4096u, 1u << 16, 0xd8u);
    rom->program(offset, page, 256u);
    rom->flush();
    rom->enter_xip();
    __asm__ volatile("cpsie i" ::: "memory");
}

static void flash_functions(void) {
    const flash_rom rom = find_flash_rom();
    uint8_t *const page = (uint8_t *)words;
    for (uint32_t i = 0; i < 256u; i++) {
        page[i] = (uint8_t)(i ^ 0x5au);
    }
    rewrite_flash(&rom, SPARE_FLASH, page);
    const volatile uint8_t *const flash = (const volatile uint8_t *)(uintptr_t)(0x10000000u + SPARE_FLASH);
    for (uint32_t i = 0; i < 257u; i++) { /* the page and one erased byte behind it */
        burnc_port_putc(flash[i]);
    }
}

/* --- core 1 --- */

static void core1_multiplies(void) {
    for (;;) {
        const uint32_t word = burnc_fifo_pop();
        burnc_fifo_push(word * 3u + WORD(0xd0000000u));
    }
}

static void core1_faults(void) {
    store_word(0x30000000u);
}

static void launch(void (*entry)(void)) {
    burnc_core1_launch(entry, core1_stack, sizeof core1_stack / sizeof core1_stack[0]);
}

static void serve(int letter) {
    switch (letter) {
    case 'a': load_word(0x20000002u); break;
    case 'b': store_word(0x20000001u); break;
    case 'c': load_half(0x20000001u); break;
    case 'd': store_half(0x20000003u); break;
    case 'e': load_many(0x20000002u); break;
    case 'f': load_word(0x30000000u); break;
    case 'g': store_word(0x30000000u); break;
    case 'h': load_word(0x20042000u); break; /* one past RAM */
    case 'i': load_word(0x10200000u); break; /* one past flash */
    case 'j': load_word(0u); break;
    case 'k': store_word(4u); break;
    case 'l': store_word(0x10080000u); break;
    case 'm': store_word(0x100u); break;
    case 'n': branch(0x30000001u); break;
    case 'o': branch(0x10000100u); break; /* even: ARM state */
    case 'p': __asm__ volatile("udf #7"); break;
    case 'q': __asm__ volatile(".short 0xf7f0, 0xa000"); break;
    case 'r': __asm__ volatile("bkpt #3"); break;
    case 's': WORD(SYSTICK_CONTROL) = 1u; break;
    case 't': {
        const flash_rom rom = find_flash_rom();
        rom.connect();
        rom.exit_xip(); /* and returns to flash, which is not there */
        break;
    }
    case 'u': {
        const flash_rom rom = find_flash_rom();
        rom.erase(SPARE_FLASH, 4096u, 1u << 16, 0xd8u);
        break;
    }
    case 'v': {
        const flash_rom rom = find_flash_rom();
        rewrite_flash(&rom, SPARE_FLASH + 256u, (const uint8_t *)words);
        break;
    }
    case 'w':
        WORD(DIVIDEND) = 7u;
        WORD(DIVISOR) = 2u;
        send_word(WORD(QUOTIENT));
        break;
    case 'x': launch(core1_faults); break;

    case 'A': flash_functions(); break;
    case 'B':
        launch(core1_multiplies);
        burnc_fifo_push(1000u);
        send_word(burnc_fifo_pop());
        break;
    case 'C': burnc_port_reboot(); break;
    case 'D':
        for (;;) {
            __asm__ volatile("");
        }
    case 'E':
        for (;;) {
            __asm__ volatile("cpsid i\nwfi");
        }
    case 'F': { /* semihosting SYS_EXIT, "application exit" */
        register uint32_t r0 __asm__("r0") = 0x18u;
        register uint32_t r1 __asm__("r1") = 0x20026u;
        __asm__ volatile("bkpt #0xab" : : "r"(r0), "r"(r1));
        break;
    }
    case 'G': ((plain_function)rom_function('U', 'B'))(); break;
    case 'H': { /* 8 000 000 turns of 3 cycles, the last of 2 */
        uint32_t turns = 8000000u;
        const uint64_t begin = burnc_port_cycles();
        __asm__ volatile(".syntax unified\n1: subs %0, #1\nbne 1b" : "+l"(turns) : : "cc");
        send_word((uint32_t)(burnc_port_cycles() - begin));
        break;
    }
    default: burnc_port_putc((uint8_t)letter); break;
    }
}

int main(void) {
    burnc_port_init();
    burnc_port_putc('!');
    for (;;) {
        const int letter = burnc_port_getc();
        if (letter >= 0) {
            serve(letter);
        }
    }
}
