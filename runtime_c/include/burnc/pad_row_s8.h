/* SPDX-License-Identifier: 0BSD */
/* Copies a row of an image into a line with padding around it. */
#ifndef BURNC_PAD_ROW_S8_H
#define BURNC_PAD_ROW_S8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burnc_pad_row_s8_params {
    int32_t in_h;
    int32_t in_w;
    int32_t pad_left; /* negative: so many columns are left out */
    int32_t columns;  /* of a line */
    int32_t channels;
    int32_t zero_point; /* what padding is made of */
} burnc_pad_row_s8_params;

/* `row` is one of the image x, or lies outside: then the line is padding alone. */
void burnc_pad_row_s8(const burnc_pad_row_s8_params *params, const int8_t *x, int32_t row, int8_t *line);

#ifdef __cplusplus
}
#endif

#endif
