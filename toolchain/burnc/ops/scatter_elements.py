"""scatter_elements: a copy of a tensor with elements replaced, each where an index of its own says along one axis.

Sources: ONNX ScatterElements-18, Scatter-9, TensorScatter-24, MaxUnpool-11. Indices are counted and clamped as
``gather`` does; of several updates of one element the last counts. ``scatter_elements_reduced`` adds, multiplies or
takes the larger or smaller; the integers of quantized tensors are only moved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.requantize import Integers
from burnc.ops.scattering import check_operands, clamped, copied, counted, scattered, write
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ScatterElementsAttrs:
    """``axis`` counts from 0; ``reduction``: none, or for ``scatter_elements_reduced`` add, mul, max or min."""

    axis: int = 0
    reduction: str = "none"


def infer(a: ScatterElementsAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, indices, updates = (required(inputs, i) for i in range(3))
    alike = x.rank == indices.rank and all(
        m <= n for i, (m, n) in enumerate(zip(indices.shape, x.shape, strict=True)) if i != a.axis
    )
    if not 0 <= a.axis < x.rank or not alike or indices.shape != updates.shape:
        shapes = f"indices {list(indices.shape)} and updates {list(updates.shape)}"
        raise GraphError(f"{shapes} do not go with axis {a.axis} of {list(x.shape)}")
    check_operands(x, indices, updates, a.reduction)
    return [x.with_quant(None)]


def body(k: KernelBuilder, a: ScatterElementsAttrs, x: Tensor, indices: Tensor, updates: Tensor, y: Tensor) -> None:
    copied(k, x, y)
    count, length = indices.shape[a.axis], x.shape[a.axis]
    for where in k.grid(indices.shape[: a.axis] + indices.shape[a.axis + 1 :]):
        for (j,) in k.reduce((count,), "j"):
            source = (*where[: a.axis], j, *where[a.axis :])
            index = counted(k, indices.raw(*source), length)
            write(k, y, (*where[: a.axis], index, *where[a.axis :]), updates.raw(*source), a.reduction)


def forward(xp: Any, a: ScatterElementsAttrs, x: Any, indices: Any, updates: Any) -> Any:
    place = [
        xp.arange(n).reshape([-1 if i == axis else 1 for i in range(x.ndim)]) for axis, n in enumerate(indices.shape)
    ]
    place[a.axis] = clamped(xp, indices, x.shape[a.axis])
    return scattered(x, tuple(place), updates, a.reduction)


def integer(node: Node, x: Integers, indices: Integers, updates: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, indices, updates))


def emit(
    node: FileNode, x: Value, indices: Value, updates: Value, axis: int, reduction: str = "none", **rest: Any
) -> Value:
    """The operator that has that reduction."""
    op = "scatter_elements" if reduction == "none" else "scatter_elements_reduced"
    attrs = node.builder.operators[op].attrs(axis, reduction)
    return node.emit(op, [x, indices, updates], attrs, **rest)


def from_onnx(node: FileNode) -> list[Value]:
    x, rank, axis = node.input(0), node.input(0).type.rank, int(node.attribute("axis", 0))
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for shape {list(x.type.shape)}")
    return [emit(node, x, node.input(1), node.input(2), axis % rank, node.attribute("reduction", "none"))]


def tensor_scatter(node: FileNode) -> list[Value]:
    """Updates along an axis from a place on that each batch has, round the end of the axis where it is circular."""
    x, updates, mode = node.input(0), node.input(1), node.attribute("mode", "linear")
    rank = x.type.rank
    axis = int(node.attribute("axis", -2))
    if not -rank <= axis < rank or axis % rank == 0 or mode not in ("linear", "circular"):
        node.refuse(f"axis {axis} with mode {mode!r} for shape {list(x.type.shape)}")
    axis %= rank
    ops = node.builder.operators
    shape = [1] * rank
    shape[axis] = updates.type.shape[axis]
    steps = node.new_constant("steps", np.arange(shape[axis]).reshape(shape))
    places = steps
    if node.has_input(2):
        begin = node.emit(
            "reshape", [node.input(2)], ops["reshape"].attrs((x.type.shape[0], *[1] * (rank - 1))), last=False
        )
        places = node.emit("add", [begin, steps], last=False)
        if mode == "circular":
            length = node.new_constant("length", np.array(x.type.shape[axis]))
            places = node.emit("mod", [places, length], last=False)
    if places.type.shape != updates.type.shape:
        places = node.emit("expand", [places], ops["expand"].attrs(updates.type.shape), last=False)
    return [emit(node, x, places, updates, axis)]


def max_unpool(node: FileNode) -> list[Value]:
    """Each maximum back where MaxPool found it, in zeros; indices count the elements of the whole unpooled tensor."""
    x, indices = node.input(0), node.input(1)
    kernel = [int(n) for n in node.attribute("kernel_shape", ())]
    space = x.type.shape[2:]
    if len(kernel) != len(space) or indices.type.shape != x.type.shape:
        node.refuse(f"a kernel of {kernel} and indices {list(indices.type.shape)} for shape {list(x.type.shape)}")
    strides = node.integers("strides", len(space), 1)
    pads = node.integers("pads", 2 * len(space), 0)
    borders = [begin + end for begin, end in zip(pads[: len(space)], pads[len(space) :], strict=True)]
    sizes = [(n - 1) * s + w - b for n, s, w, b in zip(space, strides, kernel, borders, strict=True)]
    inner = (*x.type.shape[:2], *sizes)
    asked = tuple(int(n) for n in node.constant(2, "the output shape")) if node.has_input(2) else inner
    if asked != inner:  # onnxruntime counts in the shape asked for, onnx's reference in the one that follows
        node.refuse(
            f"the output shape {list(asked)} is not {list(inner)}, and the standard leaves open which indices count"
        )
    ops = node.builder.operators
    count = (x.type.size,)
    flat = [node.emit("reshape", [v], ops["reshape"].attrs(count), last=False) for v in (x, indices)]
    zero = node.new_constant("zero", np.zeros(1, x.type.dtype.numpy))
    zeros = node.emit("expand", [zero], ops["expand"].attrs((math.prod(inner),)), last=False)
    placed = emit(node, zeros, flat[1], flat[0], 0, last=False)
    return [node.emit("reshape", [placed], ops["reshape"].attrs(inner))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ScatterElementsAttrs = node.attrs
    inputs = [w.input(node, i) for i in range(3)]
    w.emit("ScatterElements", inputs, [w.output(node)], axis=a.axis, reduction=a.reduction)


INDICES = Operand((2, 3), dtype="int64", low=-4, high=3)
APART = Operand((3,), dtype="int32", values=(2, 0, 3))

scatter_elements = OpSpec(
    name="scatter_elements",
    attrs=ScatterElementsAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, integer_inputs=(1,)),
    onnx=(
        onnx_op("ScatterElements", build=from_onnx),
        onnx_op("TensorScatter", build=tensor_scatter),
        onnx_op("MaxUnpool", build=max_unpool),
    ),
    to_onnx=to_onnx,
    cases=(
        case((4, 4), INDICES, (2, 3)),
        case((2, 4, 3), Operand((2, 2, 3), dtype="int32", low=-4, high=3), (2, 2, 3), attrs=ScatterElementsAttrs(1)),
        case((5,), APART, (3,), kinds=("float32",)),
    ),
)

scatter_elements_reduced = OpSpec(
    name="scatter_elements_reduced",
    attrs=ScatterElementsAttrs,
    infer=infer,
    forward=forward,
    body=body,
    to_onnx=to_onnx,
    cases=tuple(
        case((4, 4), INDICES, (2, 3), attrs=ScatterElementsAttrs(axis, reduction), kinds=("float32",))
        for axis, reduction in enumerate(("add", "mul"))
    )
    + tuple(
        case((4,), APART, (3,), attrs=ScatterElementsAttrs(0, reduction), kinds=("float32",))
        for reduction in ("max", "min")
    ),
)
