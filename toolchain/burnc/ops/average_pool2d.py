"""average_pool2d: the mean under each window, NHWC; 1-D is height 1, 3-D is twice 2-D.

``counted`` is the part of the padding that counts, as zeros, in the divisor: none for ONNX's count_include_pad=0 and
for TFLite; the declared pads (without what ceil_mode adds) for count_include_pad=1.
Sources: ONNX AveragePool-22, GlobalAveragePool-1, as onnxruntime reads them; TFLite AVERAGE_POOL_2D; integers as TFLite
Micro's reference kernel where input and output share their parameters, else the centred sum, requantized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, Literal
from burnc.numerics import activation_range
from burnc.ops import lp_pool
from burnc.ops.activation import through_activation
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.conv2d_input_gradient import Conv2dInputGradientAttrs
from burnc.ops.expand import ExpandAttrs
from burnc.ops.mapping import ONNXRUNTIME, FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.max_pool2d import global_window, kernel_shape
from burnc.ops.max_pool2d import infer as infer_pooled
from burnc.ops.pooling import of_volumes, over_all_space
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.spatial import (
    NCHW_FROM_NHWC,
    NO_PADDING,
    Padding,
    Pair,
    from_nhwc,
    onnx_window,
    rows_under_windows,
    tflite_window,
    to_nhwc,
    windows,
)
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class AveragePool2dAttrs:
    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Padding = NO_PADDING
    counted: Padding = NO_PADDING
    activation_min: float = -math.inf
    activation_max: float = math.inf


def infer(a: AveragePool2dAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    y = infer_pooled(a, inputs)
    x = required(inputs, 0)
    if not x.dtype.is_float and x.quant is None:
        raise GraphError(f"a mean of {x.dtype.value} is not supported")
    sides = ("top", "left", "bottom", "right")
    if any(not 0 <= getattr(a.counted, side) <= getattr(a.pad, side) for side in sides):
        raise GraphError(f"counted padding {a.counted} is no part of the padding {a.pad}")
    return y


def tap_counts(a: AveragePool2dAttrs, x: TensorType, y: TensorType) -> tuple[list[int], list[int]]:
    """How many rows count for each output row, and how many columns for each output column."""
    rows = _axis_counts(x.shape[1], y.shape[1], a, 0, a.pad.top, (a.counted.top, a.counted.bottom))
    columns = _axis_counts(x.shape[2], y.shape[2], a, 1, a.pad.left, (a.counted.left, a.counted.right))
    return rows, columns


def _axis_counts(size: int, results: int, a: AveragePool2dAttrs, axis: int, before: int, counted: Pair) -> list[int]:
    taps = np.arange(a.kernel[axis]) * a.dilation[axis] - before
    at = np.arange(results)[:, None] * a.stride[axis] + taps
    counts: list[int] = ((at >= -counted[0]) & (at < size + counted[1])).sum(axis=1).tolist()
    return counts


def _same_parameters(node: Node) -> bool:
    return node.input(0).type.quant == node.output.type.quant


def factors(node: Node) -> NDArray[np.float64]:
    """From a centred sum to the result, for 1, 2, ... kernel-size taps; one factor where all windows count alike."""
    x, y = node.input(0).type, node.output.type
    rows, columns = tap_counts(node.attrs, x, y)
    alike = len({r * c for r in rows for c in columns}) == 1
    kernel = math.prod(node.attrs.kernel)
    counts = np.array([rows[0] * columns[0]]) if alike else np.arange(1, kernel + 1)
    return x.scale / (y.scale * counts.astype(np.float64))


def _count(k: KernelBuilder, name: str, counts: Sequence[int], index: Expr) -> Expr:
    if len(set(counts)) == 1:
        return Literal(counts[0], INT32)
    return k.table(name, np.array(counts, np.int32)).raw(index)


def body(k: KernelBuilder, a: AveragePool2dAttrs, x: Tensor, y: Tensor) -> None:
    rows, columns = tap_counts(a, x.type, y.type)
    shared = k.quantized and _same_parameters(k.node)
    is_whole = a.kernel == x.shape[1:3] and a.pad == NO_PADDING and a.dilation == (1, 1)
    for n, oh, ow, c in k.grid(y.shape, "n oh ow c"):
        count = _count(k, "rows", rows, oh) * _count(k, "columns", columns, ow)
        total = k.accumulator()
        if is_whole:
            for _, tap in k.reduce((1, math.prod(a.kernel)), "kh tap"):  # row behind row
                total += x[n, 0, tap, c]
        for kh, kw in k.reduce(a.kernel, "kh kw") if not is_whole else ():
            ih = k.let("ih", oh * a.stride[0] + kh * a.dilation[0] - a.pad.top)
            iw = k.let("iw", ow * a.stride[1] + kw * a.dilation[1] - a.pad.left)
            total += x.at(n, ih, iw, c, outside=0)
        if shared:
            mean = _rounded_mean(k, total.value, count, x.type.zero_point)
            low, high = activation_range(y.type, a.activation_min, a.activation_max)
            y[n, oh, ow, c] = k.minimum(k.maximum(mean, low), high)
        elif k.quantized:
            y[n, oh, ow, c] = k.requantize(total, axis=count - 1)
        else:
            divisor = float(count.value) if isinstance(count, Literal) else k.cast(count, k.real)
            y[n, oh, ow, c] = k.clamp_real(total.value / divisor)


def _rounded_mean(k: KernelBuilder, centred: Expr, count: Expr, zero_point: int) -> Expr:
    """The mean of the stored values, as TFLite takes it: halves of that, not of the centred mean, go away from 0."""
    n = k.let("n", count)
    total = k.let("total", centred + n * zero_point)
    negative = total < 0
    magnitude = k.let("magnitude", (k.select(negative, -total, total) + n // 2) // n)
    return k.select(negative, -magnitude, magnitude)


def forward(xp: Any, a: AveragePool2dAttrs, x: Any) -> Any:
    total = windows(x, a.kernel, a.stride, a.dilation, a.pad, 0).sum(axis=(3, 4), dtype=x.dtype)
    shapes = [TensorType(DType.FLOAT32, v.shape) for v in (x, total)]
    rows, columns = tap_counts(a, *shapes)
    y = total / np.multiply.outer(rows, columns).astype(x.dtype)[None, :, :, None]
    return np.clip(y, np.float32(a.activation_min), np.float32(a.activation_max))


def integer(node: Node, x: Integers) -> Integers:
    a: AveragePool2dAttrs = node.attrs
    zero_point = node.input(0).type.zero_point
    total = windows(x.astype(np.int64) - zero_point, a.kernel, a.stride, a.dilation, a.pad, 0).sum(axis=(3, 4))
    count = np.multiply.outer(*tap_counts(a, node.input(0).type, node.output.type))[None, :, :, None]
    if not _same_parameters(node):
        by_count = node.input(0).type.scale / (node.output.type.scale * count.astype(np.float64))
        return to_output(node, rescaled(node, total, by_count))
    stored = total + count * zero_point
    mean = np.sign(stored) * ((np.abs(stored) + count // 2) // count)
    return to_output(node, mean - zero_point)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """Each element of dy over its window's count, at every tap: the way back through depthwise weights of one."""
    a: AveragePool2dAttrs = node.attrs
    x, dtype = node.input(0).type, dy.type.dtype.numpy
    counts = np.multiply.outer(*tap_counts(a, x, node.output.type))[:, :, None]
    dy = through_activation(b, node, dy)
    share = b.node("mul", [dy, b.constant("share", (1 / counts).astype(dtype))])
    if a.kernel == x.shape[1:3] and a.pad == NO_PADDING and a.dilation == (1, 1):
        return [b.node("expand", [share], ExpandAttrs(x.shape))]
    attrs = Conv2dInputGradientAttrs((x.shape[1], x.shape[2]), a.stride, a.dilation, a.pad, x.shape[3])
    ones = b.constant("taps", np.ones((x.shape[3], *a.kernel, 1), dtype))
    return [b.node("conv2d_input_gradient", [share, ones], attrs)]


