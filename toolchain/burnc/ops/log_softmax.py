"""log_softmax: the logarithm of softmax along one axis. Sources: ONNX LogSoftmax-13; TFLite LOG_SOFTMAX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops import log_softmax_int8
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.unary import written_as


@dataclass(frozen=True)
class LogSoftmaxAttrs:
    axis: int = -1


def infer(a: LogSoftmaxAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (x,) = same_real_type(a, inputs)
    if not -x.rank <= a.axis < x.rank:
        raise GraphError(f"axis {a.axis} is out of range for shape {list(x.shape)}")
    if not x.dtype.is_float and x.shape[a.axis] > log_softmax_int8.LONGEST:
        raise GraphError(f"an int8 log_softmax over {x.shape[a.axis]} elements overflows")
    return [x]


def body(k: KernelBuilder, a: LogSoftmaxAttrs, x: Tensor, y: Tensor) -> None:
    axis = a.axis % x.type.rank
    for indices in k.grid((*x.shape[:axis], *x.shape[axis + 1 :])):
        outer, inner = indices[:axis], indices[axis:]
        largest = k.local("largest", -math.inf, k.real)
        for (i,) in k.reduce((x.shape[axis],)):
            largest.set(k.maximum(largest.value, x[*outer, i, *inner]))
        total = k.local("total", 0.0, k.real)
        for (i,) in k.reduce((x.shape[axis],)):
            total += k.call("exp", x[*outer, i, *inner] - largest.value)
        logarithm = k.let("logarithm", k.call("log", total.value))
        for (i,) in k.reduce((x.shape[axis],)):
            y[*outer, i, *inner] = (x[*outer, i, *inner] - largest.value) - logarithm


def forward(xp: Any, a: LogSoftmaxAttrs, x: Any) -> Any:
    difference = x - x.max(axis=a.axis, keepdims=True)
    return difference - xp.log(xp.exp(difference).sum(axis=a.axis, keepdims=True))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: dy - softmax * sum(dy)."""
    axis = node.attrs.axis
    along = ReduceAttrs((axis % dy.type.rank,), keepdims=True)
    softmax = b.node("softmax", [node.input(0)], b.operators["softmax"].attrs(axis))
    return [b.node("sub", [dy, b.node("mul", [softmax, b.node("reduce_sum", [dy], along)])])]


def permuted(a: LogSoftmaxAttrs, permutation: Sequence[int]) -> LogSoftmaxAttrs:
    return replace(a, axis=permutation[a.axis] - len(permutation))


def from_onnx(node: FileNode) -> list[Value]:
    x = node.input(0)
    axis = int(node.attribute("axis", -1))
    if not -x.type.rank <= axis < x.type.rank:
        node.refuse(f"axis {axis} is out of range for shape {list(x.type.shape)}")
    return [node.emit("log_softmax", [x], LogSoftmaxAttrs(axis - x.type.rank if axis >= 0 else axis))]


log_softmax = OpSpec(
    name="log_softmax",
    attrs=LogSoftmaxAttrs,
    infer=infer,
    forward=forward,
    integer=log_softmax_int8.integer,
    body=body,
    body_int8=log_softmax_int8.body,
    gradient=gradient,
    quant=QuantRule(result=log_softmax_int8.RESULT),
    onnx=(onnx_op("LogSoftmax", build=from_onnx),),
    tflite=(tflite_op("LOG_SOFTMAX"),),
    to_onnx=written_as("LogSoftmax", axis="axis"),
    permuted=permuted,
    cases=(
        case(Operand((4, 12), low=-20, high=20)),
        case(Operand((2, 3, 5), low=-3, high=3), attrs=LogSoftmaxAttrs(-2)),
        case(Operand((2, 300), low=-0.1, high=0.1)),
        case(Operand((2, 3), values=(88.0, 89.0, 90.0, -90.0, 0.0, 0.0)), kinds=("float32",)),
    ),
)
