"""one_hot: class numbers [...] become rows [..., depth] with a one at the class. Sources: ONNX OneHot-11.

A number outside 0 .. depth - 1 gives a row of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class OneHotAttrs:
    depth: int = 1
    to: str = "float32"


def infer(a: OneHotAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.dtype not in (DType.INT32, DType.INT64) or a.depth < 1:
        raise GraphError(f"class numbers {x} must be int32 or int64, and the depth {a.depth} positive")
    return [TensorType(DType(a.to), (*x.shape, a.depth))]


def body(k: KernelBuilder, a: OneHotAttrs, x: Tensor, y: Tensor) -> None:
    for *lead, column in k.grid(y.shape):
        y[*lead, column] = k.select(k.cast(x.raw(*lead), INT32).eq(column), 1.0, 0.0)


def forward(xp: Any, a: OneHotAttrs, x: Any) -> Any:
    return (x[..., None] == xp.arange(a.depth)).astype(a.to)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: OneHotAttrs = node.attrs
    values = w.constant(np.array([0, 1], a.to), "values")
    indices = w.emit("Cast", [w.input(node, 0)], to=7)
    w.emit("OneHot", [indices, w.constant(np.array(a.depth, np.int64), "depth"), values], [w.output(node)], axis=-1)


one_hot = OpSpec(
    name="one_hot",
    attrs=OneHotAttrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=(
        case(Operand((6,), dtype="int64", low=0, high=3), attrs=OneHotAttrs(4), kinds=("float32",)),
        case(Operand((2, 3), dtype="int32", low=0, high=9), attrs=OneHotAttrs(10), kinds=("float32",)),
    ),
)
