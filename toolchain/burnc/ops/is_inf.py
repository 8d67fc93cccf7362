"""is_inf: whether a float is infinite, of either sign or of one. Sources: ONNX IsInf-20."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class IsInfAttrs:
    positive: bool = True
    negative: bool = True


def infer(a: IsInfAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not x.dtype.is_float:
        raise GraphError(f"the operand must be float, it is {x.dtype.value}")
    return [x.with_dtype(DType.BOOL)]


def body(k: KernelBuilder, a: IsInfAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        found = lift(False, DType.BOOL)
        for wanted, sign in ((a.positive, 1), (a.negative, -1)):
            if wanted:
                found = found | x[i].eq(sign * math.inf)
        y[i] = found


def forward(xp: Any, a: IsInfAttrs, x: Any) -> Any:
    return (xp.isposinf(x) & a.positive) | (xp.isneginf(x) & a.negative)


def from_onnx(node: FileNode) -> list[Value]:
    attrs = IsInfAttrs(*(bool(node.attribute(f"detect_{sign}", 1)) for sign in ("positive", "negative")))
    return [node.emit("is_inf", [node.input(0)], attrs)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: IsInfAttrs = node.attrs
    inputs, results = [w.input(node, 0)], [w.output(node)]
    w.emit("IsInf", inputs, results, detect_positive=int(a.positive), detect_negative=int(a.negative))


NUMBERS = Operand((2, 4), values=(0.0, np.nan, -1.0, np.inf, -np.inf))

is_inf = OpSpec(
    name="is_inf",
    attrs=IsInfAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("IsInf", build=from_onnx),),
    to_onnx=to_onnx,
    cases=tuple(
        case(NUMBERS, attrs=IsInfAttrs(positive, negative), kinds=("float32",))
        for positive, negative in ((True, True), (True, False), (False, True), (False, False))
    ),
    pointwise=True,
)
