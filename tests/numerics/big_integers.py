"""Fixed-point arithmetic in Python's own integers, after gemmlowp's and TFLite's definitions; no numpy."""

from __future__ import annotations

from fractions import Fraction

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def half_away(value: Fraction) -> int:
    """The nearest integer; halves away from zero."""
    whole = abs(value) + Fraction(1, 2)
    magnitude = whole.numerator // whole.denominator
    return magnitude if value >= 0 else -magnitude


def half_up(value: Fraction) -> int:
    shifted = value + Fraction(1, 2)
    return shifted.numerator // shifted.denominator


def half_even(value: Fraction) -> int:
    return round(value)


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def saturated(value: int) -> int:
    return min(max(value, INT32_MIN), INT32_MAX)


def doubling_high_multiply(a: int, b: int) -> int:
    """Gemmlowp SaturatingRoundingDoublingHighMul: nudge by the sign, then C's division, which truncates."""
    if a == b == INT32_MIN:
        return INT32_MAX
    product = a * b
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def divide_by_power(x: int, exponent: int) -> int:
    return half_away(Fraction(x, 2**exponent))


def requantized(x: int, multiplier: int, shift: int) -> int:
    """TFLM MultiplyByQuantizedMultiplier, two roundings."""
    left, right = max(shift, 0), max(-shift, 0)
    return divide_by_power(doubling_high_multiply(wrapped(x * 2**left), multiplier), right)


def requantized_once(x: int, multiplier: int, shift: int) -> int:
    return wrapped(half_up(Fraction(x * multiplier, 2 ** (31 - shift))))


def requantized_wide(x: int, multiplier: int, shift: int) -> int:
    """TFLM MultiplyByQuantizedMultiplier of an int64: the multiplier rounded to 15 bits, one rounding."""
    reduced = 0x7FFF if multiplier >= 0x7FFF0000 else half_up(Fraction(multiplier, 2**16))
    return wrapped(half_up(Fraction(x * reduced, 2 ** (15 - shift))))


def exp_between(a: int) -> int:
    """Gemmlowp exp_on_interval_between_negative_one_quarter_and_0_excl, Q0.31."""
    x = wrapped(a + 2**28)
    x2 = doubling_high_multiply(x, x)
    x3 = doubling_high_multiply(x2, x)
    x4 = doubling_high_multiply(x2, x2)
    inner = divide_by_power(doubling_high_multiply(divide_by_power(x4, 2) + x3, 715827883) + x2, 1)
    return wrapped(1895147668 + doubling_high_multiply(1895147668, x + inner))


EXP_OF_POWERS = (
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)


def exp_of_negative(a: int, integer_bits: int) -> int:
    """Gemmlowp exp_on_negative_values, Q(integer_bits) to Q0.31."""
    if a == 0:
        return INT32_MAX
    fraction = 31 - integer_bits
    quarter = 2 ** (fraction - 2)
    rest = a % quarter - quarter
    result = exp_between(saturated(rest * 2**integer_bits))
    remainder = rest - a
    for exponent, factor in EXP_OF_POWERS:
        if integer_bits > exponent and remainder & 2 ** (fraction + exponent):
            result = doubling_high_multiply(result, factor)
    if integer_bits > 5 and a < -(2 ** (36 - integer_bits)):
        return 0
    return result


def reciprocal_of_one_plus(a: int) -> int:
    """Gemmlowp one_over_one_plus_x_for_x_in_0_1, Q0.31."""
    half = half_away(Fraction(a + INT32_MAX, 2))
    x = wrapped(1515870810 + doubling_high_multiply(half, -1010580540))
    for _ in range(3):
        error = wrapped(2**29 - doubling_high_multiply(half, x))
        x = wrapped(x + saturated(doubling_high_multiply(x, error) * 4))
    return saturated(x * 2)
