"""tan: the tangent. Sources: ONNX Tan-7."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.trigonometry import tangent
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.tan(x)


tangent_of = OpSpec(
    name="tan",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: tangent(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Tan", build=floats_only("tan")),),
    to_onnx=written_as("Tan"),
    cases=(
        case(Operand((3, 90), low=-1.4, high=1.4)),
        case(Operand((8,), values=(-0.0, 1e-5, 1.5, -2.0, 9.0, 100.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
