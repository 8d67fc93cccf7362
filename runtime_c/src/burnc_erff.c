/* SPDX-License-Identifier: 0BSD */
/* Near zero an odd polynomial; beyond, 1 - exp P(|x|). Minimax coefficients after N. Juffa. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_erff(float x) {
    const uint32_t bits = burnc_float_bits(x);
    const float t = burnc_float_from_bits(bits & 0x7fffffffu);
    const float s = x * x;
    float result = 1.0f;
    float p;
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return x + x;
    }
    if (t <= 0.927734375f) {
        p = ((4.99119423e-3f - 5.96761703e-4f * s) * s - 2.67681349e-2f) * s + 1.12819925e-1f;
        return ((p * s - 3.76125336e-1f) * s + 1.28379166e-1f) * x + x;
    }
    if (t < 4.0f) {
        const float low = 2.42546219e-2f - 3.88396438e-3f * t;
        p = ((3.83197126e-4f - 1.72853470e-5f * t) * s + low) * t - 1.06777877e-1f;
        result = 1.0f - burnc_expf((((p * t - 6.34846687e-1f) * t) - 1.28717512e-1f) * t - t);
    }
    return burnc_float_from_bits(burnc_float_bits(result) | (bits & 0x80000000u));
}
