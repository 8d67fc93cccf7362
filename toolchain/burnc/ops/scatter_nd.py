"""scatter_nd: a copy of a tensor with slices replaced, at places that rows of indices name. Sources: ONNX ScatterND-18.

Indices are counted and clamped as ``gather`` does; of several updates of one element the last counts.
``scatter_nd_reduced`` adds, multiplies or takes the larger or smaller, of floats and whole numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.requantize import Integers
from burnc.ops.scattering import check_operands, clamped, copied, counted, scattered, write
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ScatterNdAttrs:
    """``reduction``: none, or for ``scatter_nd_reduced`` add, mul, max or min."""

    reduction: str = "none"


def infer(a: ScatterNdAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, indices, updates = (required(inputs, i) for i in range(3))
    fits = indices.rank > 0 and indices.shape[-1] <= x.rank
    if not fits or updates.shape != (*indices.shape[:-1], *x.shape[indices.shape[-1] :]):
        shapes = f"indices {list(indices.shape)} and updates {list(updates.shape)}"
        raise GraphError(f"{shapes} do not go with {list(x.shape)}")
    check_operands(x, indices, updates, a.reduction)
    return [x.with_quant(None)]


def body(k: KernelBuilder, a: ScatterNdAttrs, x: Tensor, indices: Tensor, updates: Tensor, y: Tensor) -> None:
    copied(k, x, y)
    depth = indices.shape[-1]
    for inner in k.grid(x.shape[depth:]):
        for row in k.reduce(indices.shape[:-1], " ".join("ijklmn"[: indices.type.rank - 1])):
            place = [counted(k, indices.raw(*row, d), x.shape[d]) for d in range(depth)]
            write(k, y, (*place, *inner), updates.raw(*row, *inner), a.reduction)


def forward(xp: Any, a: ScatterNdAttrs, x: Any, indices: Any, updates: Any) -> Any:
    place = tuple(clamped(xp, indices[..., d], x.shape[d]) for d in range(indices.shape[-1]))
    return scattered(x, place, updates, a.reduction)


def integer(node: Node, x: Integers, indices: Integers, updates: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, indices, updates))


def from_onnx(node: FileNode) -> list[Value]:
    reduction = node.attribute("reduction", "none")
    op = "scatter_nd" if reduction == "none" else "scatter_nd_reduced"
    return [node.emit(op, [node.input(i) for i in range(3)], ScatterNdAttrs(reduction))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    inputs = [w.input(node, 0), w.emit("Cast", [w.input(node, 1)], to=7), w.input(node, 2)]
    w.emit("ScatterND", inputs, [w.output(node)], reduction=node.attrs.reduction)


ROWS = Operand((2, 1), dtype="int64", values=(2, 0))
REPEATED = Operand((3, 2), dtype="int64", values=(1, 2, 0, 0, 1, 2))

scatter_nd = OpSpec(
    name="scatter_nd",
    attrs=ScatterNdAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, integer_inputs=(1,)),
    onnx=(onnx_op("ScatterND", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((4, 3), ROWS, (2, 3)),
        case((4, 4, 2), Operand((2, 2, 2), dtype="int32", low=-4, high=3), (2, 2, 2)),
    ),
)

scatter_nd_reduced = OpSpec(
    name="scatter_nd_reduced",
    attrs=ScatterNdAttrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=tuple(
        case((2, 3), REPEATED, (3,), attrs=ScatterNdAttrs(reduction), kinds=("float32",))
        for reduction in ("add", "mul", "max", "min")
    ),
)
