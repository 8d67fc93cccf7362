"""bit_cast: the same bits as another element type of their width. Sources: ONNX BitCast-26; TFLite BITCAST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Operand, case
from burnc.ops.cast import ONNX_TYPES
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, required

_INTEGERS = {DType.FLOAT32: INT32, DType.FLOAT64: DType.INT64}


@dataclass(frozen=True)
class BitCastAttrs:
    to: str = "int32"


def infer(a: BitCastAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if a.to not in {t.value for t in DType} or DType(a.to).bytes != x.dtype.bytes:
        raise GraphError(f"{x.dtype.value} does not have the width of {a.to}")
    if a.to in ("bool", "float16") or x.dtype is DType.FLOAT16:
        raise GraphError(f"the bits of {x.dtype.value} as {a.to} are not supported")
    return [TensorType(DType(a.to), x.shape)]


def body(k: KernelBuilder, a: BitCastAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = reinterpreted(k, x.raw(*i), y.type.dtype)


def reinterpreted(k: KernelBuilder, value: Expr, dtype: DType) -> Expr:
    """Between integers a cast keeps the bits; floats go by the signed integer of their width."""
    if value.dtype is dtype:
        return value
    if value.dtype.is_float:
        integer = _INTEGERS[value.dtype]
        value = k.call(f"bitcast_{integer.value}", value, dtype=integer)
    if dtype.is_float:
        value = k.cast(value, _INTEGERS[dtype])
        return k.call(f"bitcast_{dtype.value}", value, dtype=dtype)
    return k.cast(value, dtype)


def forward(xp: Any, a: BitCastAttrs, x: Any) -> Any:
    return xp.ascontiguousarray(x).view(DType(a.to).numpy).reshape(x.shape)


def from_onnx(node: FileNode) -> list[Value]:
    code = node.attribute("to")
    if code not in ONNX_TYPES:
        node.refuse(f"element type {code} is not supported")
    return [node.emit("bit_cast", [node.input(0)], BitCastAttrs(ONNX_TYPES[code]))]


def from_tflite(node: FileNode) -> list[Value]:
    declared = node.output_types[0]
    if declared is None or declared.quant is not None or node.input(0).type.quant is not None:
        node.refuse("the bits of quantized tensors are not supported")
    return [node.emit("bit_cast", [node.input(0)], BitCastAttrs(declared.dtype.value))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    raise GraphError("ONNX has no BitCast before opset 26", where=f"node {node.name!r}")


FLOATS = Operand((7,), values=(0.0, -0.0, 1.5, -1e30, float("inf"), float("-inf"), 1e-40))
INTEGERS = Operand((5,), dtype="int32", values=(0, -(2**31), 0x3F800000, -0x40000000, 1))

bit_cast = OpSpec(
    name="bit_cast",
    attrs=BitCastAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("BitCast", build=from_onnx),),
    tflite=(tflite_op("BITCAST", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case(FLOATS, attrs=BitCastAttrs("int32"), kinds=("float32",)),
        case(INTEGERS, attrs=BitCastAttrs("float32"), kinds=("float32",)),
        case(Operand((2, 3), dtype="int8", low=-128, high=127), attrs=BitCastAttrs("uint8"), kinds=("float32",)),
    ),
    pointwise=True,
)
