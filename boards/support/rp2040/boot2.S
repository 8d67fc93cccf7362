/* SPDX-License-Identifier: 0BSD */
/* Second stage of the RP2040's boot. The boot ROM copies 256 bytes to SRAM, checks the CRC at their end and jumps here.
   They set up execution from flash with the plain 03h read, which every serial NOR flash understands, and start the
   program behind them. */

    .syntax unified
    .cpu cortex-m0plus
    .thumb

    .equ SSI_BASE,         0x18000000
    .equ SSI_CTRLR0,       0x00
    .equ SSI_CTRLR1,       0x04
    .equ SSI_SSIENR,       0x08
    .equ SSI_BAUDR,        0x14
    .equ SSI_SPI_CTRLR0,   0xf4
    .equ CLOCK_DIVIDER,    4                       /* 125 MHz / 4 = 31 MHz; 03h is good for 50 MHz */
    .equ FRAME_32_BITS,    31 << 16
    .equ EEPROM_READ,      3 << 8                  /* send command and address, then receive */
    .equ READ_COMMAND,     0x03 << 24
    .equ COMMAND_8_BITS,   2 << 8
    .equ ADDRESS_24_BITS,  6 << 2                  /* counted in units of four bits */
    .equ PROGRAM_BASE,     0x10000100
    .equ VECTOR_TABLE_REG, 0xe000ed08

    .section .boot2, "ax"
    .global burnc_boot2
    .type burnc_boot2, %function
    .thumb_func
burnc_boot2:
    ldr r0, =SSI_BASE
    movs r1, #0
    str r1, [r0, #SSI_SSIENR]                      /* off while it is configured */
    movs r2, #CLOCK_DIVIDER
    str r2, [r0, #SSI_BAUDR]
    ldr r2, =(FRAME_32_BITS | EEPROM_READ)
    str r2, [r0, #SSI_CTRLR0]
    str r1, [r0, #SSI_CTRLR1]                      /* one data frame a transfer */
    ldr r2, =(READ_COMMAND | COMMAND_8_BITS | ADDRESS_24_BITS)
    ldr r3, =(SSI_BASE + SSI_SPI_CTRLR0)           /* out of reach of an immediate offset */
    str r2, [r3]
    movs r1, #1
    str r1, [r0, #SSI_SSIENR]

    ldr r0, =PROGRAM_BASE
    ldr r1, =VECTOR_TABLE_REG
    str r0, [r1]
    ldmia r0!, {r1, r2}                            /* initial stack pointer, reset handler */
    msr msp, r1
    bx r2

    .ltorg
    .org 252
    .word 0xe0035217                              /* CRC-32 of the bytes before; the build checks it */
    .size burnc_boot2, . - burnc_boot2
