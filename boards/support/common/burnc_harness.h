/* SPDX-License-Identifier: 0BSD */
/* Serves one model to a host over burnc_port.h (docs/protocol.md). The generated main file defines the model below;
   burnc_harness.c defines main. */
#ifndef BURNC_HARNESS_H
#define BURNC_HARNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes of tensor data in one message. The frame buffer is this and some forty bytes more. */
#ifndef BURNC_HARNESS_PAYLOAD_BYTES
#define BURNC_HARNESS_PAYLOAD_BYTES 512u
#endif

typedef struct {
    const char *name;
    void *data;
    uint32_t bytes;
} burnc_harness_tensor;

typedef struct {
    const char *name;
    const char *sha256; /* of the model file, hexadecimal */
    const char *board;
    const char *version; /* of the burnc that generated the firmware */
    const burnc_harness_tensor *inputs;
    uint32_t input_count;
    const burnc_harness_tensor *outputs;
    uint32_t output_count;
    uint32_t layer_count;
    int32_t (*run)(void);   /* returns the model's status, 0 when all is well */
    void (*reset)(void);    /* before the first run, and to clear the state; 0 when there is nothing to do */
    uint32_t *layer_cycles; /* layer_count words for the profile; 0 when the model was compiled without it */
    uint32_t (*helper_stack_bytes)(void); /* of a second core, which helps; 0 when there is none */
} burnc_harness_model;

extern const burnc_harness_model burnc_harness_model_instance;

/* The generated code calls this after each layer when profiling is compiled in. Cycles since the previous call are
   added to the layer's; a layer that runs in several pieces may call it several times. */
void burnc_harness_layer_done(uint32_t index);

/* Serves the protocol for ever. */
void burnc_harness_serve(void);

#ifdef __cplusplus
}
#endif

#endif
