"""elu: x where x > 0, else exp(x) - 1, with factors. Sources: ONNX Elu-6, Selu-6, Celu-12; TFLite ELU.

y = gamma * x where x > 0, else gamma * alpha * (exp(beta * x) - 1). Elu is (alpha, 1, 1), Selu (alpha, 1, gamma), Celu
(alpha, 1 / alpha, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Node, Value
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr
from burnc.numerics import round_half_away
from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import each


@dataclass(frozen=True)
class EluAttrs:
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


def real(k: KernelBuilder, a: EluAttrs, x: Expr) -> Expr:
    """exp(v) - 1 = 2 t / (1 - t) with t = tanh(v / 2), where nothing cancels for v < 0."""
    half = k.let("half", k.call("tanh", x * (0.5 * a.beta)))
    negative = (half + half) / (1.0 - half) * (a.alpha * a.gamma)
    return k.select(x < 0, negative, x * a.gamma)


def forward(xp: Any, a: EluAttrs, x: Any) -> Any:
    kind = x.dtype.type
    negative = kind(a.gamma * a.alpha) * xp.expm1(kind(a.beta) * xp.minimum(x, 0))
    return xp.where(x < 0, negative, kind(a.gamma) * x)


BY_REAL_FUNCTION = tabulated(forward)


def integer(node: Node, x: Array) -> Array:
    """Without factors the table that TFLite fills in single precision, times the reciprocal of the scale."""
    a: EluAttrs = node.attrs
    if (a.alpha, a.beta, a.gamma) != (1.0, 1.0, 1.0):
        result: Array = BY_REAL_FUNCTION(node, x)
        return result
    source, target = node.input(0).type, node.output.type
    real = (x.astype(np.int64) - source.zero_point).astype(np.float32) * np.float32(source.scale)
    power = np.exp(np.minimum(real, 0).astype(np.float64)).astype(np.float32)
    steps = np.where(real < 0, power - np.float32(1), real) * (np.float32(1) / np.float32(target.scale))
    low, high = target.dtype.limits
    return np.clip(round_half_away(steps).astype(np.float64) + target.zero_point, low, high).astype(target.dtype.numpy)


def from_onnx_celu(node: FileNode) -> list[Value]:
    alpha = float(node.attribute("alpha", 1.0))
    if alpha <= 0:
        node.refuse(f"alpha {alpha} must be positive")
    return [node.emit("elu", [node.input(0)], EluAttrs(alpha, 1 / alpha))]


def from_onnx_selu(node: FileNode) -> list[Value]:
    alpha = float(node.attribute("alpha", 1.67326319217681884765625))
    return [
        node.emit("elu", [node.input(0)], EluAttrs(alpha, 1.0, float(node.attribute("gamma", 1.05070102214813232))))
    ]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: EluAttrs = node.attrs
    x, y = w.input(node, 0), w.output(node)
    if a.beta != 1.0:
        w.emit("Celu", [x], [y], alpha=a.alpha)
    elif a.gamma != 1.0:
        w.emit("Selu", [x], [y], alpha=a.alpha, gamma=a.gamma)
    else:
        w.emit("Elu", [x], [y], alpha=a.alpha)


elu = OpSpec(
    name="elu",
    attrs=EluAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(real),
    quant=QuantRule(),
    onnx=(
        onnx_op("Elu", attrs={"alpha": "alpha"}),
        onnx_op("Selu", build=from_onnx_selu),
        onnx_op("Celu", build=from_onnx_celu),
    ),
    tflite=(tflite_op("ELU"),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((3, 90), low=-4, high=3)),
        case(Operand((9,), low=-3, high=3), attrs=EluAttrs(1.67326319, 1.0, 1.05070102)),
        case(Operand((9,), low=-3, high=3), attrs=EluAttrs(2.0, 0.5), kinds=("float32",)),
        case(Operand((15,), values=(*EDGES, np.nan, -1e-6, -20.0)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
