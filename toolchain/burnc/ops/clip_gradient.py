"""clip_gradient: dy where the result y of a clip lies between its limits, else 0: the way back through an activation.

On a limit itself the gradient is 0, as for ReLU at 0 elsewhere. Float only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Operand, case
from burnc.ops.clip import ClipAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, required


def infer(a: ClipAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    y, dy = required(inputs, 0), required(inputs, 1)
    if y.shape != dy.shape or y.dtype is not dy.dtype:
        raise GraphError(f"result {y} and gradient {dy} differ in type")
    return [dy]


def body(k: KernelBuilder, a: ClipAttrs, y: Tensor, dy: Tensor, dx: Tensor) -> None:
    for i in k.grid(dx.shape):
        inside: Expr | None = None
        if math.isfinite(a.activation_min):
            inside = y[i] > a.activation_min
        if math.isfinite(a.activation_max):
            below = y[i] < a.activation_max
            inside = below if inside is None else inside & below
        dx[i] = dy[i] if inside is None else k.select(inside, dy[i], 0.0)


def forward(xp: Any, a: ClipAttrs, y: Any, dy: Any) -> Any:
    if math.isinf(a.activation_max):
        return dy * (y > a.activation_min)
    return dy * ((y > a.activation_min) & (y < a.activation_max))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ClipAttrs = node.attrs
    y = w.input(node, 0)
    result = w.input(node, 1)
    zero = w.constant(np.array(0, np.float32), "zero")
    for limit, comparison in ((a.activation_min, "Greater"), (a.activation_max, "Less")):
        if math.isfinite(limit):
            inside = w.emit(comparison, [y, w.constant(np.array(limit, np.float32), comparison)])
            result = w.emit("Where", [inside, result, zero])
    w.emit("Identity", [result], [w.output(node)])


clip_gradient = OpSpec(
    name="clip_gradient",
    is_gradient=True,
    attrs=ClipAttrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), attrs=ClipAttrs(0.0), kinds=("float32",)),
        case(Operand((3, 17), low=-8, high=8), (3, 17), attrs=ClipAttrs(-1.0, 6.0), kinds=("float32",)),
        case(Operand((4,), values=(0.0, 1.0, 0.5, -0.0)), (4,), attrs=ClipAttrs(0.0, 1.0), kinds=("float32",)),
        case((5,), (5,), attrs=ClipAttrs(activation_max=0.1), kinds=("float32",)),
    ),
    pointwise=True,
)
