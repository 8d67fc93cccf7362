"""exp: e to the power of x. Sources: ONNX Exp-13; TFLite EXP."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.exp(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("mul", [dy, node.output])]


exp = OpSpec(
    name="exp",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("exp", x)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Exp", build=floats_only("exp")),),
    tflite=(tflite_op("EXP"),),
    to_onnx=written_as("Exp"),
    cases=(
        case(Operand((3, 90), low=-4, high=2)),
        case(Operand((6,), values=(-np.inf, -104.0, -0.0, 88.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
