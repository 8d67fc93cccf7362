"""Integer arithmetic on int32 values held in int64 arrays, so that no intermediate can overflow.

Definitions follow gemmlowp's fixedpoint.h and TFLite Micro's ``MultiplyByQuantizedMultiplier``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Int64 = NDArray[np.int64]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def _int64(values: ArrayLike) -> Int64:
    return np.asarray(values, dtype=np.int64)


def wrap_int32(values: ArrayLike) -> Int64:
    """The value that a 32-bit two's complement register would hold."""
    return ((_int64(values) + 2**31) & 0xFFFFFFFF) - 2**31


def rounding_doubling_high_mul(a: ArrayLike, b: ArrayLike) -> Int64:
    """Return a * b / 2**31, rounded, halves up; (-2**31)**2 saturates. gemmlowp SaturatingRoundingDoublingHighMul."""
    a, b = _int64(a), _int64(b)
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    # Division truncates toward zero, as C's does.
    quotient = np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))
    return np.where((a == b) & (a == INT32_MIN), INT32_MAX, quotient)


def rounding_divide_by_pot(x: ArrayLike, exponent: ArrayLike) -> Int64:
    """round(x / 2**exponent), halves away from zero; exponent in 0..31. gemmlowp RoundingDivideByPOT."""
    x, exponent = _int64(x), _int64(exponent)
    mask = (np.int64(1) << exponent) - 1
    remainder = x & mask
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + (remainder > threshold)


def multiply_by_quantized_multiplier(
    x: ArrayLike, multiplier: ArrayLike, shift: ArrayLike, rounding: str = "tflm"
) -> Int64:
    """Multiply x by multiplier * 2**(shift - 31) and round.

    Args:
        x: int32 values.
        multiplier: int32 values, 0 or in 2**30 .. 2**31 - 1.
        shift: powers of two in -31..30; positive ones are applied before the multiplication, modulo 2**32.
        rounding: ``tflm`` rounds twice (the high multiply, then the shift); ``single`` rounds once, halves up
            (TFLite's ``TFLITE_SINGLE_ROUNDING``).
    """
    x, multiplier, shift = _int64(x), _int64(multiplier), _int64(shift)
    if rounding == "single":
        total = 31 - shift
        return wrap_int32((x * multiplier + (np.int64(1) << (total - 1))) >> total)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    return rounding_divide_by_pot(rounding_doubling_high_mul(wrap_int32(x << left), multiplier), right)


def reduced_multiplier(multiplier: ArrayLike) -> Int64:
    """A 31-bit multiplier rounded to 15 bits, for 64-bit sums."""
    multiplier = _int64(multiplier)
    return np.where(multiplier < 0x7FFF0000, (multiplier + (1 << 15)) >> 16, 0x7FFF)


def multiply_wide_by_quantized_multiplier(x: ArrayLike, multiplier: ArrayLike, shift: ArrayLike) -> Int64:
    """Multiply 64-bit x by multiplier * 2**(shift - 31), rounded once, halves up; the low 32 bits of that.

    TFLM ``MultiplyByQuantizedMultiplier(int64_t, …)``: |x| < 2**47, shift in -31 .. 7, a multiplier of 15 bits.
    """
    total = 15 - _int64(shift)
    return wrap_int32((_int64(x) * reduced_multiplier(multiplier) + (np.int64(1) << (total - 1))) >> total)


def count_leading_zeros(x: ArrayLike) -> Int64:
    """Leading zero bits of a 32-bit pattern; 32 for zero."""
    bits = _int64(x) & 0xFFFFFFFF
    # frexp is exact here: 32 bits fit a float64.
    return 32 - np.frexp(bits.astype(np.float64))[1].astype(np.int64)


def _saturating_shift_left(x: Int64, exponent: int) -> Int64:
    result: Int64 = np.clip(x << exponent, INT32_MIN, INT32_MAX)
    return result


_LN2_POWERS = (
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)  # round(exp(-2**k) * 2**31)


HALF_ROOT_OF_TWO = 1518500250  # Q0.31


def exp_on_negative_values(x: ArrayLike, integer_bits: int = 5) -> Int64:
    """exp(x) for x <= 0 in Q(integer_bits), as Q0.31. gemmlowp ``exp_on_negative_values``."""
    x = _int64(x)
    fractional_bits = 31 - integer_bits
    quarter = np.int64(1) << (fractional_bits - 2)
    modulo = (x & (quarter - 1)) - quarter
    result = _exp_between_negative_quarter_and_zero(modulo << integer_bits)
    remainder = modulo - x
    for exponent, factor in _LN2_POWERS:
        if integer_bits > exponent:
            bit = np.int64(1) << (fractional_bits + exponent)
            result = np.where(remainder & bit, rounding_doubling_high_mul(result, factor), result)
    if integer_bits > 5:
        # Below -32 no factor is left to multiply by; the result is less than half of the last place.
        result = np.where(x < -(np.int64(1) << (36 - integer_bits)), 0, result)
    return np.where(x == 0, INT32_MAX, result)


