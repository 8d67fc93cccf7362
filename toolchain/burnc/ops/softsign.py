"""softsign: x / (1 + |x|). Sources: ONNX Softsign-1."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return x / (1 + xp.abs(x))


softsign = OpSpec(
    name="softsign",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: x / (k.select(x < 0, -x, x) + 1.0)),
    quant=QuantRule(),
    onnx=(onnx_op("Softsign", build=floats_only("softsign")),),
    to_onnx=written_as("Softsign"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((5,), values=(-1e30, -0.0, 0.5, 1e30, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
