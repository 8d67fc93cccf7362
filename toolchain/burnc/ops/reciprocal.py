"""reciprocal: 1 / x. Sources: ONNX Reciprocal-13."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return 1 / x


reciprocal = OpSpec(
    name="reciprocal",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: 1.0 / x),
    quant=QuantRule(),
    onnx=(onnx_op("Reciprocal", build=floats_only("reciprocal")),),
    to_onnx=written_as("Reciprocal"),
    cases=(
        case(Operand((2, 3, 4), low=0.1, high=9.0)),
        case(Operand((5,), values=(-4.0, -0.0, 0.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
