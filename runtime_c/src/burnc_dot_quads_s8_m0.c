/* SPDX-License-Identifier: 0BSD */
/* The same arithmetic as burnc_dot_quads_s8_m0.S, word for word, for every core that does not run that. */
#include "burnc/dot_quads_s8_m0.h"

#include <stddef.h>
#include "burnc/fixed_point.h"

#if !BURNC_DOT_QUADS_S8_M0_ASSEMBLY

/* A word's upper half with its sign. */
static uint32_t burnc_dot_quads_s8_m0_upper(uint32_t word) {
    return (uint32_t)burnc_asr((int32_t)word, 16);
}

/* Sums of words and of their upper halves: for outputs 0 and 1, and for 2 and 3. */
typedef struct burnc_dot_quads_s8_m0_totals {
    uint32_t word[2];
    uint32_t high[2];
} burnc_dot_quads_s8_m0_totals;

static void burnc_dot_quads_s8_m0_flush(burnc_dot_quads_s8_m0_totals *totals, uint32_t first,
                                        uint32_t second) {
    totals->word[0] += first;
    totals->high[0] += burnc_dot_quads_s8_m0_upper(first);
    totals->word[1] += second;
    totals->high[1] += burnc_dot_quads_s8_m0_upper(second);
}

/* Sums of a block: of all bytes of the words, and of the odd ones. */
typedef struct burnc_dot_quads_s8_m0_block {
    uint32_t all;
    uint32_t odd;
} burnc_dot_quads_s8_m0_block;

static inline burnc_dot_quads_s8_m0_block burnc_dot_quads_s8_m0_tap(burnc_dot_quads_s8_m0_block block,
                                                                    int32_t x, uint32_t weights) {
    block.all += (uint32_t)x * weights;
    block.odd += (uint32_t)x * ((weights >> 8) & 0x00ff00ffu);
    return block;
}

static void burnc_dot_quads_s8_m0_bytes(burnc_dot_quads_s8_m0_job *job,
                                        burnc_dot_quads_s8_m0_totals *totals) {
    const int8_t *x = (const int8_t *)job->x;
    const int8_t *const end = (const int8_t *)job->x_end;
    const uint32_t *weights = job->weights;
    const uint32_t *start = job->starts;
    while (x != end) {
        const uint32_t *const block_end = weights + job->block;
        burnc_dot_quads_s8_m0_block block = {*start * 257u, *start};
        ++start;
        if ((job->block & 3u) != 0u) { /* 2 */
            block = burnc_dot_quads_s8_m0_tap(block, x[0], weights[0]);
            block = burnc_dot_quads_s8_m0_tap(block, x[1], weights[1]);
            x += 2;
            weights += 2;
        } else {
            do { /* four at once, so that cores with many registers pay less for the loop */
                block = burnc_dot_quads_s8_m0_tap(block, x[0], weights[0]);
                block = burnc_dot_quads_s8_m0_tap(block, x[1], weights[1]);
                block = burnc_dot_quads_s8_m0_tap(block, x[2], weights[2]);
                block = burnc_dot_quads_s8_m0_tap(block, x[3], weights[3]);
                x += 4;
                weights += 4;
            } while (weights != block_end);
        }
        burnc_dot_quads_s8_m0_flush(totals, block.all - (block.odd << 8), block.odd);
    }
    job->weights = weights;
}

static void burnc_dot_quads_s8_m0_words(burnc_dot_quads_s8_m0_job *job,
                                        burnc_dot_quads_s8_m0_totals *totals) {
    const uint32_t *x = job->x;
    const uint32_t *weights = job->weights;
    while (x != job->x_end) {
        uint32_t first = 32768u;
        uint32_t second = 32768u;
        uint32_t i;
        for (i = 0; i < job->block; ++i) {
            first += *x * weights[0];
            second += *x++ * weights[1];
            weights += 2;
        }
        burnc_dot_quads_s8_m0_flush(totals, first, second);
    }
    job->weights = weights;
}

void burnc_dot_quads_s8_m0(burnc_dot_quads_s8_m0_job *job) {
    for (; job->groups != 0u; --job->groups) {
        burnc_dot_quads_s8_m0_totals t = {{0u, 0u}, {0u, 0u}};
        if (job->starts != NULL) {
            burnc_dot_quads_s8_m0_bytes(job, &t);
        } else {
            burnc_dot_quads_s8_m0_words(job, &t);
        }
        *job->y++ = burnc_scale_sum_s8_m0(job->scale, *job->offsets++ + t.word[0] - (t.high[0] << 16));
        *job->y++ = burnc_scale_sum_s8_m0(job->scale, *job->offsets++ + t.high[0]);
        *job->y++ = burnc_scale_sum_s8_m0(job->scale, *job->offsets++ + t.word[1] - (t.high[1] << 16));
        *job->y++ = burnc_scale_sum_s8_m0(job->scale, *job->offsets++ + t.high[1]);
    }
}

#endif
