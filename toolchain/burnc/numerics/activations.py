"""Sigmoid and tanh of 16-bit numbers, by a table and linear interpolation. TFLM ``reference_integer_ops``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burnc.numerics.fixed_point import Int64


def _sigmoid_table() -> NDArray[np.uint16]:
    """TFLite's table: where the curve bends, entries are raised by half of what the chord between two lies below it."""
    sigmoid = 1 / (1 + np.exp(-np.arange(256) / 24.0))
    bend = sigmoid * (1 - sigmoid) * (2 * sigmoid - 1)
    table = np.rint(65536 * (sigmoid + bend / 24**2 / 16))
    table[-1] = 65535
    return table.astype(np.uint16)


SIGMOID_TABLE = _sigmoid_table()
"""sigmoid(i / 24), Q0.16. tanh(x) = 2 sigmoid(2x) - 1 needs no other."""


def tanh_scaling(power: int) -> tuple[int, int]:
    """(multiplier, right shift) that bring a number of scale 2**power to steps of the table, 3/4 of its octave."""
    left = power + 12
    return (3 << left, 0) if left >= 0 else (3, -left)


def sigmoid_int16(x: ArrayLike) -> Int64:
    """Sigmoid of Q3.12 as Q0.15. ``Logistic`` for int16."""
    x = 3 * np.asarray(x, np.int64)
    result = np.where(np.abs(x) >> 9 >= 255, 0x7FFF << 10, _interpolated(x, 9))
    return np.where(x >= 0, result + 512, (1 << 25) - result + 511) >> 10


def tanh_int16(x: ArrayLike, power: int) -> Int64:
    """Tanh of numbers of scale 2**power as Q0.15. ``Tanh`` for int16."""
    multiplier, shift = tanh_scaling(power)
    x = (np.asarray(x, np.int64) * multiplier + ((1 << shift) >> 1)) >> shift
    result = np.where(np.abs(x) >> 8 >= 255, 0xFFFF << 8, _interpolated(x, 8))
    return np.where(x >= 0, result - (1 << 23) + 128, (1 << 23) - result + 127) >> 8


def _interpolated(x: Int64, bits: int) -> Int64:
    magnitude = np.abs(x)
    place = np.minimum(magnitude >> bits, 254)
    low, high = (SIGMOID_TABLE.astype(np.int64)[place + n] for n in (0, 1))
    result: Int64 = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low)
    return result
