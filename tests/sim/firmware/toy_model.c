/* SPDX-License-Identifier: 0BSD */
/* The smallest model that the harness can serve: adds 1 to each byte, in place, in two "layers", and counts its runs. */
#include "burnc_harness.h"

#define BYTES 700u
#define FIRST_LAYER 100u

static uint8_t arena[BYTES];
static uint32_t runs;
static uint32_t layer_cycles[2];

static int32_t run(void) {
    for (uint32_t i = 0; i < BYTES; i++) {
        if (i == FIRST_LAYER) {
            burnc_harness_layer_done(0u);
        }
        arena[i] = (uint8_t)(arena[i] + 1u);
    }
    burnc_harness_layer_done(1u);
    runs++;
    return arena[0] == 0u ? -7 : 0; /* a status that the host can provoke */
}

static void reset(void) {
    runs = 0u;
}

static const burnc_harness_tensor inputs[] = {{"image", arena, BYTES}};
static const burnc_harness_tensor outputs[] = {{"scores", arena, BYTES}, {"runs", &runs, sizeof runs}};

const burnc_harness_model burnc_harness_model_instance = {
    .name = "toy",
    .sha256 = "00ff",
    .board = "pico",
    .version = "0.0.1",
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = sizeof outputs / sizeof outputs[0],
    .layer_count = 2u,
    .run = run,
    .reset = reset,
    .layer_cycles = layer_cycles,
};
