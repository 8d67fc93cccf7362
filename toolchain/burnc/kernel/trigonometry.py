"""Functions of angles in KernelIR's float arithmetic, for every renderer; after the Cephes library's single precision.

The sine is within 1e-7 for |x| < 8192, beyond that the quarter turns' rounding shows; NaN for infinities.
"""

from __future__ import annotations

import math

from burnc.errors import GraphError
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder
from burnc.kernel.expr import Expr, lift

PI = math.pi

# pi / 2 in three parts, the first two short enough for products with the number of quarter turns to be exact.
QUARTER_TURN = (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8)
INVERSE = 0.63661977236758134308


def sine(k: KernelBuilder, x: Expr, quarters: int = 0) -> Expr:
    """sin(x + quarters * pi / 2): with one quarter turn, the cosine."""
    single(x)
    turns = k.let("turns", k.call("round_half_even", x * INVERSE))
    rest = x
    for part in QUARTER_TURN:
        rest = rest - turns * part
    rest = k.let("rest", rest)
    z = k.let("z", rest * rest)
    odd = k.let("odd", rest + rest * z * (z * (z * -1.9515295891e-4 + 8.3321608736e-3) + -1.6666654611e-1))
    tail = z * (z * 2.443315711809948e-5 + -1.388731625493765e-3) + 4.166664568298827e-2
    even = k.let("even", (z * z * tail - z * 0.5) + 1.0)
    shifted = turns + float(quarters)
    quadrant = k.let("quadrant", shifted - k.call("floor", shifted * 0.25) * 4.0)
    is_even = quadrant.eq(1.0) | quadrant.eq(3.0)
    size = k.let("size", k.select(is_even, even, odd))
    return k.select(quadrant < 2.0, size, -size)


def tangent(k: KernelBuilder, x: Expr) -> Expr:
    """tan(x), within 4 ulp for |x| < pi / 2; farther out the turns' rounding shows beside zeros and poles."""
    single(x)
    turns = k.let("turns", k.call("round_half_even", x * INVERSE))
    rest = x
    for part in QUARTER_TURN:
        rest = rest - turns * part
    rest = k.let("rest", rest)
    z = k.let("z", rest * rest)
    tail = polynomial(
        z, 3.33331568548e-1, 1.33387994085e-1, 5.34112807005e-2, 2.44301354525e-2, 3.11992232697e-3, 9.38540185543e-3
    )
    size = k.let("size", rest + rest * (z * tail))
    half = turns * 0.5
    is_odd = half.ne(k.call("floor", half))
    return k.select(is_odd, -1.0 / size, size)


def arc_tangent(k: KernelBuilder, x: Expr) -> Expr:
    """atan(x), within 3 ulp."""
    size = k.let("size", magnitude(k, x))
    is_large, is_middle = size > 2.414213562373095, size > 0.4142135623730950
    middle = (size - 1.0) / (size + 1.0)
    reduced = k.let("reduced", k.select(is_large, -1.0 / size, k.select(is_middle, middle, size)))
    z = k.let("z", reduced * reduced)
    tail = z * polynomial(z, -3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
    begin = k.select(is_large, lift(PI / 2, FLOAT32), k.select(is_middle, PI / 4, lift(0.0, FLOAT32)))
    return signed(k, begin + (reduced * tail + reduced), x)


def arc_sine(k: KernelBuilder, x: Expr) -> Expr:
    """asin(x), within 3 ulp; NaN beyond 1."""
    size = k.let("size", magnitude(k, x))
    inner = _arc_sine_of_half(k, size)
    return signed(k, k.select(size > 0.5, PI / 2 - 2.0 * inner, inner), x)


def arc_cosine(k: KernelBuilder, x: Expr) -> Expr:
    """acos(x), within 2 ulp; NaN beyond 1."""
    size = k.let("size", magnitude(k, x))
    inner = _arc_sine_of_half(k, size)
    is_negative = x < 0.0
    outer = k.select(is_negative, PI - 2.0 * inner, 2.0 * inner)
    return k.select(size > 0.5, outer, PI / 2 - k.select(is_negative, -inner, inner))


def _arc_sine_of_half(k: KernelBuilder, size: Expr) -> Expr:
    """The asin of a number up to 1/2; of a larger one asin(sqrt((1 - size) / 2)), half of what is missing to pi / 2."""
    is_large = size > 0.5
    rest = (1.0 - size) * 0.5
    z = k.let("z", k.select(is_large, rest, size * size))
    # A square root of a negative number is a NaN that not all targets promise.
    root = k.select(size > 1.0, lift(math.nan, FLOAT32), k.call("sqrt", k.maximum(rest, 0.0)))
    reduced = k.let("reduced", k.select(is_large, root, size))
    tail = polynomial(z, 1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2, 2.4181311049e-2, 4.2163199048e-2)
    return k.let("inner", reduced + reduced * (z * tail))


def single(x: Expr) -> None:
    """Raises GraphError where a function's numbers are not those of x's element type."""
    if x.dtype is not FLOAT32:
        raise GraphError(f"there are no angles of {x.dtype.value}")


def polynomial(x: Expr, *coefficients: float) -> Expr:
    """c0 + c1 x + c2 x^2 + ..., by Horner's rule."""
    total: Expr | float = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = x * total + coefficient
    assert isinstance(total, Expr)
    return total


def magnitude(k: KernelBuilder, x: Expr) -> Expr:
    """|x|, of zero and NaN too."""
    return k.call("bitcast_float32", k.call("bitcast_int32", x, dtype=INT32) & 0x7FFFFFFF, dtype=FLOAT32)


def signed(k: KernelBuilder, size: Expr, x: Expr) -> Expr:
    """A number that is not negative, with the sign of x."""
    bits = k.call("bitcast_int32", size, dtype=INT32) | (k.call("bitcast_int32", x, dtype=INT32) & -(2**31))
    return k.call("bitcast_float32", bits, dtype=FLOAT32)
