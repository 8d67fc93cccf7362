/* SPDX-License-Identifier: 0BSD */
/* The few RP2040 registers that this support code uses (RP2040 datasheet; ARMv6-M for SysTick and the SCB). */
#ifndef BURNC_RP2040_H
#define BURNC_RP2040_H

#include <stdint.h>

#define RP2040_REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
/* Each peripheral has aliases that set or clear bits in one bus access. */
#define RP2040_SET(address) RP2040_REG((address) + 0x2000u)
#define RP2040_CLEAR(address) RP2040_REG((address) + 0x3000u)

#define RP2040_CRYSTAL_MHZ 12u
#define RP2040_CLOCK_HZ 125000000u

#define CLOCKS_REF_CTRL 0x40008030u
#define CLOCKS_REF_SELECTED 0x40008038u
#define CLOCKS_SYS_CTRL 0x4000803cu
#define CLOCKS_SYS_DIV 0x40008040u
#define CLOCKS_SYS_SELECTED 0x40008044u
#define CLOCKS_PERI_CTRL 0x40008048u
#define CLOCKS_USB_CTRL 0x40008054u

#define RESETS_RESET 0x4000c000u
#define RESETS_DONE 0x4000c008u
#define RESETS_IO_BANK0 (1u << 5)
#define RESETS_PADS_BANK0 (1u << 8)
#define RESETS_PLL_SYS (1u << 12)
#define RESETS_PLL_USB (1u << 13)
#define RESETS_UART0 (1u << 22)
#define RESETS_USB (1u << 24)

#define PSM_WATCHDOG_SELECT 0x40010008u
#define IO_BANK0_GPIO0_CTRL 0x40014004u
#define IO_BANK0_GPIO1_CTRL 0x4001400cu
#define PADS_BANK0_GPIO1 0x4001c008u

#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400cu

#define PLL_SYS 0x40028000u
#define PLL_USB 0x4002c000u
#define PLL_CS 0x0u
#define PLL_PWR 0x4u
#define PLL_FBDIV 0x8u
#define PLL_PRIM 0xcu

#define UART0_DR 0x40034000u
#define UART0_FR 0x40034018u
#define UART0_IBRD 0x40034024u
#define UART0_FBRD 0x40034028u
#define UART0_LCR_H 0x4003402cu
#define UART0_CR 0x40034030u

#define WATCHDOG_CTRL 0x40058000u
#define WATCHDOG_SCRATCH0 0x4005800cu
#define WATCHDOG_SCRATCH1 0x40058010u
#define WATCHDOG_SCRATCH4 0x4005801cu
#define WATCHDOG_TICK 0x4005802cu

#define SIO_FIFO_ST 0xd0000050u
#define SIO_FIFO_WR 0xd0000054u
#define SIO_FIFO_RD 0xd0000058u

#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define SYST_CVR 0xe000e018u
#define SCB_VTOR 0xe000ed08u

/* In the first scratch register, its complement in the second: the next start stays in the resident bootloader. */
#define RP2040_STAY_REQUEST 0x79617473u
/* The vector table of the program that the boot ROM starts, behind its second stage. */
#define RP2040_FIRST_VECTORS 0x10000100u

void rp2040_clocks_init(void);

/* Takes peripherals out of reset (a mask of RESETS_ bits) and waits until they are ready. */
void rp2040_release(uint32_t blocks);

void rp2040_uart_init(void);
int rp2040_uart_getc(void);
void rp2040_uart_putc(uint8_t byte);
void rp2040_uart_flush(void);

/* The address of the boot ROM's function with that two-letter code; 0 if there is none. */
uintptr_t rp2040_rom_function(char first, char second);

/* Leaves the program for the boot ROM's USB drive. Returns only where there is no boot ROM. */
void rp2040_start_usb_loader(void);

#endif
