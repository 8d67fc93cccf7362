/* SPDX-License-Identifier: 0BSD */
/* The input stays where it is; lines above and below it are one row of padding. */
#include "burnc/depthwise3x3_s8_rv32.h"
#include "burnc/depthwise_rows_s8_rv32.h"
#include "burnc/memory.h"

/* Output rows for which a channel's weights are loaded once. */
#define BURNC_DEPTHWISE3X3_S8_RV32_ROWS 12

void burnc_depthwise3x3_s8_rv32(const burnc_depthwise3x3_s8_rv32_params *params, const int8_t *x, int8_t *y,
                                int8_t *scratch) {
    const burnc_window *const w = &params->window;
    const int32_t line = w->in_w * params->channels;
    const int8_t *lines[2 * BURNC_DEPTHWISE3X3_S8_RV32_ROWS + 1];
    burnc_depthwise_rows_s8_rv32_job job;
    int32_t n;
    burnc_memset(scratch, params->input_zero_point, (size_t)line);
    job.lines = lines;
    job.records = params->records;
    job.padding = scratch;
    job.channels = (uint32_t)params->channels;
    job.width = (uint32_t)w->out_w;
    job.stride = (uint32_t)w->stride_w;
    job.before = (uint32_t)w->pad_left;
    job.behind = (w->out_w - 1) * w->stride_w + 3 - w->pad_left > w->in_w ? 1u : 0u;
    job.limits = params->limits;
    for (n = 0; n < w->batch; ++n) {
        int32_t made = 0;
        while (made < w->out_h) {
            int32_t rows = w->out_h - made;
            int32_t i;
            if (rows > BURNC_DEPTHWISE3X3_S8_RV32_ROWS) {
                rows = BURNC_DEPTHWISE3X3_S8_RV32_ROWS;
            }
            for (i = 0; i < (rows - 1) * w->stride_h + 3; ++i) {
                const int32_t row = made * w->stride_h - w->pad_top + i;
                lines[i] = row >= 0 && row < w->in_h ? x + row * line : scratch;
            }
            job.y = y;
            job.rows = (uint32_t)rows;
            burnc_depthwise_rows_s8_rv32(&job);
            y += rows * w->out_w * params->channels;
            made += rows;
        }
        x += w->in_h * line;
    }
}
