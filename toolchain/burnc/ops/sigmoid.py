"""sigmoid: 1 / (1 + exp(-x)). Sources: ONNX Sigmoid-13; TFLite LOGISTIC; integers as TFLite Micro's fixed point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, Builder, DType, Node, QuantParams, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.fixed_point import in_steps as in_steps_body
from burnc.kernel.fixed_point import sigmoid_of_steps as sigmoid_steps_body
from burnc.numerics import (
    in_steps,
    input_radius,
    logistic,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    rounding_divide_by_pot,
    sigmoid_of_steps,
    step_scaling,
)
from burnc.ops.case import ALL_KINDS, EDGES, Operand, case
from burnc.ops.mapping import ONNXRUNTIME, onnx_op, tflite_op
from burnc.ops.quantized_form import quantized_form
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, is_near, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as

INTEGER_BITS = 4
WHOLE = (-12,)  # powers of two that an int16 operand's scale may be without a rounding
LARGEST_MULTIPLIER = 65535
FROM_INT16 = (DType.INT16, DType.INT16)
UNIT_INT8 = QuantParams.per_tensor(1 / 256, -128)
UNIT_INT16 = QuantParams.per_tensor(2.0**-15, 0)


def in_fixed_point(node: Node, x: Array) -> tuple[Any, Any]:
    """The operand in Q4.27, and the side on which it lies beyond that (-1, 0, 1)."""
    type_ = node.input(0).type
    multiplier, shift = quantize_multiplier(float(np.float32(type_.scale)) * 2.0 ** (31 - INTEGER_BITS))
    radius = input_radius(INTEGER_BITS, shift)
    centred = x.astype(np.int64) - type_.zero_point
    beyond = np.where(centred >= radius, 1, np.where(centred <= -radius, -1, 0))
    inside = np.where(beyond == 0, centred, 0)
    return multiply_by_quantized_multiplier(inside, multiplier, shift), beyond


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    power = xp.exp(-xp.abs(x))
    return xp.where(x < 0, power, xp.ones_like(x)) / (1 + power)


by_real_function: Callable[[Node, Array], Array] = tabulated(forward)


def integer(node: Node, x: Array) -> Array:
    if x.dtype == np.int16:
        return sigmoid_of_steps(in_steps(x, *table_steps(node, WHOLE))).astype(np.int16)
    if not is_near(node.output.type.quant, UNIT_INT8):
        return by_real_function(node, x)
    fixed, beyond = in_fixed_point(node, x)
    result = rounding_divide_by_pot(logistic(fixed, INTEGER_BITS), 31 - 8) - 128
    result = np.where(beyond == 0, result, np.where(beyond > 0, 127, -128))
    return np.clip(result, -128, 127).astype(np.int8)


def table_steps(node: Node, whole: tuple[int, ...]) -> tuple[int, int]:
    """What brings the int16 operand to steps of TFLite's table: (multiplier, right shift).

    Raises:
        GraphError: the operand's scale is so large that the product would not fit int32.
    """
    multiplier, shift = step_scaling(node.input(0).type.scale, whole)
    if multiplier > LARGEST_MULTIPLIER:
        raise GraphError(f"an operand of scale {node.input(0).type.scale} overflows", where=f"node {node.name!r}")
    return multiplier, shift


def body_int16(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    steps = table_steps(k.node, WHOLE)
    for i in k.grid(y.shape):
        y[i] = sigmoid_steps_body(k, in_steps_body(k, x[i], *steps))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: dy * y * (1 - y)."""
    y = node.output
    one = b.constant("one", np.array(1.0, y.type.dtype.numpy))
    return [b.node("mul", [dy, b.node("mul", [y, b.node("sub", [one, y])])])]


FROM_ONNX = floats_only("sigmoid")

sigmoid = OpSpec(
    name="sigmoid",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: 1.0 / (k.call("exp", -x) + 1.0)),
    body_int16=body_int16,
    gradient=gradient,
    quant=QuantRule(UNIT_INT8, {FROM_INT16: UNIT_INT16}, adjustable=True, dtypes=QUANTIZED),
    onnx=(
        onnx_op("Sigmoid", build=FROM_ONNX),
        onnx_op("QLinearSigmoid", build=quantized_form(FROM_ONNX, 0), domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("LOGISTIC"),),
    to_onnx=written_as("Sigmoid"),
    cases=(
        case(Operand((3, 90), low=-9, high=9), kinds=ALL_KINDS),
        case(Operand((24,), values=(*EDGES, np.nan, 88.0, -88.0, -104.0)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
