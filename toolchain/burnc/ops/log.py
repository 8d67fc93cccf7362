"""log: the natural logarithm. Sources: ONNX Log-13; TFLite LOG."""

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
    return xp.log(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("div", [dy, node.input(0)])]


log = OpSpec(
    name="log",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("log", x)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Log", build=floats_only("log")),),
    tflite=(tflite_op("LOG"),),
    to_onnx=written_as("Log"),
    cases=(
        case(Operand((3, 90), low=0.05, high=9)),
        case(Operand((6,), values=(-1.0, -0.0, 1e-40, 1.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
