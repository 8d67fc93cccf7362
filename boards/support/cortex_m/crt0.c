/* SPDX-License-Identifier: 0BSD */
/* Vector table and start of the C program on any Cortex-M: the FPU is switched on, .data is copied, .bss cleared, main
   called. No interrupt is used, so the table ends with the system exceptions. */
#include <stdint.h>

#include "burnc_fault.h"

#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define SCB_CFSR 0xe000ed28u
#define SCB_BFAR 0xe000ed38u
#define SCB_CPACR 0xe000ed88u
#define BFAR_VALID (1u << 15)
#define FULL_ACCESS_TO_CP10_AND_CP11 (0xfu << 20)

typedef void (*handler)(void);

extern uint32_t burnc_data_load[], burnc_data_begin[], burnc_data_end[], burnc_bss_begin[], burnc_bss_end[];

int main(void);
void burnc_reset(void);
void burnc_unhandled(void);
void burnc_fault(const uint32_t *frame);

void burnc_reset(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    REG(SCB_CPACR) = REG(SCB_CPACR) | FULL_ACCESS_TO_CP10_AND_CP11;
    __asm__ volatile("dsb\n"
                     "isb" ::
                         : "memory");
#endif
    const uint32_t *from = burnc_data_load;
    for (uint32_t *to = burnc_data_begin; to < burnc_data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = burnc_bss_begin; to < burnc_bss_end; to++) {
        *to = 0u;
    }
    (void)main();
    for (;;) {
        __asm__ volatile("wfi");
    }
}

/* frame: {r0-r3, r12, lr, pc, psr}, as the core has stacked them. */
void burnc_fault(const uint32_t *frame) {
    uint32_t cause = 0u;
    uint32_t address = 0u;
#ifdef __thumb2__ /* a Cortex-M0 keeps no record of the cause */
    cause = REG(SCB_CFSR);
    address = (cause & BFAR_VALID) != 0u ? REG(SCB_BFAR) : 0u;
#endif
    burnc_fault_report(frame[6], frame[5], cause, address);
}

__attribute__((naked)) void burnc_unhandled(void) {
    __asm__ volatile("mrs r0, msp\n"
                     "ldr r1, =burnc_fault\n"
                     "bx r1\n"
                     ".pool");
}

/* Exceptions 1 to 15. The linker script puts the initial stack pointer in front. */
extern const handler burnc_vectors[15];
__attribute__((section(".vectors"), used)) const handler burnc_vectors[15] = {
    burnc_reset,
    burnc_unhandled,
    burnc_unhandled,
    burnc_unhandled,
    burnc_unhandled,
    burnc_unhandled,
    burnc_unhandled,
    0,
    0,
    0,
    burnc_unhandled,
    burnc_unhandled,
    0,
    burnc_unhandled,
    burnc_unhandled,
};
