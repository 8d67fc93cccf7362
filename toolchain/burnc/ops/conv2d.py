"""conv2d: 2-D convolution, NHWC, with groups and dilation; depthwise is groups == input channels; 1-D is height 1.

Weights are OHWI: [output channels, kh, kw, input channels / groups].
Sources: ONNX Conv-11; TFLite CONV_2D and DEPTHWISE_CONV_2D; integers as TFLite Micro's reference kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError, Unsupported, UnsupportedError
from burnc.ir import Array, Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops import spectral
from burnc.ops.activation import clamped, through_activation
from burnc.ops.case import ALL_KINDS, case, weights
from burnc.ops.conv2d_input_gradient import Conv2dInputGradientAttrs
from burnc.ops.conv2d_weight_gradient import Conv2dWeightGradientAttrs
from burnc.ops.integer_form import differences
from burnc.ops.mapping import FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.quantized_form import float_form, real, real_bias, stored
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.requantize import Integers, centred, requantized
from burnc.ops.spatial import (
    NCHW_FROM_NHWC,
    NO_PADDING,
    Padding,
    Window,
    from_nhwc,
    onnx_window,
    output_sizes,
    rows_under_windows,
    tflite_weights,
    tflite_window,
    to_nhwc,
    windows,
)
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, product_type, required

OIHW_FROM_OHWI = (0, 3, 1, 2)


@dataclass(frozen=True)
class Conv2dAttrs:
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pad: Padding = NO_PADDING
    groups: int = 1
    activation_min: float = -math.inf
    activation_max: float = math.inf


def infer(a: Conv2dAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, w = required(inputs, 0), required(inputs, 1)
    if x.rank != 4 or w.rank != 4:
        raise GraphError(f"input {list(x.shape)} and weights {list(w.shape)} must have 4 axes")
    channels, filters = x.shape[3], w.shape[0]
    if a.groups < 1 or channels % a.groups or filters % a.groups or w.shape[3] * a.groups != channels:
        raise GraphError(
            f"weights {list(w.shape)} in {a.groups} groups do not go with {channels} input channels",
        )
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and bias.shape != (filters,):
        raise GraphError(f"bias {list(bias.shape)} must have one value for each of {filters} output channels")
    size = output_sizes((x.shape[1], x.shape[2]), (w.shape[1], w.shape[2]), a.stride, a.dilation, a.pad)
    return [TensorType(product_type(x, w), (x.shape[0], *size, filters))]


def body(k: KernelBuilder, a: Conv2dAttrs, x: Tensor, w: Tensor, *rest: Tensor | None) -> None:
    *bias, y = rest
    assert y is not None
    b = bias[0] if bias else None
    filters_per_group, channels = w.shape[0] // a.groups, w.shape[3]
    for n, oh, ow, oc in k.grid(y.shape, "n oh ow oc"):
        acc = k.accumulator(b[oc] if b else 0)
        first = oc // filters_per_group * channels
        for kh, kw, ic in k.reduce(w.shape[1:], "kh kw ic"):
            ih = k.let("ih", oh * a.stride[0] + kh * a.dilation[0] - a.pad.top)
            iw = k.let("iw", ow * a.stride[1] + kw * a.dilation[1] - a.pad.left)
            acc += x.at(n, ih, iw, first + ic, outside=0) * w[oc, kh, kw, ic]
        y[n, oh, ow, oc] = k.requantize(acc, axis=oc)


def _accumulate(a: Conv2dAttrs, x: Any, w: Any, fill: Any, dtype: Any) -> Any:
    """Sums of products [N, OH, OW, O], one matrix product a group."""
    filters, kh, kw, channels = w.shape
    view = windows(x, (kh, kw), a.stride, a.dilation, a.pad, fill)
    n, oh, ow = view.shape[:3]
    grouped = view.reshape(n, oh, ow, kh * kw, a.groups, channels).transpose(4, 0, 1, 2, 3, 5)
    left = grouped.reshape(a.groups, n * oh * ow, kh * kw * channels).astype(dtype)
    right = w.reshape(a.groups, filters // a.groups, kh * kw * channels).transpose(0, 2, 1).astype(dtype)
    product: Array = left @ right
    return product.transpose(1, 0, 2).reshape(n, oh, ow, filters)


def forward(xp: Any, a: Conv2dAttrs, x: Any, w: Any, b: Any = None) -> Any:
    y = _accumulate(a, x, w, 0, x.dtype if x.dtype.kind == "f" else np.int32)
    if b is not None:
        y = y + b
    return clamped(np, a, y)


def integer(node: Node, x: Integers, w: Integers, b: Integers | None = None) -> Integers:
    # float64 holds these integer sums exactly: |acc| < 2**47 is proven when the graph is quantized or imported.
    acc = _accumulate(node.attrs, centred(node, 0, x), centred(node, 1, w), 0, np.float64).astype(np.int64)
    return requantized(node, acc if b is None else acc + b)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value | None]:
    a: Conv2dAttrs = node.attrs
    x, w = node.input(0), node.input(1)
    dy = through_activation(b, node, dy)
    geometry = (a.stride, a.dilation, a.pad, a.groups)
    size, kernel = (x.type.shape[1], x.type.shape[2]), (w.type.shape[1], w.type.shape[2])
    dx = b.node("conv2d_input_gradient", [dy, w], Conv2dInputGradientAttrs(size, *geometry))
    dw = b.node("conv2d_weight_gradient", [x, dy], Conv2dWeightGradientAttrs(kernel, *geometry))
    if len(node.inputs) < 3:
        return [dx, dw]
    return [dx, dw, b.node("reduce_sum", [dy], ReduceAttrs((0, 1, 2)))]


def macs(node: Node) -> int:
    w = node.input(1).type
    return node.output.type.size * math.prod(w.shape[1:])


def from_onnx(node: FileNode) -> list[Value]:
    x, w = node.input(0), node.input(1)
    rank = x.type.rank
    if rank not in (3, 4) or w.type.rank != rank:
        node.refuse(f"input {list(x.type.shape)} with weights {list(w.type.shape)}: only 1-D and 2-D convolution")
    kernel = node.integers("kernel_shape", rank - 2, 0)
    if any(kernel) and kernel != w.type.shape[2:]:
        node.refuse(f"kernel_shape {list(kernel)} contradicts weights {list(w.type.shape)}")
    window = onnx_window(node, x.type.shape[2:], w.type.shape[2:])
    bias = node.inputs[2] if node.has_input(2) else None
    y = node.emit(
        "conv2d",
        [to_nhwc(node, x), to_nhwc(node, w), bias],
        _attrs(window, node.attribute("group", 1)),
        last=False,
    )
    return [from_nhwc(node, y, rank)]


def from_onnx_quantized(node: FileNode) -> list[Value]:
    operands = [real(node, 0), real(node, 3), real_bias(node, 8, (1, 4))]
    return stored(node, float_form(node, from_onnx, operands), 6)


def from_onnx_integer(node: FileNode) -> list[Value]:
    """ConvInteger: products of differences from zero points, which may be computed."""
    operands = differences(node, (0, 0))
    return from_onnx(node.part(node.name, operands, node.attributes, result=node.output_names[0]))


def from_tflite_conv(node: FileNode) -> list[Value]:
    x, w = node.input(0), tflite_weights(node, 1)
    if x.type.rank != 4 or w.type.rank != 4 or w.type.shape[3] == 0 or x.type.shape[3] % w.type.shape[3]:
        node.refuse(f"input {list(x.type.shape)} does not go with weights {list(w.type.shape)}")
    window = tflite_window(node, x.type.shape[1:3], (w.type.shape[1], w.type.shape[2]))
    attrs = _attrs(window, x.type.shape[3] // w.type.shape[3], **fused_activation(node))
    return [node.emit("conv2d", [x, w, *node.inputs[2:3]], attrs)]


def from_tflite_depthwise(node: FileNode) -> list[Value]:
    """TFLite keeps depthwise weights as [1, kh, kw, O]."""
    x, w = node.input(0), tflite_weights(node, 1)
    if x.type.rank != 4 or w.type.rank != 4 or w.type.shape[0] != 1:
        node.refuse(f"input {list(x.type.shape)} does not go with weights {list(w.type.shape)}")
    window = tflite_window(node, x.type.shape[1:3], (w.type.shape[1], w.type.shape[2]))
    # A transpose node could not carry per-axis parameters, and weights are constant in practice.
    data = node.constant(1, "the weights").transpose(3, 1, 2, 0)
    ohwi = node.new_constant("weights", np.ascontiguousarray(data), _moved(w))
    attrs = _attrs(window, x.type.shape[3], **fused_activation(node))
    return [node.emit("conv2d", [x, ohwi, *node.inputs[2:3]], attrs)]


def _moved(w: Value) -> Any:
    quant = w.type.quant
    return quant if quant is None or quant.axis is None else quant.with_axis(0)


def _attrs(window: Window, groups: int, **activation: float) -> Conv2dAttrs:
    return Conv2dAttrs(window.stride, window.dilation, window.pad, groups, **activation)


BYTES = (DType.INT8, DType.UINT8)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: Conv2dAttrs = node.attrs
    is_whole = node.output.type.dtype is DType.INT32
    if is_whole and any(v.type.dtype not in BYTES for v in node.present_inputs):
        raise UnsupportedError([Unsupported(node.name, node.op, "ONNX convolves integers of 8 bits alone")])
    x = w.transposed(w.input(node, 0), NCHW_FROM_NHWC)
    inputs = [x, w.weight(node, 1, OIHW_FROM_OHWI)]
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        inputs.append(w.input(node, 2))
    y = w.emit(
        "ConvInteger" if is_whole else "Conv",
        inputs,
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, a.pad.bottom, a.pad.right),
        group=a.groups,
    )
    w.finish(node, y, from_nchw=True)


conv2d = OpSpec(
    name="conv2d",
    attrs=Conv2dAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(weights=1, bias=2, dtypes=QUANTIZED, wide=True),
    macs=macs,
    rows=lambda node, first, last: rows_under_windows(node, node.input(1).type.shape[1], first, last),
    onnx=(
        onnx_op("Conv", build=from_onnx),
        onnx_op("STFT", build=spectral.stft),
        onnx_op("ConvInteger", build=from_onnx_integer, integers=True),
        onnx_op("QLinearConv", build=from_onnx_quantized, integers=True),
    ),
    tflite=(
        tflite_op("CONV_2D", build=from_tflite_conv),
        tflite_op("DEPTHWISE_CONV_2D", build=from_tflite_depthwise),
    ),
    to_onnx=to_onnx,
    cases=(
        case((1, 5, 5, 3), weights(4, 3, 3, 3), weights(4), kinds=ALL_KINDS),
        case(
            (2, 6, 7, 4),
            weights(6, 3, 2, 2),
            weights(6),
            attrs=Conv2dAttrs((2, 1), pad=Padding(1, 0, 2, 1), groups=2),
            kinds=ALL_KINDS,
        ),
        case((1, 7, 7, 2), weights(3, 3, 3, 2), None, attrs=Conv2dAttrs(dilation=(2, 2), pad=Padding(2, 2, 2, 2))),
        case(
            (1, 6, 6, 8), weights(8, 3, 3, 1), weights(8), attrs=Conv2dAttrs((2, 2), pad=Padding(0, 0, 1, 1), groups=8)
        ),
        case(
            (1, 4, 4, 3),
            weights(6, 3, 3, 1),
            weights(6),
            attrs=Conv2dAttrs(pad=Padding(1, 1, 1, 1), groups=3),
            kinds=ALL_KINDS,
        ),
        case(
            (1, 8, 5, 4),
            weights(4, 3, 3, 1),
            weights(4),
            attrs=Conv2dAttrs(pad=Padding(1, 1, 1, 1), groups=4, activation_min=0.0),
        ),
        case((3, 4, 5, 8), weights(7, 1, 1, 8), weights(7), attrs=Conv2dAttrs(activation_min=0.0)),
        case((1, 1, 16, 4), weights(3, 1, 5, 4), weights(3), attrs=Conv2dAttrs(pad=Padding(0, 2, 0, 2))),
        case(
            (1, 1, 12, 2), weights(4, 1, 3, 2), weights(4), attrs=Conv2dAttrs(dilation=(1, 4), pad=Padding(0, 8, 0, 0))
        ),
        case((1, 5, 5, 2), weights(2, 5, 5, 2), weights(2), attrs=Conv2dAttrs(activation_min=0.0, activation_max=6.0)),
    ),
)
