/* SPDX-License-Identifier: 0BSD */
#include "burnc_harness.h"

#include <stdbool.h>

#include "burnc_messages.h"
#include "burnc_port.h"

#define PROTOCOL_VERSION 1u

enum {
    HELLO = 0x01,
    TENSOR = 0x02,
    WRITE_INPUT = 0x03,
    RUN = 0x04,
    READ_OUTPUT = 0x05,
    READ_PROFILE = 0x06,
    RESET_STATE = 0x07,
    REBOOT = 0x08,
    ENTER_BOOTLOADER = 0x09
};

#define WRITE_HEAD_BYTES 6u /* index, offset */
#define WITH_PROFILE 1u
#define WITH_STACK 2u

#if BURNC_HARNESS_PAYLOAD_BYTES < 448u || BURNC_HARNESS_PAYLOAD_BYTES > 32768u
#error "BURNC_HARNESS_PAYLOAD_BYTES must hold the reply to HELLO and fit 16 bits"
#endif

#define BUFFER_BYTES                                                                                         \
    BURNC_FRAME_ENCODED_BYTES(BURNC_MESSAGE_HEADER_BYTES + WRITE_HEAD_BYTES + BURNC_HARNESS_PAYLOAD_BYTES)

/* For boards that never have a resident bootloader. */
__attribute__((weak)) int burnc_port_request_bootloader(void) {
    return 0;
}

/* One buffer for both directions: a request is decoded in place, and its reply is written over it. */
static uint8_t buffer[BUFFER_BYTES];

static const burnc_harness_model *const model = &burnc_harness_model_instance;

typedef struct {
    int32_t status;
    uint64_t cycles;
    uint32_t stack_bytes;
    uint32_t layers;
} run_record;

static run_record last_run;
static bool profiling;
static uint64_t layer_begin;

void burnc_harness_layer_done(uint32_t index) {
    if (!profiling || index >= model->layer_count) {
        return;
    }
    const uint64_t cycles = burnc_port_cycles() - layer_begin;
    uint32_t *const sum = &model->layer_cycles[index];
    *sum = cycles > UINT32_MAX - *sum ? UINT32_MAX : *sum + (uint32_t)cycles;
    layer_begin = burnc_port_cycles(); /* read anew, so that this bookkeeping counts for no layer */
}

static void run_model(uint32_t flags) {
    const bool measure_stack = (flags & WITH_STACK) != 0u; /* takes time, because all free RAM is painted */
    profiling = (flags & WITH_PROFILE) != 0u && model->layer_cycles != 0;
    last_run.layers = profiling ? model->layer_count : 0u;
    for (uint32_t i = 0; i < last_run.layers; i++) {
        model->layer_cycles[i] = 0u;
    }
    if (measure_stack) {
        burnc_port_stack_paint();
    }
    burnc_port_cycles_restart();
    const uint64_t begin = burnc_port_cycles();
    layer_begin = begin;
    last_run.status = model->run();
    last_run.cycles = burnc_port_cycles() - begin;
    last_run.stack_bytes = measure_stack ? burnc_port_stack_used() : 0u;
    profiling = false;
}

static void put_run_record(void) {
    burnc_reply_put32((uint32_t)last_run.status);
    burnc_reply_put32((uint32_t)last_run.cycles);
    burnc_reply_put32((uint32_t)(last_run.cycles >> 32));
    burnc_reply_put32(last_run.stack_bytes);
    burnc_reply_put32(last_run.layers);
    burnc_reply_put32(model->helper_stack_bytes != 0 ? model->helper_stack_bytes() : 0u);
}

static void put_hello(void) {
    burnc_reply_put16(PROTOCOL_VERSION);
    burnc_reply_put_text(model->version);
    burnc_reply_put32(burnc_port_clock_hz());
    burnc_reply_put16(BURNC_HARNESS_PAYLOAD_BYTES);
    burnc_reply_put16(model->input_count);
    burnc_reply_put16(model->output_count);
    burnc_reply_put32(model->layer_count);
    burnc_reply_put_text(model->name);
    burnc_reply_put_text(model->sha256);
    burnc_reply_put_text(model->board);
}

static bool is_range(uint32_t offset, uint32_t count, uint32_t size) {
    return offset <= size && count <= size - offset;
}

static bool write_input(uint32_t count) {
    const uint32_t index = burnc_request_get16(BURNC_MESSAGE_HEADER_BYTES);
    const uint32_t offset = burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES + 2u);
    const uint32_t data = BURNC_MESSAGE_HEADER_BYTES + WRITE_HEAD_BYTES;
    if (index >= model->input_count || !is_range(offset, count - data, model->inputs[index].bytes)) {
        return false;
    }
    uint8_t *const to = (uint8_t *)model->inputs[index].data + offset;
    for (uint32_t i = data; i < count; i++) {
        to[i - data] = buffer[i];
    }
    return true;
}

/* Each serve_* answers its request, or returns false when the arguments are wrong. */

