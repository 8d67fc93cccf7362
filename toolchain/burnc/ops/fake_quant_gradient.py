"""fake_quant_gradient: dy where fake_quant does not clip x, else 0: the straight-through gradient. Float only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.fake_quant import FakeQuantAttrs, on_grid
from burnc.ops.fake_quant import infer as infer_quantized
from burnc.ops.spec import OnnxWriter, OpSpec, required


def infer(a: FakeQuantAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (x,), dy = infer_quantized(a, inputs), required(inputs, 3)
    if x.shape != dy.shape or x.dtype is not dy.dtype:
        raise GraphError(f"input {x} and gradient {dy} differ in type")
    return [dy]


def body(
    k: KernelBuilder, a: FakeQuantAttrs, x: Tensor, scale: Tensor, zero_point: Tensor, dy: Tensor, dx: Tensor
) -> None:
    for i in k.grid(dx.shape):
        q, _ = on_grid(k, i, x, scale, zero_point)
        dx[i] = k.select((q >= float(a.low)) & (q <= float(a.high)), dy[i], 0.0)


def forward(xp: Any, a: FakeQuantAttrs, x: Any, scale: Any, zero_point: Any, dy: Any) -> Any:
    q = xp.rint(x / scale) + zero_point
    return dy * ((q >= a.low) & (q <= a.high))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: FakeQuantAttrs = node.attrs
    x, scale, zero_point, dy = (w.input(node, i) for i in range(4))
    q = w.emit("Add", [w.emit("Round", [w.emit("Div", [x, scale])]), zero_point])
    low, high, zero = (w.constant(np.array(v, np.float32), "limit") for v in (a.low, a.high, 0.0))
    inside = w.emit("And", [w.emit("GreaterOrEqual", [q, low]), w.emit("LessOrEqual", [q, high])])
    w.emit("Where", [inside, dy, zero], [w.output(node)])


fake_quant_gradient = OpSpec(
    name="fake_quant_gradient",
    is_gradient=True,
    attrs=FakeQuantAttrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=(
        case((2, 5, 3), Operand((), values=(0.0051,)), Operand((), values=(-7.0,)), (2, 5, 3), kinds=("float32",)),
        case(
            Operand((3, 2, 2, 2), low=-2, high=2),
            Operand((3, 1, 1, 1), low=0.001, high=0.02),
            Operand((3, 1, 1, 1), values=(0.0,)),
            (3, 2, 2, 2),
            attrs=FakeQuantAttrs(-127, 127),
            kinds=("float32",),
        ),
    ),
)
