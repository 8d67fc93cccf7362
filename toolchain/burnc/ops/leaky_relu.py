"""leaky_relu: x where x >= 0, else alpha * x. Sources: ONNX LeakyRelu-16; TFLite LEAKY_RELU; integers as in TFLM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Node
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import ONNXRUNTIME, onnx_op, tflite_op
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import rescaled, to_output
from burnc.ops.spec import OpSpec, QuantRule, same_type
from burnc.ops.unary import each, floats_only, written_as


@dataclass(frozen=True)
class LeakyReluAttrs:
    alpha: float = 0.01


def integer(node: Node, x: Array) -> Array:
    a: LeakyReluAttrs = node.attrs
    centred = x.astype(np.int64) - node.input(0).type.zero_point
    source, result = np.float32(node.input(0).type.scale), np.float32(node.output.type.scale)
    # TFLite computes these factors in single precision.
    factor, slope = float(source / result), float(source * np.float32(a.alpha) / result)
    negative = rescaled(node, centred, abs(slope)) if slope >= 0 else rescaled(node, -centred, abs(slope))
    return to_output(node, np.where(centred >= 0, rescaled(node, centred, factor), negative))


def forward(xp: Any, a: LeakyReluAttrs, x: Any) -> Any:
    return xp.where(x < 0, x * x.dtype.type(a.alpha), x)


FROM_ONNX = floats_only("leaky_relu", "alpha")

leaky_relu = OpSpec(
    name="leaky_relu",
    attrs=LeakyReluAttrs,
    infer=same_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: k.select(x < 0, x * a.alpha, x)),
    quant=QuantRule(),
    onnx=(
        onnx_op("LeakyRelu", build=FROM_ONNX),
        onnx_op("QLinearLeakyRelu", build=quantized_form(FROM_ONNX, 0), domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("LEAKY_RELU", attrs={"alpha": "alpha"}),),
    to_onnx=written_as("LeakyRelu", alpha="alpha"),
    cases=(
        case(Operand((3, 90), low=-3, high=3)),
        case(Operand((9,), low=-3, high=3), attrs=LeakyReluAttrs(0.3)),
        case(Operand((13,), values=(*EDGES, np.nan)), attrs=LeakyReluAttrs(1.5), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
