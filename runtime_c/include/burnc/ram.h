/* SPDX-License-Identifier: 0BSD */
/* Constants that are read more often than the flash of their board likes: linker scripts with .time_critical sections
   (burnc's own, and the Pico SDK's) let them lie in RAM, copied at start-up as initialized variables are. Elsewhere they
   are constants as any other. */
#ifndef BURNC_RAM_H
#define BURNC_RAM_H

#if defined(__GNUC__) && defined(__ELF__) && !defined(__linux__)
#define BURNC_IN_RAM(name) __attribute__((section(".time_critical." name)))
#else
#define BURNC_IN_RAM(name)
#endif

#endif
