/* SPDX-License-Identifier: 0BSD */
/* The smallest firmware that uses every call of the port interface. */
#include "burnc_port.h"

static void print(const char *text) {
    while (*text != '\0') {
        burnc_port_putc((uint8_t)*text++);
    }
}

static void print_number(const char *name, uint32_t value) {
    print(name);
    for (int shift = 28; shift >= 0; shift -= 4) {
        burnc_port_putc((uint8_t)"0123456789abcdef"[(value >> shift) & 15u]);
    }
    print("\n");
}

int main(void) {
    burnc_port_init();
    burnc_port_stack_paint();
    const uint64_t start = burnc_port_cycles();
    print("hello\n");
    burnc_port_flush();
    print_number("hz ", burnc_port_clock_hz());
    print_number("cycles ", (uint32_t)(burnc_port_cycles() - start));
    print_number("stack used ", burnc_port_stack_used());
    print_number("stack size ", burnc_port_stack_size());
    for (;;) {
        const int byte = burnc_port_getc();
        if (byte == 'r') {
            burnc_port_reboot();
        } else if (byte >= 0) {
            burnc_port_putc((uint8_t)byte);
        }
    }
}
