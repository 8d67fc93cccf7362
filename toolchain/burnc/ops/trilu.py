"""trilu: the upper or lower triangle of the last two axes, zeros elsewhere. Sources: ONNX Trilu-14."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class TriluAttrs:
    """``diagonal`` counts from the main one to the right."""

    upper: bool = True
    diagonal: int = 0


def infer(a: TriluAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.rank < 2 or not -(2**30) < a.diagonal < 2**30:
        raise GraphError(f"shape {list(x.shape)} has no diagonal {a.diagonal}")
    return [x.with_quant(None)]


def body(k: KernelBuilder, a: TriluAttrs, x: Tensor, y: Tensor) -> None:
    for *lead, row, column in k.grid(y.shape):
        inside = row + a.diagonal <= column if a.upper else column <= row + a.diagonal
        element = x.raw(*lead, row, column)
        y[*lead, row, column] = k.select(inside, element, lift(x.type.zero_point if k.quantized else 0, x.type.dtype))


def forward(xp: Any, a: TriluAttrs, x: Any) -> Any:
    return xp.triu(x, a.diagonal) if a.upper else xp.tril(x, a.diagonal)


def integer(node: Node, x: Integers) -> Integers:
    kept = forward(np, node.attrs, np.ones(x.shape, np.bool_))
    return np.where(kept, x, np.array(node.input(0).type.zero_point, x.dtype))


def from_onnx(node: FileNode) -> list[Value]:
    diagonal = int(node.constant(1, "k").reshape(())) if node.has_input(1) else 0
    if node.zero:
        node.refuse("it writes the integer 0 into a quantized tensor whose zero point is another")
    return [node.emit("trilu", [node.input(0)], TriluAttrs(bool(node.attribute("upper", 1)), diagonal))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    diagonal = w.constant(np.array(node.attrs.diagonal, np.int64), "k")
    w.emit("Trilu", [w.input(node, 0), diagonal], [w.output(node)], upper=int(node.attrs.upper))


trilu = OpSpec(
    name="trilu",
    attrs=TriluAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED),
    onnx=(onnx_op("Trilu", build=from_onnx),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), attrs=TriluAttrs(diagonal=1), kinds=ALL_KINDS),
        case((4, 4), attrs=TriluAttrs(upper=False, diagonal=-1), kinds=("float32",)),
        case(Operand((3, 3), dtype="int64", low=1, high=9), attrs=TriluAttrs(), kinds=("float32",)),
    ),
)
