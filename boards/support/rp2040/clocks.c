/* SPDX-License-Identifier: 0BSD */
/* Clocks: 12 MHz crystal, PLL to 125 MHz for the cores and the peripherals, 1 us watchdog tick. */
#include "rp2040.h"

#define FIELD_ENABLE_XOSC 0xfab000u
#define FIELD_RANGE_1_15_MHZ 0xaa0u
#define XOSC_STARTUP_1_MS 47u /* in units of 256 crystal periods */
#define REF_FROM_XOSC 2u
#define SYS_FROM_PLL 1u
#define PLL_LOCKED (1u << 31)
#define PLL_POWER_DOWN_CORE_AND_VCO ((1u << 0) | (1u << 5))
#define PLL_POWER_DOWN_DIVIDERS (1u << 3)
#define PLL_FEEDBACK 125u /* 12 MHz x 125 = 1500 MHz, / 6 / 2 = 125 MHz */
#define PLL_DIVIDE_6_2 ((6u << 16) | (2u << 12))
#define PERI_ENABLE (1u << 11)
#define TICK_ENABLE (1u << 9)

static void wait_for_bits(uint32_t address, uint32_t bits) {
    while ((RP2040_REG(address) & bits) != bits) {
    }
}

void rp2040_clocks_init(void) {
    RP2040_REG(XOSC_STARTUP) = XOSC_STARTUP_1_MS;
    RP2040_REG(XOSC_CTRL) = FIELD_RANGE_1_15_MHZ;
    RP2040_SET(XOSC_CTRL) = FIELD_ENABLE_XOSC;
    wait_for_bits(XOSC_STATUS, 1u << 31);

    /* The cores must not run from the PLL while it is set up. */
    RP2040_REG(CLOCKS_REF_CTRL) = REF_FROM_XOSC;
    wait_for_bits(CLOCKS_REF_SELECTED, 1u << REF_FROM_XOSC);
    RP2040_CLEAR(CLOCKS_SYS_CTRL) = SYS_FROM_PLL;
    wait_for_bits(CLOCKS_SYS_SELECTED, 1u << 0);

    RP2040_CLEAR(RESETS_RESET) = RESETS_PLL_SYS;
    wait_for_bits(RESETS_DONE, RESETS_PLL_SYS);
    RP2040_REG(PLL_SYS_CS) = 1u;
    RP2040_REG(PLL_SYS_FBDIV) = PLL_FEEDBACK;
    RP2040_CLEAR(PLL_SYS_PWR) = PLL_POWER_DOWN_CORE_AND_VCO;
    wait_for_bits(PLL_SYS_CS, PLL_LOCKED);
    RP2040_REG(PLL_SYS_PRIM) = PLL_DIVIDE_6_2;
    RP2040_CLEAR(PLL_SYS_PWR) = PLL_POWER_DOWN_DIVIDERS;

    RP2040_REG(CLOCKS_SYS_DIV) = 1u << 8;
    RP2040_REG(CLOCKS_SYS_CTRL) = 0u;           /* the PLL as the auxiliary source, chosen first ... */
    RP2040_SET(CLOCKS_SYS_CTRL) = SYS_FROM_PLL; /* ... and then switched to without a glitch */
    wait_for_bits(CLOCKS_SYS_SELECTED, 1u << SYS_FROM_PLL);

    RP2040_REG(CLOCKS_PERI_CTRL) = PERI_ENABLE;
    RP2040_REG(WATCHDOG_TICK) = TICK_ENABLE | RP2040_CRYSTAL_MHZ;
}
