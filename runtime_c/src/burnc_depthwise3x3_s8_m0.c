/* SPDX-License-Identifier: 0BSD */
/* Rows of the input go into lines with the padding around them; the lines are used in turn. */
#include "burnc/depthwise3x3_s8_m0.h"
#include "burnc/depthwise_rows_s8_m0.h"
#include "burnc/memory.h"

/* Copies an input row, or padding where there is none, into a line. */
static void burnc_depthwise3x3_s8_m0_copy(const burnc_depthwise3x3_s8_m0_params *params, const int8_t *x,
                                          int32_t row, int8_t *line, int32_t columns) {
    const burnc_window *const w = &params->window;
    const int32_t channels = params->channels;
    const int32_t is_inside = row >= 0 && row < w->in_h ? 1 : 0;
    const int32_t first = w->pad_left < 0 ? -w->pad_left : 0; /* column of the input */
    const int32_t before = w->pad_left < 0 ? 0 : w->pad_left; /* columns of padding */
    const int32_t room = columns - before;
    const int32_t copied = is_inside == 0 ? 0 : w->in_w - first < room ? w->in_w - first : room;
    int8_t *const begin = line + before * channels;
    if (copied <= 0) {
        burnc_memset(line, params->input_zero_point, (size_t)(columns * channels));
        return;
    }
    burnc_memset(line, params->input_zero_point, (size_t)(before * channels));
    burnc_memcpy(begin, x + (row * w->in_w + first) * channels, (size_t)(copied * channels));
    burnc_memset(begin + copied * channels, params->input_zero_point, (size_t)((room - copied) * channels));
}

void burnc_depthwise3x3_s8_m0(const burnc_depthwise3x3_s8_m0_params *params, const int8_t *x, int8_t *y,
                              uint32_t *scratch) {
    const burnc_window *const w = &params->window;
    const int32_t columns = (w->out_w - 1) * w->stride_w + 3;
    const int32_t line_bytes = columns * params->channels;
    const int32_t lines = (params->rows_at_once - 1) * w->stride_h + 3;
    int8_t *const buffer = (int8_t *)(scratch + lines);
    burnc_depthwise_rows_s8_m0_job job;
    int32_t n;
    job.records = params->records;
    job.x = buffer;
    job.ends = scratch;
    job.channels = (uint32_t)params->channels;
    job.width = (uint32_t)w->out_w;
    job.stride = (uint32_t)w->stride_w;
    for (n = 0; n < w->batch; ++n) {
        int32_t made = 0;   /* output rows */
        int32_t copied = 0; /* input rows, the first being that of the first window */
        int32_t line = 0;   /* where the next one goes */
        int32_t oldest = 0; /* where the first row of the next windows lies */
        while (made < w->out_h) {
            const int32_t rows =
                w->out_h - made < params->rows_at_once ? w->out_h - made : params->rows_at_once;
            const int32_t needed = (made + rows - 1) * w->stride_h + 3;
            int32_t end = oldest;
            int32_t i;
            for (; copied < needed; ++copied) {
                burnc_depthwise3x3_s8_m0_copy(params, x, copied - w->pad_top, buffer + line * line_bytes,
                                              columns);
                line = line + 1 == lines ? 0 : line + 1;
            }
            for (i = 0; i < (rows - 1) * w->stride_h + 3; ++i) {
                end = end + 1;
                scratch[i] = (uint32_t)(end * line_bytes - params->channels);
                end = end == lines ? 0 : end;
            }
            for (i = 0; i < rows * w->stride_h; ++i) {
                oldest = oldest + 1 == lines ? 0 : oldest + 1;
            }
            job.y = y;
            job.rows = (uint32_t)rows;
            burnc_depthwise_rows_s8_m0(&job);
            y += rows * w->out_w * params->channels;
            made += rows;
        }
        x += w->in_h * w->in_w * params->channels;
    }
}
