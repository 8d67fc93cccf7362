"""tanh: the hyperbolic tangent. Sources: ONNX Tanh-13; TFLite TANH; integers as TFLite Micro's fixed point."""

from __future__ import annotations

import numpy as np

from burnc.ir import Array, Builder, Node, QuantParams, Value
from burnc.numerics import fixed_point_tanh, rounding_divide_by_pot
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.sigmoid import INTEGER_BITS, in_fixed_point
from burnc.ops.spec import OpSpec, QuantRule, same_type
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def integer(node: Node, x: Array) -> Array:
    fixed, beyond = in_fixed_point(node, x)
    result = rounding_divide_by_pot(fixed_point_tanh(fixed, INTEGER_BITS), 31 - 7)
    result = np.where(beyond == 0, result, np.where(beyond > 0, 127, -128))
    return np.clip(result, -128, 127).astype(np.int8)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: dy * (1 - y * y)."""
    y = node.output
    one = b.constant("one", np.array(1.0, y.type.dtype.numpy))
    return [b.node("mul", [dy, b.node("sub", [one, b.node("mul", [y, y])])])]


tanh = OpSpec(
    name="tanh",
    attrs=NoAttrs,
    infer=same_type,
    forward=lambda xp, a, x: xp.tanh(x),
    integer=integer,
    body=each(lambda k, a, x: k.call("tanh", x)),
    gradient=gradient,
    quant=QuantRule(result=QuantParams.per_tensor(1 / 128, 0)),
    onnx=(onnx_op("Tanh", build=floats_only("tanh")),),
    tflite=(tflite_op("TANH"),),
    to_onnx=written_as("Tanh"),
    cases=(
        case(Operand((3, 90), low=-4, high=4)),
        case(Operand((24,), values=(*EDGES, np.nan, -100.0, -20.0, 20.0, 100.0)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
