/* SPDX-License-Identifier: 0BSD */
/* Rows of the input go into lines with the padding around them; the lines are used in turn. */
#include "burnc/depthwise3x3_s8_m0.h"
#include "burnc/depthwise_rows_s8_m0.h"
#include "burnc/pad_row_s8.h"

void burnc_depthwise3x3_s8_m0(const burnc_depthwise3x3_s8_m0_params *params, const int8_t *x, int8_t *y,
                              uint32_t *scratch) {
    const burnc_window *const w = &params->window;
    const int32_t channels = params->row.channels;
    const int32_t line_bytes = params->row.columns * channels;
    const int32_t lines = (params->rows_at_once - 1) * w->stride_h + 3;
    int8_t *const buffer = (int8_t *)(scratch + lines);
    burnc_depthwise_rows_s8_m0_job job;
    int32_t n;
    job.records = params->records;
    job.x = buffer;
    job.ends = scratch;
    job.channels = (uint32_t)channels;
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
                burnc_pad_row_s8(&params->row, x, copied - w->pad_top, buffer + line * line_bytes);
                line = line + 1 == lines ? 0 : line + 1;
            }
            for (i = 0; i < (rows - 1) * w->stride_h + 3; ++i) {
                end = end + 1;
                scratch[i] = (uint32_t)(end * line_bytes - channels);
                end = end == lines ? 0 : end;
            }
            for (i = 0; i < rows * w->stride_h; ++i) {
                oldest = oldest + 1 == lines ? 0 : oldest + 1;
            }
            job.y = y;
            job.rows = (uint32_t)rows;
            burnc_depthwise_rows_s8_m0(&job);
            y += rows * w->out_w * channels;
            made += rows;
        }
        x += w->in_h * w->in_w * channels;
    }
}
