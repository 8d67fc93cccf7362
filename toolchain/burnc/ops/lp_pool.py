"""Norms under windows, made of powers and means: listed by ``average_pool2d``.

Sources: ONNX LpPool-22, GlobalLpPool-22, LRN-13.
"""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import Value
from burnc.ops.mapping import FileNode
from burnc.ops.max_pool2d import kernel_shape
from burnc.ops.spatial import Padding, from_nhwc, onnx_window, to_nhwc

LARGEST_SIZE = 4096
"""Channels under an LRN window."""


def lp_pool(node: FileNode) -> list[Value]:
    """(sum of |x|^p under each window)^(1/p); padding is zeros."""
    x, kernel, p = node.input(0), kernel_shape(node), _power(node)
    window = onnx_window(node, x.type.shape[2:], kernel)
    attrs = node.builder.operators["average_pool2d"].attrs(
        window.kernel, window.stride, window.dilation, window.pad, window.pad
    )
    mean = node.emit("average_pool2d", [_raised(node, to_nhwc(node, x), p)], attrs, last=False)
    return [from_nhwc(node, _root(node, _times(node, mean, math.prod(window.kernel)), p), x.type.rank)]


def global_lp_pool(node: FileNode) -> list[Value]:
    """The same over all space."""
    x, p = node.input(0), _power(node)
    axes = tuple(range(2, x.type.rank))
    attrs = node.builder.operators["reduce_sum"].attrs(axes, keepdims=True)
    total = node.emit("reduce_sum", [_raised(node, x, p)], attrs, last=False)
    return [_root(node, total, p, last=True)]


def lrn(node: FileNode) -> list[Value]:
    """X / (bias + alpha * mean of squares over neighbouring channels)^beta; missing channels count as zeros."""
    x, size = node.input(0), int(node.attribute("size", 0))
    if x.type.rank < 3 or not 1 <= size <= LARGEST_SIZE:
        node.refuse(f"a size of {size} for shape {list(x.type.shape)}")
    n, c = x.type.shape[:2]
    ops = node.builder.operators
    # Channels are the height of an image, everything else its width.
    image = ops["reshape"].attrs((n, c, math.prod(x.type.shape[2:]), 1))
    flat = node.emit("reshape", [node.emit("mul", [x, x], last=False)], image, last=False)
    pad = Padding(top=(size - 1) // 2, bottom=size - 1 - (size - 1) // 2)
    attrs = ops["average_pool2d"].attrs((size, 1), pad=pad, counted=pad)
    mean = node.emit("average_pool2d", [flat], attrs, last=False)
    scaled = _times(node, mean, float(node.attribute("alpha", 1e-4)))
    bias = node.new_constant("bias", np.array(node.attribute("bias", 1.0), x.type.dtype.numpy))
    base = node.emit("add", [scaled, bias], last=False)
    norm = _inner_power(node, base, -float(node.attribute("beta", 0.75)))
    return [node.emit("mul", [x, node.emit("reshape", [norm], ops["reshape"].attrs(x.type.shape), last=False)])]


def _power(node: FileNode) -> int:
    p = int(node.attribute("p", 2))
    if p < 1:
        node.refuse(f"p = {p} is not supported")
    return p


def _raised(node: FileNode, x: Value, p: int) -> Value:
    """|x|^p; even powers need no sign."""
    size = x if p % 2 == 0 else node.emit("abs", [x], last=False)
    return size if p == 1 else _inner_power(node, size, float(p))


def _root(node: FileNode, x: Value, p: int, *, last: bool = False) -> Value:
    if p == 1:
        return node.emit("identity", [x], last=last)
    if p == 2:
        return node.emit("sqrt", [x], last=last)
    return node.emit("power", [x], node.builder.operators["power"].attrs(1.0 / p), last=last)


def _inner_power(node: FileNode, x: Value, exponent: float) -> Value:
    if exponent == -0.5:
        return node.emit("rsqrt", [x], last=False)
    return node.emit("power", [x], node.builder.operators["power"].attrs(exponent), last=False)


def _times(node: FileNode, x: Value, factor: float) -> Value:
    constant = node.new_constant("factor", np.array(factor, x.type.dtype.numpy))
    return node.emit("mul", [x, constant], last=False)