def from_onnx(node: FileNode) -> list[Value]:
    x, kernel = node.input(0), kernel_shape(node)
    window = onnx_window(node, x.type.shape[2:], kernel)
    counted = NO_PADDING
    if node.attribute("count_include_pad", 0):
        declared = [int(n) for n in node.attribute("pads", ())] or [0] * (2 * len(kernel))
        padded = node.attribute("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER")
        if padded:
            counted = window.pad
        else:
            counted = Padding(*declared) if len(kernel) == 2 else Padding(0, declared[0], 0, declared[1])
    attrs = AveragePool2dAttrs(window.kernel, window.stride, window.dilation, window.pad, counted)
    y = node.emit("average_pool2d", [to_nhwc(node, x)], attrs, last=False)
    return [from_nhwc(node, y, x.type.rank)]


def from_onnx_global(node: FileNode) -> list[Value]:
    x, attrs = node.input(0), AveragePool2dAttrs(global_window(node))
    y = node.emit("average_pool2d", [to_nhwc(node, x)], attrs, last=False)
    return [from_nhwc(node, y, x.type.rank)]


def _from_tflite_window(node: FileNode, **activation: float) -> AveragePool2dAttrs:
    x = node.input(0)
    if x.type.rank != 4:
        node.refuse(f"input {list(x.type.shape)} must have 4 axes")
    kernel = (node.attribute("filter_height"), node.attribute("filter_width"))
    window = tflite_window(node, x.type.shape[1:3], kernel)
    return AveragePool2dAttrs(kernel, window.stride, (1, 1), window.pad, NO_PADDING, **activation)


