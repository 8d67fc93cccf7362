/* SPDX-License-Identifier: 0BSD */
/* Second stage of the RP2040's boot. The boot ROM copies 256 bytes to SRAM, checks the CRC at their end and jumps here.
   They set up execution from flash and start the program behind them: four bits a clock at half of the CPU's, the read
   command sent once for all (EBh with mode A0h, as Winbond's W25Q and its kin have it). A chip whose quad-enable bit (QE,
   bit 1 of status register 2) cannot be set gets the plain 03h read that every serial NOR flash understands. */

    .syntax unified
    .cpu cortex-m0plus
    .thumb

    .equ PADS_QSPI_BASE,   0x40020000
    .equ PAD_CLOCK,        0x04
    .equ PAD_DATA_0,       0x08
    .equ FAST_8_MA,        2 << 4 | 1              /* drive strength, fast slew */
    .equ SCHMITT,          1 << 1

    .equ SSI_BASE,         0x18000000
    .equ SSI_CTRLR0,       0x00
    .equ SSI_CTRLR1,       0x04
    .equ SSI_SSIENR,       0x08
    .equ SSI_BAUDR,        0x14
    .equ SSI_SR,           0x28
    .equ SSI_DR0,          0x60
    .equ SSI_FURTHER,      0xf0                    /* the registers below are out of reach of an immediate offset */
    .equ SSI_RX_DELAY,     0x00
    .equ SSI_SPI_CTRLR0,   0x04
    .equ SENT_AND_IDLE,    4                       /* of SSI_SR: the transmit FIFO is empty, bit 2 ... */
    .equ STATUS_MASK,      4 | 1                   /* ... and the bus is not busy, bit 0 */

    .equ CLOCK_DIVIDER,    2                       /* 125 MHz / 2 = 62.5 MHz */
    .equ PLAIN_DIVIDER,    4                       /* 31 MHz; 03h is good for 50 MHz */
    .equ FRAME_8_BITS,     7 << 16
    .equ FRAME_32_BITS,    31 << 16
    .equ QUAD,             2 << 21
    .equ EEPROM_READ,      3 << 8                  /* send command and address, then receive */
    .equ COMMAND_8_BITS,   2 << 8
    .equ ADDRESS_24_BITS,  6 << 2                  /* counted in units of four bits */
    .equ ADDRESS_AND_MODE, 8 << 2                  /* 24 bits of address, 8 of mode */
    .equ WAIT_4_CLOCKS,    4 << 11
    .equ COMMAND_SERIAL,   1                       /* the command on one line, the address on four */
    .equ ALL_QUAD,         2

    .equ READ,             0x03
    .equ READ_QUAD,        0xeb
    .equ CONTINUOUS,       0xa0                    /* mode: the next read begins with its address */
    .equ READ_STATUS_1,    0x05
    .equ READ_STATUS_2,    0x35
    .equ WRITE_ENABLE,     0x06
    .equ WRITE_STATUS,     0x01
    .equ QUAD_ENABLE,      1 << 1

    .equ PROGRAM_BASE,     0x10000100
    .equ VECTOR_TABLE_REG, 0xe000ed08

    .section .boot2, "ax"
    .global burnc_boot2
    .type burnc_boot2, %function
    .thumb_func
