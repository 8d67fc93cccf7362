"""bit_shift: the bits of whole numbers moved to the left or right, broadcast.

Sources: ONNX BitShift-28; TFLite RIGHT_SHIFT.

To the right a negative number stays negative. By a negative count, or one that no bit would outlast, the result is what
the sign fills in: -1 for a negative number moved to the right, else 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
class BitShiftAttrs:
    left: bool = True


def infer(a: BitShiftAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    (type_,) = infer_broadcast(a, inputs)
    if not type_.dtype.is_integer:
        raise GraphError(f"operands must be whole numbers, they are {type_.dtype.value}")
    return [type_]


def body(k: KernelBuilder, a: BitShiftAttrs, x: Tensor, counts: Tensor, y: Tensor) -> None:
    dtype = y.type.dtype
    bits, is_signed = 8 * dtype.bytes, dtype.limits[0] < 0
    # C leaves open what a bit moved past the sign gives; unsigned numbers simply lose it.
    wide = (DType.INT64, DType.UINT64) if bits == 64 else (DType.INT32, DType.UINT32)
    computed = wide[0] if is_signed and not a.left else wide[1]
    for i in k.grid(y.shape):
        value = k.let("value", k.cast(x.raw(*aligned(i, x.shape)), computed))
        count = k.let("count", counts.raw(*aligned(i, counts.shape)))
        inside = count < bits if not is_signed else (count >= 0) & (count < bits)
        by = k.cast(k.select(inside, count, 0), computed)
        moved = value << by if a.left else value >> by
        y[i] = k.cast(k.select(inside, moved, _fill(k, value, signed=is_signed and not a.left)), dtype)


def _fill(k: KernelBuilder, value: Expr, *, signed: bool) -> Expr:
    zero = lift(0, value.dtype)
    return k.select(value < 0, lift(-1, value.dtype), zero) if signed else zero


def forward(xp: Any, a: BitShiftAttrs, x: Any, counts: Any) -> Any:
    bits = 8 * x.dtype.itemsize
    inside = (counts >= 0) & (counts < bits)
    by = xp.where(inside, counts, xp.zeros_like(counts))
    moved = xp.left_shift(x, by) if a.left else xp.right_shift(x, by)
    fill = xp.zeros_like(moved) if a.left else xp.where(xp.broadcast_to(x, moved.shape) < 0, -1, 0).astype(x.dtype)
    return xp.asarray(xp.where(inside, moved, fill).astype(x.dtype))


def from_onnx(node: FileNode) -> list[Value]:
    direction = node.attribute("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        node.refuse(f"direction {direction!r} is not supported")
    return [node.emit("bit_shift", [node.input(0), node.input(1)], BitShiftAttrs(direction == "LEFT"))]


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("bit_shift", [node.input(0), node.input(1)], BitShiftAttrs(left=False))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    direction = "LEFT" if node.attrs.left else "RIGHT"
    w.emit("BitShift", [w.input(node, 0), w.input(node, 1)], [w.output(node)], direction=direction)


def operands(dtype: str, bits: int) -> tuple[Operand, Operand]:
    numbers = Operand((3, 4), dtype=dtype, values=(1, 2**bits - 1, 2 ** (bits - 1), 37, 0, 200))
    return numbers, Operand((4,), dtype=dtype, values=(0, 1, bits - 1, 3))


bit_shift = OpSpec(
    name="bit_shift",
    attrs=BitShiftAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("BitShift", build=from_onnx),),
    tflite=(tflite_op("RIGHT_SHIFT", build=from_tflite),),
    to_onnx=to_onnx,
    cases=tuple(
        case(*operands(dtype, bits), attrs=BitShiftAttrs(left), kinds=("float32",))
        for dtype, bits in (("uint8", 8), ("uint32", 32), ("uint64", 64))
        for left in (True, False)
    ),
    pointwise=True,
)
