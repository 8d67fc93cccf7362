"""tanh: the hyperbolic tangent. Sources: ONNX Tanh-13; TFLite TANH; integers as TFLite Micro's fixed point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, Node, QuantParams, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.fixed_point import in_steps as in_steps_body
from burnc.kernel.fixed_point import tanh_of_steps as tanh_steps_body
from burnc.numerics import fixed_point_tanh, in_steps, rounding_divide_by_pot, tanh_of_steps
from burnc.ops.case import ALL_KINDS, EDGES, Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.sigmoid import FROM_INT16, INTEGER_BITS, UNIT_INT16, in_fixed_point, table_steps
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, is_near, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as

UNIT_INT8 = QuantParams.per_tensor(1 / 128, 0)
WHOLE = (-12, -11)  # powers of two that an int16 operand's scale may be without a rounding


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.tanh(x)


by_real_function: Callable[[Node, Array], Array] = tabulated(forward)


def integer(node: Node, x: Array) -> Array:
    if x.dtype == np.int16:
        return tanh_of_steps(in_steps(x, *table_steps(node, WHOLE))).astype(np.int16)
    if not is_near(node.output.type.quant, UNIT_INT8):
        return by_real_function(node, x)
    fixed, beyond = in_fixed_point(node, x)
    result = rounding_divide_by_pot(fixed_point_tanh(fixed, INTEGER_BITS), 31 - 7)
    result = np.where(beyond == 0, result, np.where(beyond > 0, 127, -128))
    return np.clip(result, -128, 127).astype(np.int8)


def body_int16(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    steps = table_steps(k.node, WHOLE)
    for i in k.grid(y.shape):
        y[i] = tanh_steps_body(k, in_steps_body(k, x[i], *steps))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: dy * (1 - y * y)."""
    y = node.output
    one = b.constant("one", np.array(1.0, y.type.dtype.numpy))
    return [b.node("mul", [dy, b.node("sub", [one, b.node("mul", [y, y])])])]


tanh = OpSpec(
    name="tanh",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: k.call("tanh", x)),
    body_int16=body_int16,
    gradient=gradient,
    quant=QuantRule(UNIT_INT8, {FROM_INT16: UNIT_INT16}, adjustable=True, dtypes=QUANTIZED),
    onnx=(onnx_op("Tanh", build=floats_only("tanh")),),
    tflite=(tflite_op("TANH"),),
    to_onnx=written_as("Tanh"),
    cases=(
        case(Operand((3, 90), low=-4, high=4), kinds=ALL_KINDS),
        case(Operand((24,), values=(*EDGES, np.nan, -100.0, -20.0, 20.0, 100.0)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
