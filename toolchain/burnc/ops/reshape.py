"""reshape: the same elements under another shape.

Sources: ONNX Reshape-14, Flatten-13, Squeeze-13, Unsqueeze-13; TFLite RESHAPE, SQUEEZE, EXPAND_DIMS, and SHAPE, RANK,
which are constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ReshapeAttrs:
    shape: tuple[int, ...] = ()


def infer(a: ReshapeAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if math.prod(a.shape) != x.size:
        raise GraphError(f"{x.size} elements of {list(x.shape)} do not fill shape {list(a.shape)}")
    return [x.with_shape(a.shape).with_quant(None)]


def body(k: KernelBuilder, a: ReshapeAttrs, x: Tensor, y: Tensor) -> None:
    flat_x, flat_y = (Tensor(k, t.buffer, t.type.with_shape((t.type.size,))) for t in (x, y))
    for (i,) in k.grid((x.type.size,)):
        flat_y[i] = flat_x.raw(i)


def resolve(node: FileNode, x: Value, wanted: Sequence[int], *, zero_copies: bool) -> tuple[int, ...]:
    """A shape with -1 (inferred) and, where ``zero_copies``, 0 (copied from the input) filled in."""
    shape = [int(n) for n in wanted]
    if zero_copies:
        for axis, n in enumerate(shape):
            if n == 0:
                if axis >= x.type.rank:
                    node.refuse(f"shape {list(wanted)}: there is no input axis {axis} to copy")
                shape[axis] = x.type.shape[axis]
    if shape.count(-1) > 1 or any(n < -1 for n in shape):
        node.refuse(f"shape {list(wanted)} cannot be resolved")
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        if rest == 0 or x.type.size % rest:
            node.refuse(f"{x.type.size} elements of {list(x.type.shape)} do not fill shape {list(wanted)}")
        shape[shape.index(-1)] = x.type.size // rest
    if math.prod(shape) != x.type.size:
        node.refuse(f"{x.type.size} elements of {list(x.type.shape)} do not fill shape {list(wanted)}")
    return tuple(shape)


def _emit(node: FileNode, shape: tuple[int, ...]) -> list[Value]:
    return [node.emit("reshape", [node.input(0)], ReshapeAttrs(shape))]


def from_onnx_reshape(node: FileNode) -> list[Value]:
    wanted = node.constant(1, "the shape")
    copies = not node.attribute("allowzero", 0)
    return _emit(node, resolve(node, node.input(0), wanted.tolist(), zero_copies=copies))


def from_onnx_flatten(node: FileNode) -> list[Value]:
    shape = node.input(0).type.shape
    axis = node.attribute("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        node.refuse(f"axis {axis} is out of range for shape {list(shape)}")
    axis += len(shape) if axis < 0 else 0
    return _emit(node, (math.prod(shape[:axis]), math.prod(shape[axis:])))


def from_onnx_squeeze(node: FileNode) -> list[Value]:
    shape = node.input(0).type.shape
    if node.has_input(1):
        axes = [_axis(node, int(v), len(shape)) for v in node.constant(1, "the axes").reshape(-1)]
    else:
        axes = [i for i, n in enumerate(shape) if n == 1]
    for axis in axes:
        if shape[axis] != 1:
            node.refuse(f"axis {axis} of shape {list(shape)} is not 1")
    return _emit(node, tuple(n for i, n in enumerate(shape) if i not in axes))


def from_onnx_unsqueeze(node: FileNode) -> list[Value]:
    x = node.input(0)
    given = [int(v) for v in node.constant(1, "the axes").reshape(-1)]
    rank = x.type.rank + len(given)
    axes = {_axis(node, v, rank) for v in given}
    if len(axes) != len(given):
        node.refuse(f"axes {given} name one axis twice")
    rest = iter(x.type.shape)
    return _emit(node, tuple(1 if i in axes else next(rest) for i in range(rank)))


def _axis(node: FileNode, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def from_tflite_reshape(node: FileNode) -> list[Value]:
    declared = node.output_types[0]
    if node.has_input(1):
        wanted: Sequence[int] = node.constant(1, "the shape").reshape(-1).tolist()
    elif node.attribute("new_shape"):
        wanted = list(node.attribute("new_shape"))
    else:
        wanted = () if declared is None else declared.shape
    return _emit(node, resolve(node, node.input(0), wanted, zero_copies=False))


def from_tflite_squeeze(node: FileNode) -> list[Value]:
    shape = node.input(0).type.shape
    axes = [_axis(node, int(v), len(shape)) for v in node.attribute("squeeze_dims", None) or ()]
    if any(shape[axis] != 1 for axis in axes):
        node.refuse(f"axes {axes} of shape {list(shape)} are not 1")
    dropped = axes or [i for i, n in enumerate(shape) if n == 1]
    return _emit(node, tuple(n for i, n in enumerate(shape) if i not in dropped))


def from_tflite_shape(node: FileNode) -> list[Value]:
    dtype = np.int64 if node.attribute("out_type") == "INT64" else np.int32
    return [node.new_constant("shape", np.array(node.input(0).type.shape, dtype))]


def from_tflite_rank(node: FileNode) -> list[Value]:
    return [node.new_constant("rank", np.array(node.input(0).type.rank, np.int32))]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("reshape", [dy], ReshapeAttrs(node.input(0).type.shape))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    shape = w.constant(np.array(node.attrs.shape, np.int64), "shape")
    w.emit("Reshape", [w.input(node, 0), shape], [w.output(node)], allowzero=1)


def _same_elements(xp: Any, a: ReshapeAttrs, x: Array) -> Array:
    return x.reshape(a.shape)


reshape = OpSpec(
    name="reshape",
    attrs=ReshapeAttrs,
    infer=infer,
    forward=_same_elements,
    integer=lambda node, x: x.reshape(node.attrs.shape),
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    onnx=(
        onnx_op("Reshape", build=from_onnx_reshape),
        onnx_op("Flatten", build=from_onnx_flatten),
        onnx_op("Squeeze", build=from_onnx_squeeze),
        onnx_op("Unsqueeze", build=from_onnx_unsqueeze),
    ),
    tflite=(
        tflite_op("RESHAPE", build=from_tflite_reshape),
        tflite_op("SQUEEZE", build=from_tflite_squeeze),
        tflite_op("EXPAND_DIMS", build=from_onnx_unsqueeze),
        tflite_op("SHAPE", build=from_tflite_shape),
        tflite_op("RANK", build=from_tflite_rank),
    ),
    to_onnx=to_onnx,
    cases=(case((2, 3, 4), attrs=ReshapeAttrs((4, 6)), kinds=ALL_KINDS), case((1, 5), attrs=ReshapeAttrs((5, 1, 1)))),
    view=True,
)
