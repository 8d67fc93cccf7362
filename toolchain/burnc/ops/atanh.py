"""atanh: the inverse hyperbolic tangent; infinite at 1, NaN beyond. Sources: ONNX Atanh-9."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.hyperbolic import inverse_hyperbolic_tangent
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.arctanh(x)


inverse_hyperbolic_tangent_of = OpSpec(
    name="atanh",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: inverse_hyperbolic_tangent(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Atanh", build=floats_only("atanh")),),
    to_onnx=written_as("Atanh"),
    cases=(
        case(Operand((3, 90), low=-0.99, high=0.99), kinds=("float32",)),
        case(Operand((8,), values=(-0.0, 1e-5, 0.5, -0.9, 1.0, -1.0, 1.5, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
