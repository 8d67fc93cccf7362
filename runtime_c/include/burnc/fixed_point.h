/* SPDX-License-Identifier: 0BSD */
/* TFLM's fixed-point arithmetic (gemmlowp's, for int32), defined for every input: additions and left shifts
   wrap around in unsigned types, and negative numbers are shifted right through burnc_asr alone.

   A Q(i) number here has i integer bits: its value is raw / 2^(31 - i). */
#ifndef BURNC_FIXED_POINT_H
#define BURNC_FIXED_POINT_H

#include <stdint.h>

/* ARMv6-M and ARMv8-M baseline have no 32x32 -> 64 multiply: four 16x16 products inline beat the library
   call. Both forms give the same bits; define it yourself to choose. */
#ifndef BURNC_SHORT_MULTIPLY
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#define BURNC_SHORT_MULTIPLY 1
#else
#define BURNC_SHORT_MULTIPLY 0
#endif
#endif

/* Fails to compile where >> of a negative number does not keep the sign (C leaves it to the compiler). */
typedef char burnc_requires_arithmetic_shift[((-1 >> 1) == -1) ? 1 : -1];

static inline int32_t burnc_asr(int32_t x, int32_t n) {
    /* cppcheck-suppress shiftNegativeLHS; it is what the line above makes sure of */
    return x >> n;
}

static inline int32_t burnc_wrap_add(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t burnc_wrap_shl(int32_t x, int32_t n) {
    return (int32_t)((uint32_t)x << n);
}

static inline int32_t burnc_clamp(int32_t x, int32_t low, int32_t high) {
    return x < low ? low : (x > high ? high : x);
}

/* Leading zero bits; 32 for 0. */
static inline int32_t burnc_clz(uint32_t x) {
    int32_t zeros = 32;
    while (x != 0u) {
        x >>= 1;
        --zeros;
    }
    return zeros;
}

/* floor(a / b), b > 0. */
static inline int32_t burnc_floor_div(int32_t a, int32_t b) {
    const int32_t quotient = a / b;
    return (a % b < 0) ? quotient - 1 : quotient;
}

/* floor((a * b + 2^30) / 2^31), wrapped to 32 bits: a rounding doubling high multiply that lacks only the
   saturation of INT32_MIN squared. (gemmlowp nudges by the sign and truncates, which comes to the same.) */
static inline int32_t burnc_wrapping_high_multiply(int32_t a, int32_t b) {
#if BURNC_SHORT_MULTIPLY
    const int32_t a_high = burnc_asr(a, 16);
    const int32_t b_high = burnc_asr(b, 16);
    const uint32_t a_low = (uint32_t)a & 0xffffu;
    const uint32_t b_low = (uint32_t)b & 0xffffu;
    const int32_t middle = a_high * (int32_t)b_low + (int32_t)((a_low * b_low) >> 16);
    const int32_t middle2 = (int32_t)a_low * b_high + (int32_t)((uint32_t)middle & 0xffffu);
    const int32_t high = a_high * b_high + burnc_asr(middle, 16) + burnc_asr(middle2, 16);
    const uint32_t carry = (((uint32_t)middle2 & 0xffffu) + 0x4000u) >> 15;
    return (int32_t)(((uint32_t)high << 1) + carry);
#else
    return (int32_t)(uint32_t)(uint64_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
#endif
}

/* SaturatingRoundingDoublingHighMul: a * b / 2^31, to the nearest. Only INT32_MIN squared saturates. */
static inline int32_t burnc_doubling_high_multiply(int32_t a, int32_t b) {
    return (a == b && a == INT32_MIN) ? INT32_MAX : burnc_wrapping_high_multiply(a, b);
}

/* RoundingDivideByPOT: x / 2^exponent, to the nearest, halves away from zero; exponent in [0, 31]. */
static inline int32_t burnc_rounding_divide_by_pot(int32_t x, int32_t exponent) {
    const uint32_t mask = ((uint32_t)1 << exponent) - 1u;
    const uint32_t remainder = (uint32_t)x & mask;
    const uint32_t threshold = (mask >> 1) + (x < 0 ? 1u : 0u);
    return burnc_asr(x, exponent) + (remainder > threshold ? 1 : 0);
}

/* MultiplyByQuantizedMultiplier, rounding twice (TFLM's default): acc * multiplier / 2^31 * 2^shift,
   multiplier >= 0, shift in [-31, 30]. A positive shift acts before the multiply and wraps around. */
static inline int32_t burnc_requantize(int32_t acc, int32_t multiplier, int32_t shift) {
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = left - shift;
    return burnc_rounding_divide_by_pot(burnc_wrapping_high_multiply(burnc_wrap_shl(acc, left), multiplier),
                                        right);
}

/* The same rounding once, halves up (TFLITE_SINGLE_ROUNDING; LiteRT's FULLY_CONNECTED). A result beyond 32
   bits wraps around. */
static inline int32_t burnc_requantize_single(int32_t acc, int32_t multiplier, int32_t shift) {
    const int32_t right = 31 - shift;
    const int64_t rounded = (int64_t)acc * multiplier + ((int64_t)1 << (right - 1));
    return (int32_t)(uint32_t)(uint64_t)(rounded >> right);
}

#endif
