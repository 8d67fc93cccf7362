"""max_pool2d: the largest element under each window, NHWC; padding never wins; 1-D is height 1, 3-D is twice 2-D.

Sources: ONNX MaxPool-12, GlobalMaxPool-1; TFLite MAX_POOL_2D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError, Unsupported, UnsupportedError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.activation import through_activation
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.pooling import of_volumes, over_all_space
from burnc.ops.reduce_max import least
from burnc.ops.requantize import Integers, to_output
from burnc.ops.spatial import (
    NCHW_FROM_NHWC,
    NO_PADDING,
    Padding,
    Pair,
    from_nhwc,
    onnx_window,
    output_sizes,
    rows_under_windows,
    taps,
    tflite_window,
    to_nhwc,
    window_extent,
    windows,
)
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class MaxPool2dAttrs:
    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Padding = NO_PADDING
    activation_min: float = -math.inf
    activation_max: float = math.inf


def infer(a: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The type of a pooled tensor."""
    x = required(inputs, 0)
    if x.rank != 4:
        raise GraphError(f"input {list(x.shape)} must have 4 axes")
    extent = [window_extent(kernel, dilation) for kernel, dilation in zip(a.kernel, a.dilation, strict=True)]
    if max(a.pad.top, a.pad.bottom) >= extent[0] or max(a.pad.left, a.pad.right) >= extent[1]:
        raise GraphError(f"padding {a.pad} must be smaller than the window {extent}, or windows would hold no element")
    size = output_sizes((x.shape[1], x.shape[2]), a.kernel, a.stride, a.dilation, a.pad)
    return [TensorType(x.dtype, (x.shape[0], *size, x.shape[3]))]


def body(k: KernelBuilder, a: MaxPool2dAttrs, x: Tensor, y: Tensor) -> None:
    # Reads of a quantized kernel are centred, so that the lowest one is -128 - zero point.
    is_plain = x.type.dtype.is_integer and not k.quantized
    lowest = x.type.dtype.limits[0] - x.type.zero_point if k.quantized else least(x.type.dtype.numpy)
    for n, oh, ow, c in k.grid(y.shape, "n oh ow c"):
        largest = k.local("acc", lowest, x.type.dtype) if is_plain else k.accumulator(lowest)
        for kh, kw in k.reduce(a.kernel, "kh kw"):
            ih = k.let("ih", oh * a.stride[0] + kh * a.dilation[0] - a.pad.top)
            iw = k.let("iw", ow * a.stride[1] + kw * a.dilation[1] - a.pad.left)
            largest.set(k.maximum(largest.value, x.at(n, ih, iw, c, outside=lowest)))
        value = largest.value
        y[n, oh, ow, c] = k.to_output(value) if k.quantized else value if is_plain else k.clamp_real(value)


def forward(xp: Any, a: MaxPool2dAttrs, x: Any) -> Any:
    sides = ((0, 0), (a.pad.top, a.pad.bottom), (a.pad.left, a.pad.right), (0, 0))
    padded = xp.pad(x, sides, constant_values=least(x.dtype)) if a.pad != NO_PADDING else x
    size = output_sizes((x.shape[1], x.shape[2]), a.kernel, a.stride, a.dilation, a.pad)
    # Tap by tap, which runs along memory; `windows` serves the integer meaning.
    parts = [padded[:, rows, columns] for _, _, rows, columns in taps(a.kernel, a.stride, a.dilation, size)]
    y = parts[0].copy()
    for part in parts[1:]:
        xp.maximum(y, part, out=y)
    return np.clip(y, np.float32(a.activation_min), np.float32(a.activation_max)) if x.dtype.kind == "f" else y


def integer(node: Node, x: Integers) -> Integers:
    a: MaxPool2dAttrs = node.attrs
    lowest = node.input(0).type.dtype.limits[0]
    y = windows(x, a.kernel, a.stride, a.dilation, a.pad, lowest).max(axis=(3, 4)).astype(np.int64)
    return to_output(node, y - node.input(0).type.zero_point)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    attrs = replace(node.attrs, activation_min=-math.inf, activation_max=math.inf)
    return [b.node("max_pool2d_gradient", [node.input(0), through_activation(b, node, dy)], attrs)]


def from_onnx(node: FileNode) -> list[Value]:
    if sum(map(bool, node.output_names)) > 1:
        node.refuse("the second output (indices) is not supported")
    x = node.input(0)
    kernel = kernel_shape(node)
    window = onnx_window(node, x.type.shape[2:], kernel)
    attrs = MaxPool2dAttrs(window.kernel, window.stride, window.dilation, window.pad)
    y = node.emit("max_pool2d", [to_nhwc(node, x)], attrs, last=False)
    return [from_nhwc(node, y, x.type.rank)]


