"""cum_sum: running sums along one axis, of floats and whole numbers. Sources: ONNX CumSum-14; TFLite CUMSUM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Operand, case
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class CumSumAttrs:
    """``exclusive``: without the element itself; ``reverse``: from the end."""

    axis: int = 0
    exclusive: bool = False
    reverse: bool = False


def infer(a: CumSumAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not 0 <= a.axis < x.rank:
        raise GraphError(f"axis {a.axis} is out of range for shape {list(x.shape)}")
    if not (x.dtype.is_float or x.dtype in (DType.INT32, DType.INT64)):
        raise GraphError(f"running sums and products of {x.dtype.value} are not supported")
    return [x.with_quant(None)]


def body(k: KernelBuilder, a: CumSumAttrs, x: Tensor, y: Tensor) -> None:
    running(k, a, x, y, 0, lambda total, value: k.wrapped("+", total, value))


def running(
    k: KernelBuilder, a: CumSumAttrs, x: Tensor, y: Tensor, start: int, combine: Callable[[Expr, Expr], Expr]
) -> None:
    """What the elements so far have been combined to, at every place along the axis."""
    length = x.shape[a.axis]
    for where in k.grid(x.shape[: a.axis] + x.shape[a.axis + 1 :]):
        total = k.local("total", start, x.type.dtype)
        for (i,) in k.reduce((length,)):
            place = (*where[: a.axis], length - 1 - i if a.reverse else i, *where[a.axis :])
            if a.exclusive:
                y[place] = total.value
            total.set(combine(total.value, x.raw(*place)))
            if not a.exclusive:
                y[place] = total.value


def forward(xp: Any, a: CumSumAttrs, x: Any) -> Any:
    return running_of(xp, a, x, xp.cumsum, 0)


def running_of(xp: Any, a: CumSumAttrs, x: Any, combined: Callable[..., Any], start: int) -> Any:
    """The same of an array, by numpy's function for it."""
    x = xp.flip(x, a.axis) if a.reverse else x
    y = combined(x, axis=a.axis, dtype=x.dtype)
    if a.exclusive:
        first = xp.full_like(xp.take(y, xp.arange(1), axis=a.axis), start)
        y = xp.concatenate([first, xp.take(y, xp.arange(x.shape[a.axis] - 1), axis=a.axis)], axis=a.axis)
    return xp.ascontiguousarray(xp.flip(y, a.axis) if a.reverse else y)


def running_build(op: str) -> Build:
    """The mapping of an operator that runs along the axis that is its second operand."""

    def build(node: FileNode) -> list[Value]:
        axis, rank = int(node.constant(1, "the axis").reshape(())), node.input(0).type.rank
        if not -rank <= axis < rank:
            node.refuse(f"axis {axis} is out of range for shape {list(node.input(0).type.shape)}")
        flags = (bool(node.attribute("exclusive", 0)), bool(node.attribute("reverse", 0)))
        return [node.emit(op, [node.input(0)], CumSumAttrs(axis % rank, *flags))]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: CumSumAttrs = node.attrs
    axis = w.constant(np.array(a.axis, np.int64), "axis")
    w.emit("CumSum", [w.input(node, 0), axis], [w.output(node)], exclusive=int(a.exclusive), reverse=int(a.reverse))


def permuted(a: CumSumAttrs, permutation: Sequence[int]) -> CumSumAttrs:
    return CumSumAttrs(permutation[a.axis], a.exclusive, a.reverse)


cum_sum = OpSpec(
    name="cum_sum",
    attrs=CumSumAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(onnx_op("CumSum", build=running_build("cum_sum")),),
    tflite=(tflite_op("CUMSUM", build=running_build("cum_sum")),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((2, 4, 3), attrs=CumSumAttrs(1), kinds=("float32",)),
        case((5,), attrs=CumSumAttrs(0, exclusive=True), kinds=("float32",)),
        case((2, 4), attrs=CumSumAttrs(1, exclusive=True, reverse=True), kinds=("float32",)),
        case(
            Operand((3, 4), dtype="int64", low=-9, high=9),
            attrs=CumSumAttrs(0, reverse=True),
            kinds=("float32",),
        ),
    ),
)
