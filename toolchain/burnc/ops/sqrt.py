"""sqrt: the square root. Sources: ONNX Sqrt-13."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec, same_type


@dataclass(frozen=True)
class SqrtAttrs:
    pass


def body(k: KernelBuilder, a: SqrtAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.call("sqrt", x[i])


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    half = b.constant("half", np.array(0.5, node.output.type.dtype.numpy))
    return [b.node("mul", [b.node("div", [dy, node.output]), half])]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Sqrt", [w.input(node, 0)], [w.output(node)])


sqrt = OpSpec(
    name="sqrt",
    attrs=SqrtAttrs,
    infer=same_type,
    forward=lambda xp, a, x: xp.sqrt(x),
    body=body,
    gradient=gradient,
    onnx=(onnx_op("Sqrt"),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((2, 3, 4), low=0.1, high=9.0), kinds=("float32",)),
        case(Operand((), low=0.1, high=2.0), kinds=("float32",)),
    ),
    pointwise=True,
)
