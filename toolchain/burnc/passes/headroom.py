"""Whether the scales of a quantized node let its integers be scaled in 32 bits.

A result whose scale is tiny beside its operands' (a dead channel, absurd parameters) shifts sums to the left. The own
quantizer widens such scales; in the files of others the operator then stays float, which has the room.
"""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import DType, Node
from burnc.ops import spec_of
from burnc.ops.requantize import centred
from burnc.ops.spec import QuantRule

FARTHEST = 2.0**14
"""Times a product of two 8-bit differences that is the most that int32 holds."""

WIDE_SHIFT = 7
"""Of numerics.multiply_wide_by_quantized_multiplier."""


def can_be_scaled(node: Node) -> bool:
    """Whether no shift to the left can push a sum, or an operand, out of its accumulator."""
    rule, y = spec_of(node).quant, node.outputs[0].type
    if rule is None or y.quant is None:
        return True
    factors = np.abs(np.asarray(node.operator.requantize_factors(node), np.float64)).reshape(-1)
    if not np.isfinite(factors).all():
        return False
    if rule.weights is not None:
        return _sums_fit(node, rule, rule.weights, factors)
    operands = [v.type.scale for v in rule.activations(node) if v.type.quant is not None]
    return max(float(factors.max(initial=0.0)), max(operands, default=0.0) / y.scale) <= FARTHEST


def _sums_fit(node: Node, rule: QuantRule, index: int, factors: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    shifts = np.maximum(np.frexp(factors)[1], 0)
    weights, x = node.input(index), node.input(0).type
    if not shifts.any() or weights.data is None:
        return True
    if node.operator.sum_type(node) is DType.INT64:
        return bool(shifts.max() <= WIDE_SHIFT)
    rows = np.moveaxis(np.abs(centred(node, index, weights.data)), rule.weight_axis, 0)
    sums = rows.reshape(len(rows), -1).sum(axis=1).astype(np.float64) * (x.dtype.limits[1] - x.dtype.limits[0])
    bias = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(node.inputs) else None
    if bias is not None and bias.data is not None:
        sums = sums + np.abs(bias.data.astype(np.float64))
    return bool((sums * 2.0**shifts).max() < math.ldexp(1.0, 31))
