"""quantize: real numbers to integers by the parameters of the result's type; or integers to other parameters.

Sources: ONNX QuantizeLinear-21 (rounding half_even); TFLite QUANTIZE (half_away from float, TFLM's two roundings
between integers). NaN becomes the zero point; what lies outside saturates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.numerics import quantize as quantize_values
from burnc.ops.case import Operand, case
from burnc.ops.cast import ONNX_TYPES
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.parameters import CARRIED, held_params, quantized_by_inputs
from burnc.ops.requantize import Integers, requantized
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class QuantizeAttrs:
    to: str = "int8"


def infer(a: QuantizeAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if a.to not in {t.value for t in DType if t.is_integer}:
        raise GraphError(f"{a.to!r} is no integer type")
    if not x.dtype.is_float and x.quant is None:
        raise GraphError(f"input {x} is neither float nor quantized")
    return [TensorType(DType(a.to), x.shape)]


def per_axis(
    k: KernelBuilder, name: str, values: Array, axis: int | None, indices: Sequence[Expr]
) -> Expr | float | int:
    """A parameter: a plain number, or read from a table along its axis."""
    if axis is None:
        number: float | int = values[0].item()
        return number
    return k.table(name, values).raw(indices[axis])


def body(k: KernelBuilder, a: QuantizeAttrs, x: Tensor, y: Tensor) -> None:
    if k.quantized:
        # Between equal scales, as at uint8 edges, only zero points differ.
        is_shift = x.type.scale == y.type.scale and x.type.dtype.bytes < 4
        for i in k.grid(y.shape):
            y[i] = k.to_output(x[i]) if is_shift else k.requantize(x[i])
        return
    quant = y.type.quant
    assert quant is not None
    low, high = y.type.dtype.limits
    scales, zero_points = np.array(quant.scale, np.float32), np.array(quant.zero_point, np.int32)
    rounding = "round_half_even" if k.node.rounding == "half_even" else "round_half_away"
    for i in k.grid(y.shape):
        scale = per_axis(k, "scale", scales, quant.axis, i)
        zero_point = per_axis(k, "zero_point", zero_points, quant.axis, i)
        rounded = k.let("rounded", k.call(rounding, x[i] / scale))
        lowest, highest = low - lift(zero_point, INT32), high - lift(zero_point, INT32)
        # The comparisons keep what is out of range from the conversion; none holds for NaN, which ends as 0.
        inside = k.cast(k.minimum(rounded, k.cast(highest, FLOAT32)), INT32)
        below = k.select(rounded < k.cast(lowest, FLOAT32), lowest, 0)
        number = k.select(rounded >= k.cast(lowest, FLOAT32), inside, below)
        y[i] = number + zero_point


def integer(node: Node, x: Any) -> Integers:
    if node.input(0).type.quant is not None:
        return requantized(node, x.astype(np.int64) - node.input(0).type.zero_point)
    return quantize_values(x, node.output.type, node.rounding)


def from_onnx(node: FileNode) -> list[Value]:
    if node.has_input(2):
        to = node.input(2).type.dtype.value
    else:
        to = ONNX_TYPES.get(node.attribute("output_dtype", 0) or 2, "")
    if to not in (*CARRIED, "int32"):
        node.refuse(f"quantization to {to or node.attribute('output_dtype')} is not supported")
    quant, x = held_params(node), node.input(0)
    if quant is None or x.type.dtype is not DType.FLOAT32:
        return [quantized_by_inputs(node, to)]
    return [node.emit("quantize", [x], QuantizeAttrs(to), quant=quant, rounding="half_even")]


def from_tflite(node: FileNode) -> list[Value]:
    declared = node.output_types[0]
    if declared is None or declared.quant is None:
        node.refuse("the result has no quantization parameters")
    if declared.dtype is DType.INT32 and any(declared.quant.zero_point):
        node.refuse("an int32 result must have the zero point 0")
    x = node.input(0)
    if (x.type.dtype, x.type.quant) == (declared.dtype, declared.quant):
        return [x]
    rounding = "half_away" if x.type.dtype.is_float else "tflm"
    return [node.emit("quantize", [x], QuantizeAttrs(declared.dtype.value), rounding=rounding)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    # The writer itself puts QuantizeLinear after whatever gives a quantized result.
    w.finish(node, w.input(node, 0))


quantize = OpSpec(
    name="quantize",
    attrs=QuantizeAttrs,
    infer=infer,
    # Quantization changes how real numbers are stored, not which ones they are.
    forward=lambda xp, a, x: x,
    integer=integer,
    body=body,
    quant=QuantRule(),
    onnx=(
        onnx_op("QuantizeLinear", build=from_onnx, integers=True),
        onnx_op("QuantizeLinear", build=from_onnx, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("QUANTIZE", build=from_tflite),),
    to_onnx=to_onnx,
    pointwise=True,
    cases=(
        case((2, 3, 4), kinds=("int8",)),
        case(Operand((40,), low=-8, high=8), kinds=("int8", "int16")),
        case((2, 20), attrs=QuantizeAttrs("int16"), kinds=("int8", "int16")),
        case((2, 20), attrs=QuantizeAttrs("int32"), kinds=("int8", "int16")),
    ),
)
