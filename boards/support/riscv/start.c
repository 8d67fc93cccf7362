/* SPDX-License-Identifier: 0BSD */
/* The C side of start-up: .data is copied, .bss cleared, main called. */
#include <stdint.h>

extern uint32_t burnc_data_load[], burnc_data_begin[], burnc_data_end[], burnc_bss_begin[], burnc_bss_end[];

int main(void);
void burnc_start(void);

void burnc_start(void) {
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
