"""transpose: axes permuted; result axis i is input axis permutation[i]. Sources: ONNX Transpose-13; TFLite's.

Operators that move blocks between space and another axis become transposes between reshapes (``blocks.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, QuantParams, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops import blocks
from burnc.ops.case import ALL_KINDS, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class TransposeAttrs:
    permutation: tuple[int, ...] = ()


def infer(a: TransposeAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if sorted(a.permutation) != list(range(x.rank)):
        raise GraphError(f"{list(a.permutation)} is no permutation of the axes of shape {list(x.shape)}")
    return [x.with_shape([x.shape[p] for p in a.permutation]).with_quant(None)]


def body(k: KernelBuilder, a: TransposeAttrs, x: Tensor, y: Tensor) -> None:
    for indices in k.grid(y.shape):
        source = [indices[a.permutation.index(axis)] for axis in range(len(indices))]
        y[indices] = x.raw(*source)


def permuted_quant(quant: QuantParams | None, permutation: Sequence[int]) -> QuantParams | None:
    """Per-axis parameters follow their axis."""
    if quant is None or quant.axis is None:
        return quant
    return quant.with_axis(list(permutation).index(quant.axis))


def from_onnx(node: FileNode) -> list[Value]:
    x = node.input(0)
    permutation = node.attribute("perm") or tuple(reversed(range(x.type.rank)))
    return [node.emit("transpose", [x], TransposeAttrs(tuple(int(p) for p in permutation)))]


def from_tflite(node: FileNode) -> list[Value]:
    permutation = node.constant(1, "the permutation").reshape(-1).tolist()
    return [node.emit("transpose", [node.input(0)], TransposeAttrs(tuple(permutation)))]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    permutation = node.attrs.permutation
    return [b.node("transpose", [dy], TransposeAttrs(tuple(permutation.index(i) for i in range(len(permutation)))))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Transpose", [w.input(node, 0)], [w.output(node)], perm=node.attrs.permutation)


transpose = OpSpec(
    name="transpose",
    attrs=TransposeAttrs,
    infer=infer,
    forward=lambda xp, a, x: np.ascontiguousarray(x.transpose(a.permutation)),
    integer=lambda node, x: np.ascontiguousarray(x.transpose(node.attrs.permutation)),
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    onnx=(
        onnx_op("Transpose", build=from_onnx),
        onnx_op("DepthToSpace", build=blocks.depth_to_space),
        onnx_op("SpaceToDepth", build=blocks.space_to_depth),
    ),
    tflite=(
        tflite_op("TRANSPOSE", build=from_tflite),
        tflite_op("DEPTH_TO_SPACE", build=blocks.depth_to_space_nhwc),
        tflite_op("SPACE_TO_DEPTH", build=blocks.space_to_depth_nhwc),
        tflite_op("BATCH_TO_SPACE_ND", build=blocks.batch_to_space),
        tflite_op("SPACE_TO_BATCH_ND", build=blocks.space_to_batch),
    ),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), attrs=TransposeAttrs((2, 0, 1)), kinds=ALL_KINDS),
        case((1, 3, 4, 2), attrs=TransposeAttrs((0, 3, 1, 2))),
        case((5, 3), attrs=TransposeAttrs((1, 0))),
    ),
)
