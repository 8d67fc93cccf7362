"""Sine in KernelIR's float arithmetic, for every renderer; after the Cephes library's ``sinf``.

Within 1e-7 for |x| < 8192, beyond that the quarter turns' rounding shows; NaN for infinities.
"""

from __future__ import annotations

from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr

# pi / 2 in three parts, the first two short enough for products with the number of quarter turns to be exact.
QUARTER_TURN = (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8)
INVERSE = 0.63661977236758134308


def sine(k: KernelBuilder, x: Expr, quarters: int = 0) -> Expr:
    """sin(x + quarters * pi / 2): with one quarter turn, the cosine."""
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
