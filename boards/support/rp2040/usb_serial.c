/* SPDX-License-Identifier: 0BSD */
/* USB device controller and CDC-ACM. Endpoint 0 carries requests, endpoint 2 the bytes in both directions; each has
   one packet under way at a time. Opening and closing the port at 1200 baud starts the boot ROM's USB loader.
   Chips of revision B0 and B1 may miss the end of a bus reset (erratum RP2040-E5); there is no remedy for it here. */
#include "usb_serial.h"
#include "burnc_port.h"
#include "rp2040.h"

#define DPRAM 0x50100000u
#define CONTROL(endpoint, out) RP2040_REG(DPRAM + 8u * (endpoint) + 4u * (out))
#define BUFFER_CONTROL(endpoint, out) (DPRAM + 0x80u + 8u * (endpoint) + 4u * (out))
#define EP0_BUFFER 0x100u
#define NOTIFICATION_BUFFER 0x180u
#define DATA_OUT_BUFFER 0x1c0u
#define DATA_IN_BUFFER 0x200u
#define DPRAM_USED 0x240u
#define IN 0u
#define OUT 1u

#define ENDPOINT_ON ((1u << 31) | (1u << 29)) /* enabled, BUFF_STATUS after each packet */
#define ENDPOINT_BULK (2u << 26)
#define ENDPOINT_INTERRUPT (3u << 26)

#define BUFFER_FULL (1u << 15)
#define BUFFER_DATA1 (1u << 13)
#define BUFFER_STALL (1u << 11)
#define BUFFER_AVAILABLE (1u << 10)
#define BUFFER_LENGTH 0x3ffu

#define USB_ADDRESS 0x50110000u
#define USB_MAIN_CTRL 0x50110040u
#define USB_SIE_CTRL 0x5011004cu
#define USB_SIE_STATUS 0x50110050u
#define USB_BUFF_STATUS 0x50110058u
#define USB_STALL_ARM 0x50110068u
#define USB_MUXING 0x50110074u
#define USB_PWR 0x50110078u
#define SIE_EP0_STATUS (1u << 29)
#define SIE_PULL_UP (1u << 16)
#define SIE_BUS_RESET (1u << 19)
#define SIE_SETUP (1u << 17)
#define DONE(endpoint, out) (1u << (2u * (endpoint) + (out)))

#define GET_DESCRIPTOR 0x8006u /* request type in the high byte, request in the low one */
#define SET_ADDRESS 0x0005u
#define SET_CONFIGURATION 0x0009u
#define SET_LINE_CODING 0x2120u
#define GET_LINE_CODING 0xa121u
#define SET_CONTROL_LINES 0x22u
#define LINE_CODING_BYTES 7u
#define LINE_DTR 1u
#define TOUCH_BAUD 1200u

/* A full packet would leave the host waiting for another one, so the last byte of it stays free. */
#define QUEUE_BYTES (USB_PACKET_BYTES - 1u)
#define SEND_TIMEOUT_CYCLES (RP2040_CLOCK_HZ / 10u)

static struct {
    const uint8_t *reply; /* what is left to send on endpoint 0 */
    uint32_t reply_bytes;
    uint32_t reply_data1;
    uint32_t address; /* to take once the host has seen the answer; 0: none */
    uint8_t replying;
    uint8_t awaiting_line_coding;
    uint8_t configured;
    uint8_t sending;
    uint8_t in_data1;
    uint8_t out_data1;
    uint8_t lines;
    uint8_t line_coding[LINE_CODING_BYTES];
    uint32_t received; /* bytes in the OUT packet, and how many are read */
    uint32_t read;
    uint32_t queued;
} usb;

static volatile uint8_t *dpram(uint32_t offset) {
    return (volatile uint8_t *)(uintptr_t)(DPRAM + offset);
}

/* The controller runs on another clock: what it must not see half-written comes 12 cycles before AVAILABLE. */
static void give_buffer(uint32_t control, uint32_t value) {
    RP2040_REG(control) = value;
    __asm__ volatile("b 1f\n1: b 1f\n1: b 1f\n1: b 1f\n1: b 1f\n1: b 1f\n1:");
    RP2040_REG(control) = value | BUFFER_AVAILABLE;
}

