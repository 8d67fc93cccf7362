/* SPDX-License-Identifier: 0BSD */
/* As burnc_fmodf, on the bits of doubles: no double arithmetic is needed. */
#include "burnc/double_math.h"

#define BURNC_HIDDEN UINT64_C(0x0010000000000000)
#define BURNC_INFINITE UINT64_C(0x7ff0000000000000)

static uint64_t burnc_fmod_whole(uint64_t magnitude) {
    const uint64_t mantissa = magnitude & (BURNC_HIDDEN - 1u);
    return magnitude < BURNC_HIDDEN ? mantissa : (mantissa | BURNC_HIDDEN);
}

static int32_t burnc_fmod_power(uint64_t magnitude) {
    return magnitude < BURNC_HIDDEN ? 1 : (int32_t)(magnitude >> 52);
}

double burnc_fmod(double x, double y) {
    const uint64_t sign = burnc_double_bits(x) & UINT64_C(0x8000000000000000);
    const uint64_t dividend = burnc_double_bits(x) & UINT64_C(0x7fffffffffffffff);
    const uint64_t divisor = burnc_double_bits(y) & UINT64_C(0x7fffffffffffffff);
    uint64_t rest;
    int32_t above, exponent;
    if (dividend >= BURNC_INFINITE || divisor > BURNC_INFINITE || divisor == 0u) {
        return burnc_double_from_bits(BURNC_INFINITE | (BURNC_HIDDEN >> 1));
    }
    if (dividend < divisor) {
        return x;
    }
    exponent = burnc_fmod_power(divisor);
    rest = burnc_fmod_whole(dividend) % burnc_fmod_whole(divisor);
    for (above = burnc_fmod_power(dividend) - exponent; above > 0; above -= 8) {
        rest = (rest << (above < 8 ? above : 8)) % burnc_fmod_whole(divisor);
    }
    if (rest == 0u) {
        return burnc_double_from_bits(sign);
    }
    while (rest < BURNC_HIDDEN && exponent > 1) {
        rest <<= 1;
        --exponent;
    }
    if (rest >= BURNC_HIDDEN) {
        rest = (rest & (BURNC_HIDDEN - 1u)) | ((uint64_t)exponent << 52);
    }
    return burnc_double_from_bits(sign | rest);
}
