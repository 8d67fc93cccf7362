"""leaky_relu: x where x >= 0, else alpha * x. Sources: ONNX LeakyRelu-16; TFLite LEAKY_RELU; integers as in TFLM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Node
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, EDGES, Operand, case
from burnc.ops.mapping import ONNXRUNTIME, onnx_op, tflite_op
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import rescaled, to_output
from burnc.ops.spec import QUANTIZED, OpSpec, QuantRule, same_real_type
from burnc.ops.unary import each, floats_only, written_as


@dataclass(frozen=True)
class LeakyReluAttrs:
    alpha: float = 0.01


def factors(node: Node) -> tuple[float, float]:
    """From the input's scale to the result's, for either side of 0."""
    source, result = node.input(0).type.scale, node.output.type.scale
    return source / result, source * float(np.float32(node.attrs.alpha)) / result


def body_int16(k: KernelBuilder, a: LeakyReluAttrs, x: Tensor, y: Tensor) -> None:
    factor, slope = factors(k.node)
    for i in k.grid(y.shape):
        value = k.let("value", x[i])
        lower = k.scale_by(value if slope >= 0 else -value, abs(slope))
        y[i] = k.to_output(k.select(value >= 0, k.scale_by(value, factor), lower))


def integer(node: Node, x: Array) -> Array:
    centred = x.astype(np.int64) - node.input(0).type.zero_point
    factor, slope = factors(node)
    negative = rescaled(node, centred, abs(slope)) if slope >= 0 else rescaled(node, -centred, abs(slope))
    return to_output(node, np.where(centred >= 0, rescaled(node, centred, factor), negative))


def forward(xp: Any, a: LeakyReluAttrs, x: Any) -> Any:
    return xp.where(x < 0, x * x.dtype.type(a.alpha), x)


FROM_ONNX = floats_only("leaky_relu", "alpha")

leaky_relu = OpSpec(
    name="leaky_relu",
    attrs=LeakyReluAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: k.select(x < 0, x * a.alpha, x)),
    body_int16=body_int16,
    quant=QuantRule(dtypes=QUANTIZED),
    onnx=(
        onnx_op("LeakyRelu", build=FROM_ONNX),
        onnx_op("QLinearLeakyRelu", build=quantized_form(FROM_ONNX, 0), domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("LEAKY_RELU", attrs={"alpha": "alpha"}),),
    to_onnx=written_as("LeakyRelu", alpha="alpha"),
    cases=(
        case(Operand((3, 90), low=-3, high=3), kinds=ALL_KINDS),
        case(Operand((9,), low=-3, high=3), attrs=LeakyReluAttrs(0.3), kinds=ALL_KINDS),
        case(Operand((13,), values=(*EDGES, np.nan)), attrs=LeakyReluAttrs(1.5), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
