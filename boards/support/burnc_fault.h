/* SPDX-License-Identifier: 0BSD */
/* How firmware tells of a fault that it cannot survive. */
#ifndef BURNC_FAULT_H
#define BURNC_FAULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sends one line over the port, behind a zero byte that ends whatever frame was under way, and stops for good:
     burnc fault pc=000001a4 lr=00000123 cause=00000000 address=00000000
   cause and address are the core's own, 0 where it keeps none. */
void burnc_fault_report(uint32_t pc, uint32_t lr, uint32_t cause, uint32_t address);

#ifdef __cplusplus
}
#endif

#endif
