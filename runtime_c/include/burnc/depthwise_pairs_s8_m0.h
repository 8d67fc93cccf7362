/* SPDX-License-Identifier: 0BSD */
/* Depthwise 3x3 convolution with stride 1 of one image, int8, for Cortex-M0 and M0+: two outputs of a run, about
   half of it apart, ride in the halves of a word, so that one multiply does two MACs (docs/kernels.md).

   A run is a row of the image, or a column. `plane` holds runs_at_once + 2 runs of length + 2 words, of one channel at a
   time: word i of an input run is a + (b << 16), a the input at i, b the one x_shift bytes behind, either of them
   padding beside the image. Outputs of a run are written after the next input run was read.

   A channel's record is that of burnc_depthwise_rows_s8_m0 (w01 follows w00 along a run), but for bit 7 of
   places: it is 1 where blocks of two taps are exact, 0 where those of three taps, a run of the kernel's, are. */
#ifndef BURNC_DEPTHWISE_PAIRS_S8_M0_H
#define BURNC_DEPTHWISE_PAIRS_S8_M0_H

#include <stdint.h>

/* Whether the function below is the one in assembly. Define BURNC_NO_ASSEMBLY to have the C everywhere. */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ELF__) && !defined(BURNC_NO_ASSEMBLY)
#define BURNC_DEPTHWISE_PAIRS_S8_M0_ASSEMBLY 1
#else
#define BURNC_DEPTHWISE_PAIRS_S8_M0_ASSEMBLY 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The assembly knows the order of these fields. */
typedef struct burnc_depthwise_pairs_s8_m0_params {
    const uint32_t *records; /* [channels][7] */
    uint32_t channels;
    uint32_t runs_at_once; /* output runs that are made of the plane before it goes on */
    uint32_t in_runs;
    uint32_t out_runs;
    uint32_t length;      /* pairs of outputs in a run, at least 1 */
    uint32_t whole_pairs; /* words of a run with two inputs in them, at least 1; ... */
    int32_t first_run;    /* -1 where a run of padding goes before the first of the input, else 0 */
    uint32_t pad_before;  /* ... one before them, with b alone, if this is 1 ... */
    uint32_t pad_after;   /* ... and one behind them with a alone */
    uint32_t x_step;      /* bytes from an input to the next one of its run ... */
    uint32_t x_run;       /* ... to that of the next run ... */
    uint32_t x_shift;     /* ... and from a to b */
    uint32_t y_step;
    uint32_t y_run;
    uint32_t y_shift;
    int32_t padding;
} burnc_depthwise_pairs_s8_m0_params;

void burnc_depthwise_pairs_s8_m0(const burnc_depthwise_pairs_s8_m0_params *layer, const int8_t *x, int8_t *y,
                                 uint32_t *plane);

#ifdef __cplusplus
}
#endif

#endif
