"""abs: |x|. Sources: ONNX Abs-13; TFLite ABS; integers as TFLite Micro."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Array, Builder, Node, Value
from burnc.ops.case import ALL_KINDS, EDGES, Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.requantize import requantized
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, same_number_type
from burnc.ops.unary import NoAttrs, each, negative, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.abs(x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("mul", [dy, b.node("sign", [node.input(0)])])]


def integer(node: Node, x: Array) -> Array:
    return requantized(node, np.abs(x.astype(np.int64) - node.input(0).type.zero_point))


absolute = OpSpec(
    name="abs",
    attrs=NoAttrs,
    infer=same_number_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: k.select(x < 0, negative(k, x), x)),
    body_int16=each(lambda k, a, x: k.requantize(k.select(x < 0, -x, x))),
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    onnx=(onnx_op("Abs"),),
    tflite=(tflite_op("ABS"),),
    to_onnx=written_as("Abs"),
    cases=(
        case((2, 3, 4), kinds=ALL_KINDS),
        case(Operand((13,), values=(*EDGES, np.nan)), kinds=("float32",)),
        case(Operand((5,), dtype="int32", low=-99, high=99), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
