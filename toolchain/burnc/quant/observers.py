"""What is remembered of a tensor's values while calibrating, and the int8 parameters that follow from it.

Sources: TFLite's quantization specification (int8, asymmetric activations, real 0 exact); the percentile and mean
squared error criteria of Wu et al., "Integer Quantization for Deep Learning Inference", 2020.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import QuantizationError
from burnc.ir import Array, QuantParams

LEVELS = 255  # steps between -128 and 127
SMALLEST_SCALE = float(np.finfo(np.float32).tiny)
LARGEST_SCALE = float(np.finfo(np.float32).max)
BINS = 4096


@dataclass(frozen=True)
class Range:
    """The real values that a tensor's quantized form must be able to hold."""

    low: float
    high: float

    def __or__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


def params(low: float, high: float) -> QuantParams:
    """int8 parameters, one pair for a whole tensor, for real values between ``low`` and ``high``.

    The range is widened to hold 0, and 0 is one of the 256 values exactly, so that zero padding and ReLU lose nothing.
    The scale is a normal float32. A tensor that is 0 throughout gets the range 0 .. 1: any would do, this one keeps the
    scales that are derived from it moderate.

    Raises:
        QuantizationError: a limit is NaN or infinite.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        raise QuantizationError(f"a range of {low} to {high} cannot be quantized")
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        high = 1.0
    scale = float(np.float32(min(max((high - low) / LEVELS, SMALLEST_SCALE), LARGEST_SCALE)))
    zero_point = min(max(round(-128 - low / scale), -128), 127)
    return QuantParams.per_tensor(scale, zero_point)


class Observer(ABC):
    """Sees the values of one tensor, batch after batch."""

    def __init__(self) -> None:
        self.low = math.inf
        self.high = -math.inf

    def observe(self, values: Array) -> None:
        """Take a batch of values into account.

        Raises:
            QuantizationError: a value is NaN or infinite.
        """
        if not values.size:
            return
        if not np.isfinite(values).all():
            raise QuantizationError("a value is NaN or infinite")
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        self._count(np.asarray(values, np.float64).reshape(-1))

    def range(self) -> Range:
        """The range to quantize for; it holds 0.

        Raises:
            QuantizationError: nothing has been observed.
        """
        if self.low > self.high:
            raise QuantizationError("no value has been observed")
        chosen = self._chosen()
        return Range(min(chosen.low, 0.0), max(chosen.high, 0.0))

    @abstractmethod
    def _count(self, values: NDArray[np.float64]) -> None:
        """Remember more of the values than their limits, where the observer needs it."""

    @abstractmethod
    def _chosen(self) -> Range: ...


class MinMax(Observer):
    """The smallest and the largest value seen: nothing seen is ever clipped."""

    def _count(self, values: NDArray[np.float64]) -> None:
        pass

    def _chosen(self) -> Range:
        return Range(self.low, self.high)


class _HistogramObserver(Observer):
    """Counts values in bins whose width is a power of two, at multiples of it.

    When the bins do not reach far enough, the width is doubled and bins are joined in pairs, which is exact. So the
    result depends on the values seen and not on how they came in batches. Zeros, which quantize exactly, are counted
    apart.
    """

    def __init__(self) -> None:
        super().__init__()
        self._exponent = -1074
        self._first = 0  # the index of the first bin
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.zeros = 0

    def _count(self, values: NDArray[np.float64]) -> None:
        present = values[values != 0]
        self.zeros += values.size - present.size
        if not present.size:
            return
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        exponent = self._exponent
        while _bin(high, exponent) - _bin(low, exponent) >= BINS:
            # The first guess is close below the answer, so that this loop is short.
            guess = math.frexp(high - low)[1] - BINS.bit_length() - 1
            exponent = max(exponent + 1, guess)
        first, last = _bin(low, exponent), _bin(high, exponent)
        counts = np.zeros(last - first + 1, np.int64)
        held = np.flatnonzero(self._counts)
        if held.size:
            shift = exponent - self._exponent
            moved = [((self._first + int(i)) >> shift) - first for i in held]
            np.add.at(counts, moved, self._counts[held])
        indices = np.floor(np.ldexp(present, -exponent)).astype(np.int64) - first
        counts += np.bincount(indices, minlength=counts.size)
        self._exponent, self._first, self._counts = exponent, first, counts

    def centres(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The middle of each bin that holds something, and how many values it holds."""
        held = np.flatnonzero(self._counts)
        middle = np.ldexp((self._first + held + 0.5).astype(np.float64), self._exponent)
        return np.clip(middle, self.low, self.high), self._counts[held]


def _bin(value: float, exponent: int) -> int:
    """floor(value / 2**exponent) for any exponent, in integers."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << -exponent) // denominator if exponent < 0 else numerator // (denominator << exponent)


class Percentile(_HistogramObserver):
    """The range that holds ``percent`` of the values; half of the rest is clipped at either end.

    Args:
        percent: above 0, at most 100.

    Raises:
        QuantizationError: ``percent`` lies outside.
    """

    def __init__(self, percent: float = 99.99) -> None:
        super().__init__()
        if not 0 < percent <= 100:
            raise QuantizationError(f"a percentile of {percent} is not between 0 and 100")
        self.percent = percent

    def _chosen(self) -> Range:
        centres, counts = self.centres()
        if self.zeros:
            at = int(np.searchsorted(centres, 0.0))
            centres, counts = np.insert(centres, at, 0.0), np.insert(counts, at, self.zeros)
        cut = counts.sum() * (1 - self.percent / 100) / 2
        below = np.cumsum(counts)
        above = np.cumsum(counts[::-1])
        low, high = int(np.searchsorted(below, cut, side="right")), int(np.searchsorted(above, cut, side="right"))
        last = len(centres) - 1
        return Range(
            self.low if low == 0 else float(centres[low]),
            self.high if high == 0 else float(centres[last - high]),
        )


class MeanSquaredError(_HistogramObserver):
    """The range with the least expected squared error: rounding inside against clipping outside.

    Either end is searched in steps of a 128th of its extent, in turns, until neither moves.
    """

    STEPS = 128

    def _chosen(self) -> Range:
        centres, counts = self.centres()
        ends = [min(self.low, 0.0), max(self.high, 0.0)]
        fractions = [self.STEPS, self.STEPS]

        def error(candidate: list[int]) -> float:
            low, high = (end * f / self.STEPS for end, f in zip(ends, candidate, strict=True))
            step = (high - low) / LEVELS
            clipped = np.minimum(centres - low, 0.0) + np.maximum(centres - high, 0.0)
            squares: Any = np.where(clipped == 0, step * step / 12, clipped * clipped)
            return float(squares @ counts)

        best, moved = error(fractions), centres.size > 1
        while moved:
            moved = False
            for end in (0, 1):
                for fraction in range(1, self.STEPS + 1):
                    candidate = [*fractions]
                    candidate[end] = fraction
                    found = error(candidate)
                    if found < best:
                        best, fractions, moved = found, candidate, True
        return Range(*(end * f / self.STEPS for end, f in zip(ends, fractions, strict=True)))


OBSERVERS: dict[str, Callable[[], Observer]] = {"min-max": MinMax, "percentile": Percentile, "mse": MeanSquaredError}
