/* SPDX-License-Identifier: 0BSD */
#include "burnc_fault.h"

#include "burnc_port.h"

static void put_text(const char *text) {
    for (; *text != '\0'; text++) {
        burnc_port_putc((uint8_t)*text);
    }
}

static void put_word(const char *label, uint32_t word) {
    put_text(label);
    for (uint32_t shift = 32u; shift != 0u;) {
        shift -= 4u;
        burnc_port_putc((uint8_t)"0123456789abcdef"[(word >> shift) & 15u]);
    }
}

void burnc_fault_report(uint32_t pc, uint32_t lr, uint32_t cause, uint32_t address) {
    burnc_port_putc(0u);
    put_word("burnc fault pc=", pc);
    put_word(" lr=", lr);
    put_word(" cause=", cause);
    put_word(" address=", address);
    put_text("\n");
    burnc_port_flush();
    for (;;) {
    }
}
