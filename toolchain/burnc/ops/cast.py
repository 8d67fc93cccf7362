"""cast: conversion between element types. Sources: ONNX Cast-13; TFLite CAST.

A float becomes an integer by truncation toward zero; NaN becomes 0 and what lies outside saturates (the standards leave
both open). Between integers the low bits are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, required

# TensorProto.DataType of ONNX.
ONNX_TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
}  # fmt: skip


@dataclass(frozen=True)
class CastAttrs:
    to: str = "float32"


def infer(a: CastAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if a.to not in {t.value for t in DType}:
        raise GraphError(f"element type {a.to!r} is unknown")
    return [TensorType(DType(a.to), x.shape)]


def body(k: KernelBuilder, a: CastAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = converted(k, x.raw(*i), y.type.dtype)


def converted(k: KernelBuilder, value: Expr, dtype: DType) -> Expr:
    if dtype is DType.BOOL:
        return k.cast(value, dtype)
    if not (value.dtype.is_float and dtype.is_integer):
        return k.cast(value, dtype)
    low, high = dtype.limits
    # A C conversion is defined only inside the type's range. No comparison holds for NaN, which ends as 0.
    below = k.select(value <= float(low), lift(low, dtype), 0)
    inside = k.select(value > float(low), k.cast(value, dtype), below)
    return k.select(value >= float(high + 1), high, inside)


def forward(xp: Any, a: CastAttrs, x: Any) -> Any:
    dtype = DType(a.to)
    if x.dtype.kind != "f" or not dtype.is_integer:
        return x.astype(dtype.numpy)
    low, high = dtype.limits
    inside = (x > low) & (x < float(high + 1))
    limited = xp.where(x >= float(high + 1), high, xp.where(xp.isnan(x), 0, low))
    return xp.where(inside, xp.trunc(xp.where(inside, x, 0)).astype(dtype.numpy), limited.astype(dtype.numpy))


def from_onnx(node: FileNode) -> list[Value]:
    code = node.attribute("to")
    if code not in ONNX_TYPES:
        node.refuse(f"element type {code} is not supported")
    if node.input(0).type.dtype.value == ONNX_TYPES[code]:
        return [node.input(0)]
    return [node.emit("cast", [node.input(0)], CastAttrs(ONNX_TYPES[code]))]


def from_tflite(node: FileNode) -> list[Value]:
    declared = node.output_types[0]
    if declared is None or declared.quant is not None or node.input(0).type.quant is not None:
        node.refuse("a cast of quantized tensors is not supported")
    return [node.emit("cast", [node.input(0)], CastAttrs(declared.dtype.value))]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value | None]:
    """Back to the input's type; what was or became an integer has none."""
    source = node.input(0).type.dtype
    if not (source.is_float and dy.type.dtype.is_float):
        return [None]
    return [b.node("cast", [dy], CastAttrs(source.value))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    codes = {name: code for code, name in ONNX_TYPES.items()}
    w.emit("Cast", [w.input(node, 0)], [w.output(node)], to=codes[node.attrs.to])


cast = OpSpec(
    name="cast",
    attrs=CastAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    onnx=(onnx_op("Cast", build=from_onnx),),
    tflite=(tflite_op("CAST", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((4,), values=(-1.7, 1.7, -0.5, 300.25)), attrs=CastAttrs("int32"), kinds=("float32",)),
        case(Operand((2, 3), low=-100, high=100), attrs=CastAttrs("int64"), kinds=("float32",)),
        case(Operand((2, 3), low=-100, high=100), attrs=CastAttrs("int8"), kinds=("float32",)),
        case(Operand((7,), dtype="int32", low=-99, high=99), attrs=CastAttrs("float32"), kinds=("float32",)),
        case(Operand((7,), dtype="int64", low=-99, high=99), attrs=CastAttrs("float32"), kinds=("float32",)),
        case(Operand((7,), dtype="int32", low=-999, high=999), attrs=CastAttrs("int8"), kinds=("float32",)),
        case(Operand((5,), dtype="bool", values=(1, 0, 1, 1, 0)), attrs=CastAttrs("float32"), kinds=("float32",)),
        case(Operand((4,), values=(0.0, -0.0, 0.5, -3.0)), attrs=CastAttrs("bool"), kinds=("float32",)),
    ),
)