static bool serve_tensor(uint32_t sequence) {
    const bool is_output = buffer[BURNC_MESSAGE_HEADER_BYTES] != 0u;
    const uint32_t index = burnc_request_get16(BURNC_MESSAGE_HEADER_BYTES + 1u);
    if (index >= (is_output ? model->output_count : model->input_count)) {
        return false;
    }
    const burnc_harness_tensor *const tensor = is_output ? &model->outputs[index] : &model->inputs[index];
    burnc_reply_begin(TENSOR + BURNC_REPLY, sequence);
    burnc_reply_put32(tensor->bytes);
    burnc_reply_put_text(tensor->name);
    burnc_reply_send();
    return true;
}

static bool serve_read_output(uint32_t sequence) {
    const uint32_t index = burnc_request_get16(BURNC_MESSAGE_HEADER_BYTES);
    const uint32_t offset = burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES + 2u);
    const uint32_t count = burnc_request_get16(BURNC_MESSAGE_HEADER_BYTES + 6u);
    if (index >= model->output_count || count > BURNC_HARNESS_PAYLOAD_BYTES ||
        !is_range(offset, count, model->outputs[index].bytes)) {
        return false;
    }
    const uint8_t *const from = (const uint8_t *)model->outputs[index].data + offset;
    burnc_reply_begin(READ_OUTPUT + BURNC_REPLY, sequence);
    for (uint32_t i = 0; i < count; i++) {
        burnc_reply_put8(from[i]);
    }
    burnc_reply_send();
    return true;
}

static bool serve_read_profile(uint32_t sequence) {
    const uint32_t first = burnc_request_get32(BURNC_MESSAGE_HEADER_BYTES);
    const uint32_t count = burnc_request_get16(BURNC_MESSAGE_HEADER_BYTES + 4u);
    if (count > BURNC_HARNESS_PAYLOAD_BYTES / 4u || !is_range(first, count, last_run.layers)) {
        return false;
    }
    burnc_reply_begin(READ_PROFILE + BURNC_REPLY, sequence);
    for (uint32_t i = first; i < first + count; i++) {
        burnc_reply_put32(model->layer_cycles[i]);
    }
    burnc_reply_send();
    return true;
}

static bool serve_plain(uint32_t type, uint32_t sequence) {
    if (type == RESET_STATE && model->reset != 0) {
        model->reset();
    }
    burnc_reply_begin(type + BURNC_REPLY, sequence);
    if (type == HELLO) {
        put_hello();
    } else if (type == RUN) {
        put_run_record();
    }
    burnc_reply_send();
    if (type == REBOOT || type == ENTER_BOOTLOADER) {
        burnc_port_flush();
        burnc_port_reboot();
    }
    return true;
}

/* Serves the request in buffer[0..count). Every request but RUN may be carried out twice without harm; a repeated RUN
   is answered from the record of the first. */
static void serve(uint32_t count, bool repeated) {
    const uint32_t type = buffer[0];
    const uint32_t sequence = buffer[1];
    const uint32_t body = count - BURNC_MESSAGE_HEADER_BYTES;
    bool served = false;
    switch (type) {
    case HELLO: /* the body is the host's business: this layout must be readable to hosts of every version */
        served = serve_plain(type, sequence);
        break;
    case RESET_STATE:
    case REBOOT:
        served = body == 0u && serve_plain(type, sequence);
        break;
    case ENTER_BOOTLOADER:
        if (body == 0u && burnc_port_request_bootloader() == 0) {
            burnc_reply_error(sequence, BURNC_NO_BOOTLOADER);
            return;
        }
        served = body == 0u && serve_plain(type, sequence);
        break;
    case TENSOR:
        served = body == 3u && serve_tensor(sequence);
        break;
    case WRITE_INPUT:
        served = body >= WRITE_HEAD_BYTES && write_input(count) && serve_plain(type, sequence);
        break;
    case RUN:
        if (body == 1u) {
            if (!repeated) {
                run_model(buffer[BURNC_MESSAGE_HEADER_BYTES]);
            }
            served = serve_plain(type, sequence);
        }
        break;
    case READ_OUTPUT:
        served = body == 8u && serve_read_output(sequence);
        break;
    case READ_PROFILE:
        served = body == 6u && serve_read_profile(sequence);
        break;
    default:
        burnc_reply_error(sequence, BURNC_UNKNOWN_COMMAND);
        return;
    }
    if (!served) {
        burnc_reply_error(sequence, BURNC_BAD_ARGUMENTS);
    }
}

/* Sequence numbers are part of the checksummed payload, so equal checksums in a row mean a repeated request. */
static void receive(uint32_t count, uint32_t crc) {
    static uint32_t last_crc;
    static bool have_last;
    static bool greeted;
    const bool repeated = have_last && crc == last_crc;
    last_crc = crc;
    have_last = true;
    greeted = greeted || buffer[0] == HELLO;
    if (greeted) {
        serve(count, repeated);
    } else {
        burnc_reply_error(buffer[1],
                          BURNC_NO_SESSION); /* tells a host in mid-session that the board has restarted */
    }
}

void burnc_harness_serve(void) {
    if (model->reset != 0) {
        model->reset();
    }
    burnc_messages_serve(buffer, BUFFER_BYTES, receive);
}

int main(void) {
    burnc_port_init();
    burnc_harness_serve();
    return 0;
}
