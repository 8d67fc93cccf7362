"""TFLM's requantization as the upper word of one product, proven for every accumulator (docs/kernels.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from burnc.codegen.rows.exact_scaling import Int64, steps_between
from burnc.codegen.rows.row import cached_by_constants, channel_scales, clamp_fields, sum_bounds
from burnc.ir import Node

_MOST_PLACES = 22
_NUDGES = (0, 1, -1, 2, -2)


@dataclass(frozen=True)
class HighScaling:
    """For each channel a result, before the clamp, from its accumulator.

    It is ((acc << left) * multiplier >> 32) + rounding - (step if acc < 0 else 0) >> places. ``rounding`` holds the
    zero point; ``step`` is what TFLM's rounding of halves away from zero differs by below zero.
    """

    left: Int64
    multiplier: Int64
    rounding: Int64
    places: Int64
    step: Int64


@cached_by_constants(256)
def high_scaling(node: Node, *, places: int | None = None) -> HighScaling | None:
    """Constants for the sums of each output channel, or None where some channel has none.

    Args:
        places: of every channel; None for as many as each has room for.
    """
    least, most = sum_bounds(node)
    clamp = clamp_fields(node)
    results = np.arange(clamp["activation_min"], clamp["activation_max"] + 1, dtype=np.int64)
    fits = []
    for scale, first, last in zip(channel_scales(node), least.tolist(), most.tolist(), strict=True):
        channel = _Channel(*scale, node.output.type.zero_point, results, first, last, places)
        fitted = channel.fit(is_signed=False) or channel.fit(is_signed=True)
        if fitted is None:
            return None
        fits.append(fitted)
    return HighScaling(*np.array(fits, np.int64).reshape(-1, 5).T)


@dataclass(frozen=True)
class _Channel:
    multiplier: int
    shift: int
    zero_point: int
    results: Int64
    first: int
    last: int
    wanted_places: int | None

    @functools.cached_property
    def left(self) -> int:
        """Places that bring the largest accumulator just below 2**31."""
        return 31 - max(abs(self.first), abs(self.last), 1).bit_length()

    def fit(self, *, is_signed: bool) -> tuple[int, int, int, int, int] | None:
        """The fields of ``HighScaling``: both sides only grow, so they need only agree around each step."""
        steps = steps_between(self.multiplier, self.shift, self.results[1:] - self.zero_point, self.first, self.last)
        if steps is None:
            return None
        always, reached = (int(np.count_nonzero(steps <= bound)) for bound in (self.first, self.last))
        if always == reached:
            fixed = self.wanted_places or 0
            return 0, 0, int(self.results[always]) << fixed, fixed, 0
        if self.left < 0:
            return None
        # Around each step, and at both ends of what an accumulator may be.
        above = np.append(steps[always:reached], self.first)
        wanted = np.append(self.results[always + 1 : reached + 1], self.results[always])
        below = np.append(steps[always:reached] - 1, self.last)
        unwanted = np.append(wanted[:-1], self.results[reached] + 1)
        if always == 0:  # the clamp holds
            above, wanted = above[:-1], wanted[:-1]
        if reached == len(steps):
            below, unwanted = below[:-1], unwanted[:-1]
        places = self._places()
        if places is None:
            return None
        for nudge in _NUDGES:
            multiplier = self._scaled_multiplier(places) + nudge
            step = 1 << places + self.shift if is_signed and 0 < -self.shift <= places else 0
            lower = int(((wanted << places) - self._high(above, multiplier, step)).max())
            upper = int(((unwanted << places) - 1 - self._high(below, multiplier, step)).min())
            if lower <= upper:
                return self.left, multiplier, (lower + upper) >> 1, places, step
        return None

    def _high(self, sums: Int64, multiplier: int, step: int) -> Int64:
        return ((sums << self.left) * multiplier >> 32) - np.where(sums < 0, step, 0)

    def _scaled_multiplier(self, places: int) -> int:
        """Of a factor multiplier * 2**(shift - 31), so that the upper word has ``places`` binary places."""
        left = self.shift + 1 + places - self.left
        return self.multiplier << left if left >= 0 else (self.multiplier >> -left - 1) + 1 >> 1

    def _places(self) -> int | None:
        """As many as leave the multiplier, and with it the upper word, and the rounding within 32 bits."""
        tried = range(_MOST_PLACES, 0, -1)
        for places in tried if self.wanted_places is None else [self.wanted_places]:
            if self._scaled_multiplier(places) < (1 << 31) - 4:
                return places
        return None


def shift_words(scaling: HighScaling) -> Int64:
    """Both shifts of each channel in one word."""
    return scaling.places + (scaling.left << 8)
