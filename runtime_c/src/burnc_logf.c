/* SPDX-License-Identifier: 0BSD */
/* x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2). With s = f / (2 + f), log(1 + f) = 2 atanh s; written as
   f minus a correction, f itself stays exact. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_logf(float x) {
    const float ln2_high = 0.693145751953125f;
    const float ln2_low = 1.42860677e-6f;
    uint32_t bits = burnc_float_bits(x);
    int32_t k = -127;
    float exponent;
    float f;
    float s;
    float z;
    float series;
    float half_square;
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return x + x;
    }
    if ((bits & 0x7fffffffu) == 0u) {
        return burnc_float_from_bits(0xff800000u);
    }
    if (bits > 0x7f800000u) {
        return burnc_float_from_bits(0x7fc00000u);
    }
    if (bits == 0x7f800000u) {
        return x;
    }
    if (bits < 0x00800000u) {
        bits = burnc_float_bits(x * 8388608.0f);
        k -= 23;
    }
    /* adding 1 - sqrt 1/2 carries into the exponent exactly when the mantissa is sqrt 2 or more */
    bits += 0x3f800000u - 0x3f3504f3u;
    k += (int32_t)(bits >> 23);
    f = burnc_float_from_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    exponent = (float)k;
    s = f / (2.0f + f);
    z = s * s;
    series = z * (0.666666687f + z * (0.4f + z * (0.285714298f + z * 0.222222224f)));
    half_square = 0.5f * f * f;
    return exponent * ln2_high - ((half_square - (s * (half_square + series) + exponent * ln2_low)) - f);
}
