/* SPDX-License-Identifier: 0BSD */
/* A USB serial port (CDC-ACM), polled: the same bytes as the UART's, over the board's own cable. */
#ifndef BURNC_USB_SERIAL_H
#define BURNC_USB_SERIAL_H

#include <stdint.h>

#define USB_PACKET_BYTES 64u

/* Attaches to the bus. Needs the clocks to run. */
void rp2040_usb_init(void);

/* Answers the host's requests. A host waits seconds for an answer, so this may rest during an inference. */
void rp2040_usb_poll(void);

/* The next byte from the host, or -1. Polls. */
int rp2040_usb_getc(void);

/* Queues one byte; sends when a packet is full. Bytes are dropped when the host has stopped reading. */
void rp2040_usb_putc(uint8_t byte);

/* Sends what is queued and waits until it is sent; rp2040_usb_getc sends it too, without waiting. */
void rp2040_usb_flush(void);

/* Descriptors (usb_descriptors.c). */
#define USB_DEVICE_DESCRIPTOR_BYTES 18u
#define USB_CONFIGURATION_BYTES 75u
#define USB_NOTIFICATION_ENDPOINT 1u
#define USB_DATA_ENDPOINT 2u
extern const uint8_t rp2040_usb_device_descriptor[USB_DEVICE_DESCRIPTOR_BYTES];
extern const uint8_t rp2040_usb_configuration[USB_CONFIGURATION_BYTES];

/* The string descriptor of that number; it starts with its length. 0 if there is none. */
const uint8_t *rp2040_usb_string(uint32_t number);

#endif
