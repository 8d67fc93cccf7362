"""Operators of files that have scales and zero points among their inputs (ONNX QLinearConv, onnxruntime's QLinearAdd).

Each is its float operator between dequantized operands and a quantized result. So the pass that absorbs those makes the
integer operator, as it does for QDQ files. Scale and zero point are the two inputs behind that of their tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.ir import DType, Value
from burnc.ops import dequantize, quantize
from burnc.ops.mapping import Build, FileNode


def real(node: FileNode, index: int, axis: int = 0, factor: float = 1.0) -> Value:
    """What the tensor of input ``index`` stands for, times a factor; several scales go along ``axis``."""
    x = node.input(index)
    scale = node.input(index + 1)
    if factor != 1.0 or scale.type.dtype is not DType.FLOAT32:
        scale = _product(node, f"{x.name}.scale", [index + 1], factor)
    parameters = [scale, *_zero_point(node, index + 2)]
    (result,) = dequantize.from_onnx(node.part(f"{x.name}.real", [x, *parameters], {"axis": axis}))
    return result


def real_bias(node: FileNode, index: int, scales: Sequence[int], factor: float = 1.0) -> Value | None:
    """What an int32 bias stands for, whose scale is the product of others; None where it is absent."""
    if not node.has_input(index):
        return None
    bias = node.input(index)
    scale = _product(node, f"{bias.name}.scale", scales, factor)
    (result,) = dequantize.from_onnx(node.part(f"{bias.name}.real", [bias, scale], {"axis": bias.type.rank - 1}))
    return result


def stored(node: FileNode, result: Value, scale: int) -> list[Value]:
    """The result quantized by the scale at that input and the zero point behind it."""
    parameters = [node.input(scale), *_zero_point(node, scale + 1)]
    return quantize.from_onnx(node.part(f"{node.name}.stored", [result, *parameters], result=node.output_names[0]))


def float_form(node: FileNode, build: Build, inputs: Sequence[Value | None], **attributes: Any) -> Value:
    """The float operator's own mapping on these operands, with the file's attributes and others."""
    made = node.part(node.name, inputs, {**node.attributes, **attributes}, f"{node.name}.real")
    (result,) = build(made)
    return result


def quantized_form(build: Build, *operands: int, axes: Sequence[int] = (0, 0)) -> Build:
    """The mapping of an operator with tensors at these inputs; the result's parameters follow those of the last.

    Args:
        axes: along which the operands' scales go, where they have several.
    """

    def from_onnx(node: FileNode) -> list[Value]:
        if node.attribute("channels_last", 0):
            node.refuse("attribute channels_last is not supported")
        inputs = [real(node, index, axis) for index, axis in zip(operands, axes, strict=False)]
        return stored(node, float_form(node, build, inputs), operands[-1] + 3)

    return from_onnx


def _zero_point(node: FileNode, index: int) -> list[Value | None]:
    return [node.inputs[index]] if node.has_input(index) else []


def _product(node: FileNode, name: str, indices: Sequence[int], factor: float) -> Value:
    """The product of scales, now where they are constant, else by operators."""
    known = [scale for index in indices if (scale := node.known(index)) is not None]
    if len(known) == len(indices):
        product = np.array(factor, np.float32)
        for scale in known:
            product = product * (scale if scale.size > 1 else scale.reshape(())).astype(np.float32)
        return node.new_constant(name, np.asarray(product, np.float32))
    if factor != 1.0:
        node.refuse(f"a factor of {factor} with scales that are computed at run time is not supported")
    cast = node.builder.operators["cast"].attrs(DType.FLOAT32.value)
    parts = [node.emit("cast", [node.input(i)], cast, last=False, name=f"{name}.{i}") for i in indices]
    result = parts[0]
    for part in parts[1:]:
        result = node.emit("mul", [result, part], last=False, name=name)
    return result
