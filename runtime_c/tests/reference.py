# SPDX-License-Identifier: 0BSD
"""The kernels written from their definitions, with Python's unbounded integers.

Slow, plain, and with no trick in common with the C: products are summed with the zero point subtracted and nothing is
folded, the way the operators are defined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def wrap(value: int) -> int:
    """The low 32 bits, as a signed number."""
    return (value + 2**31) % 2**32 - 2**31


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def truncating_divide(a: int, b: int) -> int:
    """C's division."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def doubling_high_multiply(a: int, b: int) -> int:
    if a == b == INT32_MIN:
        return INT32_MAX
    product = a * b
    return truncating_divide(product + (2**30 if product >= 0 else 1 - 2**30), 2**31)


def rounding_divide_by_pot(x: int, exponent: int) -> int:
    """Nearest, halves away from zero."""
    magnitude = floor(Fraction(abs(x), 2**exponent) + Fraction(1, 2))
    return magnitude if x >= 0 else -magnitude


def requantize(acc: int, multiplier: int, shift: int) -> int:
    left, right = max(shift, 0), max(-shift, 0)
    return rounding_divide_by_pot(doubling_high_multiply(wrap(acc << left), multiplier), right)


def requantize_single(acc: int, multiplier: int, shift: int) -> int:
    return wrap(floor(Fraction(acc * multiplier) * Fraction(2) ** (shift - 31) + Fraction(1, 2)))


def output(acc: int, multiplier: int, shift: int, zero_point: int, low: int, high: int) -> int:
    return clamp(requantize(wrap(acc), multiplier, shift) + zero_point, low, high)


@dataclass(frozen=True)
class Window:
    """The fields of burnc_window, in its order."""

    batch: int = 1
    in_h: int = 5
    in_w: int = 5
    out_h: int = 5
    out_w: int = 5
    kernel_h: int = 3
    kernel_w: int = 3
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    pad_top: int = 1
    pad_left: int = 1

    def outputs(self) -> Iterator[tuple[int, int, int]]:
        for n in range(self.batch):
            for h in range(self.out_h):
                for w in range(self.out_w):
                    yield n, h, w

    def taps(self, h: int, w: int) -> Iterator[tuple[int, int, int, int]]:
        """(kernel row, kernel column, input row, input column), inside the input or not."""
        for kh in range(self.kernel_h):
            for kw in range(self.kernel_w):
                ih = h * self.stride_h - self.pad_top + kh * self.dilation_h
                iw = w * self.stride_w - self.pad_left + kw * self.dilation_w
                yield kh, kw, ih, iw

    def holds(self, ih: int, iw: int) -> bool:
        return 0 <= ih < self.in_h and 0 <= iw < self.in_w

    def index(self, n: int, ih: int, iw: int, channels: int) -> int:
        return ((n * self.in_h + ih) * self.in_w + iw) * channels


@dataclass(frozen=True)
class Channels:
    """What a weighted kernel has for each output channel; `bias` is the model's own, nothing folded in."""

    weights: list[int]
    bias: list[int]
    multiplier: list[int]
    shift: list[int]


@dataclass(frozen=True)
class Quantization:
    """Zero points and activation range, in the order of the kernels' structs."""

    input_zero_point: int = 0
    output_zero_point: int = 0
    activation_min: int = -128
    activation_max: int = 127


def finish(acc: int, o: int, c: Channels, q: Quantization) -> int:
    low, high = q.activation_min, q.activation_max
    return output(acc + c.bias[o], c.multiplier[o], c.shift[o], q.output_zero_point, low, high)


def conv2d(
    v: Window, x: list[int], c: Channels, q: Quantization, groups: int, group_in: int, group_out: int
) -> list[int]:
    y = []
    for n, h, w in v.outputs():
        for o in range(groups * group_out):
            acc = 0
            for kh, kw, ih, iw in v.taps(h, w):
                if v.holds(ih, iw):
                    at = v.index(n, ih, iw, groups * group_in) + o // group_out * group_in
                    wt = ((o * v.kernel_h + kh) * v.kernel_w + kw) * group_in
                    acc += sum((x[at + i] - q.input_zero_point) * c.weights[wt + i] for i in range(group_in))
            y.append(finish(acc, o, c, q))
    return y


def depthwise_conv2d(
    v: Window, x: list[int], c: Channels, q: Quantization, channels: int, multiplier: int
) -> list[int]:
    y = []
    for n, h, w in v.outputs():
        for o in range(channels * multiplier):
            acc = 0
            for kh, kw, ih, iw in v.taps(h, w):
                if v.holds(ih, iw):
                    value = x[v.index(n, ih, iw, channels) + o // multiplier] - q.input_zero_point
                    acc += value * c.weights[(kh * v.kernel_w + kw) * channels * multiplier + o]
            y.append(finish(acc, o, c, q))
    return y


def rows_times_weights(rows: int, depth: int, x: list[int], c: Channels, q: Quantization) -> list[int]:
    """Fully connected layers and pointwise convolutions."""
    y = []
    for r in range(rows):
        for o in range(len(c.bias)):
            acc = sum((x[r * depth + i] - q.input_zero_point) * c.weights[o * depth + i] for i in range(depth))
            y.append(finish(acc, o, c, q))
    return y