def kernel_shape(node: FileNode) -> tuple[int, ...]:
    """The window of an ONNX pooling node over [N,C,L] or [N,C,H,W]."""
    shape = node.input(0).type.shape
    if len(shape) not in (3, 4):
        node.refuse(f"input {list(shape)}: only 1-D, 2-D and 3-D pooling is supported")
    kernel = node.integers("kernel_shape", len(shape) - 2, 0)
    if min(kernel) < 1:
        node.refuse("attribute kernel_shape is missing or not positive")
    return kernel


def global_window(node: FileNode) -> Pair:
    """The window that covers all of [N,C,L] or [N,C,H,W]."""
    shape = node.input(0).type.shape
    if len(shape) not in (3, 4):
        node.refuse(f"input {list(shape)}: only 1-D, 2-D and 3-D pooling is supported")
    return (shape[2], shape[3]) if len(shape) == 4 else (1, shape[2])


def from_onnx_global(node: FileNode) -> list[Value]:
    x, attrs = node.input(0), MaxPool2dAttrs(global_window(node))
    y = node.emit("max_pool2d", [to_nhwc(node, x)], attrs, last=False)
    return [from_nhwc(node, y, x.type.rank)]


def from_tflite(node: FileNode) -> list[Value]:
    x = node.input(0)
    if x.type.rank != 4:
        node.refuse(f"input {list(x.type.shape)} must have 4 axes")
    kernel = (node.attribute("filter_height"), node.attribute("filter_width"))
    window = tflite_window(node, x.type.shape[1:3], kernel)
    attrs = MaxPool2dAttrs(window.kernel, window.stride, (1, 1), window.pad, **fused_activation(node))
    return [node.emit("max_pool2d", [x], attrs)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: MaxPool2dAttrs = node.attrs
    ceil_mode, bottom, right = _padding_after(node)
    y = w.emit(
        "MaxPool",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC)],
        kernel_shape=a.kernel,
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, bottom, right),
        ceil_mode=ceil_mode,
    )
    w.finish(node, y, from_nchw=True)


def _padding_after(node: Node) -> tuple[int | None, int, int]:
    """ceil_mode, and padding at the bottom and on the right.

    onnxruntime takes no padding as wide as the kernel. What is wider came from ceil_mode, which adds it again.
    """
    a: MaxPool2dAttrs = node.attrs
    before, after = (a.pad.top, a.pad.left), (a.pad.bottom, a.pad.right)
    if all(p < k for p, k in zip(after, a.kernel, strict=True)):
        return None, *after
    found = []
    for axis, size in enumerate(node.input(0).type.shape[1:3]):
        room = size + before[axis] + after[axis] - window_extent(a.kernel[axis], a.dilation[axis])
        is_wide = after[axis] >= a.kernel[axis]
        less = after[axis] - (a.stride[axis] - 1 if is_wide else room % a.stride[axis])
        if less < 0:
            why = f"ONNX has no pool with padding {a.pad} for strides {list(a.stride)}"
            raise UnsupportedError([Unsupported(node.name, node.op, why)])
        found.append(less)
    return 1, found[0], found[1]


max_pool2d = OpSpec(
    name="max_pool2d",
    attrs=MaxPool2dAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    rows=lambda node, first, last: rows_under_windows(node, node.attrs.kernel[0], first, last),
    onnx=(
        onnx_op("MaxPool", build=of_volumes(from_onnx)),
        onnx_op("GlobalMaxPool", build=over_all_space(from_onnx_global)),
    ),
    tflite=(tflite_op("MAX_POOL_2D", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((1, 4, 4, 3), attrs=MaxPool2dAttrs((2, 2), (2, 2)), kinds=ALL_KINDS),
        case((2, 5, 5, 2), attrs=MaxPool2dAttrs((2, 2), (2, 2)), kinds=ALL_KINDS),
        case((1, 5, 6, 3), attrs=MaxPool2dAttrs((3, 3), (2, 2), pad=Padding(1, 1, 1, 1)), kinds=ALL_KINDS),
        case(Operand((1, 5, 6, 3), low=-3, high=-1), attrs=MaxPool2dAttrs((3, 2), (1, 2), pad=Padding(0, 1, 2, 0))),
        case((1, 7, 7, 2), attrs=MaxPool2dAttrs((2, 3), (1, 1), (3, 2))),
        case((1, 1, 9, 4), attrs=MaxPool2dAttrs((1, 3), (1, 2), pad=Padding(0, 0, 0, 1))),
        case((1, 4, 4, 2), attrs=MaxPool2dAttrs((4, 4), activation_min=0.0)),
        case(
            Operand((1, 4, 5, 2), dtype="uint8", high=255),
            attrs=MaxPool2dAttrs((2, 3), (1, 2), pad=Padding(1, 1, 0, 1)),
            kinds=("float32",),
        ),
        case(Operand((3, 4, 4, 1), low=-9, high=9), attrs=MaxPool2dAttrs((2, 2), (1, 1), (1, 1), NO_PADDING, 0.0, 6.0)),
    ),
)