def from_tflite(node: FileNode) -> list[Value]:
    attrs = _from_tflite_window(node, **fused_activation(node))
    return [node.emit("average_pool2d", [node.input(0)], attrs)]


def from_tflite_l2(node: FileNode) -> list[Value]:
    """The root of the mean of squares."""
    x = node.input(0)
    if not x.type.dtype.is_float:
        node.refuse(f"L2_POOL_2D of {x.type.dtype.value} is not supported")
    squares = node.emit("mul", [x, x], last=False)
    means = node.emit("average_pool2d", [squares], _from_tflite_window(node), last=False)
    limits = fused_activation(node)
    if not any(map(math.isfinite, limits.values())):
        return [node.emit("sqrt", [means])]
    attrs = node.builder.operators["clip"].attrs(**limits)
    return [node.emit("clip", [node.emit("sqrt", [means], last=False)], attrs)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: AveragePool2dAttrs = node.attrs
    # Padding that does not count although other padding does comes from ceil_mode, which adds it again.
    pad, extra = (a.pad, 0) if a.counted in (NO_PADDING, a.pad) else (a.counted, 1)
    y = w.emit(
        "AveragePool",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC)],
        kernel_shape=a.kernel,
        strides=a.stride,
        dilations=None if a.dilation == (1, 1) else a.dilation,  # new in opset 19, so few readers know it
        pads=(pad.top, pad.left, pad.bottom, pad.right),
        count_include_pad=int(a.counted != NO_PADDING),
        ceil_mode=extra,
    )
    w.finish(node, y, from_nchw=True)


average_pool2d = OpSpec(
    name="average_pool2d",
    attrs=AveragePool2dAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    rows=lambda node, first, last: rows_under_windows(node, node.attrs.kernel[0], first, last),
    factors=factors,
    onnx=(
        onnx_op("AveragePool", build=of_volumes(from_onnx)),
        onnx_op("GlobalAveragePool", build=over_all_space(from_onnx_global)),
        onnx_op("LpPool", build=of_volumes(lp_pool.lp_pool)),
        onnx_op("GlobalLpPool", build=lp_pool.global_lp_pool),
        onnx_op("LRN", build=lp_pool.lrn),
        onnx_op("QLinearAveragePool", build=quantized_form(from_onnx, 0), domain=ONNXRUNTIME, integers=True),
        onnx_op(
            "QLinearGlobalAveragePool", build=quantized_form(from_onnx_global, 0), domain=ONNXRUNTIME, integers=True
        ),
    ),
    tflite=(tflite_op("AVERAGE_POOL_2D", build=from_tflite), tflite_op("L2_POOL_2D", build=from_tflite_l2)),
    to_onnx=to_onnx,
    cases=(
        case((1, 4, 4, 3), attrs=AveragePool2dAttrs((2, 2), (2, 2)), kinds=ALL_KINDS),
        case((2, 5, 5, 2), attrs=AveragePool2dAttrs((3, 3), (2, 2), pad=Padding(1, 1, 1, 1))),
        case(
            (1, 5, 6, 3), attrs=AveragePool2dAttrs((3, 3), (2, 2), pad=Padding(1, 1, 1, 1), counted=Padding(1, 1, 1, 1))
        ),
        case((1, 4, 4, 1), attrs=AveragePool2dAttrs((3, 3), (2, 2), pad=Padding(0, 0, 1, 1)), kinds=ALL_KINDS),
        case(
            (1, 4, 5, 2), attrs=AveragePool2dAttrs((3, 2), (2, 2), pad=Padding(1, 0, 2, 1), counted=Padding(1, 0, 1, 0))
        ),
        case((1, 7, 7, 2), attrs=AveragePool2dAttrs((2, 3), (1, 1), (3, 2), pad=Padding(1, 2, 1, 2))),
        case((1, 1, 9, 4), attrs=AveragePool2dAttrs((1, 3), (1, 2), pad=Padding(0, 1, 0, 1))),
        case((1, 25, 5, 4), attrs=AveragePool2dAttrs((25, 5))),
        case(
            Operand((3, 4, 4, 1), low=-9, high=9),
            attrs=AveragePool2dAttrs((2, 2), (1, 1), activation_min=0.0, activation_max=6.0),
            kinds=ALL_KINDS,
        ),
    ),
)
