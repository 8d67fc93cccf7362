"""ONNX's products of integers less a zero point that may be computed (MatMulInteger, ConvInteger): results are int32.

The differences of two 8-bit integers fit 16 bits, constant ones mostly 8; sums are held below 2**31 by refusing longer
ones. Nothing is requantized, so these are no quantized tensors of the IR.
"""

from __future__ import annotations

import math

import numpy as np

from burnc.ir import DType, Value
from burnc.ops.mapping import FileNode
from burnc.ops.parameters import spread, spread_shape

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
    value = node.input(index)
    if value.type.quant is not None:
        node.refuse(f"%{value.name} is quantized; its integers cannot be read as they are as well")
    if value.type.dtype not in (DType.INT8, DType.UINT8):
        node.refuse(f"operands of {value.type.dtype.value} are not supported")
    if not node.has_input(2 + index):
        return value
    zero_point, data = node.known(2 + index), node.known(index)
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
