"""Functions of float64 in KernelIR's own arithmetic: the runtime's functions are of single precision.

exp, log and sqrt are within 2 units in the last place. floor and the roundings are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from burnc.ir import DType
from burnc.kernel.expr import Expr, Scalar, lift

FLOAT64, INT32, INT64 = DType.FLOAT64, DType.INT32, DType.INT64

# log(2) in two parts; products of the first one with exponents are exact.
LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
MANTISSA_BITS = 52
BIAS = 1023
ONE_BITS = BIAS << MANTISSA_BITS
WHOLE = 2.0**52
"""From here on every double is a whole number."""


class Tracing(Protocol):
    """What these functions need of the kernel that is built."""

    def let(self, name: str, value: Expr) -> Expr: ...

    def select(self, condition: Expr, a: Expr | Scalar, b: Expr | Scalar) -> Expr: ...

    def cast(self, value: Expr, dtype: DType) -> Expr: ...

    def call(self, name: str, *args: Expr | Scalar, dtype: DType | None = None) -> Expr: ...


def exp(k: Tracing, x: Expr) -> Expr:
    """X = n log 2 + r: a Taylor series of r, times 2**n in two steps, as n may lie beyond the exponents."""
    inside = k.let("inside", (x > -746.0) & (x < 710.0))
    safe = k.let("safe", k.select(inside, x, 0.0))
    turned = safe * (1 / math.log(2))
    n = k.let("n", k.cast(turned + k.select(safe < 0.0, lift(-0.5, FLOAT64), 0.5), INT32))
    r = k.let("r", (safe - k.cast(n, FLOAT64) * LN2[0]) - k.cast(n, FLOAT64) * LN2[1])
    series = k.let("series", _horner(r, [1 / math.factorial(i) for i in range(14)]))
    half = k.let("half", n >> 1)
    result = series * _power_of_two(k, half) * _power_of_two(k, n - half)
    beyond = k.select(x > 0.0, lift(math.inf, FLOAT64), k.select(x < 0.0, lift(0.0, FLOAT64), x))
    return k.select(inside, result, beyond)


def log(k: Tracing, x: Expr) -> Expr:
    """X = 2**e m with m around 1: log m = 2 atanh((m - 1) / (m + 1)), a series of odd powers."""
    is_denormal = k.let("is_denormal", x < 2.0**-1022)
    bits = k.let("bits", k.call("bitcast_int64", k.select(is_denormal, x * 2.0**54, x), dtype=INT64))
    begin = k.let("begin", k.call("bitcast_float64", (bits & (2**MANTISSA_BITS - 1)) | ONE_BITS, dtype=FLOAT64))
    is_large = k.let("is_large", begin > math.sqrt(2))
    m = k.let("m", k.select(is_large, begin * 0.5, begin))
    shift = k.select(is_denormal, lift(-BIAS - 54, INT64), -BIAS) + k.select(is_large, lift(1, INT64), 0)
    e = k.let("e", k.cast((bits >> MANTISSA_BITS) + shift, FLOAT64))
    s = k.let("s", (m - 1.0) / (m + 1.0))
    z = k.let("z", s * s)
    tail = s * 2.0 * (z * _horner(z, [1 / (2 * i + 3) for i in range(12)]))
    result = e * LN2[0] + (s * 2.0 + (tail + e * LN2[1]))
    special = k.select(x.eq(0.0), lift(-math.inf, FLOAT64), k.select(x < 0.0, lift(math.nan, FLOAT64), x))
    return k.select((x > 0.0) & (x < math.inf), result, special)


def sqrt(k: Tracing, x: Expr) -> Expr:
    """Half the exponent for a start, then Newton's rule, which doubles the digits each time."""
    is_denormal = k.let("is_denormal", x < 2.0**-1022)
    inside = k.let("inside", (x > 0.0) & (x < math.inf))
    scaled = k.let("scaled", k.select(inside, k.select(is_denormal, x * 2.0**54, x), 1.0))
    bits = k.call("bitcast_int64", scaled, dtype=INT64)
    root = k.let("root", k.call("bitcast_float64", (bits >> 1) + (ONE_BITS >> 1), dtype=FLOAT64))
    for _ in range(4):
        root = k.let("root", (root + scaled / root) * 0.5)
    special = k.select(x < 0.0, lift(math.nan, FLOAT64), x)
    return k.select(inside, root * k.select(is_denormal, lift(2.0**-27, FLOAT64), 1.0), special)


def floor(k: Tracing, x: Expr) -> Expr:
    whole = _truncated(k, x)
    return _where_broken(k, x, k.select(whole > x, whole - 1.0, whole))


def round_half_away(k: Tracing, x: Expr) -> Expr:
    whole = _truncated(k, x)
    one = k.select(x < 0.0, lift(-1.0, FLOAT64), 1.0)
    rest = x - whole
    return _where_broken(k, x, k.select((rest >= 0.5) | (rest <= -0.5), whole + one, whole))


def round_half_even(k: Tracing, x: Expr) -> Expr:
    """Adding 2**52 leaves no place for what is behind the point; the addition itself rounds."""
    raised = k.let("raised", x + k.select(x < 0.0, lift(-WHOLE, FLOAT64), WHOLE))
    return _where_broken(k, x, raised - k.select(x < 0.0, lift(-WHOLE, FLOAT64), WHOLE))


FUNCTIONS: dict[str, Callable[[Tracing, Expr], Expr]] = {
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "floor": floor,
    "round_half_away": round_half_away,
    "round_half_even": round_half_even,
}
NARROW = ("tanh", "erf", "bitcast_int32")
"""What there is for float32 alone."""


def _truncated(k: Tracing, x: Expr) -> Expr:
    """X toward zero, where it is below 2**52."""
    return k.let("whole", k.cast(k.cast(k.select(_is_broken(x), x, 0.0), INT64), FLOAT64))


def _is_broken(x: Expr) -> Expr:
    return (x > -WHOLE) & (x < WHOLE)


def _where_broken(k: Tracing, x: Expr, rounded: Expr) -> Expr:
    """The rounded number with the sign of x, which zero has too; what is whole anyway, or NaN, is left as it is."""
    bits = k.call("bitcast_int64", rounded, dtype=INT64) | (k.call("bitcast_int64", x, dtype=INT64) & -(2**63))
    return k.select(_is_broken(x), k.call("bitcast_float64", bits, dtype=FLOAT64), x)


def _power_of_two(k: Tracing, n: Expr) -> Expr:
    return k.call("bitcast_float64", k.cast(n + BIAS, INT64) << MANTISSA_BITS, dtype=FLOAT64)


def _horner(x: Expr, coefficients: list[float]) -> Expr:
    total = lift(coefficients[-1], FLOAT64)
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total
