"""conv_transpose2d: transposed 2-D convolution, NHWC, with groups and dilation; 1-D is height 1.

y[n, oh, ow, oc] sums x[n, ih, iw, ic] * w[oc, kh, kw, ic] over all taps with oh = ih * stride + kh * dilation - pad.
Weights are OHWI: [output channels, kh, kw, input channels / groups].
Sources: ONNX ConvTranspose-11; TFLite TRANSPOSE_CONV; integers as TFLite Micro's reference kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import ALL_KINDS, case, weights
from burnc.ops.mapping import FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.requantize import Integers, centred, requantized
from burnc.ops.spatial import (
    NCHW_FROM_NHWC,
    NO_PADDING,
    Padding,
    Pair,
    from_nhwc,
    taps,
    tflite_weights,
    to_nhwc,
    window_extent,
)
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required

OHWI_FROM_IOHW = (1, 2, 3, 0)


@dataclass(frozen=True)
class ConvTranspose2dAttrs:
    """``pad`` is cut away from the full result; ``extra`` rows and columns come after it (ONNX: output_padding)."""

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Padding = NO_PADDING
    extra: Pair = (0, 0)
    groups: int = 1
    activation_min: float = -math.inf
    activation_max: float = math.inf


def _full(a: ConvTranspose2dAttrs, size: Pair, kernel: Pair) -> Pair:
    """Height and width that all windows cover together."""
    height, width = (
        (n - 1) * s + window_extent(k, d) for n, s, k, d in zip(size, a.stride, kernel, a.dilation, strict=True)
    )
    return height, width


def infer(a: ConvTranspose2dAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, w = required(inputs, 0), required(inputs, 1)
    if x.rank != 4 or w.rank != 4:
        raise GraphError(f"input {list(x.shape)} and weights {list(w.shape)} must have 4 axes")
    channels, filters = x.shape[3], w.shape[0]
    if a.groups < 1 or filters % a.groups or w.shape[3] * a.groups != channels:
        raise GraphError(f"weights {list(w.shape)} in {a.groups} groups do not go with {channels} input channels")
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and bias.shape != (filters,):
        raise GraphError(f"bias {list(bias.shape)} must have one value for each of {filters} output channels")
    if min(*a.stride, *a.dilation) < 1 or min(a.extra) < 0:
        raise GraphError(f"stride {a.stride}, dilation {a.dilation}, extra {a.extra}")
    height, width = _full(a, (x.shape[1], x.shape[2]), (w.shape[1], w.shape[2]))
    size = (height - a.pad.top - a.pad.bottom + a.extra[0], width - a.pad.left - a.pad.right + a.extra[1])
    if min(size) < 1:
        raise GraphError(f"padding {a.pad} leaves nothing of a result of {height} x {width}")
    return [TensorType(x.dtype, (x.shape[0], *size, filters))]


def body(k: KernelBuilder, a: ConvTranspose2dAttrs, x: Tensor, w: Tensor, *rest: Tensor | None) -> None:
    *bias, y = rest
    assert y is not None
    b = bias[0] if bias else None
    filters, channels = w.shape[0] // a.groups, w.shape[3]
    reach = (w.shape[1] * a.dilation[0], w.shape[2] * a.dilation[1])
    for n, oh, ow, oc in k.grid(y.shape, "n oh ow oc"):
        acc = k.accumulator(b[oc] if b else 0)
        first = oc // filters * channels
        for kh, kw in k.reduce(w.shape[1:3], "kh kw"):
            ih, row = _source(k, "ih", oh + a.pad.top - kh * a.dilation[0], a.stride[0], reach[0], x.shape[1])
            iw, column = _source(k, "iw", ow + a.pad.left - kw * a.dilation[1], a.stride[1], reach[1], x.shape[2])
            with k.when(row & column):
                for (ic,) in k.reduce((channels,), "ic"):
                    acc += x[n, ih, iw, first + ic] * w[oc, kh, kw, ic]
        y[n, oh, ow, oc] = k.requantize(acc, axis=oc)


def _source(k: KernelBuilder, name: str, place: Expr, stride: int, reach: int, extent: int) -> tuple[Expr, Expr]:
    """Whose tap lies there, and the condition that there is one: a multiple of the stride, and inside."""
    lifted = -(-reach // stride)  # windows, so that what is divided is never negative
    shifted = k.let(f"{name}_place", place + lifted * stride)
    index = k.let(name, shifted // stride - lifted)
    inside = (index >= 0) & (index < extent)
    return index, inside if stride == 1 else inside & (shifted % stride).eq(0)


def _accumulate(a: ConvTranspose2dAttrs, x: Any, w: Any, dtype: Any) -> Any:
    """Sums of products [N, OH, OW, O]: each tap adds one matrix product a group."""
    n, ih, iw = x.shape[:3]
    filters, kh, kw, channels = w.shape
    height, width = _full(a, (ih, iw), (kh, kw))
    full = np.zeros((n, height + a.extra[0], width + a.extra[1], filters), dtype)
    grouped = x.reshape(n, ih, iw, a.groups, channels).transpose(3, 0, 1, 2, 4).astype(dtype)
    split = w.reshape(a.groups, filters // a.groups, kh, kw, channels).astype(dtype)
    for i, j, rows, columns in taps((kh, kw), a.stride, a.dilation, (ih, iw)):
        part = grouped @ split[:, None, None, :, i, j].swapaxes(-1, -2)
        full[:, rows, columns] += part.transpose(1, 2, 3, 0, 4).reshape(n, ih, iw, filters)
    bottom, right = full.shape[1] - a.pad.bottom, full.shape[2] - a.pad.right
    return np.ascontiguousarray(full[:, a.pad.top : bottom, a.pad.left : right])


def forward(xp: Any, a: ConvTranspose2dAttrs, x: Any, w: Any, b: Any = None) -> Any:
    y = _accumulate(a, x, w, x.dtype)
    if b is not None:
        y = y + b
    return np.clip(y, np.float32(a.activation_min), np.float32(a.activation_max))


def integer(node: Node, x: Integers, w: Integers, b: Integers | None = None) -> Integers:
    # float64 holds these integer sums exactly: |acc| < 2**47 is proven when the graph is quantized or imported.
    acc = _accumulate(node.attrs, centred(node, 0, x), centred(node, 1, w), np.float64).astype(np.int64)
    return requantized(node, acc if b is None else acc + b)


def macs(node: Node) -> int:
    return node.input(0).type.size * math.prod(node.input(1).type.shape[:3]) // int(node.attrs.groups)


def from_onnx(node: FileNode) -> list[Value]:
    """ONNX's weights are [input channels, output channels / groups, kernel ...]."""
    x, w = node.input(0), node.input(1)
    rank = x.type.rank
    if rank not in (3, 4) or w.type.rank != rank:
        node.refuse(f"input {list(x.type.shape)} with weights {list(w.type.shape)}: only 1-D and 2-D convolution")
    space, kernel = x.type.shape[2:], w.type.shape[2:]
    if node.integers("kernel_shape", rank - 2, 0) not in (kernel, (0,) * (rank - 2)):
        node.refuse(f"kernel_shape contradicts weights {list(w.type.shape)}")
    groups = int(node.attribute("group", 1))
    if groups < 1 or w.type.shape[0] != x.type.shape[1] or w.type.shape[0] % groups:
        node.refuse(f"weights {list(w.type.shape)} in {groups} groups do not go with input {list(x.type.shape)}")
    attrs = _geometry(node, space, kernel, groups)
    bias = node.inputs[2] if node.has_input(2) else None
    y = node.emit("conv_transpose2d", [to_nhwc(node, x), _ohwi(node, w, groups), bias], attrs, last=False)
    return [from_nhwc(node, y, rank)]


