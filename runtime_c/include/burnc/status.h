/* SPDX-License-Identifier: 0BSD */
/* What a model's entry points return. The one type that all models of a firmware share, whatever their
   versions: the exporter never renames `burnc_status` nor any identifier that starts with `BURNC_STATUS_`,
   the guard below included. So the values are frozen: a later version may not change one, and code that uses
   a newer value names it by its number. */
#ifndef BURNC_STATUS_H
#define BURNC_STATUS_H

typedef enum burnc_status {
    BURNC_STATUS_OK = 0,
    BURNC_STATUS_INVALID_ARGUMENT = 1, /* a null or misaligned pointer */
    BURNC_STATUS_SELF_TEST_FAILED = 2  /* the built-in vector gave other bits than on the host */
} burnc_status;

#endif
