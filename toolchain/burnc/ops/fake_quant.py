"""fake_quant: x rounded to the grid of an int8 tensor, in floats: what quantize and dequantize would make of it.

y = scale * (clip(round(x / scale) + zero_point, low, high) - zero_point), rounding half to even as ONNX QuantizeLinear.
Scale and zero point are float operands that broadcast to x: one for a tensor, or [O, 1, 1, 1] for weights. The gradient
is the straight-through one (Bengio et al., 2013; Jacob et al., 2018): that of x itself where x is not clipped, else 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.spec import OnnxWriter, OpSpec, broadcast_shapes, required


@dataclass(frozen=True)
class FakeQuantAttrs:
    low: int = -128
    high: int = 127


def infer(a: FakeQuantAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The type of x, which scale and zero point broadcast to."""
    x = required(inputs, 0)
    for index in (1, 2):
        operand = required(inputs, index)
        if broadcast_shapes(x.shape, operand.shape) != x.shape or operand.dtype is not x.dtype:
            raise GraphError(f"operand {operand} does not broadcast to {x}")
    return [x]


def on_grid(k: KernelBuilder, i: Sequence[Expr], x: Tensor, scale: Tensor, zero_point: Tensor) -> tuple[Expr, Expr]:
    """Where x lies on the integer grid, not yet clipped, and the zero point."""
    zero = zero_point[aligned(i, zero_point.shape)]
    rounded = k.call("round_half_even", x[tuple(i)] / scale[aligned(i, scale.shape)])
    return k.let("q", rounded + zero), zero


def body(k: KernelBuilder, a: FakeQuantAttrs, x: Tensor, scale: Tensor, zero_point: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        q, zero = on_grid(k, i, x, scale, zero_point)
        held = k.minimum(k.maximum(q, float(a.low)), float(a.high))
        y[i] = (held - zero) * scale[aligned(i, scale.shape)]


def forward(xp: Any, a: FakeQuantAttrs, x: Any, scale: Any, zero_point: Any) -> Any:
    q = xp.clip(xp.rint(x / scale) + zero_point, x.dtype.type(a.low), x.dtype.type(a.high))
    return xp.asarray((q - zero_point) * scale)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value | None]:
    return [b.node("fake_quant_gradient", [*node.inputs, dy], node.attrs), None, None]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: FakeQuantAttrs = node.attrs
    x, scale, zero_point = (w.input(node, i) for i in range(3))
    q = w.emit("Add", [w.emit("Round", [w.emit("Div", [x, scale])]), zero_point])
    limits = [w.constant(np.array(v, np.float32), hint) for v, hint in ((a.low, "low"), (a.high, "high"))]
    w.emit("Mul", [w.emit("Sub", [w.emit("Clip", [q, *limits]), zero_point]), scale], [w.output(node)])


fake_quant = OpSpec(
    name="fake_quant",
    attrs=FakeQuantAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=gradient,
    to_onnx=to_onnx,
    cases=(
        case((2, 5, 3), Operand((), values=(0.0123,)), Operand((), values=(-7.0,)), kinds=("float32",)),
        case(
            Operand((3, 2, 2, 2), low=-2, high=2),
            Operand((3, 1, 1, 1), low=0.001, high=0.02),
            Operand((3, 1, 1, 1), values=(0.0,)),
            attrs=FakeQuantAttrs(-127, 127),
            kinds=("float32",),
        ),
        case(
            Operand((4, 2), values=(0.5, 1.5, -0.5, 2.5)),
            Operand((), values=(1.0,)),
            Operand((), values=(0.0,)),
            kinds=("float32",),
        ),
    ),
)
