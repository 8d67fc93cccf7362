"""mod: the remainder, by floor or truncation. Sources: ONNX Mod-13; TFLite FLOOR_MOD.

By floor it has the sign of the divisor, by truncation, as in C, that of the dividend; of floats it is exact. For
integers x mod 0 is 0, which the standards leave open; for floats it is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.add import infer_broadcast
from burnc.ops.broadcast import aligned
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec


@dataclass(frozen=True)
class ModAttrs:
    """``truncated``: the result has the dividend's sign."""

    truncated: bool = False


def infer(a: ModAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (type_,) = infer_broadcast(a, inputs)
    if type_.dtype is DType.BOOL:
        raise GraphError("there is no remainder of bool")
    return [type_]


def body(k: KernelBuilder, a: ModAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    remainder = _of_floats if y.type.dtype.is_float else _of_integers if y.type.dtype.limits[0] else _of_unsigned
    for i in k.grid(y.shape):
        dividend = k.let("dividend", left[aligned(i, left.shape)])
        y[i] = remainder(k, a, dividend, k.let("divisor", right[aligned(i, right.shape)]))


def _of_unsigned(k: KernelBuilder, a: ModAttrs, dividend: Expr, divisor: Expr) -> Expr:
    return k.select(divisor.eq(0), lift(0, divisor.dtype), dividend % divisor)


def _of_integers(k: KernelBuilder, a: ModAttrs, dividend: Expr, divisor: Expr) -> Expr:
    """In unsigned numbers, which hold the magnitude of the least one too."""
    unsigned = DType.UINT64 if dividend.dtype is DType.INT64 else DType.UINT32
    above, below = (k.cast(v, unsigned) for v in (dividend, divisor))
    above = k.let("above", k.select(dividend < 0, 0 - above, above))
    below = k.let("below", k.select(divisor < 0, 0 - below, below))
    size = k.let("size", k.cast(_of_unsigned(k, a, above, below), dividend.dtype))  # below the divisor's: it fits
    rest = k.let("rest", k.select(dividend < 0, 0 - size, size))
    if a.truncated:
        return rest
    return k.select(rest.ne(0) & (rest < 0).ne(divisor < 0), rest + divisor, rest)


def _of_floats(k: KernelBuilder, a: ModAttrs, dividend: Expr, divisor: Expr) -> Expr:
    rest = k.let("rest", k.call("fmod", dividend, divisor))
    if a.truncated:
        return rest
    zero = k.select(divisor < 0.0, lift(-0.0, divisor.dtype), 0.0)
    with_sign = k.select((rest < 0.0).ne(divisor < 0.0), rest + divisor, rest)
    return k.select(rest.eq(0.0), zero, with_sign)


def forward(xp: Any, a: ModAttrs, left: Any, right: Any) -> Any:
    if left.dtype.kind == "f":
        return xp.asarray(xp.fmod(left, right) if a.truncated else xp.mod(left, right))
    safe = xp.where(right == 0, xp.ones_like(right), right)
    rest = xp.fmod(left, safe) if a.truncated else xp.mod(left, safe)
    return xp.asarray(xp.where(right == 0, xp.zeros_like(rest), rest))


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("mod", [node.input(0), node.input(1)], ModAttrs(bool(node.attribute("fmod", 0))))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    inputs = [w.input(node, 0), w.input(node, 1)]
    w.emit("Mod", inputs, [w.output(node)], fmod=int(node.attrs.truncated))


LEFT = Operand((6,), dtype="int32", values=(-7, 7, -7, 7, 6, 0))
RIGHT = Operand((6,), dtype="int32", values=(3, -3, -3, 3, 3, 5))
LEAST = -(2**31)
REALS = (5.3, -5.3, 1e30, -7.5, np.inf, 2.0, -6.0, 1e-42, 0.0, 3.0)
DIVISORS = (2.1, 2.1, -0.3, 2.5, 2.0, np.inf, 3.0, 3e-45, -2.0, 0.0)
FLOAT_CASE = (Operand((10,), values=REALS), Operand((10,), values=DIVISORS))

mod = OpSpec(
    name="mod",
    attrs=ModAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("Mod", build=from_onnx),),
    tflite=(tflite_op("FLOOR_MOD"),),
    to_onnx=to_onnx,
    cases=(
        case(LEFT, RIGHT, kinds=("float32",)),
        case(LEFT, RIGHT, attrs=ModAttrs(truncated=True), kinds=("float32",)),
        case(
            Operand((2,), dtype="int32", values=(LEAST, LEAST + 1)),
            Operand((2,), dtype="int32", values=(7, LEAST)),
            kinds=("float32",),
        ),
        case(Operand((9,), dtype="uint8", high=255), Operand((9,), dtype="uint8", low=1, high=20), kinds=("float32",)),
        case(*FLOAT_CASE, attrs=ModAttrs(truncated=True), kinds=("float32",)),
    ),
    pointwise=True,
)
