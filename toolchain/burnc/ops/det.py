"""det: the determinants of square matrices, by elimination with the largest element as pivot. Sources: ONNX Det-11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnc.errors import GraphError
from burnc.ir import DType, TensorType
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.trigonometry import magnitude
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, required
from burnc.ops.unary import NoAttrs, written_as


def infer(a: NoAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.dtype is not DType.FLOAT32 or x.rank < 2 or x.shape[-1] != x.shape[-2]:
        raise GraphError(f"{x} holds no square matrices of float32")
    return [x.with_shape(x.shape[:-2])]


def body(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    n, dtype = x.shape[-1], x.type.dtype
    rows = k.scratch("rows", dtype, x.shape)
    for where in k.grid(y.shape):
        for r, c in k.reduce((n, n), "r c"):
            rows[*where, r, c] = x[*where, r, c]
        product = k.local("product", 1.0, dtype)
        for (c,) in k.reduce((n,), "c"):
            best = k.local("best", c + 0)
            for (r,) in k.reduce((n,), "r"):
                larger = magnitude(k, rows[*where, r, c]) > magnitude(k, rows[*where, best.value, c])
                with k.when((r > c) & larger):
                    best.set(r)
            with k.when(best.value.ne(c)):
                product.set(-product.value)
                for (j,) in k.reduce((n,), "j"):
                    held = k.let("held", rows[*where, c, j])
                    rows[*where, c, j] = rows[*where, best.value, j]
                    rows[*where, best.value, j] = held
            pivot = k.let("pivot", rows[*where, c, c])
            product.set(product.value * pivot)
            for (r,) in k.reduce((n,), "r"):
                with k.when((r > c) & pivot.ne(0.0)):
                    factor = k.let("factor", rows[*where, r, c] / pivot)
                    for (j,) in k.reduce((n,), "j"):
                        rows[*where, r, j] = rows[*where, r, j] - factor * rows[*where, c, j]
        y[where] = product.value


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.asarray(xp.linalg.det(x))


det = OpSpec(
    name="det",
    attrs=NoAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("Det"),),
    to_onnx=written_as("Det"),
    cases=(
        case((2, 4, 4), kinds=("float32",)),
        case(Operand((3, 3), values=(0, 2, 1, 1, 0, 0, 3, 0, 1)), kinds=("float32",)),
        case(Operand((2, 2), values=(1, 2, 2, 4)), kinds=("float32",)),
    ),
)
