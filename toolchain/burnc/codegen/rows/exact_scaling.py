"""TFLM's requantization as two 32-bit multiplies, proven for every accumulator (docs/kernels.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from burnc.numerics import multiply_by_quantized_multiplier

Int64 = npt.NDArray[np.int64]

_MOST_PLACES = 16
_LEVEL_BITS = 24  # a level, 0..255, stands in the uppermost byte


@dataclass(frozen=True)
class ExactScaling:
    """For each channel t = clamp(acc + offset, 0, limit), and an int8's bits from t, all modulo 2**32.

    They are (t * multiplier + (t * fraction >> places) + rounding - (step if t < zero else 0)) >> 24. ``zero`` is where
    the accumulator is 0, and ``step`` what TFLM's rounding of halves away from zero differs by there; one that needs no
    such step has ``step`` 0 everywhere.
    """

    offset: Int64
    limit: Int64
    multiplier: Int64
    fraction: Int64
    places: Int64
    rounding: Int64
    zero: Int64
    step: Int64


def fit_exact_scaling(
    multiplier: Int64, shift: Int64, zero_point: int, low: int, high: int, least: Int64, most: Int64,
    *, signed: bool,
) -> ExactScaling | None:  # fmt: skip
    """Constants that give clamp(requantize(acc, multiplier, shift) + zero_point, low, high) for every accumulator.

    Both sides only ever grow with the accumulator, so they are equal everywhere if they agree on the two sides of each
    step from one result to the next; ``rounding`` is chosen so that they do. Steps that no accumulator reaches do not
    count.

    Args:
        multiplier, shift: TFLM's, for each channel.
        low, high: the clamp, within int8.
        least, most: the bounds of the accumulator, for each channel.
        signed: whether there may be a step at zero; where results are clamped at the zero point there need not be.

    Returns:
        None where no such constants exist for some channel.
    """
    if (shift > 0).any() or (least <= -(2**31)).any() or (most >= 2**31 - 1).any() or (most - least >= 2**31).any():
        return None
    results = np.arange(low + 1, high + 1, dtype=np.int64) - zero_point
    fitted = [
        _fit_channel(int(m), int(s), results, int(first), int(last), signed)
        for m, s, first, last in zip(multiplier, shift, least, most, strict=True)
    ]
    rows = [row for row in fitted if row is not None]
    if len(rows) < len(fitted):
        return None
    found = ExactScaling(*np.array(rows, np.int64).T)
    return replace(found, rounding=(found.rounding + (low << _LEVEL_BITS)) & 0xFFFFFFFF)


def _fit_channel(
    multiplier: int, shift: int, results: Int64, first: int, last: int, signed: bool
) -> tuple[int, ...] | None:
    """The fields of ``ExactScaling`` for one channel, as if the lower clamp's result were 0."""
    steps = steps_between(multiplier, shift, results, first, last)
    if steps is None:
        return None
    always = int(np.count_nonzero(steps <= first))  # so many steps lie below every accumulator
    steps = steps[always : int(np.count_nonzero(steps <= last))]
    if not steps.size:
        return 0, 0, 0, 0, 0, always << _LEVEL_BITS, 0, 0
    offset = 1 - int(steps[0])
    limit = int(steps[-1]) + offset
    places = min(_MOST_PLACES, 32 - limit.bit_length())
    zero = min(max(offset, 0), limit + 1)
    step = (1 << _LEVEL_BITS) >> -shift if signed and shift < 0 else 0
    levels = np.arange(1, steps.size + 1, dtype=np.int64) << _LEVEL_BITS
    nearest = ((multiplier << _LEVEL_BITS + places + 1 >> 31 - shift) + 1) >> 1  # the slope in 2**-places

    def scaled(slope: int, t: Int64) -> Int64:
        product = t * (slope >> places) + ((t * (slope & (1 << places) - 1)) >> places)
        return product - np.where(t < zero, step, 0)

    for slope in (nearest + nudge for nudge in _NUDGES):
        lower = max(step, int((levels - scaled(slope, steps + offset)).max()))
        upper = int((levels - 1 - scaled(slope, steps + offset - 1)).min())
        rounding = (lower + upper) >> 1
        if lower <= upper and (int(scaled(slope, np.array(limit))) + rounding) >> _LEVEL_BITS == steps.size:
            rounding += always << _LEVEL_BITS
            return offset, limit, slope >> places, slope & (1 << places) - 1, places, rounding, zero, step
    return None


_NUDGES = (0, 1, -1, 2, -2)
_WINDOW = 6  # candidates around the estimate of a step, which is never off by more than two


def steps_between(multiplier: int, shift: int, results: Int64, first: int, last: int) -> Int64 | None:
    """For each result the least accumulator that is requantized to it or more.

    It is ``first`` or less where every accumulator is, and ``last + 1`` where none is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (results - 0.5) * 2.0 ** (31 - shift) / multiplier if multiplier else np.sign(results - 0.5) * np.inf
    lowest, highest = first - 1, max(first - 1, last + 1 - _WINDOW)
    near = np.clip(np.floor(estimate) - 2, lowest, highest).astype(np.int64)
    candidates = near[:, None] + np.arange(_WINDOW)
    reached = multiply_by_quantized_multiplier(candidates, multiplier, shift) >= results[:, None]
    if (reached[:, 0] & (near > lowest)).any() or (~reached[:, -1] & (near < highest)).any():
        return None
    return np.where(reached[:, -1], near + reached.argmax(axis=1), last + 1)
