"""fully_connected: y[..., o] = sum over k of x[..., k] * w[o, k], plus bias[o]; leading axes are kept.

Sources: ONNX Gemm-13; TFLite FULLY_CONNECTED; integers as TFLite Micro's reference kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.activation import through_activation
from burnc.ops.case import ALL_KINDS, case, weights
from burnc.ops.mapping import ONNXRUNTIME, FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.quantized_form import float_form, real, real_bias, stored
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.requantize import Integers, centred, requantized
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required
from burnc.ops.transpose import TransposeAttrs

SWAPPED = (1, 0)
INT16_BY_INT8 = (DType.INT16, DType.INT8)


@dataclass(frozen=True)
class FullyConnectedAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def infer(a: FullyConnectedAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, w = required(inputs, 0), required(inputs, 1)
    if w.rank != 2 or x.rank < 1 or x.shape[-1] != w.shape[1]:
        raise GraphError(f"input {list(x.shape)} does not go with weights {list(w.shape)}")
    if x.dtype is not w.dtype and (x.dtype, w.dtype) != INT16_BY_INT8:
        raise GraphError(f"input is {x.dtype.value} but weights are {w.dtype.value}")
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and bias.shape != (w.shape[0],):
        raise GraphError(f"bias {list(bias.shape)} must have one value for each of {w.shape[0]} results")
    return [TensorType(x.dtype, (*x.shape[:-1], w.shape[0]))]


def body(k: KernelBuilder, a: FullyConnectedAttrs, x: Tensor, w: Tensor, *rest: Tensor | None) -> None:
    *bias, y = rest
    assert y is not None
    b = bias[0] if bias else None
    for *lead, o in k.grid(y.shape):
        acc = k.accumulator(b[o] if b else 0)
        for (i,) in k.reduce(w.shape[1:], "k"):
            acc += x[*lead, i] * w[o, i]
        y[*lead, o] = k.requantize(acc, axis=o)


def forward(xp: Any, a: FullyConnectedAttrs, x: Any, w: Any, b: Any = None) -> Any:
    y = xp.matmul(x, w.T)
    if b is not None:
        y = y + b
    return xp.clip(y, np.float32(a.activation_min), np.float32(a.activation_max))


def integer(node: Node, x: Integers, w: Integers, b: Integers | None = None) -> Integers:
    # float64 holds these integer sums exactly: that |acc| < 2**31 (2**47 for int16) is proven beforehand.
    acc = centred(node, 0, x).astype(np.float64) @ centred(node, 1, w).astype(np.float64).T
    return requantized(node, acc.astype(np.int64) + (0 if b is None else b))


def factors(node: Node) -> NDArray[np.float64]:
    """TFLite multiplies the two scales in float32 where weights have one scale, in double where they have several."""
    x, w, y = node.input(0).type, node.input(1).type, node.output.type
    assert w.quant is not None
    if w.quant.axis is None:
        return np.array([float(np.float32(x.scale) * np.float32(w.scale)) / y.scale])
    return x.scale * np.array(w.quant.scale, np.float64) / y.scale


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    x, w = node.input(0), node.input(1)
    dy = through_activation(b, node, dy)
    columns, filters = w.type.shape[1], w.type.shape[0]
    rows = dy.type.size // filters
    flat = b.node("reshape", [dy], ReshapeAttrs((rows, filters)))
    turned = b.node("transpose", [flat], TransposeAttrs(SWAPPED))
    dw = b.node("matmul", [turned, b.node("reshape", [x], ReshapeAttrs((rows, columns)))])
    dx = b.node("reshape", [b.node("matmul", [flat, w])], ReshapeAttrs(x.type.shape))
    return [dx, dw, b.node("reduce_sum", [flat], ReduceAttrs((0,)))][: len(node.inputs)]


def macs(node: Node) -> int:
    return node.output.type.size * node.input(1).type.shape[1]


def is_static(value: Value) -> bool:
    """Constant, or computed from constants alone, so that folding will make it constant."""
    if value.is_constant:
        return True
    producer = value.producer
    return producer is not None and all(is_static(v) for v in producer.present_inputs)


def from_onnx(node: FileNode) -> list[Value]:
    """The result is alpha * A' B' + beta * C."""
    left, right = node.input(0), node.input(1)
    if left.type.rank != 2 or right.type.rank != 2:
        node.refuse(f"A {list(left.type.shape)} and B {list(right.type.shape)} must have 2 axes")
    if node.attribute("transA", 0):
        left = _swapped(node, left)
    static = is_static(right)
    if bool(node.attribute("transB", 0)) != static:
        right = _swapped(node, right)
    inner, columns = right.type.shape[:: -1 if static else 1]
    if left.type.shape[1] != inner:
        node.refuse(f"{left.type.shape[1]} columns of A' do not go with {inner} rows of B'")
    right = _scaled(node, right, node.attribute("alpha", 1.0), "alpha")
    bias = _scaled(node, node.input(2), node.attribute("beta", 1.0), "beta") if node.has_input(2) else None
    shape = (left.type.shape[0], columns)
    if bias is not None:
        _check_broadcast(node, bias.type.shape, shape)
    op = "fully_connected" if static else "matmul"
    if bias is None:
        return [node.emit(op, [left, right])]
    if static and is_static(bias) and bias.type.shape[-1:] in ((), (columns,)) and bias.type.size == columns:
        if bias.type.rank != 1:
            bias = node.emit("reshape", [bias], ReshapeAttrs((columns,)), last=False, name=f"{node.name}.bias")
        return [node.emit(op, [left, right, bias])]
    product = node.emit(op, [left, right], last=False)
    return [node.emit("add", [product, bias], name=f"{node.name}.add")]


def from_onnx_quantized(node: FileNode) -> list[Value]:
    """QGemm: alpha belongs to the scales of B and C; without a scale of its own the result is float."""
    alpha, axis = float(node.attribute("alpha", 1.0)), 0 if node.attribute("transB", 0) else 1
    operands = [real(node, 0), real(node, 3, axis, alpha), real_bias(node, 6, (1, 4), alpha)]
    result = float_form(node, from_onnx, operands, alpha=1.0)
    return stored(node, result, 7) if node.has_input(7) or node.has_input(8) else [result]


def _swapped(node: FileNode, x: Value) -> Value:
    return node.emit("transpose", [x], TransposeAttrs(SWAPPED), last=False, name=f"{node.name}.transpose")


def _scaled(node: FileNode, value: Value, factor: float, name: str) -> Value:
    if factor == 1.0:
        return value
    operands = [value, node.new_constant(name, np.array(factor, np.float32))]
    return node.emit("mul", operands, last=False, name=f"{node.name}.{name}")


def _check_broadcast(node: FileNode, bias: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """C must broadcast to the product's shape without changing it (ONNX: unidirectional)."""
    pairs = zip(reversed(bias), reversed(shape), strict=False)
    if len(bias) > len(shape) or any(have not in (1, want) for have, want in pairs):
        node.refuse(f"C {list(bias)} does not broadcast to {list(shape)}")


