"""sin: the sine. Sources: ONNX Sin-7; TFLite SIN."""

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
    return xp.sin(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("mul", [dy, b.node("cos", [node.input(0)])])]


sine_of = OpSpec(
    name="sin",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: sine(k, x, 0)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Sin", build=floats_only("sin")),),
    tflite=(tflite_op("SIN"),),
    to_onnx=written_as("Sin"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((6,), values=(-0.0, 1e-5, 1.5707963, 1000.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
