/* SPDX-License-Identifier: 0BSD */
/* The RP2040's second core: start it, exchange words with it. */
#ifndef BURNC_CORE1_H
#define BURNC_CORE1_H

#include <stdint.h>

/* Starts entry on core 1 with the given stack (stack + words is its top; keep it aligned to 8 bytes). Call it once
   after a reset, on core 0. entry must not return. */
void burnc_core1_launch(void (*entry)(void), uint32_t *stack, uint32_t words);

/* Words between the cores, both ways, at most 8 under way; push waits for room, pop waits for a word. */
void burnc_fifo_push(uint32_t word);
uint32_t burnc_fifo_pop(void);

#endif