static void send_reply_packet(void) {
    const uint32_t bytes = usb.reply_bytes < USB_PACKET_BYTES ? usb.reply_bytes : USB_PACKET_BYTES;
    for (uint32_t i = 0u; i < bytes; i++) {
        dpram(EP0_BUFFER)[i] = usb.reply[i];
    }
    usb.reply += bytes;
    usb.reply_bytes -= bytes;
    give_buffer(BUFFER_CONTROL(0u, IN), BUFFER_FULL | (usb.reply_data1 != 0u ? BUFFER_DATA1 : 0u) | bytes);
    usb.reply_data1 ^= 1u;
}

static void reply(const uint8_t *content, uint32_t bytes, uint32_t most) {
    usb.reply = content;
    usb.reply_bytes = bytes < most ? bytes : most;
    usb.replying = usb.reply_bytes != 0u;
    send_reply_packet();
}

static void acknowledge(void) {
    reply(usb.line_coding, 0u, 0u);
}

static void stall(void) {
    RP2040_REG(USB_STALL_ARM) = 3u;
    RP2040_REG(BUFFER_CONTROL(0u, OUT)) = BUFFER_STALL;
    RP2040_REG(BUFFER_CONTROL(0u, IN)) = BUFFER_STALL;
}

static void receive(void) {
    usb.received = 0u;
    usb.read = 0u;
    give_buffer(BUFFER_CONTROL(USB_DATA_ENDPOINT, OUT),
                (usb.out_data1 != 0u ? BUFFER_DATA1 : 0u) | USB_PACKET_BYTES);
    usb.out_data1 ^= 1u;
}

static void configure(void) {
    CONTROL(USB_NOTIFICATION_ENDPOINT, IN) = ENDPOINT_ON | ENDPOINT_INTERRUPT | NOTIFICATION_BUFFER;
    CONTROL(USB_DATA_ENDPOINT, IN) = ENDPOINT_ON | ENDPOINT_BULK | DATA_IN_BUFFER;
    CONTROL(USB_DATA_ENDPOINT, OUT) = ENDPOINT_ON | ENDPOINT_BULK | DATA_OUT_BUFFER;
    usb.in_data1 = 0u;
    usb.out_data1 = 0u;
    usb.sending = 0u;
    usb.queued = 0u;
    usb.configured = 1u;
    receive();
}

static void reply_descriptor(uint32_t kind, uint32_t number, uint32_t most) {
    const uint8_t *string = kind == 3u ? rp2040_usb_string(number) : 0;
    if (kind == 1u) {
        reply(rp2040_usb_device_descriptor, USB_DEVICE_DESCRIPTOR_BYTES, most);
    } else if (kind == 2u) {
        reply(rp2040_usb_configuration, USB_CONFIGURATION_BYTES, most);
    } else if (string != 0) {
        reply(string, string[0], most);
    } else {
        stall();
    }
}

static void handle_setup(void) {
    volatile uint8_t *setup = dpram(0u);
    const uint32_t request = (uint32_t)setup[0] << 8 | setup[1];
    const uint32_t value = setup[2];
    const uint32_t length = (uint32_t)setup[6] | (uint32_t)setup[7] << 8;
    usb.reply_data1 = 1u;
    usb.awaiting_line_coding = 0u;
    if (request == GET_DESCRIPTOR) {
        reply_descriptor(setup[3], value, length);
    } else if (request == SET_ADDRESS) {
        usb.address = value;
        acknowledge();
    } else if (request == SET_CONFIGURATION) {
        configure();
        acknowledge();
    } else if (request == SET_LINE_CODING) {
        usb.awaiting_line_coding = 1u;
        give_buffer(BUFFER_CONTROL(0u, OUT), BUFFER_DATA1 | USB_PACKET_BYTES);
    } else if (request == GET_LINE_CODING) {
        reply(usb.line_coding, LINE_CODING_BYTES, length);
    } else if ((request & 0x60ffu) == (0x2000u | SET_CONTROL_LINES)) {
        usb.lines = (uint8_t)value;
        acknowledge();
    } else if ((request & 0x8000u) == 0u && length == 0u) {
        acknowledge(); /* nothing that would change anything here */
    } else {
        stall();
    }
}

static void start_usb_loader_after_touch(void) {
    const uint32_t baud = (uint32_t)usb.line_coding[0] | (uint32_t)usb.line_coding[1] << 8 |
                          (uint32_t)usb.line_coding[2] << 16 | (uint32_t)usb.line_coding[3] << 24;
    if (baud == TOUCH_BAUD && (usb.lines & LINE_DTR) == 0u) {
        rp2040_start_usb_loader();
    }
}

