"""conv2d_input_gradient: from the gradient dy of a convolution's result and its weights, the gradient of its input.

dx[n, ih, iw, ic] sums dy[n, oh, ow, oc] * w[oc, kh, kw, ic] over all taps with ih = oh * stride + kh * dilation - pad.
Float only. It is ONNX's ConvTranspose, whose weights have another layout and whose padding is counted otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Case, case, weights
from burnc.ops.spatial import NCHW_FROM_NHWC, NO_PADDING, Padding, Pair, output_sizes, taps, window_extent
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class Conv2dInputGradientAttrs:
    """Those of the convolution, and the height and width of its input, which a stride leaves open."""

    size: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Padding = NO_PADDING
    groups: int = 1


def infer(a: Conv2dInputGradientAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    dy, w = required(inputs, 0), required(inputs, 1)
    if dy.rank != 4 or w.rank != 4 or dy.shape[3] != w.shape[0] or w.shape[0] % a.groups:
        raise GraphError(f"gradient {list(dy.shape)} does not go with weights {list(w.shape)} in {a.groups} groups")
    size = output_sizes(a.size, (w.shape[1], w.shape[2]), a.stride, a.dilation, a.pad)
    if dy.shape[1:3] != size:
        raise GraphError(f"gradient {list(dy.shape)} must be {list(size)} high and wide for an input of {list(a.size)}")
    return [TensorType(dy.dtype, (dy.shape[0], *a.size, w.shape[3] * a.groups))]


def body(k: KernelBuilder, a: Conv2dInputGradientAttrs, dy: Tensor, w: Tensor, dx: Tensor) -> None:
    filters, channels = w.shape[0] // a.groups, w.shape[3]
    for n, ih, iw, c in k.grid(dx.shape, "n ih iw c"):
        acc = k.accumulator(0.0)
        first = c // channels * filters
        for kh, kw, f in k.reduce((w.shape[1], w.shape[2], filters), "kh kw f"):
            oh, on_row = _source(k, "oh", ih + a.pad.top - kh * a.dilation[0], a.stride[0], w.shape[1] * a.dilation[0])
            ow, on_column = _source(
                k, "ow", iw + a.pad.left - kw * a.dilation[1], a.stride[1], w.shape[2] * a.dilation[1]
            )
            value = dy.at(n, oh, ow, first + f, outside=0.0) * w[first + f, kh, kw, c % channels]
            for condition in (on_row, on_column):
                value = value if condition is None else k.select(condition, value, 0.0)
            acc += value
        dx[n, ih, iw, c] = acc.value


def _source(k: KernelBuilder, name: str, place: Expr, stride: int, reach: int) -> tuple[Expr, Expr | None]:
    """The window whose tap lies there, and the condition that there is one: the place is a multiple of the stride."""
    if stride == 1:
        return k.let(name, place), None
    lifted = -(-reach // stride)  # windows, so that what is divided is never negative
    shifted = k.let(f"{name}_place", place + lifted * stride)
    return k.let(name, shifted // stride - lifted), (shifted % stride).eq(0)


def forward(xp: Any, a: Conv2dInputGradientAttrs, dy: Any, w: Any) -> Any:
    n, oh, ow = dy.shape[:3]
    _, kh, kw, channels = w.shape
    height = max(a.size[0] + a.pad.top + a.pad.bottom, (oh - 1) * a.stride[0] + window_extent(kh, a.dilation[0]))
    width = max(a.size[1] + a.pad.left + a.pad.right, (ow - 1) * a.stride[1] + window_extent(kw, a.dilation[1]))
    padded = xp.zeros((n, height, width, channels * a.groups), dy.dtype)
    for i, j, rows, columns in taps((kh, kw), a.stride, a.dilation, (oh, ow)):
        padded[:, rows, columns] += _tap(xp, a, dy, w[:, i, j])
    inner = padded[:, a.pad.top : a.pad.top + a.size[0], a.pad.left : a.pad.left + a.size[1]]
    return xp.ascontiguousarray(inner)


def _tap(xp: Any, a: Conv2dInputGradientAttrs, dy: Any, w: Any) -> Any:
    """The part [N, OH, OW, C] of one tap, whose weights are [O, channels of a group]."""
    if a.groups == 1:
        return dy @ w
    filters, channels = w.shape[0] // a.groups, w.shape[1]
    if filters == channels == 1:
        return dy * w[:, 0]
    grouped = dy.reshape(*dy.shape[:3], a.groups, 1, filters) @ w.reshape(a.groups, filters, channels)
    return grouped.reshape(*dy.shape[:3], a.groups * channels)


def macs(node: Node) -> int:
    return node.input(0).type.size * math.prod(node.input(1).type.shape[1:])


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: Conv2dInputGradientAttrs = node.attrs
    kernel, size = node.input(1).type.shape[1:3], node.input(0).type.shape[1:3]
    full = [(n - 1) * s + window_extent(k, d) for n, s, k, d in zip(size, a.stride, kernel, a.dilation, strict=True)]
    # ConvTranspose yields rows up to the last window's end; those that no window reached come from output_padding.
    extra = [a.size[0] + a.pad.top + a.pad.bottom - full[0], a.size[1] + a.pad.left + a.pad.right - full[1]]
    y = w.emit(
        "ConvTranspose",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), w.weight(node, 1, NCHW_FROM_NHWC)],
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, a.pad.bottom, a.pad.right),
        output_padding=extra,
        group=a.groups,
    )
    w.finish(node, y, from_nchw=True)


Attrs = Conv2dInputGradientAttrs


def _case(dy: tuple[int, ...], kernel: tuple[int, ...], attrs: Attrs) -> Case:
    return case(dy, weights(*kernel), attrs=attrs, kinds=("float32",))


conv2d_input_gradient = OpSpec(
    name="conv2d_input_gradient",
    is_gradient=True,
    attrs=Conv2dInputGradientAttrs,
    infer=infer,
    forward=forward,
    body=body,
    macs=macs,
    to_onnx=to_onnx,
    cases=(
        _case((1, 3, 3, 4), (4, 3, 3, 3), Attrs((5, 5))),
        _case((2, 4, 6, 6), (6, 3, 2, 2), Attrs((6, 6), (2, 1), pad=Padding(1, 0, 2, 1), groups=2)),
        _case((1, 7, 7, 3), (3, 3, 3, 2), Attrs((7, 7), dilation=(2, 2), pad=Padding(2, 2, 2, 2))),
        _case((1, 3, 3, 5), (5, 3, 3, 1), Attrs((6, 6), (2, 2), pad=Padding(0, 0, 1, 1), groups=5)),
        _case((1, 4, 4, 6), (6, 3, 3, 1), Attrs((4, 4), pad=Padding(1, 1, 1, 1), groups=3)),
        _case((3, 4, 5, 7), (7, 1, 1, 8), Attrs((4, 5))),
        _case((2, 2, 2, 2), (2, 2, 2, 3), Attrs((6, 6), (3, 3))),
    ),
)