def _geometry(node: FileNode, space: Sequence[int], kernel: Sequence[int], groups: int) -> ConvTranspose2dAttrs:
    rank = len(space)
    stride, dilation = node.integers("strides", rank, 1), node.integers("dilations", rank, 1)
    extra = node.integers("output_padding", rank, 0)
    pads = list(node.integers("pads", 2 * rank, 0))
    mode = node.attribute("auto_pad", "NOTSET")
    wanted = node.attribute("output_shape")
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        node.refuse(f"auto_pad {mode!r} is unknown")
    if wanted is None and mode.startswith("SAME"):
        # A kernel narrower than its stride does not reach so far; onnx's shape inference and onnxruntime add nothing.
        reach = [
            (n - 1) * s + e + window_extent(k, d)
            for n, s, e, k, d in zip(space, stride, extra, kernel, dilation, strict=True)
        ]
        wanted = [min(n * s, full) for n, s, full in zip(space, stride, reach, strict=True)]
    if wanted is not None:
        # Each axis: what is too much is padding; an odd rest goes after it, before it for SAME_UPPER's mirror image.
        for axis, size in enumerate(list(wanted)[-rank:]):
            full = (space[axis] - 1) * stride[axis] + extra[axis] + window_extent(kernel[axis], dilation[axis])
            total = max(0, full - int(size))
            extra = (*extra[:axis], extra[axis] + max(0, int(size) - full), *extra[axis + 1 :])
            less, more = total // 2, total - total // 2
            pads[axis], pads[rank + axis] = (less, more) if mode == "SAME_UPPER" else (more, less)
    if min(pads) < 0:
        node.refuse(f"negative pads {pads} are not supported")
    if rank == 1:
        pad = Padding(0, pads[0], 0, pads[1])
        return ConvTranspose2dAttrs((1, stride[0]), (1, dilation[0]), pad, (0, extra[0]), groups)
    pad = Padding(pads[0], pads[1], pads[2], pads[3])
    return ConvTranspose2dAttrs((stride[0], stride[1]), (dilation[0], dilation[1]), pad, (extra[0], extra[1]), groups)


