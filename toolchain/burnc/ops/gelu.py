"""gelu: x times the normal distribution's share below x. Sources: ONNX Gelu-20; TFLite GELU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Node, Value
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr
from burnc.numerics.erf import erf
from burnc.ops.case import Operand, case
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import each

SLOPE = math.sqrt(2 / math.pi)
CUBIC = 0.044715


@dataclass(frozen=True)
class GeluAttrs:
    """``approximate``: none (by the error function) or tanh."""

    approximate: str = "none"


def real(k: KernelBuilder, a: GeluAttrs, x: Expr) -> Expr:
    if a.approximate == "tanh":
        share = k.call("tanh", (x * x * x * CUBIC + x) * SLOPE)
    else:
        share = k.call("erf", x * math.sqrt(0.5))
    return x * 0.5 * (share + 1.0)


def forward(xp: Any, a: GeluAttrs, x: Any) -> Any:
    kind = x.dtype.type
    if a.approximate == "tanh":
        share = xp.tanh(kind(SLOPE) * (x + kind(CUBIC) * x * x * x))
    else:
        share = erf(xp, x * kind(math.sqrt(0.5)))
    return x * kind(0.5) * (share + 1)


def from_onnx(node: FileNode) -> list[Value]:
    approximate = node.attribute("approximate", "none")
    if approximate not in ("none", "tanh"):
        node.refuse(f"approximate = {approximate!r} is not supported")
    return [node.emit("gelu", [node.input(0)], GeluAttrs(approximate))]


def from_fast_gelu(node: FileNode) -> list[Value]:
    x = node.input(0)
    if node.has_input(1):
        x = node.emit("add", [x, node.input(1)], last=False)
    return [node.emit("gelu", [x], GeluAttrs("tanh"))]


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("gelu", [node.input(0)], GeluAttrs("tanh" if node.attribute("approximate") else "none"))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    # ONNX has Gelu from opset 20, burnc writes 19: onnxruntime's own operators mean the same.
    name = "FastGelu" if node.attrs.approximate == "tanh" else "Gelu"
    w.emit(name, [w.input(node, 0)], [w.output(node)], domain=ONNXRUNTIME)


gelu = OpSpec(
    name="gelu",
    attrs=GeluAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(real),
    quant=QuantRule(),
    onnx=(
        onnx_op("Gelu", build=from_onnx),
        onnx_op("Gelu", domain=ONNXRUNTIME),
        onnx_op("FastGelu", domain=ONNXRUNTIME, build=from_fast_gelu),
    ),
    tflite=(tflite_op("GELU", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((3, 90), low=-4, high=4)),
        case(Operand((9,), low=-4, high=4), attrs=GeluAttrs("tanh")),
        case(Operand((5,), values=(-1e30, -0.0, 0.5, 1e30, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
