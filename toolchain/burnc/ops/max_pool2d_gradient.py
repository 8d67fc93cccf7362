"""max_pool2d_gradient: each gradient dy of a window goes to the first of the window's largest elements in x.

Float only. Sources: the gradient of ONNX MaxPool-12, ties as in its second output (indices).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.ops.case import Case, Operand, case
from burnc.ops.max_pool2d import MaxPool2dAttrs as Attrs
from burnc.ops.max_pool2d import infer as infer_pooled
from burnc.ops.spatial import NCHW_FROM_NHWC, NHWC_FROM_NCHW, Padding, taps
from burnc.ops.spec import OnnxWriter, OpSpec, required


def infer(a: Attrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, dy = required(inputs, 0), required(inputs, 1)
    (pooled,) = infer_pooled(a, inputs)
    if dy.shape != pooled.shape or dy.dtype is not x.dtype:
        raise GraphError(f"gradient {dy} must be {pooled}")
    return [x]


def body(k: KernelBuilder, a: Attrs, x: Tensor, dy: Tensor, dx: Tensor) -> None:
    samples, height, width, channels = x.shape
    columns = a.kernel[1]
    # Windows may overlap, so only samples and channels run side by side.
    for n, c in k.grid((samples, channels), "n c"):
        for h, w in k.reduce((height, width), "h w"):
            dx[n, h, w, c] = 0.0
        for oh, ow in k.reduce(dy.shape[1:3], "oh ow"):
            largest = k.local("largest", -math.inf, FLOAT32)
            where = k.local("where", 0, INT32)
            for kh, kw in k.reduce(a.kernel, "kh kw"):
                ih = k.let("ih", oh * a.stride[0] + kh * a.dilation[0] - a.pad.top)
                iw = k.let("iw", ow * a.stride[1] + kw * a.dilation[1] - a.pad.left)
                element = k.let("element", x.at(n, ih, iw, c, outside=-math.inf))
                where.set(k.select(element > largest.value, kh * columns + kw, where.value))
                largest.set(k.maximum(largest.value, element))
            row = k.let("row", oh * a.stride[0] + where.value // columns * a.dilation[0] - a.pad.top)
            column = k.let("column", ow * a.stride[1] + where.value % columns * a.dilation[1] - a.pad.left)
            # A window of NaN alone points to its first tap, which may lie in the padding.
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            with k.when(inside):
                dx[n, row, column, c] = dx[n, row, column, c] + dy[n, oh, ow, c]


def forward(xp: Any, a: Attrs, x: Any, dy: Any) -> Any:
    sides = ((0, 0), (a.pad.top, a.pad.bottom), (a.pad.left, a.pad.right), (0, 0))
    padded = xp.pad(x, sides, constant_values=-np.inf) if a.pad != Padding() else x
    _, oh, ow, _ = dy.shape
    places = [(slice(None), rows, columns) for _, _, rows, columns in taps(a.kernel, a.stride, a.dilation, (oh, ow))]
    largest = padded[places[0]].copy()
    for tap in places[1:]:
        xp.maximum(largest, padded[tap], out=largest)
    result = xp.zeros_like(padded)
    rest = dy.copy()  # what no tap has taken yet
    for tap in places:
        taken = rest * (padded[tap] == largest)
        result[tap] += taken
        rest -= taken
    inner = result[:, a.pad.top : a.pad.top + x.shape[1], a.pad.left : a.pad.left + x.shape[2]]
    return xp.ascontiguousarray(inner)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: Attrs = node.attrs
    n, height, width, channels = node.input(0).type.shape
    size = n * height * width * channels
    flat = w.constant(np.array([-1], np.int64), "flat")
    pooled = [w.emit("Identity", [w.input(node, 0)]) + suffix for suffix in (".pooled", ".indices")]
    w.emit(
        "MaxPool",
        [w.transposed(w.input(node, 0), NCHW_FROM_NHWC)],
        pooled,
        kernel_shape=a.kernel,
        strides=a.stride,
        dilations=a.dilation,
        pads=(a.pad.top, a.pad.left, a.pad.bottom, a.pad.right),
    )
    indices = w.emit("Reshape", [pooled[1], flat])
    updates = w.emit("Reshape", [w.transposed(w.input(node, 1), NCHW_FROM_NHWC), flat])
    zeros = w.constant(np.zeros(size, np.float32), "zeros")
    scattered = w.emit("ScatterElements", [zeros, indices, updates], axis=0, reduction="add")
    shape = w.constant(np.array([n, channels, height, width], np.int64), "shape")
    w.emit("Transpose", [w.emit("Reshape", [scattered, shape])], [w.output(node)], perm=NHWC_FROM_NCHW)


def _case(x: tuple[int, ...], dy: tuple[int, ...], attrs: Attrs, **rest: Any) -> Case:
    return case(Operand(x, **rest), dy, attrs=attrs, kinds=("float32",))


max_pool2d_gradient = OpSpec(
    name="max_pool2d_gradient",
    is_gradient=True,
    attrs=Attrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=(
        _case((1, 4, 4, 3), (1, 2, 2, 3), Attrs((2, 2), (2, 2))),
        _case((2, 5, 5, 2), (2, 2, 2, 2), Attrs((2, 2), (2, 2))),
        _case((1, 5, 6, 3), (1, 3, 3, 3), Attrs((3, 3), (2, 2), pad=Padding(1, 1, 1, 1))),
        _case((1, 7, 7, 2), (1, 4, 3, 2), Attrs((2, 3), (1, 1), (3, 2))),
        _case((2, 4, 4, 2), (2, 3, 3, 2), Attrs((2, 2)), values=(0.0, 1.0, 0.0, 1.0, 1.0)),
        _case((1, 5, 6, 3), (1, 5, 6, 3), Attrs((3, 2), (1, 1), pad=Padding(1, 1, 1, 0)), low=-3, high=-1),
    ),
)
