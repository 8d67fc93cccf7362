/* SPDX-License-Identifier: 0BSD */
#include "burnc/pad_row_s8.h"
#include "burnc/memory.h"

void burnc_pad_row_s8(const burnc_pad_row_s8_params *params, const int8_t *x, int32_t row, int8_t *line) {
    const int32_t channels = params->channels;
    const int32_t first = params->pad_left < 0 ? -params->pad_left : 0; /* column of the input */
    const int32_t before = params->pad_left < 0 ? 0 : params->pad_left; /* columns of padding */
    const int32_t room = params->columns - before;
    const int32_t is_inside = row >= 0 && row < params->in_h ? 1 : 0;
    const int32_t copied = is_inside == 0 ? 0 : params->in_w - first < room ? params->in_w - first : room;
    int8_t *const begin = line + before * channels;
    if (copied <= 0) {
        burnc_memset(line, params->zero_point, (size_t)(params->columns * channels));
        return;
    }
    burnc_memset(line, params->zero_point, (size_t)(before * channels));
    burnc_memcpy(begin, x + (row * params->in_w + first) * channels, (size_t)(copied * channels));
    burnc_memset(begin + copied * channels, params->zero_point, (size_t)((room - copied) * channels));
}
