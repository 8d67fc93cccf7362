"""ONNX's products of integers less a zero point that may be computed (MatMulInteger, ConvInteger): results are int32.

The differences of two 8-bit integers fit 16 bits, constant ones mostly 8; sums are held below 2**31 by refusing longer
ones. Nothing is requantized, so these are no quantized tensors of the IR.
"""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import DType, Value
from burnc.ops.mapping import FileNode, known_data
from burnc.ops.parameters import op_of, plain_integers, quantized_by_inputs, spread, spread_shape

LONGEST = (2**31 - 1) // 255**2
"""Products that a sum can hold, whatever they are."""


def differences(node: FileNode, axes: tuple[int, int]) -> list[Value]:
    """Both operands less their zero points (inputs 2 and 3), where several go along ``axes``."""
    right = node.input(1).type
    terms = math.prod(right.shape[1:]) if node.op == "ConvInteger" else right.shape[max(right.rank - 2, 0)]
    if terms > LONGEST:
        node.refuse(f"a sum of {terms} products can overflow int32")
    return [_difference(node, index, axis) for index, axis in enumerate(axes)]


def _difference(node: FileNode, index: int, axis: int) -> Value:
    value = plain_integers(node, node.input(index))
    if value.type.dtype not in (DType.INT8, DType.UINT8):
        node.refuse(f"operands of {value.type.dtype.value} are not supported")
    if not node.has_input(2 + index):
        return value
    zero_point, data = node.known(2 + index), known_data(value)
    if zero_point is not None and not zero_point.any():
        return value
    part = node.part(f"{value.name}.difference", [value, None, node.input(2 + index)], {"axis": axis})
    if data is not None and zero_point is not None:
        wide = data.astype(np.int16) - zero_point.reshape(spread_shape(part, zero_point.shape)).astype(np.int16)
        fits = wide.min(initial=0) >= -128 and wide.max(initial=0) <= 127
        return node.new_constant(value.name, wide.astype(np.int8) if fits else wide)
    cast = node.builder.operators["cast"].attrs(DType.INT16.value)
    wide_value = part.emit("cast", [value], cast, last=False, name=f"{value.name}.wide")
    return part.emit("sub", [wide_value, spread(part, 2, DType.INT16)])


def matmul_to_float(node: FileNode) -> list[Value]:
    """Onnxruntime's MatMulIntegerToFloat: A, B, their scales, their zero points, a bias."""
    zero_points = [node.inputs[i] if node.has_input(i) else None for i in (4, 5)]
    scales = [node.input(2), node.input(3)]
    return _scaled_product(node, [node.input(0), node.input(1), *zero_points], scales, 6)


def matmul_of_dynamic(node: FileNode) -> list[Value]:
    """Onnxruntime's DynamicQuantizeMatMul: A, of floats over whatever range; B, its scale and zero point, a bias."""
    a, scale, zero_point = _dynamically_quantized(node)
    b_zero = node.inputs[3] if node.has_input(3) else None
    return _scaled_product(node, [a, node.input(1), zero_point, b_zero], [scale, node.input(2)], 4)


def _scaled_product(node: FileNode, operands: list[Value | None], scales: list[Value], bias: int) -> list[Value]:
    part = node.part(node.name, operands)
    product = op_of(node, "matmul", differences(part, (-2, -1)))
    # Several scales go along the columns of B, so along the last axis of the result.
    scale = op_of(node, "mul", [s if s.type.size > 1 else op_of(node, "reshape", [s], shape=()) for s in scales])
    real = [op_of(node, "cast", [product], to="float32"), scale]
    if not node.has_input(bias):
        return [node.emit("mul", real)]
    return [node.emit("add", [op_of(node, "mul", real), node.input(bias)])]


def _dynamically_quantized(node: FileNode) -> tuple[Value, Value, Value]:
    """A float operand as uint8 over its own range, widened to hold 0; its scale and zero point."""
    x = node.input(0)
    axes = tuple(range(x.type.rank))
    zero = node.new_constant("zero", np.zeros((), np.float32))
    low = op_of(node, "minimum", [op_of(node, "reduce_min", [x], axes=axes, keepdims=False), zero])
    high = op_of(node, "maximum", [op_of(node, "reduce_max", [x], axes=axes, keepdims=False), zero])
    steps = node.new_constant("steps", np.array(255, np.float32))
    scale = op_of(node, "div", [op_of(node, "sub", [high, low]), steps])
    real = op_of(node, "sub", [zero, op_of(node, "div", [low, scale])])
    rounded = op_of(node, "round", [op_of(node, "clip", [real], activation_min=0.0, activation_max=255.0)])
    zero_point = op_of(node, "cast", [rounded], to="uint8")
    quantized = quantized_by_inputs(node.part(f"{node.name}.quantized", [x, scale, zero_point]), "uint8")
    return quantized, scale, zero_point
