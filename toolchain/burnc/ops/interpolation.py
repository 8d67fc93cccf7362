"""Where the points of a resized axis lie among the old ones, and with which weights: the arithmetic behind ``resize``.

Places are exact fractions, so that ties fall where the standard says. Sources: ONNX Resize-19; integer weights are
steps of 1/1024, as TFLite's ``ComputeInterpolationValues`` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


def _linear(distance: Array, a: float) -> Array:
    return np.maximum(0.0, 1.0 - distance)


def _cubic(distance: Array, a: float) -> Array:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


# How much an input counts at a distance, and where that ends.
KERNELS = {"linear": (_linear, 1), "cubic": (_cubic, 2)}


@dataclass(frozen=True)
class Axis:
    """Places [m, taps] and weights [m, taps] along one axis that changes; ``inside`` [m]: results that it makes.

    Weights are float64, or int32 in steps of 1/1024.
    """

    number: int
    places: Array
    weights: Array
    inside: Array = field(default_factory=lambda: np.ones(0, np.bool_))

    @property
    def leaves_out(self) -> bool:
        return not self.inside.all()


@dataclass(frozen=True)
class Interpolation:
    """``mode`` nearest, linear or cubic; ``rounding`` is nearest's, ``cubic`` the coefficient a.

    With ``antialias`` a kernel is as wide as the inputs that fall to one result; with ``exclude_outside`` weights of
    places outside are spread over the others, where the first and last input stand for them otherwise.
    """

    mode: str
    coordinates: str
    rounding: str
    cubic: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False

    def axis(
        self,
        number: int,
        n: int,
        m: int,
        scale: float,
        part: tuple[float, float],
        *,
        integer: bool = False,
        stepped: bool = True,
    ) -> Axis:
        """How m points along an axis are made of n.

        Args:
            scale: as a file gives it, where it may differ from m / n; 0 for that.
            part: from where to where in the input, for ``tf_crop_and_resize``: 0 is the first point, 1 the last.
            integer: weights in steps of 1/1024.
            stepped: integer places are whole numbers of steps, as TFLite counts them, where it has the coordinates.
        """
        exact = Fraction(m, n)
        given = scale not in (0.0, float(np.float32(exact)))
        if self.coordinates == "tf_crop_and_resize":
            at = _in_part(n, m, Fraction(part[0]), Fraction(part[1]))
            inside = np.array([0 <= x <= n - 1 for x in at])
            return Axis(number, *self._taps(n, m, at, min(1.0, float(exact))), inside)
        at = [COORDINATES[self.coordinates](i, Fraction(scale) if given else exact, n, m) for i in range(m)]
        if integer:
            return Axis(number, *self._integer_taps(n, m, at, stepped and not given))
        return Axis(number, *self._taps(n, m, at, min(1.0, scale if given else float(exact))))

    def _taps(self, n: int, m: int, at: Sequence[Fraction], shrinking: float) -> tuple[Array, Array]:
        if self.mode == "nearest":
            places = np.clip([[NEAREST[self.rounding](x)] for x in at], 0, n - 1)
            return places.astype(np.int32), np.ones((m, 1), np.float32)
        if self.mode != "linear" or self.antialias or self.exclude_outside:
            return self._kernel_taps(n, at, shrinking if self.antialias else 1.0)
        inside = [min(max(x, Fraction(0)), Fraction(n - 1)) for x in at]
        low = np.array([math.floor(x) for x in inside])
        upper = np.array([float(x - math.floor(x)) for x in inside])
        places = np.stack([low, np.minimum(low + 1, n - 1)], 1).astype(np.int32)
        return places, np.stack([1 - upper, upper], 1)

    def _kernel_taps(self, n: int, at: Sequence[Fraction], shrinking: float) -> tuple[Array, Array]:
        kernel, reach = KERNELS[self.mode]
        start = math.floor(-reach / shrinking) + 1
        left = np.array([math.ceil(x) - 1 for x in at])
        offsets = np.arange(start, 2 - start)
        beyond = np.array([float(x - math.ceil(x) + 1) for x in at])  # in (0, 1]
        weights = kernel(np.abs(offsets - beyond[:, None]) * shrinking, self.cubic)
        places = left[:, None] + offsets
        if self.exclude_outside:
            weights = np.where((places < 0) | (places >= n), 0.0, weights)
        if self.exclude_outside or self.antialias:
            weights = weights / weights.sum(1, keepdims=True)
        return np.clip(places, 0, n - 1).astype(np.int32), weights

    def _integer_taps(self, n: int, m: int, at: Sequence[Fraction], stepped: bool) -> tuple[Array, Array]:
        """TFLite's, whose step is rounded before it is counted; or the exact ones to the nearest step."""
        step = (ONE * n + m // 2) // m
        if self.coordinates == "align_corners" and m > 1:
            step = (ONE * (n - 1) + (m - 1) // 2) // (m - 1)
        if not stepped or self.coordinates not in ("half_pixel", "asymmetric", "align_corners"):
            place = np.array([math.floor(x * ONE + HALF) for x in at])
        else:
            place = np.arange(m) * step + (step // 2 - ONE // 2 if self.coordinates == "half_pixel" else 0)
        low = np.clip(place // ONE, 0, n - 1)
        upper = np.clip(place - ONE * low, 0, ONE)
        places = np.stack([low, np.minimum(low + 1, n - 1)], 1)
        return places.astype(np.int32), np.stack([ONE - upper, upper], 1).astype(np.int32)


def _in_part(n: int, m: int, start: Fraction, end: Fraction) -> list[Fraction]:
    """Places of m points spread over a part of n, its ends included; of a single one in its middle."""
    if m == 1:
        return [(start + end) * (n - 1) / 2]
    return [start * (n - 1) + i * (end - start) * (n - 1) / (m - 1) for i in range(m)]
