"""where: the second operand where the first is true, else the third. Sources: ONNX Where-16; TFLite SELECT(_V2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.quantized_form import float_form, real, stored
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, broadcast_shapes, required
from burnc.ops.unary import NoAttrs, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    condition, x, otherwise = (required(inputs, i) for i in range(3))
    if condition.dtype is not DType.BOOL or x.dtype is not otherwise.dtype:
        types = ", ".join(t.dtype.value for t in (condition, x, otherwise))
        raise GraphError(f"operands must be bool and two of one type, they are {types}")
    shape = broadcast_shapes(condition.shape, broadcast_shapes(x.shape, otherwise.shape))
    return [TensorType(x.dtype, shape)]


def body(k: KernelBuilder, a: NoAttrs, condition: Tensor, x: Tensor, otherwise: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        first, second = (v.raw(*aligned(i, v.shape)) for v in (x, otherwise))
        y[i] = k.select(condition.raw(*aligned(i, condition.shape)), first, second)


def integer(node: Node, condition: Integers, x: Integers, otherwise: Integers) -> Integers:
    shape = node.output.type.shape
    result = np.broadcast_to(otherwise, shape).copy()
    np.copyto(result, x, where=condition)
    return result


def forward(xp: Any, a: NoAttrs, condition: Any, x: Any, otherwise: Any) -> Any:
    return xp.asarray(xp.where(condition, x, otherwise))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value | None]:
    condition, x, otherwise = (node.input(i) for i in range(3))
    zero = b.constant("zero", np.array(0.0, dy.type.dtype.numpy))
    first, second = b.node("where", [condition, dy, zero]), b.node("where", [condition, zero, dy])
    return [None, summed_to(b, first, x.type.shape), summed_to(b, second, otherwise.type.shape)]


def from_onnx_quantized(node: FileNode) -> list[Value]:
    def chosen(float_node: FileNode) -> list[Value]:
        return [float_node.emit("where", float_node.inputs)]

    return stored(node, float_form(node, chosen, [node.input(0), real(node, 1), real(node, 4)]), 7)


def from_tflite(node: FileNode) -> list[Value]:
    operands = [node.input(i) for i in range(3)]
    condition, x, _ = (v.type for v in operands)
    if node.op == "SELECT" and condition.shape != x.shape and condition.size != 1:
        node.refuse("a condition that chooses whole rows is not supported")
    if len({v.type.quant for v in operands[1:]} | {node.output_quant}) > 1:
        node.refuse("operands and result must have the same quantization parameters")
    return [node.emit("where", operands)]


def _chosen(*shape: int) -> Operand:
    return Operand(shape, dtype="bool", values=(1, 0, 0))


where = OpSpec(
    name="where",
    attrs=NoAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", integer_inputs=(0,), dtypes=QUANTIZED),
    onnx=(
        onnx_op("Where"),
        onnx_op("QLinearWhere", build=from_onnx_quantized, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("SELECT", build=from_tflite), tflite_op("SELECT_V2", build=from_tflite)),
    to_onnx=written_as("Where"),
    cases=(
        case(_chosen(2, 5), (2, 5), (2, 5), kinds=ALL_KINDS),
        case(_chosen(5, 1), (2, 1, 4), (4,)),
        case(
            _chosen(4),
            Operand((4,), dtype="int32", low=-9, high=9),
            Operand((), dtype="int32", low=-9, high=9),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
