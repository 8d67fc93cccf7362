/* SPDX-License-Identifier: 0BSD */
/* The remainder is exact. With both as whole numbers times powers of two, the dividend's is taken modulo the divisor's
   as its power comes down to the divisor's, eight bits at a time. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

static uint32_t burnc_fmodf_whole(uint32_t magnitude) {
    const uint32_t mantissa = magnitude & 0x007fffffu;
    return magnitude < 0x00800000u ? mantissa : (mantissa | 0x00800000u);
}

static int32_t burnc_fmodf_power(uint32_t magnitude) {
    return magnitude < 0x00800000u ? 1 : (int32_t)(magnitude >> 23);
}

float burnc_fmodf(float x, float y) {
    const uint32_t sign = burnc_float_bits(x) & 0x80000000u;
    const uint32_t dividend = burnc_float_bits(x) & 0x7fffffffu;
    const uint32_t divisor = burnc_float_bits(y) & 0x7fffffffu;
    uint32_t rest;
    int32_t above, exponent;
    if (dividend >= 0x7f800000u || divisor > 0x7f800000u || divisor == 0u) {
        return burnc_float_from_bits(0x7fc00000u);
    }
    if (dividend < divisor) {
        return x;
    }
    exponent = burnc_fmodf_power(divisor);
    rest = burnc_fmodf_whole(dividend) % burnc_fmodf_whole(divisor);
    for (above = burnc_fmodf_power(dividend) - exponent; above > 0; above -= 8) {
        rest = (rest << (above < 8 ? above : 8)) % burnc_fmodf_whole(divisor);
    }
    if (rest == 0u) {
        return burnc_float_from_bits(sign);
    }
    while (rest < 0x00800000u && exponent > 1) {
        rest <<= 1;
        --exponent;
    }
    if (rest >= 0x00800000u) {
        rest = (rest & 0x007fffffu) | ((uint32_t)exponent << 23);
    }
    return burnc_float_from_bits(sign | rest);
}
