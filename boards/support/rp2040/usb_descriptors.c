/* SPDX-License-Identifier: 0BSD */
/* What the board tells a USB host about itself (USB 2.0 chapter 9; CDC 1.2 and its PSTN subclass). */
#include "usb_serial.h"

/* The identity comes from the board's TOML file. */
#ifndef BURNC_USB_VENDOR
#define BURNC_USB_VENDOR 0x2e8au
#endif
#ifndef BURNC_USB_PRODUCT
#define BURNC_USB_PRODUCT 0x000au
#endif

#define WORD(value) (uint8_t)((value) & 0xffu), (uint8_t)((value) >> 8)
#define DEVICE_TO_HOST 0x80u

#define CLASS_MISCELLANEOUS 0xefu /* with subclass 2, protocol 1: has interface associations */
#define CLASS_CDC 0x02u
#define CLASS_CDC_DATA 0x0au
#define SUBCLASS_ACM 0x02u
#define TRANSFER_BULK 2u
#define TRANSFER_INTERRUPT 3u

/* clang-format off */
const uint8_t rp2040_usb_device_descriptor[USB_DEVICE_DESCRIPTOR_BYTES] = {
    18u, 1u, WORD(0x0200u), CLASS_MISCELLANEOUS, 2u, 1u, USB_PACKET_BYTES,
    WORD(BURNC_USB_VENDOR), WORD(BURNC_USB_PRODUCT), WORD(0x0100u), 1u, 2u, 0u, 1u,
};

const uint8_t rp2040_usb_configuration[USB_CONFIGURATION_BYTES] = {
    9u, 2u, WORD(USB_CONFIGURATION_BYTES), 2u, 1u, 0u, 0x80u, 50u, /* bus powered, 100 mA */
    8u, 11u, 0u, 2u, CLASS_CDC, SUBCLASS_ACM, 0u, 0u,              /* interfaces 0 and 1 are one function */

    9u, 4u, 0u, 0u, 1u, CLASS_CDC, SUBCLASS_ACM, 0u, 0u,           /* interface 0: control */
    5u, 0x24u, 0u, WORD(0x0110u),                                  /* CDC header */
    5u, 0x24u, 1u, 0u, 1u,                                         /* call management: none */
    4u, 0x24u, 2u, 2u,                                             /* ACM: line coding and control lines */
    5u, 0x24u, 6u, 0u, 1u,                                         /* union of interfaces 0 and 1 */
    7u, 5u, DEVICE_TO_HOST | USB_NOTIFICATION_ENDPOINT, TRANSFER_INTERRUPT, WORD(8u), 16u,

    9u, 4u, 1u, 0u, 2u, CLASS_CDC_DATA, 0u, 0u, 0u,                /* interface 1: data */
    7u, 5u, USB_DATA_ENDPOINT, TRANSFER_BULK, WORD(USB_PACKET_BYTES), 0u,
    7u, 5u, DEVICE_TO_HOST | USB_DATA_ENDPOINT, TRANSFER_BULK, WORD(USB_PACKET_BYTES), 0u,
};
/* clang-format on */

static const uint8_t language[4] = {4u, 3u, WORD(0x0409u)};
static const uint8_t name[12] = {12u, 3u, 'b', 0u, 'u', 0u, 'r', 0u, 'n', 0u, 'c', 0u};

const uint8_t *rp2040_usb_string(uint32_t number) {
    if (number == 0u) {
        return language;
    }
    return number <= 2u ? name : 0;
}
