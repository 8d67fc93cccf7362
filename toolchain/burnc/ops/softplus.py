"""softplus: log(1 + exp(x)). Sources: ONNX Softplus-1."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


def real(k: KernelBuilder, a: Any, x: Expr) -> Expr:
    """max(x, 0) + log(1 + p) with p = exp(-|x|); where 1 + p lost bits of p, the quotient makes up for them (Kahan)."""
    power = k.let("power", k.call("exp", k.select(x < 0, x, -x)))
    sum_ = k.let("sum", power + 1.0)
    logarithm = k.select(sum_.eq(1.0), power, k.call("log", sum_) * (power / (sum_ - 1.0)))
    return k.maximum(x, 0.0) + logarithm


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [b.node("mul", [dy, b.node("sigmoid", [node.input(0)])])]


softplus = OpSpec(
    name="softplus",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(real),
    gradient=gradient,
    quant=QuantRule(),
    onnx=(onnx_op("Softplus", build=floats_only("softplus")),),
    to_onnx=written_as("Softplus"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((13,), values=(*EDGES, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
