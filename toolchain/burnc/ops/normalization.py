"""Norms that become simpler operators, listed by ``reduce_mean``.

Sources: ONNX InstanceNormalization-6, LpNormalization-1, ReduceLogSumExp-18. LayerNormalization, GroupNormalization and
the other reductions come from the function bodies that the standard gives them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.ir import DType, Value
from burnc.ops.mapping import FileNode
from burnc.ops.reduce_sum import attrs_from_onnx


def _inner(node: FileNode, op: str, inputs: Sequence[Value], **attrs: Any) -> Value:
    made = node.builder.operators[op].attrs(**attrs) if attrs else None
    return node.emit(op, inputs, made, last=False)


def instance_normalization(node: FileNode) -> list[Value]:
    """(x - mean) / sqrt(variance + epsilon) over all space of a channel, then its scale and bias."""
    x = node.input(0)
    if x.type.rank < 3 or any(node.input(i).type.shape != x.type.shape[1:2] for i in (1, 2)):
        node.refuse(f"scale and bias do not go with the channels of input {list(x.type.shape)}")
    n, c = x.type.shape[:2]
    flat = _inner(node, "reshape", [x], shape=(n, c, math.prod(x.type.shape[2:])))
    scale, bias = (_inner(node, "reshape", [node.input(i)], shape=(c, 1)) for i in (1, 2))
    mean = _inner(node, "reduce_mean", [flat], axes=(2,), keepdims=True)
    centred = _inner(node, "sub", [flat, mean])
    squares = _inner(node, "mul", [centred, centred])
    variance = _inner(node, "reduce_mean", [squares], axes=(2,), keepdims=True)
    epsilon = node.new_constant("epsilon", np.array(node.attribute("epsilon", 1e-5), np.float32))
    deviation = _inner(node, "sqrt", [_inner(node, "add", [variance, epsilon])])
    scaled = _inner(node, "mul", [_inner(node, "div", [centred, deviation]), scale])
    shifted = _inner(node, "add", [scaled, bias])
    return [node.emit("reshape", [shifted], node.builder.operators["reshape"].attrs(x.type.shape))]


def lp_normalization(node: FileNode) -> list[Value]:
    """The input over its norm along an axis; zeros where the norm is 0, as onnxruntime has it."""
    x, p = node.input(0), int(node.attribute("p", 2))
    axis = _axis(node, int(node.attribute("axis", -1)))
    if p not in (1, 2):
        node.refuse(f"p = {p} is not supported")
    terms = _inner(node, "abs", [x]) if p == 1 else _inner(node, "mul", [x, x])
    norm = _inner(node, "reduce_sum", [terms], axes=(axis,), keepdims=True)
    norm = norm if p == 1 else _inner(node, "sqrt", [norm])
    smallest = float(np.finfo(x.type.dtype.value).tiny)
    return [node.emit("div", [x, _held(node, norm, smallest, math.inf)])]


def reduce_log_sum_exp(node: FileNode) -> list[Value]:
    """Less the largest element first, so that nothing overflows: the standard's body would."""
    x, a = node.input(0), attrs_from_onnx(node)
    if not a.axes:
        return [x]
    largest = _inner(node, "reduce_max", [x], axes=a.axes, keepdims=True)
    # Infinities would meet themselves in the difference.
    limit = float(np.finfo(x.type.dtype.value).max)
    largest = _held(node, largest, -limit, limit)
    terms = _inner(node, "exp", [_inner(node, "sub", [x, largest])])
    total = _inner(node, "reduce_sum", [terms], axes=a.axes, keepdims=True)
    result = _inner(node, "add", [_inner(node, "log", [total]), largest])
    if a.keepdims:
        return [result]
    shape = tuple(n for i, n in enumerate(x.type.shape) if i not in a.axes)
    return [node.emit("reshape", [result], node.builder.operators["reshape"].attrs(shape))]


def _held(node: FileNode, x: Value, low: float, high: float) -> Value:
    """X between two limits; attributes are float32, so that those of doubles are constants."""
    if x.type.dtype is not DType.FLOAT64:
        return _inner(node, "clip", [x], activation_min=low, activation_max=high)
    above = _inner(node, "maximum", [x, node.new_constant("low", np.array(low))])
    return _inner(node, "minimum", [above, node.new_constant("high", np.array(high))])


def _axis(node: FileNode, axis: int) -> int:
    rank = node.input(0).type.rank
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for shape {list(node.input(0).type.shape)}")
    return axis % rank
