"""deform_conv2d: convolution whose taps are moved by offsets that are computed, and read between pixels, NHWC.

Weights are [O,kh,kw,I]; offsets hold (row, column) for each tap of each offset group, the mask a factor for each.
Beside the image are zeros. Sources: ONNX DeformConv-22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case, weights
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spatial import NCHW_FROM_NHWC, NO_PADDING, Padding, from_nhwc, onnx_window, output_sizes, to_nhwc
from burnc.ops.spec import OnnxWriter, OpSpec, required

OIHW_FROM_OHWI = (0, 3, 1, 2)


@dataclass(frozen=True)
class DeformConv2dAttrs:
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pad: Padding = NO_PADDING
    groups: int = 1
    offset_groups: int = 1


def infer(a: DeformConv2dAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, w, offsets = (required(inputs, i) for i in range(3))
    bias, mask = (inputs[i] if len(inputs) > i else None for i in (3, 4))
    given = [t for t in (x, w, offsets, bias, mask) if t is not None]
    if any(t.dtype is not DType.FLOAT32 for t in given) or any(t.rank != 4 for t in (x, w, offsets)):
        raise GraphError(f"input {x}, weights {w} and offsets {offsets} must be float32 with 4 axes")
    outputs, kh, kw, depth = w.shape
    channels = x.shape[3]
    if (
        min(a.groups, a.offset_groups) < 1
        or depth * a.groups != channels
        or outputs % a.groups
        or channels % a.offset_groups
    ):
        raise GraphError(f"weights {list(w.shape)} in {a.groups} groups do not go with {list(x.shape)}")
    space = output_sizes((x.shape[1], x.shape[2]), (kh, kw), a.stride, a.dilation, a.pad)
    taps = a.offset_groups * kh * kw
    if offsets.shape != (x.shape[0], *space, 2 * taps) or (mask and mask.shape != (x.shape[0], *space, taps)):
        raise GraphError(f"offsets {list(offsets.shape)} are not those of {taps} taps at {list(space)} places")
    if bias is not None and bias.shape != (outputs,):
        raise GraphError(f"the bias {list(bias.shape)} must have one value for each of {outputs} channels")
    return [x.with_shape((x.shape[0], *space, outputs))]


def body(k: KernelBuilder, a: DeformConv2dAttrs, x: Tensor, w: Tensor, offsets: Tensor, *rest: Tensor | None) -> None:
    *optional, y = rest
    bias, mask, *_ = (*optional, None, None)
    assert y is not None
    outputs, kh_count, kw_count, depth = w.shape
    channels = x.shape[3]
    for n, oh, ow, oc in k.grid(y.shape, "n oh ow oc"):
        total = k.local("total", 0.0 if bias is None else bias[oc], FLOAT32)
        for kh, kw, ic in k.reduce((kh_count, kw_count, depth), "kh kw ic"):
            channel = k.let("channel", oc // (outputs // a.groups) * depth + ic)
            group = channel // (channels // a.offset_groups)
            tap = k.let("tap", (group * kh_count + kh) * kw_count + kw)
            rows, columns = (
                _Between(
                    k,
                    place * a.stride[i] + step * a.dilation[i] - before,
                    offsets[n, oh, ow, tap * 2 + i],
                    x.shape[1 + i],
                )
                for i, (place, step, before) in enumerate(((oh, kh, a.pad.top), (ow, kw, a.pad.left)))
            )
            value: Expr = lift(0.0, FLOAT32)
            for i in (0, 1):
                for j in (0, 1):
                    pixel = x[n, rows.indices[i], columns.indices[j], channel]
                    there = rows.inside[i] & columns.inside[j]
                    part = k.select(there, pixel, 0.0) * (rows.weights[i] * columns.weights[j])
                    value = part if (i, j) == (0, 0) else value + part
            if mask is not None:
                value = value * mask[n, oh, ow, tap]
            total += value * w[oc, kh, kw, ic]
        y[n, oh, ow, oc] = total.value


class _Between:
    """The two pixels along one axis that a tap lies between: indices, weights, whether they are there."""

    def __init__(self, k: KernelBuilder, base: Expr, offset: Expr, length: int) -> None:
        at = k.cast(base, FLOAT32) + offset
        # Farther out is nothing; NaN becomes the lower end.
        high = k.select(at < length + 1.0, at, lift(length + 1.0, FLOAT32))
        at = k.let("at", k.select(at > -2.0, high, lift(-2.0, FLOAT32)))
        low = k.let("low", k.call("floor", at))
        rest = k.let("rest", at - low)
        first = k.let("first", k.cast(low, INT32))
        self.inside = [(first + i >= 0) & (first + i < length) for i in (0, 1)]
        self.indices = [k.let("index", k.minimum(k.maximum(first + i, 0), length - 1)) for i in (0, 1)]
        self.weights = [1.0 - rest, rest]


def forward(xp: Any, a: DeformConv2dAttrs, x: Any, w: Any, offsets: Any, bias: Any = None, mask: Any = None) -> Any:
    outputs, kh, kw, depth = w.shape
    n, oh, ow, _ = offsets.shape
    moved = offsets.reshape(n, oh, ow, a.offset_groups, kh, kw, 2)
    sides = []
    for i, (places, steps, before) in enumerate(((oh, kh, a.pad.top), (ow, kw, a.pad.left))):
        place = xp.arange(places).reshape((-1, 1, 1, 1, 1) if i == 0 else (-1, 1, 1, 1)) * a.stride[i]
        step = xp.arange(steps).reshape((-1, 1) if i == 0 else (-1,)) * a.dilation[i]
        at = (place + step - before).astype(x.dtype) + moved[..., i]
        length = x.shape[1 + i]
        at = xp.where(xp.isnan(at), -2, xp.clip(at, -2, length + 1)).astype(x.dtype)
        low = xp.floor(at).astype(np.int64)
        sides.append((low, at - low.astype(x.dtype), length))
    factor = xp.ones_like(moved[..., 0]) if mask is None else mask.reshape(moved.shape[:-1])
    sampled = _sampled(xp, a, x, sides, factor)  # n, oh, ow, kh, kw, channel
    parts = []
    for g in range(a.groups):
        taken = sampled[..., g * depth : (g + 1) * depth].reshape(n, oh, ow, -1)
        rows = w[g * outputs // a.groups : (g + 1) * outputs // a.groups].reshape(outputs // a.groups, -1)
        parts.append(taken @ rows.T)
    y = xp.concatenate(parts, axis=-1)
    return y if bias is None else y + bias


def _sampled(xp: Any, a: DeformConv2dAttrs, x: Any, sides: Sequence[tuple[Any, Any, int]], factor: Any) -> Any:
    """Every tap's value of every channel."""
    (low_row, rest_row, height), (low_column, rest_column, width) = sides
    batch = xp.arange(x.shape[0]).reshape(-1, 1, 1, 1, 1)
    per_group = x.shape[3] // a.offset_groups
    groups = []
    for g in range(a.offset_groups):
        total: Any = 0
        for i in (0, 1):
            for j in (0, 1):
                row, column = low_row[..., g, :, :] + i, low_column[..., g, :, :] + j
                there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
                pixel = x[batch, xp.clip(row, 0, height - 1), xp.clip(column, 0, width - 1)]
                pixel = pixel[..., g * per_group : (g + 1) * per_group]
                weight = xp.abs(1 - i - rest_row[..., g, :, :]) * xp.abs(1 - j - rest_column[..., g, :, :])
                total = total + xp.where(there, weight, 0).astype(x.dtype)[..., None] * pixel
        groups.append(total * factor[..., g, :, :, None])
    return xp.concatenate(groups, axis=-1)


