/* SPDX-License-Identifier: 0BSD */
/* Vector table and start of the C program: .data is copied, .bss cleared, main called. */
#include <stdint.h>

typedef void (*handler)(void);

extern uint32_t burnc_data_load[], burnc_data_begin[], burnc_data_end[], burnc_bss_begin[], burnc_bss_end[];

int main(void);
void burnc_reset(void);
void burnc_unhandled(void);
void NMI_Handler(void);
void HardFault_Handler(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);
void IRQ_Handler(void);

void burnc_reset(void) {
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

/* An interrupt that nobody asked for, or a fault. The breakpoint stops an emulator or debugger with r0 at the saved
   frame {r0-r3, r12, lr, pc, psr}; on a bare board the core locks up or spins here. */
__attribute__((naked)) void burnc_unhandled(void) {
    __asm__ volatile("mrs r0, msp\n"
                     "bkpt #0xf0\n"
                     "1: b 1b\n");
}

__attribute__((weak, alias("burnc_unhandled"))) void NMI_Handler(void);
__attribute__((weak, alias("burnc_unhandled"))) void HardFault_Handler(void);
__attribute__((weak, alias("burnc_unhandled"))) void SVC_Handler(void);
__attribute__((weak, alias("burnc_unhandled"))) void PendSV_Handler(void);
__attribute__((weak, alias("burnc_unhandled"))) void SysTick_Handler(void);
__attribute__((weak, alias("burnc_unhandled"))) void IRQ_Handler(void);

#define EIGHT_IRQS                                                                                           \
    IRQ_Handler, IRQ_Handler, IRQ_Handler, IRQ_Handler, IRQ_Handler, IRQ_Handler, IRQ_Handler, IRQ_Handler

/* Exceptions 1 to 15, then the 32 peripheral interrupts, which share one handler. The linker script puts the initial
   stack pointer in front. */
extern const handler burnc_vectors[47];
/* clang-format off */
__attribute__((section(".vectors"), used)) const handler burnc_vectors[47] = {
    burnc_reset, NMI_Handler, HardFault_Handler, 0, 0, 0, 0, 0, 0, 0,
    SVC_Handler, 0, 0, PendSV_Handler, SysTick_Handler,
    EIGHT_IRQS, EIGHT_IRQS, EIGHT_IRQS, EIGHT_IRQS,
};
/* clang-format on */
