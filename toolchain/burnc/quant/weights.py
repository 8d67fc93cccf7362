"""Weights as symmetric int8, with scales that leave the int32 bias and its accumulator room.

Source: TFLite's quantization specification: zero point 0, values -127 .. 127, one scale a tensor or an output channel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnc.errors import QuantizationError
from burnc.ir import Array, QuantParams
from burnc.quant.observers import LARGEST_SCALE, SMALLEST_SCALE

LARGEST_WEIGHT = 127
INT32_MAX = 2**31 - 1
# |x - zero point| <= 255, and |zero point| + |x| <= 256 where the zero point is folded into the bias.
LARGEST_OPERAND = 256
# A channel without weights yields its bias alone; this many steps for it are finer than any result.
BIAS_STEPS = 2.0**23


@dataclass(frozen=True)
class QuantizedWeights:
    """int8 weights, their parameters, and the channels whose scale was widened to make room for the bias."""

    data: NDArray[np.int8]
    quant: QuantParams
    widened: tuple[int, ...]


def check_finite(data: Array, *, node: str, tensor: str) -> None:
    """Refuse NaN and infinity.

    Raises:
        QuantizationError: names node, tensor and the first index.
    """
    bad = np.argwhere(~np.isfinite(data))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        raise QuantizationError(
            f"{tensor!r} holds {data[index]} at index {list(index)}",
            where=f"node {node!r}, tensor {tensor!r}",
            hint="retrain, or replace the value; a weight that is NaN or infinite has no meaning on any device",
        )


def quantize_weights(
    data: Array, axis: int | None, *, input_scale: float = 1.0, bias: Array | None = None
) -> QuantizedWeights:
    """Quantize finite weights.

    A scale is widened where it would let the bias, or the bias with the largest sum of products, leave int32, and where
    the bias scale (input scale * weight scale) would not be a normal float32.

    Args:
        axis: the output channels' axis; None for one scale in all.
        input_scale: the scale of what the weights are multiplied with.
        bias: real biases, one a channel (along axis 0 of the weights where ``axis`` is None).
    """
    channel_axis = 0 if axis is None else axis
    rows = np.moveaxis(np.asarray(data, np.float64), channel_axis, 0)
    rows = rows.reshape(rows.shape[0], -1)
    biases = np.zeros(len(rows)) if bias is None else np.asarray(bias, np.float64).reshape(-1)
    extents = np.abs(rows).max(axis=1, initial=0.0)
    if axis is None:
        extents = np.full(len(rows), extents.max(initial=0.0))
    common = extents.max(initial=0.0) or 1.0
    wanted = np.where(extents > 0, extents, common) / LARGEST_WEIGHT
    if axis is not None:
        empty = (extents == 0) & (biases != 0)
        wanted = np.where(empty, np.abs(biases) / (input_scale * BIAS_STEPS), wanted)
    floor = max(SMALLEST_SCALE, SMALLEST_SCALE / input_scale)
    smallest = np.array([_least_scale(row, b, input_scale) for row, b in zip(rows, biases, strict=True)])
    if axis is None:
        smallest = np.full(len(rows), smallest.max(initial=0.0))
    # Above the floor by a step or two of float32, so that the rounded product still is a normal number.
    scales = np.clip(np.maximum(wanted, smallest), floor * (1 + 1e-6), LARGEST_SCALE).astype(np.float32)
    widened = tuple(int(c) for c in np.flatnonzero((smallest > wanted) & (biases != 0)))
    shape = [1] * data.ndim
    shape[channel_axis] = len(rows)
    ratio = np.asarray(data, np.float64) / scales.astype(np.float64).reshape(shape)
    quantized = np.clip(np.rint(ratio), -LARGEST_WEIGHT, LARGEST_WEIGHT).astype(np.int8)
    if axis is None:
        return QuantizedWeights(quantized, QuantParams.per_tensor(float(scales[0])), widened)
    return QuantizedWeights(quantized, QuantParams.per_axis(scales.tolist(), axis), widened)


def _least_scale(row: NDArray[np.float64], bias: float, input_scale: float) -> float:
    """The least weight scale for which |bias| + 256 * sum|w| stays within int32.

    Both terms are inversely proportional to the scale, but for the rounding of each weight by at most a half.
    """
    products = LARGEST_OPERAND * float(np.abs(row).sum())
    room = INT32_MAX - LARGEST_OPERAND * 0.5 * float(np.count_nonzero(row)) - 1
    if room <= 0 or bias == 0:
        return 0.0  # left to check_accumulators, which counts exactly
    least = (abs(bias) / input_scale + products) / room
    return least * (1 + 1e-6) if math.isfinite(least) else LARGEST_SCALE
