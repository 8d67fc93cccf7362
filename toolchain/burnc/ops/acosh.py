"""acosh: the inverse hyperbolic cosine; NaN below 1. Sources: ONNX Acosh-9."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.hyperbolic import inverse_hyperbolic_cosine
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.arccosh(x)


inverse_hyperbolic_cosine_of = OpSpec(
    name="acosh",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: inverse_hyperbolic_cosine(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Acosh", build=floats_only("acosh")),),
    to_onnx=written_as("Acosh"),
    cases=(
        case(Operand((3, 90), low=1, high=9)),
        case(Operand((8,), values=(1.0, 1.0000001, 1.5, 200.0, 1e30, np.inf, 0.5, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
