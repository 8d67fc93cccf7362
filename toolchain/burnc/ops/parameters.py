"""Scale and zero point as ONNX has them: inputs, constant or computed; one, several along an axis, or in blocks.

Constant ones that the IR can hold move into a tensor's type. By others the arithmetic is done with float operators.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.ir import DType, QuantParams, Value
from burnc.ops.mapping import FileNode

CARRIED = ("int8", "uint8", "int16", "uint16")


def held_params(node: FileNode) -> QuantParams | None:
    """The parameters that are inputs 1 and 2, where a type can hold them: known, and one or along an axis."""
    x = node.input(0)
    scale = node.known(1)
    zero_point = node.known(2) if node.has_input(2) else np.zeros(() if scale is None else scale.shape, np.int8)
    if scale is None or zero_point is None or node.attribute("block_size", 0):
        return None
    if scale.shape != zero_point.shape and (scale.size, zero_point.size) != (1, 1):
        node.refuse(f"scale {list(scale.shape)} and zero point {list(zero_point.shape)} differ in shape")
    with np.errstate(over="ignore"):
        scale = scale.astype(np.float32)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        node.refuse("a scale is not positive and finite")
    if scale.size == 1:
        return QuantParams((float(scale.reshape(())),), (int(zero_point.reshape(())),))
    axis = varying_axis(node, x, scale.shape)
    if axis is None:
        return None
    return QuantParams(tuple(scale.reshape(-1).tolist()), tuple(zero_point.reshape(-1).tolist()), axis)


def varying_axis(node: FileNode, x: Value, shape: tuple[int, ...]) -> int | None:
    """The axis along which several parameters differ; None where they differ along more than one."""
    rank = x.type.rank
    if len(shape) == 1:
        axis = int(node.attribute("axis", 1))
        if not -rank <= axis < rank or shape != (x.type.shape[axis],):
            node.refuse(f"{list(shape)} scales along axis {axis} do not go with shape {list(x.type.shape)}")
        return axis % rank
    varying = [i for i, n in enumerate(shape) if n > 1]
    fits = len(shape) == rank and all(shape[i] == x.type.shape[i] for i in varying)
    return varying[0] if fits and len(varying) == 1 else None


def spread(node: FileNode, index: int, to: DType) -> Value:
    """A parameter as an operand that broadcasts over input 0, in another element type."""
    x, value = node.input(0), node.input(index)
    if value.type.dtype is not to:
        value = op_of(node, "cast", [value], to=to.value)
    block, shape = int(node.attribute("block_size", 0)), value.type.shape
    if block:
        axis = int(node.attribute("axis", 1)) % x.type.rank
        indices = node.new_constant("block", np.arange(x.type.shape[axis]) // block)
        if len(shape) != x.type.rank or not 0 <= int(indices.data.max(initial=0)) < shape[axis]:  # type: ignore[union-attr]
            node.refuse(f"{list(shape)} scales in blocks of {block} do not go with shape {list(x.type.shape)}")
        return op_of(node, "gather", [value, indices], axis=axis)
    wanted = spread_shape(node, shape)
    return value if wanted == shape else op_of(node, "reshape", [value], shape=wanted)


def spread_shape(node: FileNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which parameters of that one broadcast over input 0."""
    x = node.input(0)
    if math.prod(shape) == 1:
        return ()
    if len(shape) != 1:
        return shape
    along = varying_axis(node, x, shape)
    return tuple(n if axis == along else 1 for axis, n in enumerate(x.type.shape))


def quantized_by_inputs(node: FileNode, to: str) -> Value:
    """saturate(round(x / scale) + zero point), halves to even, by operators."""
    x = node.input(0)
    if to not in CARRIED:
        node.refuse(f"quantization to {to} by computed parameters is not supported")
    x = x if x.type.dtype is DType.FLOAT32 else op_of(node, "cast", [x], to="float32")
    steps = op_of(node, "round", [op_of(node, "div", [x, spread(node, 1, DType.FLOAT32)])])
    if node.has_input(2):
        steps = op_of(node, "add", [steps, spread(node, 2, DType.FLOAT32)])
    low, high = DType(to).limits
    inside = op_of(node, "clip", [steps], activation_min=float(low), activation_max=float(high))
    return node.emit("cast", [inside], node.builder.operators["cast"].attrs(to))


def plain_integers(node: FileNode, value: Value) -> Value:
    """The integers of a quantized tensor without their meaning, for operators that compute with them as they are."""
    quant, source = value.type.quant, value.producer
    if quant is None:
        return value
    if value.data is not None:
        return node.new_constant(value.name, value.data)
    if source is None or source.op != "quantize" or not source.input(0).type.dtype.is_float:
        node.refuse(f"it computes with the integers of %{value.name}, whatever they stand for")
    shape = () if quant.axis is None else (len(quant.scale),)
    scale, zero_point = np.array(quant.scale, np.float32), np.array(quant.zero_point, np.int32)
    made = node.part(f"{value.name}.plain", [source.input(0)], {"axis": quant.axis or 0})
    made.inputs += (
        made.new_constant("scale", scale.reshape(shape)),
        made.new_constant("zero", zero_point.reshape(shape)),
    )
    return quantized_by_inputs(made, value.type.dtype.value)


def dequantized_by_inputs(node: FileNode) -> Value:
    """(x - zero point) * scale, by operators."""
    x = node.input(0)
    if x.type.quant is not None:
        node.refuse(f"%{x.name} is quantized by other parameters: {x.type}")
    if x.type.dtype.value not in (*CARRIED, "int32"):
        node.refuse(f"dequantization of {x.type.dtype.value} is not supported")
    steps = x if x.type.dtype is DType.INT32 else op_of(node, "cast", [x], to="int32")
    if node.has_input(2):
        steps = op_of(node, "sub", [steps, spread(node, 2, DType.INT32)])
    real = op_of(node, "cast", [steps], to="float32")
    return node.emit("mul", [real, spread(node, 1, DType.FLOAT32)])


def op_of(node: FileNode, op: str, inputs: list[Value], **attributes: Any) -> Value:
    """An operator inside a mapping, named after it."""
    attrs = node.builder.operators[op].attrs(**attributes)
    return node.emit(op, inputs, attrs, last=False, name=f"{node.name}.{op}")
