"""Where the points of a resized axis lie among the old ones, and with which weights: the arithmetic behind ``resize``.

Places are exact fractions, so that ties fall where the standard says. Sources: ONNX Resize-19; integer weights are
steps of 1/1024, as TFLite's ``ComputeInterpolationValues`` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from burnc.ir import Array

ONE = 1024  # the integer form's weight of 1
HALF = Fraction(1, 2)

# Place of result i among the inputs. Scale is outputs over inputs, n and m are the numbers of inputs and outputs.
COORDINATES: dict[str, Callable[[int, Fraction, int, int], Fraction]] = {
    "half_pixel": lambda i, scale, n, m: (i + HALF) / scale - HALF,
    "half_pixel_symmetric": lambda i, scale, n, m: (n - m / scale) / 2 + (i + HALF) / scale - HALF,
    "pytorch_half_pixel": lambda i, scale, n, m: (i + HALF) / scale - HALF if m > 1 else Fraction(0),
    "align_corners": lambda i, scale, n, m: Fraction(i * (n - 1), m - 1) if m > 1 else Fraction(0),
    "asymmetric": lambda i, scale, n, m: i / scale,
}
NEAREST: dict[str, Callable[[Fraction], int]] = {
    "round_prefer_floor": lambda x: math.ceil(x - HALF),
    "round_prefer_ceil": lambda x: math.floor(x + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
}


@dataclass(frozen=True)
class Axis:
    """Places [m, taps] and weights [m, taps] along one axis that changes."""

    number: int
    places: Array
    weights: Array


@dataclass(frozen=True)
class Interpolation:
    """``mode`` nearest or linear; ``rounding`` is nearest's."""

    mode: str
    coordinates: str
    rounding: str

    def taps(self, n: int, m: int, scale: float, *, integer: bool = False) -> tuple[Array, Array]:
        """Places and weights of m points among n: one tap for nearest, two for linear.

        Args:
            scale: as a file gives it, where it may differ from m / n; 0 for that.
            integer: weights in steps of 1/1024.
        """
        exact = Fraction(m, n)
        given = scale not in (0.0, float(np.float32(exact)))
        at = [COORDINATES[self.coordinates](i, Fraction(scale) if given else exact, n, m) for i in range(m)]
        if self.mode == "nearest":
            places = np.clip([[NEAREST[self.rounding](x)] for x in at], 0, n - 1)
            return places.astype(np.int32), np.ones((m, 1), np.float32)
        if integer:
            return self._integer_taps(n, m, at, given)
        inside = [min(max(x, Fraction(0)), Fraction(n - 1)) for x in at]
        low = np.array([math.floor(x) for x in inside])
        upper = np.array([x - math.floor(x) for x in inside], np.float32)
        places = np.stack([low, np.minimum(low + 1, n - 1)], 1).astype(np.int32)
        return places, np.stack([1 - upper, upper], 1).astype(np.float32)

    def _integer_taps(self, n: int, m: int, at: Sequence[Fraction], given: bool) -> tuple[Array, Array]:
        """TFLite's; where it has no such coordinates, the exact ones to the nearest step."""
        step = (ONE * n + m // 2) // m
        if self.coordinates == "align_corners" and m > 1:
            step = (ONE * (n - 1) + (m - 1) // 2) // (m - 1)
        if given or self.coordinates not in ("half_pixel", "asymmetric", "align_corners"):
            place = np.array([math.floor(x * ONE + HALF) for x in at])
        else:
            place = np.arange(m) * step + (step // 2 - ONE // 2 if self.coordinates == "half_pixel" else 0)
        low = np.clip(place // ONE, 0, n - 1)
        upper = np.clip(place - ONE * low, 0, ONE)
        places = np.stack([low, np.minimum(low + 1, n - 1)], 1)
        return places.astype(np.int32), np.stack([ONE - upper, upper], 1).astype(np.int32)
