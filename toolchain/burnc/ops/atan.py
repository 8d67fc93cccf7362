"""atan: the angle whose tangent a number is. Sources: ONNX Atan-7."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.trigonometry import arc_tangent
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.arctan(x)


arc_tangent_of = OpSpec(
    name="atan",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: arc_tangent(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Atan", build=floats_only("atan")),),
    to_onnx=written_as("Atan"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((8,), values=(-0.0, 1e-5, 0.5, -2.0, 1e30, np.inf, -np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