def from_tflite(node: FileNode) -> list[Value]:
    x, w = node.input(0), node.input(1)
    if node.attribute("weights_format", "DEFAULT") not in ("DEFAULT", 0):
        node.refuse(f"weights_format {node.attribute('weights_format')} is not supported")
    if w.type.rank != 2 or w.type.shape[1] == 0 or x.type.size % w.type.shape[1]:
        node.refuse(f"input {list(x.type.shape)} does not go with weights {list(w.type.shape)}")
    if x.type.dtype is not w.type.dtype and (x.type.dtype, w.type.dtype) != INT16_BY_INT8:
        node.refuse(f"{x.type.dtype.value} input with {w.type.dtype.value} weights is not supported")
    inner = w.type.shape[1]
    keeps = node.attribute("keep_num_dims", False) and x.type.shape[-1] == inner
    flat = x.type.shape if keeps else (x.type.size // inner, inner)
    if x.type.shape != flat:
        x = node.emit("reshape", [x], ReshapeAttrs(flat), last=False, name=f"{node.name}.flat", quant=x.type.quant)
    bias = node.inputs[2] if node.has_input(2) else None
    return [node.emit("fully_connected", [x, w, bias], FullyConnectedAttrs(**fused_activation(node)))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    bias = [w.input(node, 2)] if len(node.inputs) > 2 and node.inputs[2] is not None else []
    if node.input(0).type.rank == 2:
        w.finish(node, w.emit("Gemm", [w.input(node, 0), w.input(node, 1), *bias], transB=1))
        return
    y = w.emit("MatMul", [w.input(node, 0), w.weight(node, 1, SWAPPED)])
    w.finish(node, w.emit("Add", [y, *bias]) if bias else y)


fully_connected = OpSpec(
    name="fully_connected",
    attrs=FullyConnectedAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(weights=1, bias=2, dtypes=QUANTIZED, wide=True),
    factors=factors,
    macs=macs,
    onnx=(
        onnx_op("Gemm", build=from_onnx),
        onnx_op("QGemm", build=from_onnx_quantized, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("FULLY_CONNECTED", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((1, 16), weights(8, 16), weights(8), kinds=ALL_KINDS),
        case((3, 7), weights(5, 7), None, kinds=ALL_KINDS),
        case((2, 3, 4), weights(6, 4), weights(6), attrs=FullyConnectedAttrs(activation_min=0.0), kinds=ALL_KINDS),
        case((9,), weights(4, 9), weights(4)),
        case((1, 1), weights(1, 1), weights(1)),
        case((2, 33), weights(3, 33), weights(3), attrs=FullyConnectedAttrs(0.0, 6.0)),
        case((1, 300), weights(2, 300, scale=0.1), weights(2), attrs=FullyConnectedAttrs(-1.0, 1.0)),
        case((1, 48), weights(16, 48), weights(16)),
    ),
)
