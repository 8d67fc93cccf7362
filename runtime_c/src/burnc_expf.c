/* SPDX-License-Identifier: 0BSD */
/* x = k ln 2 + r with |r| <= ln 2 / 2: exp x = 2^k exp r, where exp r = 1 + r + r^2 P(r). ln 2 is subtracted
   in two parts, the first short enough for k times it to be exact. 2^k goes on in two factors, so that a
   denormal result rounds once. */
#include "burnc/float_bits.h"
#include "burnc/float_math.h"

float burnc_expf(float x) {
    const float ln2_high = 0.693145751953125f;
    const float ln2_low = 1.42860677e-6f;
    const uint32_t magnitude = burnc_float_bits(x) & 0x7fffffffu;
    int32_t k;
    int32_t half;
    float r;
    float p;
    if (magnitude > 0x7f800000u) {
        return x + x;
    }
    if (x > 88.7228394f) {
        return burnc_float_from_bits(0x7f800000u);
    }
    if (x < -104.0f) {
        return 0.0f;
    }
    k = (int32_t)burnc_rintf(x * 1.44269502f);
    r = (x - (float)k * ln2_high) - (float)k * ln2_low;
    p = 0.5f + r * (0.16666518f + r * (0.041666206f + r * (0.008368903f + r * 0.0013950515f)));
    p = 1.0f + (r + r * r * p);
    half = k / 2;
    p *= burnc_float_from_bits((uint32_t)(half + 127) << 23);
    return p * burnc_float_from_bits((uint32_t)(k - half + 127) << 23);
}
