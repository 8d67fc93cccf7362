"""neg: -x. Sources: ONNX Neg-13; TFLite NEG."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_number_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, negative, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return -x


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("neg", [dy])]


neg = OpSpec(
    name="neg",
    attrs=NoAttrs,
    infer=same_number_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: negative(k, x)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Neg"),),
    tflite=(tflite_op("NEG"),),
    to_onnx=written_as("Neg"),
    cases=(
        case((2, 3, 4)),
        case(Operand((4,), values=(-0.0, 0.0, np.inf, np.nan)), kinds=("float32",)),
        case(Operand((5,), dtype="int32", low=-99, high=99), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