def _exp_between_negative_quarter_and_zero(a: Int64) -> Int64:
    """A degree-4 Taylor polynomial around -1/8; Q0.31 in and out."""
    x = wrap_int32(a + (1 << 28))
    x2 = rounding_doubling_high_mul(x, x)
    x3 = rounding_doubling_high_mul(x2, x)
    x4 = rounding_doubling_high_mul(x2, x2)
    x4_over_4 = rounding_divide_by_pot(x4, 2)
    cubic = rounding_doubling_high_mul(x4_over_4 + x3, 715827883)  # 1/3
    tail = rounding_divide_by_pot(cubic + x2, 1)
    return wrap_int32(1895147668 + rounding_doubling_high_mul(1895147668, x + tail))  # exp(-1/8)


def one_over_one_plus_x(a: ArrayLike) -> Int64:
    """1 / (1 + a) for a in [0, 1), Q0.31. gemmlowp ``one_over_one_plus_x_for_x_in_0_1``."""
    return _saturating_shift_left(_reciprocal_of_half(a), 1)


def _reciprocal_of_half(a: ArrayLike) -> Int64:
    """2 / (1 + a) for a in [0, 1), Q0.31 in, Q2.29 out: three Newton steps."""
    a = _int64(a)
    half_denominator = (a + INT32_MAX + 1) >> 1  # RoundingHalfSum: both are non-negative
    x = 1515870810 + rounding_doubling_high_mul(half_denominator, -1010580540)  # 48/17 - 32/17 d, in Q2.29
    for _ in range(3):
        error = (1 << 29) - rounding_doubling_high_mul(half_denominator, x)
        x = x + _saturating_shift_left(rounding_doubling_high_mul(x, error), 2)
    return x


def one_minus_x_over_one_plus_x(a: ArrayLike) -> Int64:
    """(1 - a) / (1 + a) for a in [0, 1), Q0.31. gemmlowp ``one_minus_x_over_one_plus_x_for_x_in_0_1``."""
    return _saturating_shift_left(_reciprocal_of_half(a) - (1 << 29), 2)


def logistic(a: ArrayLike, integer_bits: int) -> Int64:
    """Sigmoid of Q(integer_bits) as Q0.31. gemmlowp ``logistic``."""
    a = _int64(a)
    positive = one_over_one_plus_x(exp_on_negative_values(-np.abs(a), integer_bits))
    return np.where(a == 0, 1 << 30, np.where(a > 0, positive, INT32_MAX - positive))


def fixed_point_tanh(a: ArrayLike, integer_bits: int) -> Int64:
    """Tanh of Q(integer_bits) as Q0.31. gemmlowp ``tanh``."""
    a = _int64(a)
    # The same bits read with one integer bit more are twice the number.
    result = one_minus_x_over_one_plus_x(exp_on_negative_values(-np.abs(a), integer_bits + 1))
    return np.where(a == 0, 0, np.where(a < 0, -result, result))


def inverse_square_root(x: ArrayLike) -> tuple[Int64, Int64]:
    """(multiplier, shift) of 1 / sqrt(x). TFLite ``GetInvSqrtQuantizedMultiplierExp``: five Newton steps in Q3.28."""
    given = _int64(x)
    x = np.maximum(given, 2)
    shift = np.full(x.shape, 11)
    while (x >= 1 << 29).any():
        shift = shift + (x >= 1 << 29)
        x = np.where(x >= 1 << 29, x // 4, x)
    pairs = (count_leading_zeros(x) - 1) // 2 - 1
    shift = shift - pairs
    half = rounding_divide_by_pot((x << 2 * pairs) >> 1, 1)
    root = np.full(x.shape, 1 << 28, np.int64)
    for _ in range(5):
        cube = rounding_doubling_high_mul(rounding_doubling_high_mul(root, root), root)
        cube = _saturating_shift_left(cube, 6)
        step = rounding_doubling_high_mul((1 << 28) + (1 << 27), root) - rounding_doubling_high_mul(half, cube)
        root = _saturating_shift_left(step, 3)
    multiplier = rounding_doubling_high_mul(root, HALF_ROOT_OF_TWO)
    multiplier = multiplier << np.maximum(-shift, 0)
    is_one = given <= 1
    return np.where(is_one, INT32_MAX, multiplier), np.where(is_one, 0, -np.maximum(shift, 0))
