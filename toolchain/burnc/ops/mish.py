"""mish: x * tanh(softplus(x)). Sources: ONNX Mish-18."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.softplus import real as softplus_of
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return x * xp.tanh(xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x))))


mish = OpSpec(
    name="mish",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: x * k.call("tanh", k.let("softplus", softplus_of(k, a, x)))),
    quant=QuantRule(),
    onnx=(onnx_op("Mish", build=floats_only("mish")),),
    to_onnx=written_as("Mish"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((5,), values=(-90.0, -0.0, 0.5, 1e30, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
