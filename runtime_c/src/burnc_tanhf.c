/* SPDX-License-Identifier: 0BSD */
/* Near zero an odd polynomial, x + x^3 P(x^2); beyond, 1 - 2 / (exp 2|x| + 1), where nothing cancels any
   more. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_tanhf(float x) {
    const uint32_t bits = burnc_float_bits(x);
    const uint32_t sign = bits & 0x80000000u;
    const float magnitude = burnc_float_from_bits(bits & 0x7fffffffu);
    float result = 1.0f;
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return x + x;
    }
    if (magnitude < 0.000244140625f) {
        return x;
    }
    if (magnitude < 0.625f) {
        const float z = x * x;
        const float p =
            -0.33333263f + z * (0.13330899f + z * (-0.053692967f + z * (0.020483317f + z * -0.0055286335f)));
        return x + x * (z * p);
    }
    if (magnitude < 9.5f) {
        result = 1.0f - 2.0f / (burnc_expf(2.0f * magnitude) + 1.0f);
    }
    return burnc_float_from_bits(burnc_float_bits(result) | sign);
}
