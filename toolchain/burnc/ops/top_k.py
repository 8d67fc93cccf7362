"""top_k: the k largest (or smallest) elements along one axis in order, and their indices; equal ones keep their order.

Sources: ONNX TopK-11; TFLite TOPK_V2. A NaN counts as larger than any number, as numpy sorts it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr, lift
from burnc.ops.case import Operand, case
from burnc.ops.cast import CastAttrs
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class TopKAttrs:
    k: int = 1
    axis: int = -1
    largest: bool = True


def infer(a: TopKAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not -x.rank <= a.axis < x.rank or not 0 < a.k <= x.shape[a.axis]:
        raise GraphError(f"axis {a.axis} of {list(x.shape)} has no {a.k} elements")
    axis = a.axis % x.rank
    result = TensorType(x.dtype, (*x.shape[:axis], a.k, *x.shape[axis + 1 :]))
    return [result, result.with_dtype(DType.INT64)]


def body(k: KernelBuilder, a: TopKAttrs, x: Tensor, y: Tensor, indices: Tensor) -> None:
    """One pass for each result: the best of those that come behind the one before it."""
    axis, dtype = a.axis % x.type.rank, x.type.dtype

    def before(left: Expr, right: Expr) -> Expr:
        """Whether one value precedes another, wherever they stand."""
        smaller, larger = (right, left) if a.largest else (left, right)
        if not dtype.is_float:
            return smaller < larger
        return (smaller < larger) | (larger.ne(larger) & smaller.eq(smaller))

    # Precedes everything: the largest (a NaN), or the smallest number, at an index before the first.
    low, high = (-math.inf, math.nan) if dtype.is_float else dtype.limits
    for where in k.grid(x.shape[:axis] + x.shape[axis + 1 :]):
        last = k.local("last", high if a.largest else low, dtype)
        last_index = k.local("last_index", -1)
        for (place,) in k.reduce((a.k,), "place"):
            best = k.local("best", last.value)
            best_index = k.local("best_index", -1)
            for (i,) in k.reduce((x.shape[axis],), "i"):
                value = k.let("value", x.raw(*where[:axis], i, *where[axis:]))
                level = k.select(before(last.value, value), lift(-1, INT32), 0)
                level = k.let("level", k.select(before(value, last.value), 1, level))
                behind = (level < 0) | (level.eq(0) & (last_index.value < i))
                with k.when(behind & ((best_index.value < 0) | before(value, best.value))):
                    best.set(value)
                    best_index.set(i)
            y[*where[:axis], place, *where[axis:]] = best.value
            indices[*where[:axis], place, *where[axis:]] = k.cast(best_index.value, DType.INT64)
            last.set(best.value)
            last_index.set(best_index.value)


def forward(xp: Any, a: TopKAttrs, x: Any) -> tuple[Any, Any]:
    if a.largest:  # a stable descending order: ascending over the reversed axis, read from its end
        order = x.shape[a.axis] - 1 - xp.flip(xp.argsort(xp.flip(x, a.axis), axis=a.axis, kind="stable"), a.axis)
    else:
        order = xp.argsort(x, axis=a.axis, kind="stable")
    order = xp.take(order, xp.arange(a.k), axis=a.axis).astype(xp.int64)
    return xp.take_along_axis(x, order, axis=a.axis), order


def integer(node: Node, x: Integers) -> tuple[Integers, Integers]:
    values, order = forward(np, node.attrs, x)
    return values, order


def permuted(a: TopKAttrs, permutation: Sequence[int]) -> TopKAttrs:
    return TopKAttrs(a.k, permutation[a.axis], a.largest)


def from_onnx(node: FileNode) -> list[Value]:
    x, count = node.input(0), node.constant(1, "k")
    a = TopKAttrs(int(count.reshape(())), node.attribute("axis", -1), bool(node.attribute("largest", 1)))
    return _emit(node, x, a)


def from_tflite(node: FileNode) -> list[Value]:
    values, indices = _emit(node, node.input(0), TopKAttrs(int(node.constant(1, "k").reshape(()))), suffix=".int64")
    narrow = node.builder.node("cast", [indices], CastAttrs("int32"), outputs=node.output_names[1:2])
    return [values, narrow]


def _emit(node: FileNode, x: Value, a: TopKAttrs, suffix: str = "") -> list[Value]:
    wanted = [*node.output_names, "", ""]
    names = [wanted[0] or f"{node.name}.values", (wanted[1] or f"{node.name}.indices") + suffix]
    return node.builder.nodes("top_k", [x], a, name=node.name, outputs=names, quant=x.type.quant)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: TopKAttrs = node.attrs
    count = w.constant(np.array([a.k], np.int64), "k")
    results = [w.output(node, 0), w.output(node, 1)]
    w.emit("TopK", [w.input(node, 0), count], results, axis=a.axis, largest=int(a.largest), sorted=1)


top_k = OpSpec(
    name="top_k",
    attrs=TopKAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", integer_outputs=(1,)),
    onnx=(onnx_op("TopK", build=from_onnx),),
    tflite=(tflite_op("TOPK_V2", build=from_tflite),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((2, 7), attrs=TopKAttrs(3)),
        case((2, 5, 3), attrs=TopKAttrs(5, 1, largest=False)),
        case(Operand((9,), values=(1.0, 3.0, 3.0, -1.0)), attrs=TopKAttrs(6)),
        case(Operand((1, 8), values=(0.0, -0.0, 2.0, -0.0)), attrs=TopKAttrs(4, -1, largest=False)),
        case((1, 4), attrs=TopKAttrs(1)),
        case(Operand((2, 6), dtype="int32", low=-2, high=2), attrs=TopKAttrs(4), kinds=("float32",)),
    ),
)