static void handle_control_sent(void) {
    if (usb.address != 0u) {
        RP2040_REG(USB_ADDRESS) = usb.address;
        usb.address = 0u;
    }
    if (usb.reply_bytes != 0u) {
        send_reply_packet();
    } else if (usb.replying != 0u) {
        usb.replying = 0u;
        give_buffer(BUFFER_CONTROL(0u, OUT), BUFFER_DATA1); /* the host confirms with an empty packet */
    } else {
        start_usb_loader_after_touch();
    }
}

static void handle_control_received(void) {
    if (usb.awaiting_line_coding != 0u) {
        usb.awaiting_line_coding = 0u;
        for (uint32_t i = 0u; i < LINE_CODING_BYTES; i++) {
            usb.line_coding[i] = dpram(EP0_BUFFER)[i];
        }
        acknowledge();
    }
}

void rp2040_usb_poll(void) {
    const uint32_t status = RP2040_REG(USB_SIE_STATUS);
    if ((status & SIE_BUS_RESET) != 0u) {
        RP2040_REG(USB_SIE_STATUS) = SIE_BUS_RESET;
        RP2040_REG(USB_ADDRESS) = 0u;
        usb.configured = 0u;
    }
    if ((status & SIE_SETUP) != 0u) {
        RP2040_REG(USB_SIE_STATUS) = SIE_SETUP;
        handle_setup();
    }
    const uint32_t done = RP2040_REG(USB_BUFF_STATUS);
    if (done == 0u) {
        return;
    }
    RP2040_REG(USB_BUFF_STATUS) = done;
    if ((done & DONE(0u, IN)) != 0u) {
        handle_control_sent();
    }
    if ((done & DONE(0u, OUT)) != 0u) {
        handle_control_received();
    }
    if ((done & DONE(USB_DATA_ENDPOINT, IN)) != 0u) {
        usb.sending = 0u;
    }
    if ((done & DONE(USB_DATA_ENDPOINT, OUT)) != 0u) {
        usb.received = RP2040_REG(BUFFER_CONTROL(USB_DATA_ENDPOINT, OUT)) & BUFFER_LENGTH;
        if (usb.received == 0u) {
            receive();
        }
    }
}

/* The queue lies in the packet buffer itself, which is free once the packet before is sent. */
static void send_queue(void) {
    if (usb.queued != 0u && usb.configured != 0u) {
        give_buffer(BUFFER_CONTROL(USB_DATA_ENDPOINT, IN),
                    BUFFER_FULL | (usb.in_data1 != 0u ? BUFFER_DATA1 : 0u) | usb.queued);
        usb.in_data1 ^= 1u;
        usb.sending = 1u;
    }
    usb.queued = 0u;
}

static int wait_until_sent(void) {
    const uint64_t start = burnc_port_cycles();
    while (usb.sending != 0u) {
        rp2040_usb_poll();
        if (usb.configured == 0u || burnc_port_cycles() - start > SEND_TIMEOUT_CYCLES) {
            return 0;
        }
    }
    return 1;
}

void rp2040_usb_putc(uint8_t byte) {
    if (usb.configured == 0u || wait_until_sent() == 0) {
        return;
    }
    dpram(DATA_IN_BUFFER)[usb.queued] = byte;
    usb.queued++;
    if (usb.queued == QUEUE_BYTES) {
        send_queue();
    }
}

void rp2040_usb_flush(void) {
    send_queue();
    (void)wait_until_sent();
}

int rp2040_usb_getc(void) {
    rp2040_usb_poll();
    send_queue(); /* who waits for bytes has said what there was to say */
    if (usb.configured == 0u || usb.read >= usb.received) {
        return -1;
    }
    const int byte = dpram(DATA_OUT_BUFFER)[usb.read];
    usb.read++;
    if (usb.read == usb.received) {
        receive();
    }
    return byte;
}

void rp2040_usb_init(void) {
    for (uint32_t offset = 0u; offset < DPRAM_USED; offset += 4u) {
        RP2040_REG(DPRAM + offset) = 0u;
    }
    RP2040_REG(USB_MUXING) = (1u << 3) | (1u << 0); /* to the on-chip transceiver */
    RP2040_REG(USB_PWR) = (1u << 3) | (1u << 2);    /* taken as attached: the Pico has no pin that tells */
    RP2040_REG(USB_MAIN_CTRL) = 1u;
    RP2040_REG(USB_SIE_CTRL) = SIE_EP0_STATUS;
    RP2040_SET(USB_SIE_CTRL) = SIE_PULL_UP;
}
