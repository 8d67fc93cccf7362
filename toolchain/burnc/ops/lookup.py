"""lookup: a table's entry for each value of an int8 tensor; what a chain of int8 operators of one operand becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType
from burnc.ops.case import Operand, case
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required
from burnc.ops.table import FIRST, look_up


@dataclass(frozen=True)
class LookupAttrs:
    """``table``: the results for -128 .. 127."""

    table: tuple[int, ...] = tuple(range(-128, 128))


def infer(a: LookupAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.dtype is not DType.INT8 or len(a.table) != 256:
        raise GraphError(f"a table of {len(a.table)} entries for {x.dtype.value}; it must be 256 for int8")
    return [x.with_quant(None)]


def forward(xp: Any, a: LookupAttrs, x: Any) -> Any:
    return xp.asarray(a.table, "int8")[x.astype("int32") - FIRST]


def integer(node: Node, x: Array) -> Array:
    found: Array = forward(np, node.attrs, x)
    return found


def to_onnx(w: OnnxWriter, node: Node) -> None:
    table = w.constant(np.array(node.attrs.table, np.int8), "table")
    wide = w.emit("Cast", [w.input(node, 0)], to=6)
    place = w.emit("Sub", [wide, w.constant(np.array(FIRST, np.int32), "first")])
    w.emit("Gather", [table, place], [w.output(node)])


lookup = OpSpec(
    name="lookup",
    attrs=LookupAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=look_up,
    quant=QuantRule(),
    to_onnx=to_onnx,
    cases=(
        case(
            Operand((3, 40), dtype="int8", low=-128, high=127),
            attrs=LookupAttrs(tuple(range(127, -129, -1))),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
    unary=True,
)
