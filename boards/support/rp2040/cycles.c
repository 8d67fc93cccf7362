/* SPDX-License-Identifier: 0BSD */
/* Cycle counter: SysTick counts 24 bits down, its interrupt counts the wraps. */
#include "burnc_port.h"
#include "rp2040.h"

#define COUNTER_TOP 0xffffffu
#define ENABLE_WITH_INTERRUPT_AT_CPU_CLOCK 7u

static volatile uint32_t wraps;

void SysTick_Handler(void);

void SysTick_Handler(void) {
    wraps = wraps + 1u;
}

void burnc_port_cycles_restart(void) {
    RP2040_REG(SYST_CSR) = 0u;
    wraps = 0u;
    RP2040_REG(SYST_RVR) = COUNTER_TOP;
    RP2040_REG(SYST_CVR) = 0u;
    RP2040_REG(SYST_CSR) = ENABLE_WITH_INTERRUPT_AT_CPU_CLOCK;
}

uint64_t burnc_port_cycles(void) {
    uint32_t before;
    uint32_t counter;
    do { /* again if the counter wrapped between the two reads */
        before = wraps;
        counter = RP2040_REG(SYST_CVR);
    } while (before != wraps);
    return ((uint64_t)before << 24) | (COUNTER_TOP - counter);
}
