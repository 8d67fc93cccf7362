"""The last step of most integer references: an accumulator becomes a quantized result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.ir import DType, Node
from burnc.numerics import (
    activation_range,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    quantize_multiplier,
)

Integers = NDArray[Any]


def centred(node: Node, index: int, values: Integers) -> Integers:
    """An operand's integers less their zero point, one or one an index along an axis; int64."""
    type_ = node.input(index).type
    assert type_.quant is not None
    result: Integers = values.astype(np.int64) - type_.quant.broadcast(type_.rank)[1]
    return result


def rescaled(node: Node, acc: Integers, factors: Any) -> Integers:
    """Sums times real factors (which broadcast over them): of 32 bits by the node's rounding, or of 64."""
    pairs = [quantize_multiplier(float(f)) for f in np.ravel(factors)]
    multiplier, shift = (np.array(column).reshape(np.shape(factors)) for column in zip(*pairs, strict=True))
    if node.operator.sum_type(node) is DType.INT64:
        return multiply_wide_by_quantized_multiplier(acc, multiplier, shift)
    return multiply_by_quantized_multiplier(acc, multiplier, shift, node.rounding)


def to_output(node: Node, scaled: Integers) -> Integers:
    """Add the zero point of the node's first output and clamp to its activation range."""
    type_ = node.outputs[0].type
    low = getattr(node.attrs, "activation_min", -math.inf)
    high = getattr(node.attrs, "activation_max", math.inf)
    limits = activation_range(type_, low, high)
    result: Integers = np.clip(scaled + type_.zero_point, *limits).astype(type_.dtype.numpy)
    return result


def requantized(node: Node, acc: Integers) -> Integers:
    """The result from its accumulator; several factors belong to the last axis."""
    factors = node.operator.requantize_factors(node)
    return to_output(node, rescaled(node, acc, factors.reshape(()) if factors.size == 1 else factors))
