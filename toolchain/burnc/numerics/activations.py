"""Functions of 16-bit numbers by tables and linear interpolation. TFLM ``reference_integer_ops``, ``common.h``."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burnc.numerics.fixed_point import Int64
from burnc.numerics.quantize import round_half_away


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


def step_scaling(scale: float, whole: tuple[int, ...]) -> tuple[int, int]:
    """(multiplier, right shift) that bring a number of any scale to steps of the table. TFLM ``Prepare`` for int16.

    Args:
        whole: powers of two that a scale may be (TFLite takes it for one within 0.1 %) to be brought there exactly.
    """
    power = round(math.log2(scale))
    if power in whole and abs(math.log2(scale) - power) < 1e-3:
        return tanh_scaling(power)
    multiplier, shift = scale * 3 * 4096.0, 0
    while multiplier <= 32767.0 / 2 and shift <= 30:
        multiplier, shift = multiplier * 2, shift + 1
    return int(multiplier), shift


def in_steps(x: ArrayLike, multiplier: int, shift: int) -> Int64:
    """Numbers times multiplier / 2**shift, rounded, halves up."""
    return (np.asarray(x, np.int64) * multiplier + ((1 << shift) >> 1)) >> shift


def sigmoid_int16(x: ArrayLike) -> Int64:
    """Sigmoid of Q3.12 as Q0.15."""
    return sigmoid_of_steps(3 * np.asarray(x, np.int64))


def sigmoid_of_steps(x: Int64) -> Int64:
    """Sigmoid of x / 3 in Q3.12 as Q0.15. ``Logistic`` for int16."""
    result = np.where(np.abs(x) >> 9 >= 255, 0x7FFF << 10, _interpolated(x, 9))
    return np.where(x >= 0, result + 512, (1 << 25) - result + 511) >> 10


def tanh_int16(x: ArrayLike, power: int) -> Int64:
    """Tanh of numbers of scale 2**power as Q0.15."""
    return tanh_of_steps(in_steps(x, *tanh_scaling(power)))


def tanh_of_steps(x: Int64) -> Int64:
    """Tanh of x / 3 in Q3.12 as Q0.15. ``Tanh`` for int16."""
    result = np.where(np.abs(x) >> 8 >= 255, 0xFFFF << 8, _interpolated(x, 8))
    return np.where(x >= 0, result - (1 << 23) + 128, (1 << 23) - result + 127) >> 8


def _interpolated(x: Int64, bits: int) -> Int64:
    magnitude = np.abs(x)
    place = np.minimum(magnitude >> bits, 254)
    low, high = (SIGMOID_TABLE.astype(np.int64)[place + n] for n in (0, 1))
    result: Int64 = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low)
    return result


def function_table(function: Callable[[NDArray[np.float64]], NDArray[np.float64]], low: float, high: float) -> Int64:
    """513 entries over 512 equal intervals of low .. high, Q0.15, each bent by half the error at its interval's middle.

    ``gen_lut``: the function is rounded to float32 and the rest computed in that.
    """
    single = np.float32
    step = single((single(high) - single(low)) / single(512))
    starts = single(low) + np.arange(513, dtype=single) * step

    def scaled(x: NDArray[np.float32]) -> NDArray[np.float32]:
        return function(x.astype(np.float64)).astype(single) * single(32768)

    values, middles = scaled(starts), scaled(starts[:-1] + step / single(2))
    first = round_half_away(values[:-1])
    chord = round_half_away((values[1:] + first) / single(2))
    bend = round_half_away((chord - round_half_away(middles)) / single(2))
    last = round_half_away(values[-1:])
    entries: Int64 = np.clip(np.concatenate([first - bend, last]), -32768, 32767).astype(np.int64)
    return entries


def look_up_int16(x: ArrayLike, table: Int64) -> Int64:
    """Between two entries of such a table; x in -32768 .. 32767 runs over its range. ``LUTLookup`` for int16."""
    x = np.asarray(x, np.int64)
    place = 256 + (x >> 7)
    # The difference of two entries is kept in 16 bits.
    slope = (table[place + 1] - table[place]).astype(np.int16).astype(np.int64)
    result: Int64 = table[place] + ((slope * (x & 127) + 64) >> 7)
    return result
