"""erf: the error function. Sources: ONNX Erf-13."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.numerics.erf import erf as real_erf
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return real_erf(xp, x)


erf = OpSpec(
    name="erf",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("erf", x)),
    quant=QuantRule(),
    onnx=(onnx_op("Erf", build=floats_only("erf")),),
    to_onnx=written_as("Erf"),
    cases=(
        case(Operand((3, 90), low=-3, high=3)),
        case(Operand((15,), values=(*EDGES, np.nan, 3.99, -3.99)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
