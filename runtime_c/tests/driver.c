/* SPDX-License-Identifier: 0BSD */
/* Runs recorded cases: reads them from stdin, writes the outputs to stdout, one behind the other. All numbers are
   little-endian int32. A case is: operation, parameter count, parameters, array count, arrays (byte length, bytes), output
   length in bytes. Every buffer is allocated at its exact size, so that AddressSanitizer sees a read beyond it.
   The parameters are the leading int32 fields of the kernel's struct, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burnc/add_s8.h"
#include "burnc/conv1x1_s8.h"
#include "burnc/conv2d_s8.h"
#include "burnc/depthwise_conv2d_s8.h"
#include "burnc/fixed_point.h"
#include "burnc/float_math.h"
#include "burnc/fully_connected_s8.h"
#include "burnc/memory.h"
#include "burnc/mul_s8.h"
#include "burnc/requantize_s8.h"
#include "burnc/status.h"

enum { MAX_PARAMS = 64, MAX_ARRAYS = 8 };

static void fail(const char *why) {
    fprintf(stderr, "driver: %s\n", why);
    exit(2);
}

static void read_exactly(void *to, size_t size) {
    if (size > 0 && fread(to, 1, size, stdin) != size) {
        fail("the case file ends early");
    }
}

static int32_t read_int(void) {
    int32_t value = 0;
    read_exactly(&value, sizeof value);
    return value;
}

static void *allocate(int32_t size) {
    void *memory = malloc(size > 0 ? (size_t)size : 1u);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

/* One int32 function over arrays a, b, c. */
static int32_t fixed_point(int32_t which, int32_t a, int32_t b, int32_t c) {
    switch (which) {
    case 0:
        return burnc_doubling_high_multiply(a, b);
    case 1:
        return burnc_rounding_divide_by_pot(a, b);
    case 2:
        return burnc_requantize(a, b, c);
    case 3:
        return burnc_requantize_single(a, b, c);
    case 4:
        return burnc_clz((uint32_t)a);
    case 5:
        return burnc_floor_div(a, b);
    case 6:
        return burnc_asr(a, b);
    case 7:
        return burnc_clamp(a, b, c);
    default:
        fail("unknown fixed-point function");
        return 0;
    }
}

static float float_function(int32_t which, float x) {
    switch (which) {
    case 0:
        return burnc_expf(x);
    case 1:
        return burnc_logf(x);
    case 2:
        return burnc_tanhf(x);
    case 3:
        return burnc_sqrtf(x);
    case 4:
        return burnc_floorf(x);
    case 5:
        return burnc_roundf(x);
    case 6:
        return burnc_rintf(x);
    case 7:
        return burnc_erff(x);
    default:
        fail("unknown float function");
        return 0.0f;
    }
}

/* The kernels with weights share the order of their arrays: x, weights, bias, multiplier, shift. */
#define WEIGHTED(kernel)                                                                                     \
    do {                                                                                                     \
        kernel##_params p;                                                                                   \
        memset(&p, 0, sizeof p);                                                                             \
        memcpy(&p, params, (size_t)count * sizeof params[0]);                                                \
        p.weights = (const int8_t *)arrays[1];                                                               \
        p.bias = (const int32_t *)arrays[2];                                                                 \
        p.multiplier = (const int32_t *)arrays[3];                                                           \
        p.shift = (const int8_t *)arrays[4];                                                                 \
        kernel(&p, x, y);                                                                                    \
    } while (0)

#define UNARY(kernel)                                                                                        \
    do {                                                                                                     \
        kernel##_params p;                                                                                   \
        memcpy(&p, params, sizeof p);                                                                        \
        kernel(&p, x, y);                                                                                    \
    } while (0)

#define BINARY(kernel)                                                                                       \
    do {                                                                                                     \
        kernel##_params p;                                                                                   \
        memcpy(&p, params, sizeof p);                                                                        \
        kernel(&p, x, (const int8_t *)arrays[1], y);                                                         \
    } while (0)

static void run(int32_t operation, const int32_t *params, int32_t count, void *const *arrays, void *out,
                int32_t size) {
    const int8_t *x = (const int8_t *)arrays[0];
    int8_t *y = (int8_t *)out;
    int32_t i;
    switch (operation) {
    case 0:
        for (i = 0; i < size / 4; ++i) {
            ((int32_t *)out)[i] =
                fixed_point(params[0], ((const int32_t *)arrays[0])[i], ((const int32_t *)arrays[1])[i],
                            ((const int32_t *)arrays[2])[i]);
        }
        break;
    case 1:
        for (i = 0; i < size / 4; ++i) {
            ((float *)out)[i] = float_function(params[0], ((const float *)arrays[0])[i]);
        }
        break;
    case 2:
        WEIGHTED(burnc_conv2d_s8);
        break;
    case 3:
        WEIGHTED(burnc_conv1x1_s8);
        break;
    case 4:
        WEIGHTED(burnc_depthwise_conv2d_s8);
        break;
    case 5:
        WEIGHTED(burnc_fully_connected_s8);
        break;
    case 6:
        BINARY(burnc_add_s8);
        break;
    case 7:
        BINARY(burnc_mul_s8);
        break;
    case 8:
        UNARY(burnc_requantize_s8);
        break;
    default:
        fail("unknown operation");
    }
}

int main(void) {
    int32_t operation;
    while (fread(&operation, sizeof operation, 1, stdin) == 1) {
        int32_t params[MAX_PARAMS];
        void *arrays[MAX_ARRAYS] = {NULL};
        void *out;
        int32_t size;
        int32_t i;
        const int32_t count = read_int();
        int32_t array_count;
        if (count < 0 || count > MAX_PARAMS) {
            fail("too many parameters");
        }
        read_exactly(params, (size_t)count * sizeof params[0]);
        array_count = read_int();
        if (array_count < 0 || array_count > MAX_ARRAYS) {
            fail("too many arrays");
        }
        for (i = 0; i < array_count; ++i) {
            size = read_int();
            arrays[i] = allocate(size);
            read_exactly(arrays[i], (size_t)size);
        }
        size = read_int();
        out = allocate(size);
        memset(out, 0x55, (size_t)size);
        run(operation, params, count, arrays, out, size);
        fwrite(out, 1, (size_t)size, stdout);
        free(out);
        for (i = 0; i < array_count; ++i) {
            free(arrays[i]);
        }
    }
    return 0;
}
