"""dequantize: quantized integers to the float32 numbers they stand for.

Sources: ONNX DequantizeLinear-21; TFLite DEQUANTIZE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, INT32, KernelBuilder, Tensor
from burnc.numerics import dequantize as dequantize_values
from burnc.ops.cast import ONNX_TYPES
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.parameters import dequantized_by_inputs, held_params
from burnc.ops.quantize import per_axis
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class DequantizeAttrs:
    pass


def infer(a: DequantizeAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.quant is None:
        raise GraphError(f"input {x} is not quantized")
    return [TensorType(DType.FLOAT32, x.shape)]


def body(k: KernelBuilder, a: DequantizeAttrs, x: Tensor, y: Tensor) -> None:
    quant = x.type.quant
    assert quant is not None
    scales, zero_points = np.array(quant.scale, np.float32), np.array(quant.zero_point, np.int32)
    for i in k.grid(y.shape):
        centred = k.cast(x.raw(*i), INT32) - per_axis(k, "zero_point", zero_points, quant.axis, i)
        y[i] = k.cast(centred, FLOAT32) * per_axis(k, "scale", scales, quant.axis, i)


def from_onnx(node: FileNode) -> list[Value]:
    """The result is float32 unless the file says another type, or its scale has another."""
    said = ONNX_TYPES.get(node.attribute("output_dtype", 0), node.input(1).type.dtype.value)
    if said == DType.FLOAT32.value:
        return [_real(node)]
    inner = node.part(f"{node.name}.real", node.inputs, node.attributes)
    return [node.emit("cast", [_real(inner)], node.builder.operators["cast"].attrs(said))]


def _real(node: FileNode) -> Value:
    """Scale and zero point move into the type of the input where that is free to take them."""
    x, quant = node.input(0), held_params(node)
    if quant is None:
        return dequantized_by_inputs(node)
    for value in _moved_alike(node, x) if x.type.quant is None else []:
        value.type = value.type.with_quant(quant)
    if x.type.quant != quant and x.data is not None:
        x = node.new_constant(x.name, x.data, quant)
    if x.type.quant != quant:
        return dequantized_by_inputs(node)
    return node.emit("dequantize", [x], quant=None)


def _moved_alike(node: FileNode, x: Value) -> list[Value]:
    """Integers whose parameters are those of ``x``, which the file says now: what operators move to it or from it.

    Nothing where an operator makes or reads some of them as they are.
    """
    consumers = node.builder.graph.consumers()
    found: dict[Value, None] = {}
    waiting = [x]
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found[value] = None
        neighbours = [*([] if value.producer is None else [value.producer]), *consumers.get(value, [])]
        is_moved = all(isinstance(n.operator, OpSpec) and n.operator.moves_integers for n in neighbours)
        if not is_moved or value.type.quant is not None:
            return []
        waiting += [v for n in neighbours for v in (n.input(0), *n.outputs)]
    return list(found)


def from_tflite(node: FileNode) -> list[Value]:
    if node.input(0).type.dtype.is_float:  # float16 constants are real numbers already
        return [node.input(0)]
    if node.input(0).type.quant is None:
        node.refuse("the input has no quantization parameters")
    return [node.emit("dequantize", [node.input(0)], quant=None)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    # The writer itself puts DequantizeLinear before whatever reads a quantized value.
    w.finish(node, w.input(node, 0))


dequantize = OpSpec(
    name="dequantize",
    attrs=DequantizeAttrs,
    infer=infer,
    # Quantization changes how real numbers are stored, not which ones they are.
    forward=lambda xp, a, x: x,
    integer=lambda node, x: dequantize_values(x, node.input(0).type),
    body=body,
    quant=QuantRule(),
    onnx=(
        onnx_op("DequantizeLinear", build=from_onnx, integers=True),
        onnx_op("DequantizeLinear", build=from_onnx, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("DEQUANTIZE", build=from_tflite),),
    to_onnx=to_onnx,
)
