"""conv2d_weight_gradient: from a convolution's input and the gradient dy of its result, the gradient of its weights.

dw[oc, kh, kw, ic] sums x[n, oh * stride + kh * dilation - pad, ...] * dy[n, oh, ow, oc] over samples and places.
Float only. ONNX says it as a convolution whose batch is the channels and whose stride and dilation are exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Case, case
from burnc.ops.spatial import NO_PADDING, Padding, Pair, output_sizes, taps
from burnc.ops.spec import OnnxWriter, OpSpec, required

CHANNELS_FIRST = (3, 0, 1, 2)


@dataclass(frozen=True)
class Conv2dWeightGradientAttrs:
    """Those of the convolution, and the height and width of its kernel."""

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Padding = NO_PADDING
    groups: int = 1


def infer(a: Conv2dWeightGradientAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, dy = required(inputs, 0), required(inputs, 1)
    if x.rank != 4 or dy.rank != 4 or x.shape[3] % a.groups or dy.shape[3] % a.groups:
        raise GraphError(f"input {list(x.shape)} does not go with gradient {list(dy.shape)} in {a.groups} groups")
    size = output_sizes((x.shape[1], x.shape[2]), a.kernel, a.stride, a.dilation, a.pad)
    if dy.shape[:3] != (x.shape[0], *size):
        raise GraphError(f"gradient {list(dy.shape)} must have shape {[x.shape[0], *size, dy.shape[3]]}")
    return [TensorType(x.dtype, (dy.shape[3], *a.kernel, x.shape[3] // a.groups))]


def body(k: KernelBuilder, a: Conv2dWeightGradientAttrs, x: Tensor, dy: Tensor, dw: Tensor) -> None:
    filters, channels = dw.shape[0] // a.groups, dw.shape[3]
    for oc, kh, kw, c in k.grid(dw.shape, "oc kh kw c"):
        acc = k.accumulator(0.0)
        channel = oc // filters * channels + c
        for n, oh, ow in k.reduce(dy.shape[:3], "n oh ow"):
            ih = k.let("ih", oh * a.stride[0] + kh * a.dilation[0] - a.pad.top)
            iw = k.let("iw", ow * a.stride[1] + kw * a.dilation[1] - a.pad.left)
            acc += x.at(n, ih, iw, channel, outside=0.0) * dy[n, oh, ow, oc]
        dw[oc, kh, kw, c] = acc.value


def forward(xp: Any, a: Conv2dWeightGradientAttrs, x: Any, dy: Any) -> Any:
    padded = xp.pad(x, ((0, 0), (a.pad.top, a.pad.bottom), (a.pad.left, a.pad.right), (0, 0)))
    _, oh, ow, filters = dy.shape
    channels = x.shape[3] // a.groups
    result = xp.empty((filters, *a.kernel, channels), x.dtype)
    for i, j, rows, columns in taps(a.kernel, a.stride, a.dilation, (oh, ow)):
        result[:, i, j] = _tap(xp, a, padded[:, rows, columns], dy)
    return result


def _tap(xp: Any, a: Conv2dWeightGradientAttrs, x: Any, dy: Any) -> Any:
    """The gradient [O, channels of a group] of one tap, which meets the input x [N, OH, OW, C]."""
    filters, channels = dy.shape[3] // a.groups, x.shape[3] // a.groups
    if a.groups == 1:
        return dy.reshape(-1, filters).T @ x.reshape(-1, channels)
    if filters == channels == 1:
        return (x * dy).reshape(-1, a.groups).sum(axis=0)[:, None]
    left = dy.reshape(-1, a.groups, filters).transpose(1, 2, 0)
    return (left @ x.reshape(-1, a.groups, channels).transpose(1, 0, 2)).reshape(-1, channels)


def macs(node: Node) -> int:
    return node.input(1).type.size * node.output.type.size // node.output.type.shape[0]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: Conv2dWeightGradientAttrs = node.attrs
    x = w.transposed(w.input(node, 0), CHANNELS_FIRST)
    dy = w.transposed(w.input(node, 1), CHANNELS_FIRST)
    filters, channels = (node.input(i).type.shape[3] // a.groups for i in (1, 0))
    axes = w.constant(np.array([0], np.int64), "axis")
    parts = []
    for group in range(a.groups):
        operands = []
        for name, count in ((x, channels), (dy, filters)):
            bounds = [w.constant(np.array([group * count + n], np.int64), "bound") for n in (0, count)]
            operands.append(w.emit("Slice", [name, *bounds, axes]))
        pads = (a.pad.top, a.pad.left, a.pad.bottom, a.pad.right)
        parts.append(w.emit("Conv", operands, strides=a.dilation, dilations=a.stride, pads=pads))
    joined = w.emit("Concat", parts, axis=1)  # [channels of a group, O, kh or more, kw or more]
    ends = w.constant(np.array(a.kernel, np.int64), "kernel")
    both = w.constant(np.array([2, 3], np.int64), "spatial")
    cut = w.emit("Slice", [joined, w.constant(np.array([0, 0], np.int64), "start"), ends, both])
    w.emit("Transpose", [cut], [w.output(node)], perm=(1, 2, 3, 0))


Attrs = Conv2dWeightGradientAttrs


def _case(x: tuple[int, ...], dy: tuple[int, ...], attrs: Attrs) -> Case:
    return case(x, dy, attrs=attrs, kinds=("float32",))


conv2d_weight_gradient = OpSpec(
    name="conv2d_weight_gradient",
    is_gradient=True,
    attrs=Conv2dWeightGradientAttrs,
    infer=infer,
    forward=forward,
    body=body,
    macs=macs,
    to_onnx=to_onnx,
    cases=(
        _case((1, 5, 5, 3), (1, 3, 3, 4), Attrs((3, 3))),
        _case((2, 6, 6, 4), (2, 4, 6, 6), Attrs((3, 2), (2, 1), pad=Padding(1, 0, 2, 1), groups=2)),
        _case((1, 7, 7, 2), (1, 7, 7, 3), Attrs((3, 3), dilation=(2, 2), pad=Padding(2, 2, 2, 2))),
        _case((1, 6, 6, 5), (1, 3, 3, 5), Attrs((3, 3), (2, 2), pad=Padding(0, 0, 1, 1), groups=5)),
        _case((1, 4, 4, 3), (1, 4, 4, 6), Attrs((3, 3), pad=Padding(1, 1, 1, 1), groups=3)),
        _case((3, 4, 5, 8), (3, 4, 5, 7), Attrs((1, 1))),
        _case((2, 6, 6, 3), (2, 2, 2, 2), Attrs((2, 2), (3, 3))),
    ),
)
