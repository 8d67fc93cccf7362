/* SPDX-License-Identifier: 0BSD */
/* Clocks: 12 MHz crystal; PLLs to 125 MHz for cores and peripherals and to 48 MHz for USB; 1 us watchdog tick. */
#include "rp2040.h"

#define XOSC_ENABLE 0xfab000u
#define XOSC_RANGE_1_15_MHZ 0xaa0u
#define XOSC_STARTUP_1_MS 47u /* in units of 256 crystal periods */
#define XOSC_STABLE (1u << 31)
#define REF_FROM_XOSC 2u
#define SYS_FROM_AUX 1u
#define PLL_LOCKED (1u << 31)
#define PLL_CORE_AND_VCO_OFF ((1u << 0) | (1u << 5))
#define PLL_DIVIDERS_OFF (1u << 3)
#define CLOCK_ENABLE (1u << 11)
#define TICK_ENABLE (1u << 9)

static void wait_for_bits(uint32_t address, uint32_t bits) {
    while ((RP2040_REG(address) & bits) != bits) {
    }
}

void rp2040_release(uint32_t blocks) {
    RP2040_CLEAR(RESETS_RESET) = blocks;
    wait_for_bits(RESETS_DONE, blocks);
}

/* Crystal x feedback / first / second divider. */
static void start_pll(uint32_t pll, uint32_t feedback, uint32_t first, uint32_t second) {
    RP2040_REG(pll + PLL_CS) = 1u;
    RP2040_REG(pll + PLL_FBDIV) = feedback;
    RP2040_CLEAR(pll + PLL_PWR) = PLL_CORE_AND_VCO_OFF;
    wait_for_bits(pll + PLL_CS, PLL_LOCKED);
    RP2040_REG(pll + PLL_PRIM) = first << 16 | second << 12;
    RP2040_CLEAR(pll + PLL_PWR) = PLL_DIVIDERS_OFF;
}

void rp2040_clocks_init(void) {
    RP2040_REG(XOSC_STARTUP) = XOSC_STARTUP_1_MS;
    RP2040_REG(XOSC_CTRL) = XOSC_RANGE_1_15_MHZ;
    RP2040_SET(XOSC_CTRL) = XOSC_ENABLE;
    wait_for_bits(XOSC_STATUS, XOSC_STABLE);

    /* The cores must not run from a PLL while it is set up. */
    RP2040_REG(CLOCKS_REF_CTRL) = REF_FROM_XOSC;
    wait_for_bits(CLOCKS_REF_SELECTED, 1u << REF_FROM_XOSC);
    RP2040_CLEAR(CLOCKS_SYS_CTRL) = SYS_FROM_AUX;
    wait_for_bits(CLOCKS_SYS_SELECTED, 1u << 0);

    rp2040_release(RESETS_PLL_SYS | RESETS_PLL_USB);
    start_pll(PLL_SYS, 125u, 6u, 2u); /* 12 MHz x 125 = 1500 MHz; / 12 = 125 MHz */
    start_pll(PLL_USB, 100u, 5u, 5u); /* 12 MHz x 100 = 1200 MHz; / 25 = 48 MHz */

    RP2040_REG(CLOCKS_SYS_DIV) = 1u << 8;
    RP2040_REG(CLOCKS_SYS_CTRL) = 0u;           /* PLL_SYS as the auxiliary source is chosen first ... */
    RP2040_SET(CLOCKS_SYS_CTRL) = SYS_FROM_AUX; /* ... and then switched to, without a glitch */
    wait_for_bits(CLOCKS_SYS_SELECTED, 1u << SYS_FROM_AUX);

    RP2040_REG(CLOCKS_PERI_CTRL) = CLOCK_ENABLE; /* from the system clock */
    RP2040_REG(CLOCKS_USB_CTRL) = CLOCK_ENABLE;  /* from PLL_USB */
    RP2040_REG(WATCHDOG_TICK) = TICK_ENABLE | RP2040_CRYSTAL_MHZ;
}
