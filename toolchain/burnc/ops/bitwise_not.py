"""bitwise_not: every bit of a whole number inverted. Sources: ONNX BitwiseNot-18."""

from __future__ import annotations

from collections.abc import Sequence

from burnc.errors import GraphError
from burnc.ir import TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, required
from burnc.ops.unary import NoAttrs, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not x.dtype.is_integer or x.quant is not None:
        raise GraphError(f"the operand must be whole numbers, it is {x.dtype.value}")
    return [x]


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    low, high = x.type.dtype.limits
    ones = lift(-1 if low < 0 else high, x.type.dtype)
    for i in k.grid(y.shape):
        y[i] = x.raw(*i) ^ ones


bitwise_not = OpSpec(
    name="bitwise_not",
    attrs=NoAttrs,
    infer=infer,
    forward=lambda xp, a, x: xp.bitwise_not(x),
    body=body,
    onnx=(onnx_op("BitwiseNot"),),
    to_onnx=written_as("BitwiseNot"),
    cases=tuple(
        case(Operand((2, 3), dtype=dtype, low=low, high=high), kinds=("float32",))
        for dtype, low, high in (("int32", -(2**31), 2**31 - 1), ("uint8", 0, 255), ("int64", -(2**62), 2**62))
    ),
    pointwise=True,
)
