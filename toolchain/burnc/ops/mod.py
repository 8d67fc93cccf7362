"""mod: the remainder of integers, by floor or truncation. Sources: ONNX Mod-13; TFLite FLOOR_MOD.

By floor it has the sign of the divisor, by truncation, as in C, that of the dividend. x mod 0 is 0, which the standards
leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import lift
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
    if not type_.dtype.is_integer or type_.dtype.value.startswith("uint"):
        raise GraphError(f"a remainder of {type_.dtype.value} is not supported")
    return [type_]


def body(k: KernelBuilder, a: ModAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        dividend = k.let("dividend", left[aligned(i, left.shape)])
        divisor = k.let("divisor", right[aligned(i, right.shape)])
        zero = lift(0, divisor.dtype)
        above = k.let("above", k.select(dividend < 0, 0 - dividend, dividend))
        below = k.let("below", k.select(divisor < 0, 0 - divisor, divisor))
        size = k.let("size", k.select(below.eq(0), zero, above % below))
        rest = k.let("rest", k.select(dividend < 0, 0 - size, size))
        if not a.truncated:
            rest = k.select(rest.ne(0) & (rest < 0).ne(divisor < 0), rest + divisor, rest)
        y[i] = rest


def forward(xp: Any, a: ModAttrs, left: Any, right: Any) -> Any:
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
    ),
    pointwise=True,
)
