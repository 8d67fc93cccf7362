"""batch_norm: (x - mean) / sqrt(variance + epsilon) * gamma + beta, a value a channel; channels are the last axis.

Sources: ONNX BatchNormalization-15 (inference). Float only: folding moves it into the operator before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.broadcast import negated
from burnc.ops.case import Operand, case, weights
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.spatial import from_nhwc, to_nhwc
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class BatchNormAttrs:
    epsilon: float = 1e-5


def infer(a: BatchNormAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.rank < 1 or not x.dtype.is_float:
        raise GraphError(f"input {x} must be a float tensor with channels")
    for index, name in enumerate(("gamma", "beta", "mean", "variance"), start=1):
        parameter = required(inputs, index)
        if parameter.shape != (x.shape[-1],):
            raise GraphError(f"{name} {list(parameter.shape)} must have one value for each of {x.shape[-1]} channels")
    return [x]


def body(
    k: KernelBuilder, a: BatchNormAttrs, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, var: Tensor, y: Tensor
) -> None:
    for i in k.grid(y.shape):
        c = i[-1]
        deviation = k.call("sqrt", var[c] + a.epsilon)
        y[i] = (x[i] - mean[c]) / deviation * gamma[c] + beta[c]


def forward(xp: Any, a: BatchNormAttrs, x: Any, gamma: Any, beta: Any, mean: Any, var: Any) -> Any:
    return (x - mean) / xp.sqrt(var + var.dtype.type(a.epsilon)) * gamma + beta


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """With given mean and variance; training uses the batch's own, made of simpler operators."""
    x, gamma, _, mean, variance = (node.input(i) for i in range(5))
    dtype, lead = dy.type.dtype.numpy, ReduceAttrs(tuple(range(dy.type.rank - 1)))
    shifted = b.node("add", [variance, b.constant("epsilon", np.array(node.attrs.epsilon, dtype))])
    scale = b.node("div", [gamma, b.node("sqrt", [shifted])])
    centred = b.node("sub", [x, mean])
    total = b.node("reduce_sum", [dy], lead)
    product = b.node("reduce_sum", [b.node("mul", [dy, centred])], lead)
    slope = b.node("mul", [b.node("mul", [product, scale]), b.constant("minus_half", np.array(-0.5, dtype))])
    return [
        b.node("mul", [dy, scale]),
        b.node("div", [product, b.node("sqrt", [shifted])]),
        total,
        negated(b, b.node("mul", [total, scale])),
        b.node("div", [slope, shifted]),
    ]


def from_onnx(node: FileNode) -> list[Value]:
    if node.attribute("training_mode", 0) or sum(map(bool, node.output_names)) > 1:
        node.refuse("only inference is supported, which has one output")
    x = node.input(0)
    if x.type.rank not in (2, 3, 4):
        node.refuse(f"input {list(x.type.shape)}: 2 to 4 axes are supported")
    parameters = [node.input(i) for i in range(1, 5)]
    attrs = BatchNormAttrs(float(node.attribute("epsilon", 1e-5)))
    if x.type.rank == 2:
        return [node.emit("batch_norm", [x, *parameters], attrs)]
    y = node.emit("batch_norm", [to_nhwc(node, x), *parameters], attrs, last=False)
    return [from_nhwc(node, y, x.type.rank)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    rank = node.output.type.rank
    x = w.input(node, 0)
    parameters = [w.input(node, i) for i in range(1, 5)]
    if rank <= 2:
        w.emit("BatchNormalization", [x, *parameters], [w.output(node)], epsilon=node.attrs.epsilon)
        return
    channels_first = (0, rank - 1, *range(1, rank - 1))
    y = w.emit("BatchNormalization", [w.transposed(x, channels_first), *parameters], epsilon=node.attrs.epsilon)
    w.emit("Transpose", [y], [w.output(node)], perm=(0, *range(2, rank), 1))


batch_norm = OpSpec(
    name="batch_norm",
    attrs=BatchNormAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    onnx=(onnx_op("BatchNormalization", build=from_onnx, lost={"spatial": 0}),),
    to_onnx=to_onnx,
    cases=tuple(
        case(
            shape, weights(3), weights(3), weights(3), Operand((3,), True, low=0.1, high=2.0), attrs=attrs,
            kinds=("float32",),
        )
        for shape, attrs in (((1, 4, 5, 3), None), ((4, 3), BatchNormAttrs(1e-2)), ((2, 7, 3), BatchNormAttrs(1e-3)))
    ),
)  # fmt: skip
