"""floor: the largest integer that is no larger. Sources: ONNX Floor-13; TFLite FLOOR."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Value
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.floor(x)


def quotient(node: FileNode) -> list[Value]:
    """TFLite's FLOOR_DIV of floats."""
    left, right = node.input(0), node.input(1)
    if not left.type.dtype.is_float:
        node.refuse(f"a whole quotient of {left.type.dtype.value} is not supported")
    return [node.emit("floor", [node.emit("div", [left, right], last=False, name=f"{node.name}.div")])]


floor = OpSpec(
    name="floor",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("floor", x)),
    quant=QuantRule(),
    onnx=(onnx_op("Floor", build=floats_only("floor")),),
    tflite=(tflite_op("FLOOR"), tflite_op("FLOOR_DIV", build=quotient)),
    to_onnx=written_as("Floor"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((18,), values=(*EDGES, np.nan, -2.5, -1.5, 1.5, 8388609.0, -0.7)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
