"""Softmax over int16: exp and the reciprocal of the sum by tables with linear interpolation. TFLM ``SoftmaxInt16``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.ir import DType, Node
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Literal
from burnc.kernel.fixed_point import look_up_int16 as look_up
from burnc.numerics import (
    count_leading_zeros,
    function_table,
    look_up_int16,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
)
from burnc.ops.requantize import Integers

LONGEST = 2**16
"""Elements of a row: as many exponentials of 1.0 (Q0.15) as the sum, in int32, has room for."""

STEPS_OF_TEN = 65535.0 / 10.0
ONE_AND_A_HALF = 3 << 15  # the middle of the second table, in its own steps: the sum lies in 1 .. 2


def split_at(shape: Sequence[int], axis: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents before and behind the axis."""
    axis %= len(shape)
    return tuple(shape[:axis]), tuple(shape[axis + 1 :])


@cache
def tables() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """exp(x) for x in -10 .. 0, and 1 / (1 + x) for x in 0 .. 1."""
    return function_table(np.exp, -10.0, 0.0), function_table(lambda x: 1 / (1 + x), 0.0, 1.0)


def scaling(node: Node) -> tuple[int, int]:
    """(multiplier, shift) from a difference of elements to steps of the first table."""
    return quantize_multiplier(node.input(0).type.scale * float(np.float32(node.attrs.beta)) * STEPS_OF_TEN)


def body(k: KernelBuilder, a: Any, x: Tensor, y: Tensor) -> None:
    before, behind = split_at(x.shape, a.axis)
    length = (x.shape[a.axis],)
    powers, reciprocals = (k.table(n, t.astype(np.int16)) for n, t in zip(("exp", "reciprocal"), tables(), strict=True))
    multiplier, shift = scaling(k.node)
    for indices in k.grid(before + behind):
        outer, inner = indices[: len(before)], indices[len(before) :]
        largest = k.local("largest", DType.INT16.limits[0])
        for (i,) in k.reduce(length):
            largest.set(k.maximum(largest.value, x[*outer, i, *inner]))
        total = k.local("total", 0)
        for (i,) in k.reduce(length):
            steps = k.scale_by_pair(x[*outer, i, *inner] - largest.value, multiplier, shift)
            power = k.let("power", look_up(k, k.maximum(steps + 32767, -32768), powers))
            total += power
            y[*outer, i, *inner] = power
        headroom = k.let("headroom", k.call("count_leading_zeros", total.value))
        # (n + 2**13) >> 14, without the sum that could overflow.
        fraction = ((k.call("wrapping_shift_left", total.value, headroom - 1) >> 13) + 1) >> 1
        scale = k.let("scale", look_up(k, k.minimum(fraction - ONE_AND_A_HALF, 32767), reciprocals))
        shift_back = k.let("shift", 31 - headroom)
        half = k.let("half", Literal(1, INT32) << (shift_back - 1))
        for (i,) in k.reduce(length):
            result = (y[*outer, i, *inner] * scale + half) >> shift_back
            y[*outer, i, *inner] = k.minimum(k.maximum(result, 0), 32767)


def integer(node: Node, x: Integers) -> Integers:
    axis, (powers, reciprocals) = node.attrs.axis, tables()
    values = x.astype(np.int64)
    difference = values - values.max(axis=axis, keepdims=True)
    steps = multiply_by_quantized_multiplier(difference, *scaling(node), node.rounding)
    power = look_up_int16(np.clip(steps + 32767, -32768, 32767), powers)
    total = power.sum(axis=axis, keepdims=True)
    headroom = count_leading_zeros(total)
    fraction = ((total << (headroom - 1)) + (1 << 13)) >> 14
    scale = look_up_int16(np.clip(fraction - ONE_AND_A_HALF, -32768, 32767), reciprocals)
    shift = 31 - headroom
    result: Integers = np.clip((power * scale + (np.int64(1) << (shift - 1))) >> shift, 0, 32767).astype(np.int16)
    return result
