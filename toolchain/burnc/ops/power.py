"""power: x to the power of a constant. Sources: ONNX Pow-15; TFLite POW, SQUARE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, same_number_type, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import each


@dataclass(frozen=True)
class PowerAttrs:
    exponent: float = 2.0


WHOLE = (1.0, 2.0, 3.0, 4.0)


def infer(a: PowerAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """Of plain integers there are small whole powers alone."""
    return same_number_type(a, inputs) if a.exponent in WHOLE else same_real_type(a, inputs)


def raised(k: KernelBuilder, x: Expr, exponent: Expr) -> Expr:
    """``x ** exponent``; a negative x has a real power only for a whole exponent, whose lowest bit is the sign."""
    magnitude = k.let("magnitude", k.select(x < 0, -x, x))
    size = k.let("size", k.call("exp", exponent * k.call("log", magnitude)))
    half = k.let("half", exponent * 0.5)
    is_odd = k.call("floor", half).ne(half)
    is_whole = k.call("floor", exponent).eq(exponent)
    signed = k.select(is_whole, k.select(is_odd, -size, size), lift(math.nan, x.dtype))
    return k.select(exponent.eq(0.0) | x.eq(1.0), lift(1.0, x.dtype), k.select(x < 0, signed, size))


def real(k: KernelBuilder, a: PowerAttrs, x: Expr) -> Expr:
    """Small whole exponents are products, so that their results are what anyone would expect."""
    if a.exponent == 0.5:
        return k.call("sqrt", x)
    if a.exponent not in (*WHOLE, -1.0, -2.0):
        return raised(k, x, lift(a.exponent, x.dtype))
    product = x
    for _ in range(int(abs(a.exponent)) - 1):
        product = k.wrapped("*", product, x)
    return product if a.exponent > 0 else 1.0 / product


def forward(xp: Any, a: PowerAttrs, x: Any) -> Any:
    return xp.power(x, x.dtype.type(a.exponent))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    """The input's: dy * exponent * x ** (exponent - 1)."""
    exponent = node.attrs.exponent
    factor = b.constant("exponent", np.array(exponent, dy.type.dtype.numpy))
    if exponent == 0.0:
        return [b.node("mul", [dy, factor])]
    lower = b.node("power", [node.input(0)], PowerAttrs(exponent - 1))
    return [b.node("mul", [b.node("mul", [dy, lower]), factor])]


def square(node: FileNode) -> list[Value]:
    return [node.emit("power", [node.input(0)], PowerAttrs(2.0))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    exponent = w.constant(np.array(node.attrs.exponent, np.float32), "exponent")
    w.emit("Pow", [w.input(node, 0), exponent], [w.output(node)])


power = OpSpec(
    name="power",
    attrs=PowerAttrs,
    infer=infer,
    forward=forward,
    integer=tabulated(forward),
    body=each(real),
    gradient=gradient,
    quant=QuantRule(),
    tflite=(tflite_op("SQUARE", build=square),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((3, 40), low=-3, high=3)),
        case(Operand((3, 5), low=0, high=3), attrs=PowerAttrs(1.7)),
        case(Operand((4,), values=(-2.0, 0.0, 0.5, np.nan)), attrs=PowerAttrs(3.0), kinds=("float32",)),
        case(Operand((4,), values=(-2.0, 0.0, 0.5, np.nan)), attrs=PowerAttrs(0.0), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
