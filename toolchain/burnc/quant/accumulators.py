"""Proves that no sum of a quantized graph can leave int32, or 48 bits where it is a wide one.

Weights are constants, so the largest and the smallest sum that any input can bring about are known exactly. Counting
only the products of one sign bounds every partial sum in every order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnc.errors import QuantizationError
from burnc.ir import DType, Graph, Node, TensorType
from burnc.numerics import quantize_multiplier
from burnc.ops import spec_of
from burnc.ops.requantize import centred
from burnc.ops.spec import QUANTIZED

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
WIDE_LIMIT = 2**47 - 1  # of numerics.multiply_wide_by_quantized_multiplier


@dataclass(frozen=True)
class AccumulatorBounds:
    """Limits that hold for every partial sum, one pair a channel."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def check_accumulators(graph: Graph) -> None:
    """Check every convolution, matrix product, average pool and sum of a quantized graph.

    Two forms of each sum are proven, for kernels use either: products of x - zero point, and products of x itself on
    top of a bias that holds -zero point * sum of weights. Where the requantization shifts to the left, the shifted sum
    is proven too.

    Raises:
        QuantizationError: names the node and the channel whose sum could overflow.
    """
    for node in graph.nodes:
        bounds = accumulator_bounds(node)
        if bounds is None:
            continue
        is_wide = node.operator.sum_type(node) is DType.INT64
        least, most = (-WIDE_LIMIT, WIDE_LIMIT) if is_wide else (INT32_MIN, INT32_MAX)
        outside = np.flatnonzero((bounds.low < least) | (bounds.high > most))
        if len(outside):
            c = int(outside[0])
            raise _overflow(node, c, f"its sum can reach {bounds.low[c]:.0f} to {bounds.high[c]:.0f}")
        if not is_wide:
            _check_shift(node, bounds)


def accumulator_bounds(node: Node) -> AccumulatorBounds | None:
    """The bounds of a quantized node's sums; None where it has none, or is float."""
    if node.outputs[0].type.quant is None or not node.present_inputs:
        return None
    rule = spec_of(node).quant
    if rule is not None and rule.weights is not None:
        return _weighted(node, rule.weights, rule.weight_axis, rule.bias)
    if node.op == "matmul":
        return _product(node)
    if node.op == "average_pool2d":
        return _plain_sum(node, math.prod(node.attrs.kernel))
    if node.op in ("reduce_sum", "reduce_mean"):
        return _plain_sum(node, node.input(0).type.size // node.output.type.size)
    return None


def _operand(type_: TensorType) -> tuple[int, int]:
    """Smallest and largest x - zero point."""
    low, high = type_.dtype.limits
    return low - type_.zero_point, high - type_.zero_point


def _weighted(node: Node, index: int, axis: int, bias_index: int | None) -> AccumulatorBounds | None:
    weights, x = node.input(index), node.input(0).type
    if weights.data is None or weights.type.quant is None or x.quant is None:
        return None
    rows = np.moveaxis(centred(node, index, weights.data).astype(np.float64), axis, 0)
    rows = rows.reshape(weights.type.shape[axis], -1)
    bias = np.zeros(len(rows))
    if bias_index is not None and bias_index < len(node.inputs) and node.inputs[bias_index] is not None:
        value = node.input(bias_index)
        unknown = np.full(len(rows), math.inf)  # computed at run time
        bias = unknown if value.data is None else value.data.astype(np.float64).reshape(-1)
    # float64 holds these integers exactly up to 2**53; beyond, the bound is far outside int32 anyway.
    apart = _partial_sums(rows, *_operand(x), bias)
    folded = _partial_sums(rows, *x.dtype.limits, bias - x.zero_point * rows.sum(axis=1))
    low = np.minimum(np.minimum(apart.low, folded.low), bias)
    return AccumulatorBounds(low, np.maximum(np.maximum(apart.high, folded.high), bias))


def _partial_sums(rows: NDArray[np.float64], low: int, high: int, start: NDArray[np.float64]) -> AccumulatorBounds:
    positive, negative = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    least, most = min(low, 0), max(high, 0)
    return AccumulatorBounds(start + positive * least + negative * most, start + positive * most + negative * least)


def _product(node: Node) -> AccumulatorBounds | None:
    left, right = node.input(0).type, node.input(1).type
    if left.quant is None or right.quant is None or left.dtype not in QUANTIZED:
        return None
    products = [a * b for a in _operand(left) for b in _operand(right)]
    terms = left.shape[-1]
    return AccumulatorBounds(np.array([min(*products, 0.0) * terms]), np.array([max(*products, 0.0) * terms]))


def _plain_sum(node: Node, terms: int) -> AccumulatorBounds:
    x = node.input(0).type
    limits = [*_operand(x), *x.dtype.limits]
    return AccumulatorBounds(np.array([min(*limits, 0.0) * terms]), np.array([max(*limits, 0.0) * terms]))


def _check_shift(node: Node, bounds: AccumulatorBounds) -> None:
    if node.op in ("average_pool2d", "reduce_mean"):
        return  # factors belong to the numbers of elements, and none can make a mean overflow that a sum did not
    factors = np.broadcast_to(node.operator.requantize_factors(node), bounds.low.shape).astype(np.float64)
    for channel, factor in enumerate(factors.tolist()):
        _, shift = quantize_multiplier(factor)
        largest = max(abs(bounds.low[channel]), abs(bounds.high[channel])) * 2.0 ** max(shift, 0)
        if largest > INT32_MAX:
            raise _overflow(node, channel, f"its sum, shifted {shift} places to the left, can reach {largest:.0f}")


def _overflow(node: Node, channel: int, why: str) -> QuantizationError:
    return QuantizationError(
        f"channel {channel} of node {node.name!r} can overflow its accumulator: {why}",
        where=f"node {node.name!r}, operator {node.op}, channel {channel}",
        hint="narrow the weights or the bias of this channel, or split the layer",
    )
