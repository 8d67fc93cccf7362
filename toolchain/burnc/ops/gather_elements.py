"""gather_elements: each result is read where an index of its own says along one axis. Sources: ONNX GatherElements-13.

Indices are counted and clamped as ``gather`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.gather import GatherAttrs
from burnc.ops.mapping import onnx_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


def infer(a: GatherAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, indices = required(inputs, 0), required(inputs, 1)
    axis = a.axis + x.rank if a.axis < 0 else a.axis
    alike = x.rank == indices.rank and all(
        m <= n for i, (m, n) in enumerate(zip(indices.shape, x.shape, strict=True)) if i != axis
    )
    if not 0 <= axis < x.rank or 0 in x.shape or not alike:
        raise GraphError(f"indices {list(indices.shape)} do not go with axis {a.axis} of {list(x.shape)}")
    if indices.dtype.value not in ("int32", "int64"):
        raise GraphError(f"indices are {indices.dtype.value}, they must be int32 or int64")
    return [TensorType(x.dtype, indices.shape)]


def body(k: KernelBuilder, a: GatherAttrs, x: Tensor, indices: Tensor, y: Tensor) -> None:
    axis = a.axis % x.type.rank
    length = x.shape[axis]
    for where in k.grid(y.shape):
        given = k.let("given", indices.raw(*where))
        counted = k.select(given < 0, given + length, given)
        index = k.let("index", k.cast(k.minimum(k.maximum(counted, 0), length - 1), INT32))
        y[where] = x.raw(*where[:axis], index, *where[axis + 1 :])


def forward(xp: Any, a: GatherAttrs, x: Any, indices: Any) -> Any:
    length = x.shape[a.axis]
    found = xp.clip(xp.where(indices < 0, indices + length, indices), 0, length - 1)
    box = tuple(slice(0, n) for n in indices.shape)
    axis = a.axis % x.ndim
    return xp.take_along_axis(x[(*box[:axis], slice(None), *box[axis + 1 :])], found, axis=axis)


def integer(node: Node, x: Integers, indices: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, indices))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("GatherElements", [w.input(node, 0), w.input(node, 1)], [w.output(node)], axis=node.attrs.axis)


gather_elements = OpSpec(
    name="gather_elements",
    attrs=GatherAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, integer_inputs=(1,)),
    onnx=(onnx_op("GatherElements", attrs={"axis": "axis"}),),
    to_onnx=to_onnx,
    cases=(
        case((3, 4), Operand((2, 4), dtype="int64", low=-3, high=2), kinds=ALL_KINDS),
        case((2, 5, 3), Operand((2, 2, 3), dtype="int32", low=-5, high=4), attrs=GatherAttrs(1), kinds=("float32",)),
    ),
)
