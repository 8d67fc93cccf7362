"""The int8 form of log_softmax, as TFLite Micro computes it.

Differences to the row's largest element in Q5.26, their exponentials summed in Q12.19, a logarithm by a quotient of
polynomials (gemmlowp's arithmetic throughout), the result in steps of 1/16 from -16 to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.ir import Node, QuantParams
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, binary, lift
from burnc.kernel.fixed_point import one_over_one_plus_x as reciprocal
from burnc.numerics import (
    count_leading_zeros,
    exp_on_negative_values,
    input_radius,
    multiply_by_quantized_multiplier,
    one_over_one_plus_x,
    quantize_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
)
from burnc.ops.requantize import Integers

RESULT = QuantParams.per_tensor(16 / 256, 127)
DIFFERENCE_BITS = 5
SUM_BITS = 12
LONGEST = 2**SUM_BITS - 1

INT32_MAX = 2**31 - 1
LOG_2 = 1488522236
ROOT_OF_HALF = 1518500250
FOURTH_ROOT_OF_HALF = 1805811301
# 11/240, 1/20, 2/sqrt(2) - 1 and 1/4 times the fourth root of 2, the quotient's coefficients.
ALPHA_N, ALPHA_D, ALPHA_I, ALPHA_F = 117049297, 127690142, 1057819769, 638450708
QUARTER = 2**29 >> 6  # in the Q6.25 that powers of two are counted in


def tables(node: Node) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """For each difference 0 .. 255: minus it in Q5.26, its exponential in Q12.19; and the first that is left out."""
    multiplier, shift = quantize_multiplier(node.input(0).type.scale * 2.0 ** (31 - DIFFERENCE_BITS))
    difference = np.arange(256, dtype=np.int64)
    limit = min(input_radius(DIFFERENCE_BITS, shift), 255)
    scaled = multiply_by_quantized_multiplier(-np.minimum(difference, limit), multiplier, shift, node.rounding)
    powers = rounding_divide_by_pot(exp_on_negative_values(scaled, DIFFERENCE_BITS), SUM_BITS)
    return scaled.astype(np.int32), np.where(difference <= limit, powers, 0).astype(np.int32), limit + 1


def reverse_scaling(node: Node) -> tuple[int, int]:
    """From Q5.26 back to differences."""
    multiplier, shift = quantize_multiplier(node.input(0).type.scale * 2.0 ** (31 - DIFFERENCE_BITS))
    return quantize_multiplier(2.0 ** (31 - shift) / multiplier)


def logarithm(total: Integers) -> Integers:
    """Logarithm of Q12.19, at least 1, in Q5.26. TFLite ``log_x_for_x_greater_than_or_equal_to_1``."""
    zeros = count_leading_zeros(total)
    first = np.minimum(rounding_doubling_high_mul(total << (zeros - 1), ROOT_OF_HALF) << 1, INT32_MAX)
    headroom = count_leading_zeros(rounding_doubling_high_mul(total, ROOT_OF_HALF)) - 1
    second = np.minimum(total << headroom, INT32_MAX)
    power = np.maximum(((SUM_BITS - zeros) << 25) + QUARTER, ((SUM_BITS - headroom) << 25) - QUARTER)
    r = np.minimum(first, second)
    q = 2 * (r - FOURTH_ROOT_OF_HALF)
    square = rounding_doubling_high_mul(q, q)
    cubic = rounding_doubling_high_mul(rounding_doubling_high_mul(q, square), ALPHA_N)
    numerator = rounding_doubling_high_mul(q, r) + cubic
    inner = ALPHA_I + q + rounding_doubling_high_mul(ALPHA_D, square)
    denominator = rounding_doubling_high_mul((r + FOURTH_ROOT_OF_HALF + 1) >> 1, inner)
    denominator = denominator + rounding_doubling_high_mul(ALPHA_F, q)
    fraction = rounding_doubling_high_mul(rounding_divide_by_pot(numerator, 6), one_over_one_plus_x(denominator))
    result: Integers = np.minimum((rounding_doubling_high_mul(power, LOG_2) + fraction) << 1, INT32_MAX)
    return result


def integer(node: Node, x: Integers) -> Integers:
    axis = node.attrs.axis
    scaled, powers, beyond = tables(node)
    values = x.astype(np.int64)
    difference = values.max(axis=axis, keepdims=True) - values
    log_sum = logarithm(powers.astype(np.int64)[difference].sum(axis=axis, keepdims=True))
    reach = multiply_by_quantized_multiplier(log_sum - 2**31, *reverse_scaling(node), node.rounding)
    result = rounding_divide_by_pot(scaled.astype(np.int64)[difference] - log_sum, 22) + RESULT.zero_point[0]
    result = np.where(difference < np.minimum(beyond, -reach), result, -128)
    return np.clip(result, -128, 127).astype(np.int8)


def body(k: KernelBuilder, a: Any, x: Tensor, y: Tensor) -> None:
    axis, length = a.axis % x.type.rank, x.shape[a.axis]
    scaled, powers, beyond = tables(k.node)
    minus, power_of = k.table("scaled", scaled), k.table("exp", powers)
    for indices in k.grid((*x.shape[:axis], *x.shape[axis + 1 :])):
        outer, inner = indices[:axis], indices[axis:]
        largest = k.local("largest", -128)
        for (i,) in k.reduce((length,)):
            largest.set(k.maximum(largest.value, k.cast(x.raw(*outer, i, *inner), INT32)))
        total = k.local("total", 0)
        for (i,) in k.reduce((length,)):
            total += power_of.raw(largest.value - k.cast(x.raw(*outer, i, *inner), INT32))
        log_sum = k.let("log_sum", _logarithm(k, k.let("sum", total.value)))
        reach = k.scale_by_pair(log_sum + (-(2**31)), *reverse_scaling(k.node))
        end = k.let("end", k.minimum(0 - k.let("reach", reach), beyond))
        for (i,) in k.reduce((length,)):
            difference = k.let("difference", largest.value - k.cast(x.raw(*outer, i, *inner), INT32))
            rounded = k.call("rounding_divide_by_pot", minus.raw(difference) - log_sum, 22)
            result = k.minimum(k.maximum(rounded + RESULT.zero_point[0], -128), 127)
            y[*outer, i, *inner] = k.select(difference < end, result, -128)


def _logarithm(k: KernelBuilder, total: Expr) -> Expr:
    def times(a: Expr | int, b: Expr) -> Expr:
        return k.call("rounding_doubling_high_mul", a, b)

    zeros = k.let("zeros", k.call("count_leading_zeros", total))
    first = k.let("first", times(ROOT_OF_HALF, k.call("wrapping_shift_left", total, zeros - 1)))
    first = k.select(first >= 2**30, lift(INT32_MAX, INT32), first * 2)
    headroom = k.let("headroom", k.call("count_leading_zeros", times(ROOT_OF_HALF, total)) - 1)
    room = binary(">>", lift(INT32_MAX, INT32), headroom)
    second = k.select(total > room, lift(INT32_MAX, INT32), k.call("wrapping_shift_left", total, headroom))
    step = 1 << 25
    power = k.let("power", k.maximum((SUM_BITS - zeros) * step + QUARTER, (SUM_BITS - headroom) * step - QUARTER))
    r = k.let("r", k.minimum(k.let("first", first), k.let("second", second)))
    q = k.let("q", (r - FOURTH_ROOT_OF_HALF) * 2)
    square = k.let("square", times(q, q))
    numerator = k.let("numerator", times(q, r) + times(ALPHA_N, times(q, square)))
    inner = q + ALPHA_I + times(ALPHA_D, square)
    # Both are positive and below 2**31, their sum need not be.
    mean = k.let("mean", FOURTH_ROOT_OF_HALF + (r - FOURTH_ROOT_OF_HALF + 1 >> 1))
    denominator = k.let("denominator", times(mean, inner) + times(ALPHA_F, q))
    fraction = times(k.call("rounding_divide_by_pot", numerator, 6), reciprocal(k, denominator))
    half = k.let("half", times(LOG_2, power) + fraction)
    return k.select(half >= 2**30, lift(INT32_MAX, INT32), half * 2)
