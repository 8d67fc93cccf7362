/* SPDX-License-Identifier: 0BSD */
/* Rows of a window that lie inside the image are widened from there, others by way of a copy that has the padding. A
   kernel of one tap looks at every pixel in turn and needs no window. */
#include "burnc/conv2d_s8_dsp.h"
#include "burnc/dot_2x2_s8_dsp.h"
#include "burnc/widen_s8_dsp.h"

/* Where the convolution stands: the columns of a pixel are ready, or it is the next one's turn. */
typedef struct burnc_conv2d_s8_dsp_place {
    const burnc_conv2d_s8_dsp_params *params;
    const int8_t *image;
    int32_t top;
    int32_t left;
    int8_t *copy;
} burnc_conv2d_s8_dsp_place;

static void burnc_conv2d_s8_dsp_fill(uint32_t *column, const uint32_t *end) {
    while (column < end) {
        column[0] = 0u;
        column[1] = 0u;
        column += 4;
    }
}

/* Row y of the image as the window sees it, into the copy. */
static void burnc_conv2d_s8_dsp_copy_row(const burnc_conv2d_s8_dsp_place *place, int32_t y) {
    const burnc_window *const window = &place->params->window;
    const int32_t depth = place->params->in_channels;
    int8_t *to = place->copy;
    int32_t l;
    for (l = 0; l < window->kernel_w; ++l) {
        const int32_t x = place->left + l;
        const int32_t inside = y >= 0 && y < window->in_h && x >= 0 && x < window->in_w ? 1 : 0;
        const int8_t *from = inside != 0 ? place->image + (y * window->in_w + x) * depth : place->image;
        int32_t c;
        for (c = 0; c < depth; ++c) {
            *to++ = inside != 0 ? *from++ : (int8_t)place->params->input_zero_point;
        }
    }
}

static void burnc_conv2d_s8_dsp_column(const burnc_conv2d_s8_dsp_place *place, uint32_t *column) {
    const burnc_window *const window = &place->params->window;
    const int32_t depth = place->params->in_channels;
    const uint32_t taps = (uint32_t)(window->kernel_w * depth);
    const int32_t is_inside = place->left >= 0 && place->left + window->kernel_w <= window->in_w ? 1 : 0;
    const uint32_t *const end = column + 4 * place->params->blocks;
    const int8_t *row = place->image + (place->top * window->in_w + place->left) * depth;
    int32_t y = place->top;
    int32_t k;
    for (k = 0; k < window->kernel_h; ++k) {
        if (is_inside != 0 && y >= 0 && y < window->in_h) {
            column = burnc_widen_s8_dsp(column, row, taps);
        } else {
            burnc_conv2d_s8_dsp_copy_row(place, y);
            column = burnc_widen_s8_dsp(column, place->copy, taps);
        }
        y += window->dilation_h;
        row += window->dilation_h * window->in_w * depth;
    }
    burnc_conv2d_s8_dsp_fill(column, end);
}

static void burnc_conv2d_s8_dsp_pointwise(const burnc_conv2d_s8_dsp_params *params, const int8_t *x,
                                          burnc_dot_2x2_s8_dsp_job *job, uint32_t *scratch) {
    const uint32_t *const end = scratch + 4 * params->blocks;
    int32_t left = params->window.batch * params->window.in_h * params->window.in_w;
    for (; left > 0; left -= 2) {
        const int32_t both = left > 1 ? 1 : 0;
        burnc_conv2d_s8_dsp_fill(burnc_widen_s8_dsp(scratch, x, (uint32_t)params->in_channels), end);
        x += params->in_channels * both;
        burnc_conv2d_s8_dsp_fill(burnc_widen_s8_dsp(scratch + 2, x, (uint32_t)params->in_channels), end);
        x += params->in_channels;
        job->distance = (uint32_t)(both * params->out_channels);
        burnc_dot_2x2_s8_dsp(job);
        job->y += (1 + both) * params->out_channels;
    }
}

static void burnc_conv2d_s8_dsp_image(const burnc_conv2d_s8_dsp_params *params, const int8_t *x,
                                      burnc_dot_2x2_s8_dsp_job *job, uint32_t *scratch) {
    const burnc_window *const window = &params->window;
    burnc_conv2d_s8_dsp_place place;
    int32_t at = 0;
    int32_t left;
    int32_t odd = 0;
    place.params = params;
    place.image = x;
    place.top = -window->pad_top;
    place.left = -window->pad_left;
    place.copy = (int8_t *)(scratch + 4 * params->blocks);
    for (left = window->out_h * window->out_w; left > 0; --left) {
        burnc_conv2d_s8_dsp_column(&place, scratch + 2 * odd);
        place.left += window->stride_w;
        if (++at == window->out_w) {
            at = 0;
            place.left = -window->pad_left;
            place.top += window->stride_h;
        }
        if (odd != 0 || left == 1) {
            job->distance = (uint32_t)(odd * params->out_channels);
            burnc_dot_2x2_s8_dsp(job);
            job->y += (1 + odd) * params->out_channels;
        }
        odd ^= 1;
    }
}

void burnc_conv2d_s8_dsp(const burnc_conv2d_s8_dsp_params *params, const int8_t *x, int8_t *y,
                         uint32_t *scratch) {
    const burnc_window *const window = &params->window;
    burnc_dot_2x2_s8_dsp_job job;
    int32_t n;
    job.columns = scratch;
    job.blocks = (uint32_t)params->blocks;
    job.weights = params->weights;
    job.constants = params->constants;
    job.constants_end = params->constants + params->out_channels / 2 * 10;
    job.y = y;
    job.distance = 0u;
    job.limits = params->limits;
    job.is_odd = (uint32_t)params->out_channels & 1u;
    if (burnc_window_is_pointwise(window) != 0) {
        burnc_conv2d_s8_dsp_pointwise(params, x, &job, scratch);
        return;
    }
    for (n = 0; n < window->batch; ++n) {
        burnc_conv2d_s8_dsp_image(params, x, &job, scratch);
        x += window->in_h * window->in_w * params->in_channels;
    }
}
