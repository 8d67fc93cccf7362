"""cos: the cosine. Sources: ONNX Cos-7; TFLite COS."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.trigonometry import sine
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.cos(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("mul", [dy, b.node("neg", [b.node("sin", [node.input(0)])])])]


cosine = OpSpec(
    name="cos",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: sine(k, x, 1)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Cos", build=floats_only("cos")),),
    tflite=(tflite_op("COS"),),
    to_onnx=written_as("Cos"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((6,), values=(-0.0, 1e-5, 1.5707963, 1000.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