def _ohwi(node: FileNode, w: Value, groups: int) -> Value:
    """[I, O/g, (H,) W] as OHWI; the quantization's axis moves along, except where groups put channels together."""
    ops = node.builder.operators
    shape = w.type.shape if w.type.rank == 4 else (*w.type.shape[:2], 1, w.type.shape[2])

    def step(op: str, x: Value, argument: Sequence[int]) -> Value:
        return node.emit(op, [x], ops[op].attrs(tuple(argument)), last=False, name=f"{node.name}.{op}")

    if w.type.rank == 3:
        w = step("reshape", w, shape)
    if groups == 1:
        return step("transpose", w, OHWI_FROM_IOHW)
    inputs, filters, kh, kw = shape
    apart = step("reshape", w, (groups, inputs // groups, filters, kh, kw))
    moved = step("transpose", apart, (0, 2, 3, 4, 1))
    return step("reshape", moved, (groups * filters, kh, kw, inputs // groups))


def from_tflite(node: FileNode) -> list[Value]:
    """The first input is the result's shape; SAME and VALID say how a convolution back would be padded."""
    shape = [int(n) for n in node.constant(0, "the shape").reshape(-1)]
    w, x = tflite_weights(node, 1), node.input(2)
    if len(shape) != 4 or x.type.rank != 4 or w.type.rank != 4:
        node.refuse(f"input {list(x.type.shape)}, weights {list(w.type.shape)} and result {shape} must have 4 axes")
    stride = (int(node.attribute("stride_h")), int(node.attribute("stride_w")))
    if min(stride) < 1:
        node.refuse(f"strides {stride} must be positive")
    before, after, extra = [0, 0], [0, 0], [0, 0]
    for axis in (0, 1):
        size, kernel = shape[1 + axis], w.type.shape[1 + axis]
        if node.attribute("padding") == "SAME":
            before[axis] = max(0, (-(-size // stride[axis]) - 1) * stride[axis] + kernel - size) // 2
        rest = (x.type.shape[1 + axis] - 1) * stride[axis] + kernel - before[axis] - size
        after[axis], extra[axis] = max(0, rest), max(0, -rest)
    pad = Padding(before[0], before[1], after[0], after[1])
    attrs = ConvTranspose2dAttrs(stride, (1, 1), pad, (extra[0], extra[1]), 1, **fused_activation(node))
    return [node.emit("conv_transpose2d", [x, w, *node.inputs[3:4]], attrs)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ConvTranspose2dAttrs = node.attrs
    bias = [w.input(node, 2)] if len(node.inputs) > 2 and node.inputs[2] is not None else []
    if a.groups == 1:
        weights_name = w.weight(node, 1, (3, 0, 1, 2))
    else:
        filters, kh, kw, channels = node.input(1).type.shape
        split = np.array([a.groups, filters // a.groups, kh, kw, channels], np.int64)
        joined = np.array([a.groups * channels, filters // a.groups, kh, kw], np.int64)
        apart = w.emit("Reshape", [w.input(node, 1), w.constant(split, "split")])
        moved = w.emit("Transpose", [apart], perm=(0, 4, 1, 2, 3))
        weights_name = w.emit("Reshape", [moved, w.constant(joined, "joined")])
    y = w.emit(
        "ConvTranspose",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC), weights_name, *bias],
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, a.pad.bottom, a.pad.right),
        output_padding=a.extra,
        group=a.groups,
    )
    w.finish(node, y, from_nchw=True)


Attrs = ConvTranspose2dAttrs

conv_transpose2d = OpSpec(
    name="conv_transpose2d",
    attrs=ConvTranspose2dAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(weights=1, bias=2, dtypes=QUANTIZED, wide=True),
    macs=macs,
    onnx=(onnx_op("ConvTranspose", build=from_onnx),),
    tflite=(tflite_op("TRANSPOSE_CONV", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((1, 3, 3, 2), weights(4, 3, 3, 2), weights(4), attrs=Attrs((2, 2)), kinds=ALL_KINDS),
        case((2, 3, 4, 3), weights(2, 2, 3, 3), None, attrs=Attrs((1, 2), activation_min=0.0)),
        case(
            (1, 3, 3, 4), weights(6, 3, 3, 2), weights(6), attrs=Attrs((2, 3), (2, 1), Padding(1, 0, 2, 1), (1, 2), 2)
        ),
        case(
            (1, 1, 5, 3),
            weights(3, 1, 4, 1),
            weights(3),
            attrs=Attrs((1, 2), pad=Padding(0, 1, 0, 1), groups=3),
            kinds=("float32",),
        ),
    ),
)