burnc_boot2:
    ldr r0, =PADS_QSPI_BASE
    movs r1, #FAST_8_MA
    str r1, [r0, #PAD_CLOCK]
    ldr r1, [r0, #PAD_DATA_0]
    movs r2, #SCHMITT
    bics r1, r2                                    /* its delay is too long at this clock */
    adds r0, #PAD_DATA_0
    stmia r0!, {r1}
    stmia r0!, {r1}
    stmia r0!, {r1}
    stmia r0!, {r1}

    ldr r4, =SSI_BASE                              /* for all that follows */
    movs r5, #SSI_FURTHER
    add r5, r4
    movs r6, #0
    str r6, [r4, #SSI_SSIENR]                      /* off while it is configured */
    movs r0, #CLOCK_DIVIDER
    str r0, [r4, #SSI_BAUDR]
    movs r0, #1
    str r0, [r5, #SSI_RX_DELAY]
    ldr r0, =FRAME_8_BITS
    str r0, [r4, #SSI_CTRLR0]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]

    movs r7, #QUAD_ENABLE
    movs r0, #READ_STATUS_2
    bl exchange_two
    tst r0, r7
    bne 2f
    movs r0, #WRITE_ENABLE
    str r0, [r4, #SSI_DR0]
    bl wait_sent
    ldr r0, [r4, #SSI_DR0]
    movs r0, #WRITE_STATUS
    str r0, [r4, #SSI_DR0]
    str r6, [r4, #SSI_DR0]
    str r7, [r4, #SSI_DR0]
    bl wait_sent
    ldr r0, [r4, #SSI_DR0]
    ldr r0, [r4, #SSI_DR0]
    ldr r0, [r4, #SSI_DR0]
1:
    movs r0, #READ_STATUS_1
    bl exchange_two
    lsrs r0, r0, #1                                /* bit 0: the write is under way */
    bcs 1b
    movs r0, #READ_STATUS_2
    bl exchange_two
    tst r0, r7
2:
    str r6, [r4, #SSI_SSIENR]
    str r6, [r4, #SSI_CTRLR1]                      /* one data frame a transfer */
    beq plain

    ldr r0, =(QUAD | FRAME_32_BITS | EEPROM_READ)
    str r0, [r4, #SSI_CTRLR0]
    ldr r0, =(WAIT_4_CLOCKS | COMMAND_8_BITS | ADDRESS_AND_MODE | COMMAND_SERIAL)
    str r0, [r5, #SSI_SPI_CTRLR0]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]
    movs r0, #READ_QUAD
    str r0, [r4, #SSI_DR0]
    movs r0, #CONTINUOUS                           /* address 0 and the mode: from here on no command is sent */
    str r0, [r4, #SSI_DR0]
    bl wait_sent
    str r6, [r4, #SSI_SSIENR]
    ldr r0, =(CONTINUOUS << 24 | WAIT_4_CLOCKS | ADDRESS_AND_MODE | ALL_QUAD)
    b start
plain:
    movs r0, #PLAIN_DIVIDER
    str r0, [r4, #SSI_BAUDR]
    ldr r0, =(FRAME_32_BITS | EEPROM_READ)
    str r0, [r4, #SSI_CTRLR0]
    ldr r0, =(READ << 24 | COMMAND_8_BITS | ADDRESS_24_BITS)
start:
    str r0, [r5, #SSI_SPI_CTRLR0]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]

    ldr r0, =PROGRAM_BASE
    ldr r1, =VECTOR_TABLE_REG
    str r0, [r1]
    ldmia r0!, {r1, r2}                            /* initial stack pointer, reset handler */
    msr msp, r1
    bx r2

/* Sends the command in r0 and one byte more; r0 becomes the byte that answers the second. Uses r1 to r3. */
    .thumb_func
exchange_two:
    mov r3, lr
    str r0, [r4, #SSI_DR0]
    str r0, [r4, #SSI_DR0]
    bl wait_sent
    ldr r0, [r4, #SSI_DR0]
    ldr r0, [r4, #SSI_DR0]
    bx r3

/* Until all is sent and the bus is idle. Uses r1 and r2. */
    .thumb_func
wait_sent:
    ldr r1, [r4, #SSI_SR]
    movs r2, #STATUS_MASK
    ands r1, r2
    cmp r1, #SENT_AND_IDLE
    bne wait_sent
    bx lr

    .ltorg
    .org 252
    .word 0x361d7deb                              /* CRC-32 of the bytes before; the build checks it */
    .size burnc_boot2, . - burnc_boot2
