"""prelu: x where x >= 0, else slope * x. Sources: ONNX PRelu-16; TFLite PRELU, int8 as TFLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import EDGES, Operand, case, weights
from burnc.ops.compare import CompareAttrs
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.spec import OpSpec, QuantRule, required, same_real_type
from burnc.ops.unary import NoAttrs, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (x,), (result,) = same_real_type(a, inputs), infer_arithmetic(a, inputs)
    if result.shape != x.shape:
        raise GraphError(f"a slope of shape {list(required(inputs, 1).shape)} does not broadcast to {list(x.shape)}")
    return [result]


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, slope: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        value = k.let("value", x[i])
        y[i] = k.select(value < 0, value * slope[aligned(i, slope.shape)], value)


def factors(node: Node) -> list[float]:
    """For a value that stays, and for one that is multiplied by the slope."""
    x, slope, y = (v.type.scale for v in (node.input(0), node.input(1), node.output))
    return [x / y, x * slope / y]


def body_int8(k: KernelBuilder, a: NoAttrs, x: Tensor, slope: Tensor, y: Tensor) -> None:
    kept, multiplied = factors(k.node)
    for i in k.grid(y.shape):
        value = k.let("value", x[i])
        product = value * slope[aligned(i, slope.shape)]
        y[i] = k.to_output(k.select(value >= 0, k.scale_by(value, kept), k.scale_by(product, multiplied)))


def integer(node: Node, x: Integers, slope: Integers) -> Integers:
    kept, multiplied = factors(node)
    value, factor = (v.astype(np.int64) - node.input(i).type.zero_point for i, v in enumerate((x, slope)))
    result = np.where(value >= 0, rescaled(node, value, kept), rescaled(node, value * factor, multiplied))
    return to_output(node, result)


def forward(xp: Any, a: NoAttrs, x: Any, slope: Any) -> Any:
    return xp.where(x < 0, x * slope, x)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    x, slope = node.input(0), node.input(1)
    zero = b.constant("zero", np.array(0.0, dy.type.dtype.numpy))
    is_negative = b.node("compare", [x, zero], CompareAttrs("less"))
    dx = b.node("where", [is_negative, b.node("mul", [dy, slope]), dy])
    dslope = b.node("where", [is_negative, b.node("mul", [dy, x]), zero])
    return [dx, summed_to(b, dslope, slope.type.shape)]


def from_tflite(node: FileNode) -> list[Value]:
    """Either operand may be the one that is repeated."""
    x, slope = node.input(0), node.input(1)
    (result,) = infer_arithmetic(None, [x.type, slope.type])
    if result.shape != x.type.shape:
        attrs = node.builder.operators["expand"].attrs(result.shape)
        x = node.emit("expand", [x], attrs, last=False, name=f"{node.name}.expand", quant=x.type.quant)
    return [node.emit("prelu", [x, slope])]


prelu = OpSpec(
    name="prelu",
    attrs=NoAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    quant=QuantRule(),
    factors=factors,
    onnx=(onnx_op("PRelu"),),
    tflite=(tflite_op("PRELU", build=from_tflite),),
    to_onnx=written_as("PRelu"),
    cases=(
        case(Operand((2, 5, 3), low=-3, high=3), weights(1, 1, 3)),
        case((4, 40), Operand((1, 1), constant=True, low=0.2, high=0.3)),
        case(Operand((12,), values=EDGES), Operand((1,), constant=True, values=(-0.5,)), kinds=("float32",)),
    ),
    pointwise=True,
)
