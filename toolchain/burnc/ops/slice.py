"""slice: a box cut out of a float tensor: ``sizes`` elements from ``starts`` on. Sources: ONNX Slice-13 (steps 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.pad import PadAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class SliceAttrs:
    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()


def infer(a: SliceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not len(a.starts) == len(a.sizes) == x.rank:
        raise GraphError(f"starts {list(a.starts)} and sizes {list(a.sizes)} for shape {list(x.shape)}")
    if any(s < 0 or n < 1 or s + n > extent for s, n, extent in zip(a.starts, a.sizes, x.shape, strict=True)):
        raise GraphError(f"{list(a.sizes)} elements from {list(a.starts)} on do not lie in shape {list(x.shape)}")
    return [x.with_shape(a.sizes).with_quant(None)]


def body(k: KernelBuilder, a: SliceAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = x[tuple(index + start for index, start in zip(i, a.starts, strict=True))]


def forward(xp: Any, a: SliceAttrs, x: Any) -> Any:
    return xp.ascontiguousarray(x[tuple(slice(s, s + n) for s, n in zip(a.starts, a.sizes, strict=True))])


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    a: SliceAttrs = node.attrs
    extents = node.input(0).type.shape
    pads = tuple((s, extent - s - n) for s, n, extent in zip(a.starts, a.sizes, extents, strict=True))
    return [b.node("pad", [dy], PadAttrs(pads))]


def from_onnx(node: FileNode) -> list[Value]:
    shape = node.input(0).type.shape
    starts = [int(v) for v in node.constant(1, "starts").reshape(-1)]
    ends = [int(v) for v in node.constant(2, "ends").reshape(-1)]
    axes = [int(v) for v in node.constant(3, "axes").reshape(-1)] if node.has_input(3) else list(range(len(starts)))
    steps = [int(v) for v in node.constant(4, "steps").reshape(-1)] if node.has_input(4) else [1] * len(axes)
    if any(step != 1 for step in steps) or any(not -len(shape) <= axis < len(shape) for axis in axes):
        node.refuse(f"steps {steps} along axes {axes} of shape {list(shape)}: only steps of 1 are supported")
    first, sizes = [0] * len(shape), list(shape)
    for start, end, axis in zip(starts, ends, axes, strict=True):
        begin, stop, _ = slice(start, end).indices(shape[axis])
        first[axis], sizes[axis] = begin, max(0, stop - begin)
    if not all(sizes):
        node.refuse(f"the result {sizes} holds nothing")
    return [node.emit("slice", [node.input(0)], SliceAttrs(tuple(first), tuple(sizes)))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: SliceAttrs = node.attrs
    ends = [s + n for s, n in zip(a.starts, a.sizes, strict=True)]
    bounds = [w.constant(np.array(v, np.int64), hint) for v, hint in ((a.starts, "starts"), (ends, "ends"))]
    w.emit("Slice", [w.input(node, 0), *bounds], [w.output(node)])


slice_ = OpSpec(
    name="slice",
    attrs=SliceAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    onnx=(onnx_op("Slice", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((3, 4, 5), attrs=SliceAttrs((1, 0, 2), (2, 4, 1)), kinds=("float32",)),
        case((6,), attrs=SliceAttrs((5,), (1,)), kinds=("float32",)),
    ),
)
