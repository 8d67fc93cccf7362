"""sqrt: the square root. Sources: ONNX Sqrt-13; TFLite SQRT."""

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
    return xp.sqrt(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    half = b.constant("half", np.array(0.5, node.output.type.dtype.numpy))
    return [b.node("mul", [b.node("div", [dy, node.output]), half])]


sqrt = OpSpec(
    name="sqrt",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("sqrt", x)),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Sqrt", build=floats_only("sqrt")),),
    tflite=(tflite_op("SQRT"),),
    to_onnx=written_as("Sqrt"),
    cases=(
        case(Operand((2, 3, 4), low=0.1, high=9.0)),
        case(Operand((), low=0.1, high=2.0), kinds=("float32",)),
        case(Operand((5,), values=(-1.0, -0.0, 1e-40, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
