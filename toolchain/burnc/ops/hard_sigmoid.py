"""hard_sigmoid: alpha * x + beta, held between 0 and 1. Sources: ONNX HardSigmoid-6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import each, floats_only, written_as


@dataclass(frozen=True)
class HardSigmoidAttrs:
    alpha: float = 0.2
    beta: float = 0.5


def forward(xp: Any, a: HardSigmoidAttrs, x: Any) -> Any:
    return xp.clip(x * x.dtype.type(a.alpha) + x.dtype.type(a.beta), x.dtype.type(0), x.dtype.type(1))


hard_sigmoid = OpSpec(
    name="hard_sigmoid",
    attrs=HardSigmoidAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.minimum(k.maximum(x * a.alpha + a.beta, 0.0), 1.0)),
    quant=QuantRule(),
    onnx=(onnx_op("HardSigmoid", build=floats_only("hard_sigmoid", "alpha", "beta")),),
    to_onnx=written_as("HardSigmoid", alpha="alpha", beta="beta"),
    cases=(
        case(Operand((3, 90), low=-6, high=6)),
        case(Operand((13,), values=(*EDGES, np.nan)), attrs=HardSigmoidAttrs(1 / 6, 0.6), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