def macs(node: Node) -> int:
    kernel = node.input(1).type
    return node.output.type.size * kernel.size // kernel.shape[0]


def from_onnx(node: FileNode) -> list[Value]:
    x, w = node.input(0), node.input(1)
    if x.type.rank != 4 or w.type.rank != 4:
        node.refuse(f"input {list(x.type.shape)} with weights {list(w.type.shape)}: only 2-D convolution")
    window = onnx_window(node, x.type.shape[2:], w.type.shape[2:])
    groups = (int(node.attribute("group", 1)), int(node.attribute("offset_group", 1)))
    operands = [to_nhwc(node, node.input(i)) for i in range(3)]
    bias = node.inputs[3] if node.has_input(3) else None
    mask = to_nhwc(node, node.input(4)) if node.has_input(4) else None
    attrs = DeformConv2dAttrs(window.stride, window.dilation, window.pad, *groups)
    return [from_nhwc(node, node.emit("deform_conv2d", [*operands, bias, mask], attrs, last=False), 4)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: DeformConv2dAttrs = node.attrs
    moved = [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), w.weight(node, 1, OIHW_FROM_OHWI)]
    moved.append(w.transposed(w.input(node, 2), NCHW_FROM_NHWC))
    given = [len(node.inputs) > i and node.inputs[i] is not None for i in (3, 4)]
    inputs = [*moved, w.input(node, 3) if given[0] else ""]
    if given[1]:
        inputs.append(w.transposed(w.input(node, 4), NCHW_FROM_NHWC))
    y = w.emit(
        "DeformConv",
        inputs,
        kernel_shape=node.input(1).type.shape[1:3],
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, a.pad.bottom, a.pad.right),
        group=a.groups,
        offset_group=a.offset_groups,
    )
    w.finish(node, y, from_nchw=True)


deform_conv2d = OpSpec(
    name="deform_conv2d",
    attrs=DeformConv2dAttrs,
    infer=infer,
    forward=forward,
    body=body,
    macs=macs,
    onnx=(onnx_op("DeformConv", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((1, 4, 5, 2), weights(3, 2, 2, 2), Operand((1, 3, 4, 8), low=-2, high=2), kinds=("float32",)),
        case(
            (2, 5, 5, 4),
            weights(2, 3, 2, 2),
            Operand((2, 2, 5, 24), low=-2, high=2),
            weights(2),
            (2, 2, 5, 12),
            attrs=DeformConv2dAttrs((2, 1), (2, 1), Padding(1, 0, 1, 1), 2, 2),
            kinds=("float32",),
        ),
    ),
)
